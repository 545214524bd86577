"""Why a text cannot be read is told in our words, whatever the parser says."""

from __future__ import annotations

import json
import re
import tomllib

import msgspec
import pytest

from ckptctl.codec.reasons import reason_of

PARSERS = re.compile(
    r"Expect|delimiter|Unterminated|Invalid|Extra data|Unclosed|Illegal|Decode|recursion|"
    r"sys\.|limit|codec|`|\$|Object",
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON at line 1, column 1: a value is missing"),
        ('{"a": 1 "b"}', "not JSON at line 1, column 9: a comma is missing"),
        ('{"a" 1}', "not JSON at line 1, column 6: a colon is missing"),
        ("{a: 1}", "not JSON at line 1, column 2: a key in double quotes is missing"),
        ('\n["a', "not JSON at line 2, column 2: a text without its closing quote"),
        ('["a\nb"]', "not JSON at line 1, column 4: a control character in a text"),
        ('["\\q"]', "not JSON at line 1, column 3: a backslash that begins no escape"),
        ('["\\u12"]', "not JSON at line 1, column 4: a backslash that begins no escape"),
        ("1 2", "not JSON at line 1, column 3: more behind the end of the document"),
        ("\ufeff1", "not JSON at line 1, column 1: a byte order mark in front"),
        ("[" * 100_000, "nested too deep"),
        ("9" * 5000, "a number of too many digits"),
    ],
)
def test_json(text: str, reason: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        json.loads(text)
    assert reason_of(caught.value) == reason


def test_a_comma_too_many_is_no_json() -> None:
    """What Python says of it has changed."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("[1,]")
    assert reason_of(caught.value).startswith("not JSON at line 1, column ")
    assert not PARSERS.search(reason_of(caught.value))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a", "not TOML at the end: a key without its ="),
        ("a = ", "not TOML at the end: a value that is none"),
        ("a = 1 b = 2", "not TOML at line 1, column 7: more behind a value"),
        ("a = [1", "not TOML at the end: a list or table that is not closed"),
        ('a = "b', "not TOML at the end: a text without its closing quote"),
        ("a = 1\na = 2\n", "not TOML at line 2, column 6: a key that is there twice"),
        ("[a]\n[a]", "not TOML at line 2, column 3: a table that is there twice"),
        ("a = 2026-13-99", None),
        ('a = "\\q"', None),
        ("?", None),
        ("= 1", None),
        ("[a", None),
        ("a = {b = 1, b = 2}", None),
        ("a.b = 1\n[a]\n", None),
    ],
)
def test_toml(text: str, reason: str | None) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    told = reason_of(caught.value)
    assert reason is None or told == reason
    assert told.startswith("not TOML at ")
    assert not PARSERS.search(told)


class _Step(msgspec.Struct):
    kind: str
    size: int | None = None


class _Plan(msgspec.Struct):
    steps: list[_Step]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "the document is a list, and has to be an object"),
        ({}, "the document has no steps"),
        ({"steps": [{"kind": 1}]}, "steps[0].kind is a whole number, and has to be a text"),
        (
            {"steps": [{"kind": "a", "size": "b"}]},
            "steps[0].size is a text, and has to be a whole number or null",
        ),
        ({"steps": [{}]}, "steps[0] has no kind"),
    ],
)
def test_shapes(value: object, reason: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, _Plan)
    assert reason_of(caught.value).replace("steps[...]", "steps[0]") == reason


def test_bytes_and_other_errors() -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        b"ab\xff".decode()
    assert reason_of(caught.value) == "not UTF-8 at byte 2"
    assert reason_of(MemoryError()) == "too large for the memory of this machine"
    assert reason_of(ValueError("our own words")) == "our own words"
    assert reason_of(KeyError()) == "KeyError"
