"""Numpy scalars and arrays as plain numbers, from the bytes in their pickles.

Sources: ``scalar``, ``_frombuffer`` and ``_reconstruct`` of numpy 1.26 and 2.4. The
dtype tells the code in its arguments and the byte order in its state.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from ckptctl.codec.pickle_nodes import Opaque

__all__ = ["MISSING", "number"]

MISSING = object()
"""Stands for: not a number that can be read."""

_MAX_ITEMS = 100_000
_FORMATS = dict(
    zip(
        ("f2", "f4", "f8", "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"),
        "efd?bhiqBHIQ",
        strict=True,
    )
)
_SCALARS = ("numpy.core.multiarray:scalar", "numpy._core.multiarray:scalar")
_BUFFERS = ("numpy.core.numeric:_frombuffer", "numpy._core.numeric:_frombuffer")
_ARRAYS = ("numpy.core.multiarray:_reconstruct", "numpy._core.multiarray:_reconstruct")

Unpack = Callable[[bytes], list[object]]


def number(node: Opaque) -> object:
    """A number, text or nested list of them; MISSING if it is none or cannot be read."""
    if node.kind != "reduce" or not isinstance(node.cls, Opaque):
        return MISSING
    name = node.cls.name
    try:
        if name in _SCALARS:
            return _scalar(node)
        if name in _BUFFERS:
            return _frombuffer(node)
        if name in _ARRAYS:
            return _reconstruct(node)
    except (struct.error, ValueError, OverflowError):
        return MISSING
    return MISSING


def raw_bytes(node: object) -> bytes | None:
    """Bytes, also in the form of protocol 2: ``_codecs.encode(text, 'latin1')``."""
    if isinstance(node, bytes | bytearray):
        return bytes(node)
    if isinstance(node, Opaque) and node.kind == "reduce" and isinstance(node.cls, Opaque):
        if node.cls.name == "_codecs:encode" and len(node.args) == 2:
            text, encoding = node.args
            if isinstance(text, str) and encoding in ("latin1", "latin-1"):
                return text.encode("latin1", "replace") if _latin(text) else None
        if node.cls.name in ("builtins:bytes", "__builtin__:bytes") and not node.args:
            return b""
    return None


def _latin(text: str) -> bool:
    return all(ord(char) < 256 for char in text)


def _scalar(node: Opaque) -> object:
    if len(node.args) != 2:
        return MISSING
    dtype, raw = _dtype(node.args[0]), raw_bytes(node.args[1])
    if dtype is None or raw is None or len(raw) != dtype[0]:
        return MISSING
    return dtype[1](raw)[0]


def _frombuffer(node: Opaque) -> object:
    if len(node.args) != 4 or node.args[3] != "C":
        return MISSING
    return _array(raw_bytes(node.args[0]), node.args[1], node.args[2])


def _reconstruct(node: Opaque) -> object:
    state = node.states[0] if len(node.states) == 1 else None
    if not isinstance(state, tuple) or len(state) != 5 or state[3] is not False:
        return MISSING
    return _array(raw_bytes(state[4]), state[2], state[1])


def _array(raw: bytes | None, dtype_node: object, shape: object) -> object:
    dtype = _dtype(dtype_node)
    if raw is None or dtype is None or not isinstance(shape, tuple) or len(shape) > 8:
        return MISSING
    sizes = [size for size in shape if type(size) is int and 0 <= size <= _MAX_ITEMS]
    count = math.prod(sizes)
    if len(sizes) != len(shape) or count > _MAX_ITEMS or len(raw) != count * dtype[0]:
        return MISSING
    return _nested(dtype[1](raw), sizes) if count else []


def _nested(flat: list[object], sizes: list[int]) -> object:
    if not sizes:
        return flat[0]
    for size in reversed(sizes[1:]):
        flat = [flat[at : at + size] for at in range(0, len(flat), size)]
    return flat


def _dtype(node: object) -> tuple[int, Unpack] | None:
    """Item size in bytes, and what turns bytes into items."""
    if not isinstance(node, Opaque) or node.kind != "reduce" or node.name != "numpy:dtype":
        return None
    code = node.args[0] if node.args else None
    state = node.states[0] if len(node.states) == 1 else None
    if not isinstance(code, str) or not isinstance(state, tuple) or len(state) < 5:
        return None
    order = {"<": "<", ">": ">", "|": "<", "=": "<"}.get(str(state[1])[:1])
    if order is None or state[2] is not None or state[4] is not None:
        return None  # a sub-array or a record
    return _unpacker(code, order)


def _unpacker(code: str, order: str) -> tuple[int, Unpack] | None:
    if code in _FORMATS:
        form, size = _FORMATS[code], int(code[1:])
        return size, lambda raw: list(struct.unpack(f"{order}{len(raw) // size}{form}", raw))
    if code in ("c8", "c16"):
        size, form = int(code[1:]), "f" if code == "c8" else "d"
        return size, lambda raw: _complex(
            struct.unpack(f"{order}{2 * len(raw) // size}{form}", raw)
        )
    if code == "f16":
        return 16, lambda raw: [_x87(raw[at : at + 16], order) for at in range(0, len(raw), 16)]
    if code[:1] in ("U", "S") and code[1:].isascii() and code[1:].isdecimal() and len(code) < 6:
        size = int(code[1:]) * (4 if code[0] == "U" else 1)
        codec = "latin1" if code[0] == "S" else "utf-32-le" if order == "<" else "utf-32-be"
        return (size, lambda raw: _texts(raw, size, codec)) if size else None
    return None


def _complex(parts: tuple[float, ...]) -> list[object]:
    return [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def _texts(raw: bytes, size: int, codec: str) -> list[object]:
    return [raw[at : at + size].decode(codec).rstrip("\0") for at in range(0, len(raw), size)]


def _x87(raw: bytes, order: str) -> float:
    """An 80-bit extended float of x86, rounded to 64 bits."""
    raw = raw if order == "<" else raw[::-1]
    mantissa = int.from_bytes(raw[:8], "little")
    head = int.from_bytes(raw[8:10], "little")
    sign, exponent = -1.0 if head >> 15 else 1.0, head & 0x7FFF
    if exponent == 0x7FFF:
        return sign * (math.nan if mantissa << 1 & (1 << 64) - 1 else math.inf)
    try:
        return sign * math.ldexp(mantissa, exponent - 16383 - 63)
    except OverflowError:
        return sign * math.inf
