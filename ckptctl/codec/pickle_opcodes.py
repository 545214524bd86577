"""Opcodes of pickle protocols 0 to 5: their operands, and the ones we write.

Source: PEP 307, 3154 and 574 and the opcode list of CPython's ``pickletools``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ckptctl.codec.errors import EditError

__all__ = [
    "GETS",
    "LITERALS",
    "MEMOS",
    "encode_get",
    "encode_names",
    "encode_scalar",
    "encode_text",
    "iter_ops",
    "operand_end",
]

LINE, TWO_LINES, LEN1, LEN4, LEN8, UNKNOWN = -1, -2, -3, -4, -5, -9

_FIXED = {
    0: b"(.012NQRabdoltu}])es\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98",
    1: b"Khq\x80\x82",
    2: b"M\x83",
    4: b"Jjr\x84",
    8: b"G\x95",
    LINE: b"FILPSVgp",
    TWO_LINES: b"ci",
    LEN1: b"UC\x8c\x8a",
    LEN4: b"TXB\x8b",
    LEN8: b"\x8d\x8e\x96",
}
_OPERANDS = [UNKNOWN] * 256
for _size, _ops in _FIXED.items():
    for _op in _ops:
        _OPERANDS[_op] = _size

GETS = frozenset(b"ghj")
"""Opcodes that push a memo entry."""
MEMOS = frozenset(b"pqr\x94")
"""Opcodes that make a memo entry of the topmost value."""
LITERALS = frozenset(b"FGIJKLMNSTUVXBC\x88\x89\x8a\x8b\x8c\x8d\x8e\x96")
"""Opcodes that push one value and take nothing from the stack."""
MARK, STOP, POP, APPEND, APPENDS, FRAME, PROTO = (
    b"("[0],
    b"."[0],
    b"0"[0],
    b"a"[0],
    b"e"[0],
    0x95,
    0x80,
)
SETITEM, SETITEMS, LIST, DICT = b"s"[0], b"u"[0], b"l"[0], b"d"[0]

_WIDTHS = {LEN1: (1, False), LEN4: (4, False), LEN8: (8, False)}


def operand_end(data: bytes, pos: int) -> int:
    """Offset behind the opcode at ``pos`` and its operand; it may lie past the end."""
    size = _OPERANDS[data[pos]]
    pos += 1
    if size >= 0:
        return pos + size
    if size == LINE:
        return _line_end(data, pos)
    if size == TWO_LINES:
        return _line_end(data, _line_end(data, pos))
    if size == UNKNOWN:
        return pos
    width = _WIDTHS[size][0]
    if pos + width > len(data):
        return pos + width
    return pos + width + int.from_bytes(data[pos : pos + width], "little")


def _line_end(data: bytes, pos: int) -> int:
    end = data.find(b"\n", pos)
    return end + 1 if end >= 0 else len(data) + 1


def iter_ops(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """``(opcode, offset, offset behind)`` of the opcodes in a well-formed range."""
    pos = start
    while pos < end:
        after = operand_end(data, pos)
        yield data[pos], pos, after
        pos = after


def encode_text(text: str) -> bytes:
    """The shortest opcode that pushes a text, without a memo entry."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) < 1 << 8:
        return b"\x8c" + bytes((len(raw),)) + raw
    if len(raw) < 1 << 32:
        return b"X" + struct.pack("<I", len(raw)) + raw
    return b"\x8d" + struct.pack("<Q", len(raw)) + raw


def encode_names(module: str, name: str) -> bytes:
    """The opcode GLOBAL. Raises EditError where it cannot hold the names."""
    if "\n" in module + name:
        raise EditError("a name with a line end cannot be written")
    return b"c" + f"{module}\n{name}\n".encode()


def encode_scalar(value: bool | float | str | bytes | None) -> bytes:  # noqa: FBT001
    """The opcode that pushes a scalar. Raises EditError for an int wider than 255 bytes."""
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return _encode_int(value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return encode_text(value)
        case bytes():
            return _encode_bytes(value)


def _encode_int(value: int) -> bytes:
    if 0 <= value < 1 << 8:
        return b"K" + bytes((value,))
    if 0 <= value < 1 << 16:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    width = (value.bit_length() >> 3) + 1
    if width > 255:
        raise EditError("a whole number of more than 255 bytes cannot be written")
    return b"\x8a" + bytes((width,)) + value.to_bytes(width, "little", signed=True)


def _encode_bytes(value: bytes) -> bytes:
    if len(value) < 1 << 8:
        return b"C" + bytes((len(value),)) + value
    return b"\x8e" + struct.pack("<Q", len(value)) + value


def encode_get(index: int) -> bytes:
    """The opcode that pushes memo entry ``index``."""
    if index < 1 << 8:
        return b"h" + bytes((index,))
    if index < 1 << 32:
        return b"j" + struct.pack("<I", index)
    return b"g%d\n" % index
