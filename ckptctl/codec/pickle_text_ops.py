"""Handlers of the opcodes whose operands are lines of text (protocols 0 to 2)."""

from __future__ import annotations

import codecs
import re
import struct

from ckptctl.codec.errors import LimitExceeded, Malformed
from ckptctl.codec.pickle_machine import Machine, handles, marked, push_global, text_line
from ckptctl.codec.pickle_nodes import Opaque

__all__: list[str] = []

_INT = re.compile(rb"[+-]?[0-9]+")
_DIGITS_PER_BYTE = 4
_SOME_DIGITS = 4000  # below the bound at which int() itself refuses
_QUOTED = re.compile(
    rb"""(?s)(['"])((?:[^\\]|\\(?:[\n\\'"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}))*)\1"""
)


def _int(m: Machine, line: bytes) -> int:
    if len(line) > min(m.limits.max_int_bytes * _DIGITS_PER_BYTE, _SOME_DIGITS):
        raise LimitExceeded("a whole number of too many digits")
    if not _INT.fullmatch(line):
        raise Malformed("not a whole number")
    return int(line)


@handles(b"I")
def _int_line(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    m.stack.append(line == b"01" if line in (b"00", b"01") else _int(m, line))
    return end


@handles(b"L")
def _long_line(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    m.stack.append(_int(m, line.removesuffix(b"L")))
    return end


@handles(b"F")
def _float_line(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    m.stack.append(float(line))
    return end


@handles(b"V")
def _unicode_line(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    m.stack.append(codecs.decode(line, "raw-unicode-escape"))
    return end


@handles(b"S")
def _string_line(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    found = _QUOTED.fullmatch(line)
    if not found:
        raise Malformed("a text that is not quoted as it should be")
    _push_str(m, codecs.escape_decode(found[2])[0])
    return end


@handles(b"T")
def _binstring(m: Machine, pos: int) -> int:
    (length,) = struct.unpack_from("<i", m.data, pos)
    if length < 0:
        raise Malformed("a text of negative length")
    end = pos + 4 + int(length)
    if end > m.size:
        raise IndexError
    _push_str(m, m.data[pos + 4 : end])
    return end


@handles(b"U")
def _short_binstring(m: Machine, pos: int) -> int:
    end = pos + 1 + m.data[pos]
    if end > m.size:
        raise IndexError
    _push_str(m, m.data[pos + 1 : end])
    return end


def _push_str(m: Machine, raw: bytes) -> None:
    """A ``str`` of Python 2: text where it is ASCII, else bytes."""
    m.stack.append(raw.decode("ascii") if raw.isascii() else raw)


def _index(m: Machine, pos: int) -> tuple[int, int]:
    line, end = text_line(m, pos)
    index = _int(m, line)
    if index < 0:
        raise Malformed("a negative memo entry")
    return index, end


@handles(b"p")
def _put(m: Machine, pos: int) -> int:
    index, end = _index(m, pos)
    m.memo[index] = m.stack[-1]
    return end


@handles(b"g")
def _get(m: Machine, pos: int) -> int:
    index, end = _index(m, pos)
    if index not in m.memo:
        raise Malformed("a memo entry that is not set")
    m.stack.append(m.memo[index])
    return end


def _names(m: Machine, pos: int) -> tuple[str, str, int]:
    module, pos = text_line(m, pos)
    name, pos = text_line(m, pos)
    return module.decode(), name.decode(), pos


@handles(b"c")
def _global(m: Machine, pos: int) -> int:
    module, name, end = _names(m, pos)
    push_global(m, module, name)
    return end


@handles(b"i")
def _inst(m: Machine, pos: int) -> int:
    args = tuple(marked(m))
    module, name, end = _names(m, pos)
    push_global(m, module, name)
    m.stack[-1] = Opaque("obj", m.stack[-1], args)
    return end


@handles(b"P")
def _persid(m: Machine, pos: int) -> int:
    line, end = text_line(m, pos)
    m.stack.append(Opaque("persid", args=(line.decode("ascii"),)))
    return end
