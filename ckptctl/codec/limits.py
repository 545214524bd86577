"""How much of a pickle is read before we give up."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Limits"]


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds that honest records of Ray stay far below."""

    max_bytes: int = 256 << 20
    """Length of a pickle, in bytes."""
    max_ops: int = 5_000_000
    """Opcodes; at the default about 3 s and 600 MB in the worst case measured."""
    max_int_bytes: int = 1024
    """Width of one whole number, in bytes (in text: four digits a byte)."""
    max_line: int = 1 << 20
    """Length of one line of a text opcode, in bytes."""
    max_nodes: int = 500_000
    """Values that ``plain`` makes and ``walk`` visits."""
    max_depth: int = 200
    """Levels of nesting that ``plain`` follows."""
    max_copy_bytes: int = 1 << 20
    """Length of the opcodes that one ``Copy`` writes."""
