"""Why a text cannot be read, in our words: the one place that reads the words of parsers.

Messages of `json`, `tomllib` and msgspec change between versions, and speak of Python; what they
mean does not.
"""

from __future__ import annotations

import json
import re

import msgspec

__all__ = ["reason_of"]

_JSON = (
    ("Expecting value", "a value is missing"),
    ("Expecting ','", "a comma is missing"),
    ("Expecting ':'", "a colon is missing"),
    ("Expecting property name", "a key in double quotes is missing"),
    ("Illegal trailing comma", "a comma too many"),
    ("Unterminated string", "a text without its closing quote"),
    ("Invalid control character", "a control character in a text"),
    ("Invalid \\", "a backslash that begins no escape"),
    ("Extra data", "more behind the end of the document"),
    ("Unexpected UTF-8 BOM", "a byte order mark in front"),
)
"""By the beginning of what ``json`` of Python 3.11 to 3.14 says."""

_TOML = (
    ("Expected '='", "a key without its ="),
    ("Invalid initial character for a key", "no key where one belongs"),
    ("Invalid value", "a value that is none"),
    ("Invalid statement", "neither a key nor a table"),
    ("Expected newline", "more behind a value"),
    ("Unclosed", "a list or table that is not closed"),
    ("Unterminated", "a text without its closing quote"),
    ("Expected", "something is missing"),
    ("Illegal character", "a character that may not stand there"),
    ("Unescaped", "a backslash that begins no escape"),
    ("Escaped", "an escape that is no character"),
    ("Invalid hex", "an escape that is no character"),
    ("Cannot overwrite", "a key that is there twice"),
    ("Cannot declare", "a table that is there twice"),
    ("Cannot mutate", "a table that is there twice"),
    ("Cannot redefine", "a table that is there twice"),
    ("Duplicate", "a key that is there twice"),
    ("Invalid date", "a date that is none"),
)
"""The same of ``tomllib``."""

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}
_AT = re.compile(r" - at `(?P<path>[^`]*)`$")
_TYPES = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<found>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]*)`")
_PLACE = re.compile(r"\(at (?P<place>line \d+, column \d+|end of document)\)$")


def reason_of(error: BaseException) -> str:
    """Say why a document cannot be read; a phrase that fits behind ``cannot be read:``.

    For what `json`, `tomllib`, msgspec and the decoding of text raise. Errors of this package
    keep their own words.
    """
    import tomllib  # a scan that meets no trouble needs none of it

    match error:
        case json.JSONDecodeError():
            return _json(error)
        case tomllib.TOMLDecodeError():
            return _toml(str(error))
        case msgspec.ValidationError():
            return _shape(str(error))
        case UnicodeDecodeError():
            return f"not UTF-8 at byte {error.start}"
        case RecursionError():
            return "nested too deep"
        case MemoryError():
            return "too large for the memory of this machine"
        case ValueError() if "digits" in str(error) and "limit" in str(error):
            return "a number of too many digits"
        case _:
            return str(error) or type(error).__name__


def _json(error: json.JSONDecodeError) -> str:
    what = _said(error.msg, _JSON)
    place = f"not JSON at line {error.lineno}, column {error.colno}"
    return f"{place}: {what}" if what else place


def _toml(text: str) -> str:
    what = _said(text, _TOML)
    found = _PLACE.search(text)
    place = f"not TOML at {'the end' if not found or 'end' in found[1] else found[1]}"
    return f"{place}: {what}" if what else place


def _said(text: str, meanings: tuple[tuple[str, str], ...]) -> str | None:
    return next((meaning for start, meaning in meanings if text.startswith(start)), None)


def _shape(text: str) -> str:
    """What msgspec says of a value that has another shape than it should."""
    at = _AT.search(text)
    where = at["path"].removeprefix("$").removeprefix(".") if at else ""
    subject = where or "the document"
    if types := _TYPES.match(text):
        return f"{subject} is {_kinds(types['found'])}, and has to be {_kinds(types['wanted'])}"
    if missing := _MISSING.match(text):
        return f"{subject} has no {missing['field']}"
    return f"{subject} has a value that does not belong there"


def _kinds(names: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))
