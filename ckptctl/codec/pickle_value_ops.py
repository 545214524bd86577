"""Handlers of the opcodes that push one value, and of the memo."""

from __future__ import annotations

import struct

from ckptctl.codec.errors import LimitExceeded, Malformed, Truncated
from ckptctl.codec.pickle_machine import Machine, checked, handles, pushes
from ckptctl.codec.pickle_nodes import Opaque

__all__: list[str] = []

_I4 = struct.Struct("<i").unpack_from
_U4 = struct.Struct("<I").unpack_from
_U8 = struct.Struct("<Q").unpack_from
_U2 = struct.Struct("<H").unpack_from
_F8 = struct.Struct(">d").unpack_from

pushes(b"N", None)
pushes(b"\x88", True)  # noqa: FBT003
pushes(b"\x89", False)  # noqa: FBT003
pushes(b")", ())


@handles(b"K")
def _binint1(m: Machine, pos: int) -> int:
    m.stack.append(m.data[pos])
    return pos + 1


@handles(b"M")
def _binint2(m: Machine, pos: int) -> int:
    m.stack.append(_U2(m.data, pos)[0])
    return pos + 2


@handles(b"J")
def _binint(m: Machine, pos: int) -> int:
    m.stack.append(_I4(m.data, pos)[0])
    return pos + 4


@handles(b"G")
def _binfloat(m: Machine, pos: int) -> int:
    m.stack.append(_F8(m.data, pos)[0])
    return pos + 8


@handles(b"\x8a")
def _long1(m: Machine, pos: int) -> int:
    end = checked(m, pos + 1 + m.data[pos])
    m.stack.append(int.from_bytes(m.data[pos + 1 : end], "little", signed=True))
    return end


@handles(b"\x8b")
def _long4(m: Machine, pos: int) -> int:
    (length,) = _I4(m.data, pos)
    if length < 0:
        raise Malformed("a number of negative length")
    end = checked(m, pos + 4 + length)
    if length > m.limits.max_int_bytes:
        raise LimitExceeded("a whole number that is too wide")
    m.stack.append(int.from_bytes(m.data[pos + 4 : end], "little", signed=True))
    return end


@handles(b"\x8c")
def _short_text(m: Machine, pos: int) -> int:
    end = pos + 1 + m.data[pos]
    if end > m.size:
        raise Truncated("a text that does not end")
    m.stack.append(m.data[pos + 1 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"X")
def _text(m: Machine, pos: int) -> int:
    end = checked(m, pos + 4 + _U4(m.data, pos)[0])
    m.stack.append(m.data[pos + 4 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"\x8d")
def _long_text(m: Machine, pos: int) -> int:
    end = checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(m.data[pos + 8 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"C")
def _short_bytes(m: Machine, pos: int) -> int:
    end = checked(m, pos + 1 + m.data[pos])
    m.stack.append(m.data[pos + 1 : end])
    return end


@handles(b"B")
def _bytes(m: Machine, pos: int) -> int:
    end = checked(m, pos + 4 + _U4(m.data, pos)[0])
    m.stack.append(m.data[pos + 4 : end])
    return end


@handles(b"\x8e")
def _long_bytes(m: Machine, pos: int) -> int:
    end = checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(m.data[pos + 8 : end])
    return end


@handles(b"\x96")
def _bytearray(m: Machine, pos: int) -> int:
    end = checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(bytearray(m.data[pos + 8 : end]))
    return end


@handles(b"\x94")
def _memoize(m: Machine, pos: int) -> int:
    m.memo[len(m.memo)] = m.stack[-1]
    return pos


@handles(b"q")
def _binput(m: Machine, pos: int) -> int:
    m.memo[m.data[pos]] = m.stack[-1]
    return pos + 1


@handles(b"r")
def _long_binput(m: Machine, pos: int) -> int:
    m.memo[_U4(m.data, pos)[0]] = m.stack[-1]
    return pos + 4


@handles(b"h")
def _binget(m: Machine, pos: int) -> int:
    _get(m, m.data[pos])
    return pos + 1


@handles(b"j")
def _long_binget(m: Machine, pos: int) -> int:
    _get(m, _U4(m.data, pos)[0])
    return pos + 4


def _get(m: Machine, index: int) -> None:
    if index not in m.memo:
        raise Malformed(f"memo entry {index} is not set")
    m.stack.append(m.memo[index])


@handles(b"Q")
def _binpersid(m: Machine, pos: int) -> int:
    m.stack[-1] = Opaque("persid", args=(m.stack[-1],))
    return pos


@handles(b"\x82")
def _ext1(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=(m.data[pos],)))
    return pos + 1


@handles(b"\x83")
def _ext2(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=_U2(m.data, pos)))
    return pos + 2


@handles(b"\x84")
def _ext4(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=_I4(m.data, pos)))
    return pos + 4


@handles(b"\x97")
def _next_buffer(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("buffer"))
    return pos


@handles(b"\x98")
def _readonly_buffer(m: Machine, pos: int) -> int:
    m.stack[-1] = m.stack[-1]
    return pos
