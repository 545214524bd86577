"""Read pickles without running them: ``decode(bytes) -> Doc``.

Decision: a symbolic machine of our own, because CPython's unpickler with stub classes
still calls registered extension codes, hashes what the file describes, allocates what
it announces, and tells no offsets.
"""

from __future__ import annotations

from msgspec import Struct

from ckptctl.codec.errors import LimitExceeded, Malformed
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_handlers import HANDLERS
from ckptctl.codec.pickle_machine import Machine, run
from ckptctl.codec.pickle_nodes import (
    Key,
    Opaque,
    attr,
    attr_dict,
    attr_int,
    attr_list,
    attr_str,
    attrs,
    walk,
)
from ckptctl.codec.pickle_plain import plain
from ckptctl.codec.pickle_tracking import TRACKING_HANDLERS, Memo, Sites, Span, Tracker

__all__ = [
    "Doc",
    "Key",
    "Limits",
    "Opaque",
    "Tracks",
    "attr",
    "attr_dict",
    "attr_int",
    "attr_list",
    "attr_str",
    "attrs",
    "decode",
    "plain",
    "walk",
]


class Tracks(Struct, frozen=True, kw_only=True, eq=False):
    """Where things are in the bytes; only there after ``decode(track=True)``."""

    root: Span
    sites: dict[int, Sites]
    """Sites of each container by its ``id``."""
    memos: dict[int, Memo]
    """Memo entries by the offset of the opcode that made them."""
    by_reader: dict[int, Memo]
    """The entry that the opcode at an offset reads."""
    memo_of: dict[int, Memo]
    """The entry of a container or Opaque, by its ``id``."""
    names: list[tuple[str, str]]
    """Module and qualified name of every global, each time that it is named anew."""


class Doc(Struct, frozen=True, kw_only=True, eq=False):
    """One decoded pickle."""

    root: object
    data: bytes
    start: int
    end: int
    """Offset behind STOP; what follows is not part of this pickle."""
    proto: int
    nops: int
    globals: frozenset[str]
    """``module:qualname`` of all that a real unpickler would import."""
    frames: tuple[tuple[int, int], ...]
    """First and last offset (exclusive) of each frame's content."""
    has_dup: bool
    tracks: Tracks | None


def decode(
    data: bytes, limits: Limits | None = None, *, track: bool = False, start: int = 0
) -> Doc:
    """Decode the pickle at ``start``. Raises PickleError and nothing else."""
    limits = limits or Limits()
    if len(data) - start > limits.max_bytes:
        raise LimitExceeded(f"more than {limits.max_bytes} bytes")
    if start < 0:
        raise Malformed("a pickle cannot begin before the bytes do")
    machine = Tracker(data, limits) if track else Machine(data, limits)
    end, nops = run(machine, TRACKING_HANDLERS if track else HANDLERS, start)
    return Doc(
        root=machine.stack[-1],
        data=data,
        start=start,
        end=end,
        proto=machine.proto,
        nops=nops,
        globals=frozenset(machine.globals),
        frames=tuple(machine.frames),
        has_dup=machine.dup,
        tracks=_tracks(machine, end) if isinstance(machine, Tracker) else None,
    )


def _tracks(tracker: Tracker, end: int) -> Tracks:
    return Tracks(
        root=(tracker.starts[-1], end - 1),
        sites=tracker.sites,
        memos=tracker.memos,
        by_reader=tracker.by_reader,
        memo_of=tracker.memo_of,
        names=tracker.names,
    )
