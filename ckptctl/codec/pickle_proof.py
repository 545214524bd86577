"""Prove that an edit changed what it was meant to change, and nothing else.

Both trees are walked in lock-step. What an edit named must be the new value; all else
must be equal, in the same order, and shared where it was shared.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from ckptctl.codec.errors import EditError
from ckptctl.codec.pickle_emit import Emitter, Source
from ckptctl.codec.pickle_nodes import Key, Opaque
from ckptctl.codec.pickle_paths import find
from ckptctl.codec.pickle_reader import Doc
from ckptctl.codec.values import Call, Copy, CopyFrom, New, Ref, Tuple, Value

__all__ = ["Expected", "Kept", "prove"]

Place = tuple[int, object]


class Kept(Struct, frozen=True):
    """A list item that stays: its index before the edit."""

    index: int


@dataclass(slots=True, kw_only=True, eq=False)
class Expected:
    """What must have changed. Containers are named by the ``id`` they had before."""

    values: dict[Place, Value] = field(default_factory=dict)
    """New values of slots; ``(0, None)`` is the root."""
    sequences: dict[int, list[Kept | Value]] = field(default_factory=dict)
    """New make-up of lists."""
    added: dict[int, list[tuple[str, Value]]] = field(default_factory=dict)
    """Keys added to dicts, in order."""
    dropped: dict[int, set[object]] = field(default_factory=dict)
    """Keys taken from dicts."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Classes and functions that are named otherwise, everywhere."""
    remade: dict[int, Call] = field(default_factory=dict)
    """Objects that another call makes."""


class _Mode(Struct, frozen=True):
    edited: bool
    """Whether edits apply below here; they do not in a copy."""
    shared: bool
    """Whether objects must be shared as before."""


_WHOLE, _REF, _COPY = _Mode(True, True), _Mode(True, False), _Mode(False, False)  # noqa: FBT003


def prove(old: Doc, new: Doc, expected: Expected, emitter: Emitter) -> None:
    """Raise EditError unless ``new`` is ``old`` with exactly the expected changes."""
    _prove_names(old, new, expected, emitter)
    if len(new.data) - new.end != len(old.data) - old.end:
        raise EditError("the edit would change where the pickle ends")
    proof = _Proof(old, expected, emitter)
    proof.slot((0, None), old.root, new.root, _WHOLE)
    proof.run()
    if proof.unused():
        raise EditError("an edit lies inside a value that another edit removes or replaces")


def _prove_names(old: Doc, new: Doc, expected: Expected, emitter: Emitter) -> None:
    """Only what an edit names may come, and what it took the name of may go."""
    came = {*emitter.globals, *expected.renamed.values()}
    went = expected.renamed.keys() - came
    kept = old.globals - expected.renamed.keys()
    if expected.remade:
        kept &= new.globals  # the name of what was called may be gone with it
    if not kept <= new.globals <= (old.globals - went) | came:
        raise EditError("the edit would change which names the pickle imports")


class _Proof:
    def __init__(self, doc: Doc, expected: Expected, emitter: Emitter) -> None:
        self._doc = doc
        self._expected = expected
        self._emitter = emitter
        self._left: list[tuple[object, object, _Mode]] = []
        self._there: dict[int, object] = {}
        self._back: dict[int, object] = {}
        self._seen: set[tuple[int, int]] = set()
        self._used: set[Place] = set()
        self._used_owners: set[int] = set()

    def unused(self) -> bool:
        expected = self._expected
        owners = expected.sequences.keys() | expected.added.keys() | expected.dropped.keys()
        owners |= expected.remade.keys()
        return bool(expected.values.keys() - self._used or owners - self._used_owners)

    def run(self) -> None:
        while self._left:
            old, new, mode = self._left.pop()
            self._compare(old, new, mode)

    def slot(self, place: Place, old: object, new: object, mode: _Mode) -> None:
        """Compare what a slot holds, which may have been set."""
        if mode.edited and place in self._expected.values:
            self._used.add(place)
            self._is(self._expected.values[place], new)
        else:
            self._left.append((old, new, mode))

    def _compare(self, old: object, new: object, mode: _Mode) -> None:
        if mode.edited and id(old) in self._expected.remade:
            if self._fresh(old, new, mode):
                self._used_owners.add(id(old))
                self._is(self._expected.remade[id(old)], new)
            return
        if type(old) is not type(new):
            raise _differs(old, new)
        if not isinstance(old, list | tuple | dict | Opaque):
            if not _equal(old, new):
                raise _differs(old, new)
        elif old != () and self._fresh(old, new, mode):
            self._inside(old, new, mode)

    def _fresh(self, old: object, new: object, mode: _Mode) -> bool:
        """Whether this pair was not compared yet; sharing must be as it was."""
        if not mode.shared:
            pair = (id(old), id(new))
            fresh = pair not in self._seen
            self._seen.add(pair)
            return fresh
        if id(old) in self._there:
            if self._there[id(old)] is not new:
                raise EditError("the edit would change which values are one object")
            return False
        if self._back.setdefault(id(new), old) is not old:
            raise EditError("the edit would change which values are one object")
        self._there[id(old)] = new
        return True

    def _inside(self, old: object, new: object, mode: _Mode) -> None:
        if isinstance(old, list | tuple) and isinstance(new, list | tuple):
            self._sequence(old, old, new, mode)
        elif isinstance(old, dict) and isinstance(new, dict):
            self._mapping(old, list(old.items()), list(new.items()), mode)
        elif isinstance(old, Opaque) and isinstance(new, Opaque):
            self._opaque(old, new, mode)

    def _opaque(self, old: Opaque, new: Opaque, mode: _Mode) -> None:
        if old.kind != new.kind:
            raise _differs(old, new)
        self._left.append((old.cls, new.cls, mode))
        self._left.append((old.args, new.args, mode))
        self._left.append((old.kwargs, new.kwargs, mode))
        self._each(old.states, new.states, mode)
        self._each(old.setters, new.setters, mode)
        self._sequence(old, old.appended, new.appended, mode)
        self._mapping(old, old.items, new.items, mode)

    def _each(self, old: Sequence[object], new: Sequence[object], mode: _Mode) -> None:
        if len(old) != len(new):
            raise _differs(old, new)
        self._left.extend((a, b, mode) for a, b in zip(old, new, strict=True))

    def _sequence(
        self, owner: object, old: Sequence[object], new: Sequence[object], mode: _Mode
    ) -> None:
        made = self._expected.sequences.get(id(owner)) if mode.edited else None
        if made is None:
            made = [Kept(index) for index in range(len(old))]
        else:
            self._used_owners.add(id(owner))
        if len(made) != len(new):
            raise EditError("the edit would change the length of another list")
        for part, item in zip(made, new, strict=True):
            if isinstance(part, Kept):
                self.slot((id(owner), part.index), old[part.index], item, mode)
            else:
                self._is(part, item)

    def _mapping(
        self,
        owner: object,
        old: Sequence[tuple[object, object]],
        new: Sequence[tuple[object, object]],
        mode: _Mode,
    ) -> None:
        added: list[tuple[str, Value]] = []
        if mode.edited and (
            id(owner) in self._expected.added or id(owner) in self._expected.dropped
        ):
            self._used_owners.add(id(owner))
            added = self._expected.added.get(id(owner), [])
            dropped = self._expected.dropped.get(id(owner), set())
            old = [pair for pair in old if isinstance(pair[0], Key) or pair[0] not in dropped]
        if len(new) != len(old) + len(added):
            raise EditError("the edit would change the keys of another dict")
        for (key, value), (new_key, new_value) in zip(old, new, strict=False):
            if isinstance(key, Key) and isinstance(new_key, Key):
                self._left.append((key.value, new_key.value, mode))
            else:
                self._left.append((key, new_key, mode))
            place = (id(owner), None if isinstance(key, Key | Opaque | tuple) else key)
            self.slot(place, value, new_value, mode)
        for (name, wanted), (new_key, new_value) in zip(added, new[len(old) :], strict=True):
            if name != new_key:
                raise _differs(name, new_key)
            self._is(wanted, new_value)

    def _is(self, value: Value, new: object) -> None:
        """Require that a value that was written is there."""
        match value:
            case list() | tuple() if isinstance(new, list):
                self._are(value, new)
            case Tuple() if isinstance(new, tuple):
                self._are(value.items, new)
            case dict() if isinstance(new, dict) and list(value) == list(new):
                self._are(list(value.values()), list(new.values()))
            case New() if isinstance(new, Opaque):
                self._is_new(value, new)
            case Call() if isinstance(new, Opaque):
                self._is_call(value, new)
            case Copy():
                self._left.append((find(self._doc, value.path).value, new, _COPY))
            case Ref():
                self._left.append((find(self._doc, value.path).value, new, _REF))
            case CopyFrom():
                source = self._emitter.source(value.pointer)
                if isinstance(source, Source):
                    self._left.append((source.slot.value, new, _COPY))
                else:
                    self._is(source, new)
            case _:
                if type(value) is not type(new) or not _equal(value, new):
                    raise _differs(value, new)

    def _are(self, values: Sequence[Value], new: Sequence[object]) -> None:
        if len(values) != len(new):
            raise _differs(values, new)
        for value, made in zip(values, new, strict=True):
            self._is(value, made)

    def _is_call(self, value: Call, new: Opaque) -> None:
        named = isinstance(new.cls, Opaque) and new.cls.kind == "global"
        bare = not (new.kwargs or new.states or new.appended or new.items or new.setters)
        if new.kind != "reduce" or not named or new.name != value.global_ or not bare:
            raise _differs(value, new)
        self._is(Tuple(value.args), new.args)

    def _is_new(self, value: New, new: Opaque) -> None:
        named = isinstance(new.cls, Opaque) and new.cls.kind == "global"
        bare = not (new.kwargs or new.appended or new.items or new.setters)
        self._is(Tuple(value.args), new.args)
        if new.kind != "newobj" or not named or new.name != value.global_ or not bare:
            raise _differs(value, new)
        if value.state:
            if len(new.states) != 1:
                raise _differs(value, new)
            self._is(dict(value.state), new.states[0])
        elif new.states:
            raise _differs(value, new)


def _equal(old: object, new: object) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return struct.pack("<d", old) == struct.pack("<d", new)
    return old == new


def _differs(old: object, new: object) -> EditError:
    kinds = f"{type(old).__name__} and {type(new).__name__}"
    return EditError(f"the edit would also change another value ({kinds})")
