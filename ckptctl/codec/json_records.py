"""JSON documents, and the pickles that Ray keeps inside JSON."""

from __future__ import annotations

import re

import msgspec

from ckptctl.codec.errors import Malformed, RecordError
from ckptctl.codec.json_text import JsonText, find_span
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_reader import Doc, decode
from ckptctl.codec.reasons import reason_of

__all__ = [
    "FALLBACK",
    "RecordError",
    "decode_fallback",
    "fallback_bytes",
    "find_span",
    "load_json",
]

FALLBACK = "CLOUDPICKLE_FALLBACK"
"""How Ray marks a pickle in JSON (Ray 2.6 to 2.60 ``TuneFunctionDecoder``)."""

_HEX_PICKLE = re.compile(r"80(?:0[2-5])(?:[0-9a-fA-F]{2})*2[eE]")
_decode = msgspec.json.Decoder().decode


def load_json(data: bytes | str) -> object:
    """A whole document. NaN and infinities are numbers. Raises RecordError."""
    try:
        return _decode(data)
    except (ValueError, RecursionError, MemoryError):
        pass  # NaN, a lone surrogate, a number beyond 64 bits: the slow reader decides
    text = data if isinstance(data, str) else decode_text(data)
    source = JsonText(text)
    source.check()
    return source.value(source.start)


def decode_text(data: bytes) -> str:
    """Text from bytes in UTF-8. Raises RecordError."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RecordError(reason_of(error)) from None


def fallback_bytes(value: object) -> bytes | None:
    """The pickle that a JSON value holds, or None.

    It is Ray's fallback object, or one of the fields that Ray writes as bare
    hexadecimal. Raises Malformed if a fallback object does not hold hexadecimal.
    """
    if isinstance(value, dict) and value.get("_type") == FALLBACK:
        value = value.get("value")
        try:
            return bytes.fromhex(value) if isinstance(value, str) else _no_hex()
        except ValueError:
            return _no_hex()
    if isinstance(value, str) and value[:3] == "800" and _HEX_PICKLE.fullmatch(value):
        return bytes.fromhex(value)
    return None


def _no_hex() -> bytes:
    raise Malformed("a pickle in JSON that is not hexadecimal", 0)


def decode_fallback(value: object, limits: Limits | None = None) -> Doc | None:
    """The decoded pickle that a JSON value holds, or None. Raises PickleError."""
    data = fallback_bytes(value)
    return None if data is None else decode(data, limits)
