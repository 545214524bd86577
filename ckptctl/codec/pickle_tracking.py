"""The machine that also remembers where each value was pushed, so it can be edited.

Beside the stack runs a list of offsets at which each stack entry begins. A value's
span runs from its first opcode to the opcode that follows its last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_handlers import HANDLERS
from ckptctl.codec.pickle_machine import Handler, Machine
from ckptctl.codec.pickle_nodes import Opaque, safe_key
from ckptctl.codec.pickle_opcodes import GETS, LITERALS, MEMOS

__all__ = ["TRACKING_HANDLERS", "Memo", "Sites", "Span", "Tracker"]

Span = tuple[int, int]
"""Offset of the first opcode of a value, and of the first one behind it."""


class Sites:
    """Where the values of one container were pushed."""

    __slots__ = ("filled", "items", "made", "owner", "values")

    def __init__(self, owner: object, made: int = -1) -> None:
        self.owner = owner
        """The container; held so that its ``id`` stays its own."""
        self.made = made
        """Offset of the opcode that made a list or dict; -1 for other things."""
        self.filled = -1
        """Offset of the opcode that last added to it; -1 if nothing was added."""
        self.items: list[Span] = []
        """Spans of list items, tuple items or what was appended to an Opaque."""
        self.values: dict[object, Span] = {}
        """Spans of the values of dict keys."""


class Memo:
    """One memo entry, at the opcode that made it.

    Not a dataclass: there is one for each text in the file, and this is twice as fast.
    """

    __slots__ = ("index", "offset", "readers", "start", "value")

    def __init__(self, offset: int, index: int, start: int, value: object) -> None:
        self.offset = offset
        self.index = index
        self.start = start
        """Where the value begins."""
        self.value = value
        self.readers: Sequence[int] = ()
        """Offsets of the opcodes that read it."""


class Tracker(Machine):
    """A machine that fills ``sites`` and ``memos``."""

    __slots__ = (
        "by_index",
        "by_reader",
        "memo_of",
        "memos",
        "meta_starts",
        "names",
        "sites",
        "starts",
    )

    def __init__(self, data: bytes, limits: Limits) -> None:
        super().__init__(data, limits)
        self.starts: list[int] = []
        self.meta_starts: list[tuple[list[int], int]] = []
        self.sites: dict[int, Sites] = {}
        self.memos: dict[int, Memo] = {}
        self.by_index: dict[int, Memo] = {}
        self.by_reader: dict[int, Memo] = {}
        self.memo_of: dict[int, Memo] = {}
        self.names: list[tuple[str, str]] = []

    def site(self, owner: object) -> Sites:
        """The sites of a container, made on first use."""
        found = self.sites.get(id(owner))
        if found is None:
            found = self.sites[id(owner)] = Sites(owner)
        return found

    def unmark(self) -> tuple[list[int], int]:
        """Starts above the last MARK, and where that MARK is."""
        above = self.starts
        self.starts, mark = self.meta_starts.pop()
        return above, mark


_SHARED = frozenset((list, dict, tuple, Opaque))
TrackingHandler = Callable[[Tracker, int], int]
TRACKING_HANDLERS: list[Handler] = list(HANDLERS)


def _tracks(opcodes: bytes) -> Callable[[Callable[[Handler], TrackingHandler]], None]:
    def register(make: Callable[[Handler], TrackingHandler]) -> None:
        for opcode in opcodes:
            # The table is only ever run with a Tracker.
            TRACKING_HANDLERS[opcode] = cast(Handler, make(HANDLERS[opcode]))

    return register


def spans(starts: list[int], end: int) -> list[Span]:
    """Each value ends where the next begins, the last at ``end``."""
    return list(zip(starts, [*starts[1:], end]))  # noqa: B905 - strict is slow


@_tracks(bytes(LITERALS) + b")2\x82\x83\x84\x8f\x97P")
def _push(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.starts.append(pos - 1)
        return end

    return handler


@_tracks(b"]}")
def _make(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.starts.append(pos - 1)
        t.sites[id(t.stack[-1])] = Sites(t.stack[-1], pos - 1)
        return end

    return handler


@_tracks(bytes(GETS))
def _get(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.starts.append(pos - 1)
        memo = t.by_index[_index(t.data, pos, end)]
        memo.readers = _also(memo.readers, pos - 1)
        t.by_reader[pos - 1] = memo
        return end

    return handler


def _also(readers: Sequence[int], offset: int) -> Sequence[int]:
    if isinstance(readers, list):
        readers.append(offset)
        return readers
    return [offset]


def _index(data: bytes, pos: int, end: int) -> int:
    if data[pos - 1] in b"gp":
        return int(data[pos : end - 1])
    return int.from_bytes(data[pos:end], "little")


@_tracks(bytes(MEMOS))
def _memoize(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        index = len(t.memo)
        end = base(t, pos)
        if end > pos:
            index = _index(t.data, pos, end)
        value = t.stack[-1]
        memo = Memo(pos - 1, index, t.starts[-1], value)
        t.memos[pos - 1] = t.by_index[index] = memo
        if type(value) in _SHARED:
            t.memo_of.setdefault(id(value), memo)
        return end

    return handler


@_tracks(b"(")
def _mark(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        t.meta_starts.append((t.starts, pos - 1))
        t.starts = []
        return base(t, pos)

    return handler


@_tracks(b"0")
def _pop(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        if t.starts:
            t.starts.pop()
        else:
            t.unmark()
        return end

    return handler


@_tracks(b"1")
def _pop_mark(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.unmark()
        return end

    return handler


@_tracks(b"c")
def _global(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.starts.append(pos - 1)
        _named(t, pos - 1)
        return end

    return handler


@_tracks(b"\x93")
def _stack_global(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        _named(t, pos - 1).items = spans(t.starts[-2:], pos - 1)
        t.starts.pop()
        return end

    return handler


def _named(t: Tracker, offset: int) -> Sites:
    """The site of the name that was just pushed: its module and its qualified name."""
    made = t.stack[-1]
    name = made.args if isinstance(made, Opaque) else ()
    t.names.append(cast("tuple[str, str]", name))
    site = t.sites[id(name)] = Sites(name, offset)
    return site


@_tracks(b"R\x81b")
def _take_one(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        t.starts.pop()
        return end

    return handler


@_tracks(b"\x92")
def _take_two(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        del t.starts[-2:]
        return end

    return handler


@_tracks(b"\x85\x86\x87")
def _short_tuple(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        made = t.stack[-1]
        size = t.data[pos - 1] - 0x84
        site = t.sites[id(made)] = Sites(made)
        site.items = spans(t.starts[-size:], pos - 1)
        del t.starts[len(t.starts) - size + 1 :]
        return end

    return handler


@_tracks(b"tl\x91oid")
def _collect(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        keys = t.stack[::2]
        end = base(t, pos)
        above, mark = t.unmark()
        t.starts.append(mark)
        made = t.stack[-1]
        site = Sites(made, pos - 1)
        if isinstance(made, dict):
            _map(site, keys, above, pos - 1)
        elif isinstance(made, list | tuple):
            site.items = spans(above, pos - 1)
        else:
            return end
        if above:
            site.filled = pos - 1
        if not isinstance(made, tuple) or made:
            t.sites[id(made)] = site
        return end

    return handler


def _map(site: Sites, keys: list[object], above: list[int], end: int) -> None:
    for key, span in zip(keys, spans(above, end)[1::2], strict=True):
        if type(key) is str or safe_key(key) is key:
            site.values[key] = span


@_tracks(b"a")
def _append(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        site = t.site(t.stack[-1])
        site.items.append((t.starts.pop(), pos - 1))
        site.filled = pos - 1
        return end

    return handler


@_tracks(b"e\x90")
def _appends(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        end = base(t, pos)
        above, _ = t.unmark()
        if above:
            site = t.site(t.stack[-1])
            site.items.extend(spans(above, pos - 1))
            site.filled = pos - 1
        return end

    return handler


@_tracks(b"s")
def _setitem(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        key = t.stack[-2]
        end = base(t, pos)
        above = t.starts[-2:]
        del t.starts[-2:]
        site = t.site(t.stack[-1])
        _map(site, [key], above, pos - 1)
        site.filled = pos - 1
        return end

    return handler


@_tracks(b"u")
def _setitems(base: Handler) -> TrackingHandler:
    def handler(t: Tracker, pos: int) -> int:
        keys = t.stack[::2]
        end = base(t, pos)
        above, _ = t.unmark()
        if above:
            site = t.site(t.stack[-1])
            _map(site, keys, above, pos - 1)
            site.filled = pos - 1
        return end

    return handler
