"""A mold of pickles that are alike: their common bytes, and what they hold around what differs.

A pickle fits where the bytes between its differing operands are those of the mold. The operands
are then put into a copy of the decoded value, in which all else is the mold's own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_handlers import HANDLERS
from ckptctl.codec.pickle_machine import Handler, Machine, run
from ckptctl.codec.pickle_nodes import Key, Opaque
from ckptctl.codec.pickle_opcodes import FRAME, PROTO, iter_ops

__all__ = ["Mold", "OddError", "Ops"]

_DEEPEST = 60
_FLOAT = b"G"[0]


class OddError(ValueError):
    """A pickle that none can be alike in the way of a mold, or that is not alike."""


class Ops(Struct, frozen=True, eq=False):
    """The opcodes of a pickle."""

    data: bytes
    spans: list[tuple[int, int, int]]
    """Each with its offset and that behind its operand."""

    @classmethod
    def of(cls, data: bytes) -> Ops:
        """Those of a pickle that can be read."""
        return cls(data, list(iter_ops(data, 0, len(data))))

    def differing(self, other: Ops) -> frozenset[int] | None:
        """The places where both push another scalar; None where they differ in anything else."""
        if len(self.spans) != len(other.spans):
            return None
        found = set()
        for place, ((op, at, end), (theirs, start, stop)) in enumerate(
            zip(self.spans, other.spans, strict=True)
        ):
            if self.data[at:end] == other.data[start:stop] or op == theirs == FRAME:
                continue
            if op not in _READERS or theirs not in _READERS:
                return None
            found.add(place)
        return frozenset(found)

    def floats(self) -> frozenset[int]:
        """The places of floats, which are the same in two trials by chance."""
        return frozenset(place for place, (op, _, _) in enumerate(self.spans) if op == _FLOAT)


class _Hole(Struct, frozen=True, eq=False):
    """Stands for a scalar that differs."""

    number: int


_Changes = list[tuple[Any, int]]
"""Where in a container what of the pool belongs."""


class Mold:
    """What pickles that are alike have in common.

    Raises:
        OddError: what differs is a key or a name, or it is in pieces that are told otherwise.
        PickleError: the same.
    """

    def __init__(self, ops: Ops, holes: frozenset[int]) -> None:
        self.ops, self.holes = ops, holes
        self._head, self._common = _between(ops, holes)
        numbers = {place: number for number, place in enumerate(sorted(holes))}
        root = _with_holes(ops, numbers)
        self._steps: list[tuple[Callable[[Any, _Changes, list[object]], object], Any, _Changes]]
        self._steps = []
        self._known: dict[int, int | None] = {}
        self._count = len(holes)
        self._root, self._place = root, self._visit(root, 0)
        self._known = {}

    def cast(self, data: bytes) -> object:
        """What a pickle holds that is alike.

        Raises:
            LookupError, ValueError, struct.error: it is not.
        """
        if not data.startswith(self._head) or len(data) > _LIMITS.max_bytes:
            raise OddError
        at = len(self._head)
        framed = at + 8 + int.from_bytes(data[at : at + 8], "little")
        at += 8
        pool: list[object] = []
        last = len(self._common) - 1
        for number, common in enumerate(self._common):
            if not data.startswith(common, at):
                raise OddError
            at += len(common)
            if number < last:
                value, at = _READERS[data[at]](data, at + 1)
                pool.append(value)
        if framed != at:
            raise OddError
        for make, model, changes in self._steps:
            pool.append(make(model, changes, pool))
        return self._root if self._place is None else pool[self._place]

    def _visit(self, node: object, depth: int) -> int | None:
        """Where in the pool a value will be; None where it is always the same."""
        if isinstance(node, _Hole):
            return node.number
        make = _MAKERS.get(type(node))
        if make is None:
            return None
        if id(node) in self._known:
            place = self._known[id(node)]
            if place == -1:
                raise OddError  # it holds itself
            return place
        if depth > _DEEPEST:
            raise OddError
        self._known[id(node)] = -1
        changes = [
            (key, place)
            for key, value in _parts(node)
            if (place := self._visit(value, depth + 1)) is not None
        ]
        if changes and isinstance(node, Key):
            raise OddError
        place = None
        if changes:
            place = self._count + len(self._steps)
            self._steps.append((make, node, changes))
        self._known[id(node)] = place
        return place


def _between(ops: Ops, holes: frozenset[int]) -> tuple[bytes, list[bytes]]:
    """The bytes before the length of the frame, and those before, between and behind what differs.

    One frame is around all but the protocol, as a pickle has it that is not a long one.
    """
    frames = [end for op, _, end in ops.spans if op == FRAME]
    if len(frames) != 1 or [op for op, _, _ in ops.spans[:2]] != [PROTO, FRAME]:
        raise OddError
    (begin,) = frames
    head = ops.data[: begin - 8]
    if int.from_bytes(ops.data[begin - 8 : begin], "little") != len(ops.data) - begin:
        raise OddError
    found = []
    for place in sorted(holes):
        _, at, end = ops.spans[place]
        found.append(ops.data[begin:at])
        begin = end
    return head, [*found, ops.data[begin:]]


def _with_holes(ops: Ops, numbers: Mapping[int, int]) -> object:
    """What the pickle holds, with holes for what differs."""
    holes = {
        ops.spans[place][1] + 1: (_Hole(number), ops.spans[place][2])
        for place, number in numbers.items()
    }

    def holed(handler: Handler) -> Handler:
        def push(machine: Machine, pos: int) -> int:
            if pos not in holes:
                return handler(machine, pos)
            hole, end = holes[pos]
            machine.stack.append(hole)
            return end

        return push

    handlers = [holed(own) if op in _READERS else own for op, own in enumerate(HANDLERS)]
    machine = Machine(ops.data, _LIMITS)
    run(machine, handlers, 0)
    return machine.stack[-1]


def _parts(node: object) -> Iterator[tuple[Any, object]]:
    """What a container holds, by what it is found under."""
    if isinstance(node, dict):
        for key in node:
            yield None, key
        yield from node.items()
    elif isinstance(node, Opaque):
        yield from enumerate(astuple(node))
    elif isinstance(node, Key):
        yield None, node.value
    elif isinstance(node, list | tuple):
        yield from enumerate(node)


def _dict(model: dict[object, object], changes: _Changes, pool: list[object]) -> object:
    made = model.copy()
    for key, place in changes:
        made[key] = pool[place]
    return made


def _list(model: Sequence[object], changes: _Changes, pool: list[object]) -> list[Any]:
    made = list(model)
    for key, place in changes:
        made[key] = pool[place]
    return made


def _tuple(model: tuple[object, ...], changes: _Changes, pool: list[object]) -> object:
    return tuple(_list(model, changes, pool))


def _opaque(model: Opaque, changes: _Changes, pool: list[object]) -> object:
    return Opaque(*_list(astuple(model), changes, pool))


_MAKERS: Mapping[type, Callable[[Any, _Changes, list[object]], object]] = {
    dict: _dict,
    list: _list,
    tuple: _tuple,
    Opaque: _opaque,
    Key: _opaque,
}
"""What makes a copy of a container; that of a key is never used."""


def _text(width: int) -> Callable[[bytes, int], tuple[object, int]]:
    raw = _raw(width)

    def read(data: bytes, pos: int) -> tuple[object, int]:
        text, end = raw(data, pos)
        return text.decode("utf-8", "surrogatepass"), end

    return read


def _raw(width: int) -> Callable[[bytes, int], tuple[bytes, int]]:
    def read(data: bytes, pos: int) -> tuple[bytes, int]:
        begin = pos + width
        end = begin + int.from_bytes(data[pos:begin], "little")
        return data[begin:end], end

    return read


def _number(width: int, *, signed: bool) -> Callable[[bytes, int], tuple[object, int]]:
    def read(data: bytes, pos: int) -> tuple[object, int]:
        end = pos + width
        return int.from_bytes(data[pos:end], "little", signed=signed), end

    return read


def _wide(data: bytes, pos: int) -> tuple[object, int]:
    end = pos + 1 + data[pos]
    return int.from_bytes(data[pos + 1 : end], "little", signed=True), end


def _constant(*, value: object) -> Callable[[bytes, int], tuple[object, int]]:
    return lambda _, pos: (value, pos)


def _float(data: bytes, pos: int) -> tuple[object, int]:
    return _unpack(data, pos)[0], pos + 8


_LIMITS = Limits()
_unpack = struct.Struct(">d").unpack_from
# One that runs over the end is found out by what has to stand behind it.
_READERS: Mapping[int, Callable[[bytes, int], tuple[object, int]]] = {
    b"N"[0]: _constant(value=None),
    0x88: _constant(value=True),
    0x89: _constant(value=False),
    b"K"[0]: _number(1, signed=False),
    b"M"[0]: _number(2, signed=False),
    b"J"[0]: _number(4, signed=True),
    b"G"[0]: _float,
    b"X"[0]: _text(4),
    b"C"[0]: _raw(1),  # numbers of numpy are made of them
    b"B"[0]: _raw(4),
    0x8A: _wide,
    0x8C: _text(1),
}
"""What reads a scalar behind its opcode, and tells where that ends."""
