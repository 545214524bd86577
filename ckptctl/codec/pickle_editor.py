"""Edit a pickle in place: only the opcodes of the named slots and frame lengths change.

Decision: splice, do not encode anew. Code that cloudpickle put in by value, shared
objects and memo numbers stay true because the bytes around an edit stay. Nothing that
is written makes a memo entry; what is taken out is still built and then dropped.
"""

from __future__ import annotations

from ckptctl.codec.errors import EditError, PointerError, Unsupported
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_emit import Emitter, Foreign, split_global
from ckptctl.codec.pickle_nodes import Opaque, state_dicts
from ckptctl.codec.pickle_paths import Slot, find, tracks_of
from ckptctl.codec.pickle_proof import prove
from ckptctl.codec.pickle_reader import decode
from ckptctl.codec.pickle_weave import Edits, identical, items_of, weave
from ckptctl.codec.values import Call, Path, Value

__all__ = ["PickleEditor"]


class PickleEditor:
    """Collects edits of one pickle and applies them together.

    Paths and indices always speak of the pickle as it was before any edit. Each method
    raises PointerError for a path that leads nowhere and EditError for an edit that
    cannot be made.
    """

    def __init__(
        self, data: bytes, limits: Limits | None = None, *, foreign: Foreign | None = None
    ) -> None:
        self._limits = limits or Limits()
        self.doc = decode(data, self._limits, track=True)
        if self.doc.has_dup:
            raise Unsupported("the opcode DUP, which no pickler writes, cannot be edited")
        self._emitter = Emitter(self.doc, self._limits, foreign)
        self._edits = Edits()

    def get(self, path: Path) -> object:
        """The decoded value at a path."""
        return find(self.doc, path).value

    def set(self, path: Path, value: Value) -> None:
        """Replace the value at a path. Twice the same value for one slot is fine.

        With a Call the object at the path is made in that other way wherever it is used.
        """
        slot = find(self.doc, path)
        if isinstance(value, Call):
            self._remake(path, slot, value)
            return
        known = self._edits.sets.get(slot.place)
        if known is not None and not identical(known[1], value):
            raise EditError(f"two different values for {_shown(path)}")
        self._edits.sets[slot.place] = (slot, value)

    def rename(self, old: str, new: str) -> None:
        """Give a class or function (``module:qualname``) another name wherever it is named."""
        names = [n for n in tracks_of(self.doc).names if ":".join(n) == old]
        if not names:
            raise PointerError(f"the pickle does not name {old!r}")
        if self._edits.renamed.setdefault(old, new) != new:
            raise EditError(f"two different names for {old!r}")
        for name in names:
            self._rename(name, split_global(new))

    def _rename(self, name: tuple[str, str], parts: tuple[str, str]) -> None:
        site = tracks_of(self.doc).sites[id(name)]
        if not site.items:
            self._edits.text_names[site.made] = parts
        for key, part in enumerate(parts):
            span = site.items[key] if site.items else (site.made, site.made)
            slot = Slot(owner=name, key=key, value=name[key], span=span)
            self._edits.sets[slot.place] = (slot, part)

    def _remake(self, path: Path, slot: Slot, call: Call) -> None:
        made = slot.value
        if not isinstance(made, Opaque) or made.kind != "reduce":
            raise EditError(f"not the result of a call: {_shown(path)}")
        if made.states or made.appended or made.items or made.setters:
            raise EditError(f"a call whose result was changed since: {_shown(path)}")
        known = self._edits.remade.setdefault(id(made), (made, slot, call))
        if not identical(known[2], call):
            raise EditError(f"two different values for {_shown(path)}")

    def set_key(self, path: Path, key: str, value: Value) -> None:
        """Add a key to a dict, or an attribute to an object that has a state."""
        owner = self._mapping(path, key)
        added = self._edits.added.setdefault(self._keep(owner), [])
        for name, other in added:
            if name == key:
                if not identical(other, value):
                    raise EditError(f"two different values for {_shown((*path, key))}")
                return
        added.append((key, value))

    def insert(self, path: Path, index: int, value: Value) -> None:
        """Put a value before item ``index`` of a list; its length means at the end."""
        owner = self._sequence(path)
        if not 0 <= index <= len(items_of(owner)):
            raise EditError(f"no place {index} in {_shown(path)}")
        self._edits.inserts.setdefault(self._keep(owner), []).append((index, value))

    def remove(self, path: Path, index: int | str) -> None:
        """Take item ``index`` out of a list, or a key out of a dict or state."""
        slot = find(self.doc, (*path, index))
        if slot.owner is None or isinstance(slot.owner, tuple):
            raise EditError(f"a tuple cannot lose an item: {_shown(path)}")
        owner = self._keep(slot.owner)
        if _is_item(slot):
            self._edits.removed.setdefault(owner, {})[slot.key] = slot
        else:
            self._edits.dropped.setdefault(owner, {})[slot.key] = slot

    def tobytes(self) -> bytes:
        """The edited pickle, proven to differ in the named places only.

        Raises EditError if it cannot be proven.
        """
        data = weave(self.doc, self._edits, self._emitter)
        if data is self.doc.data:
            return data
        prove(self.doc, decode(data, self._limits), self._edits.expected(), self._emitter)
        return data

    def _keep(self, owner: object) -> int:
        self._edits.owners[id(owner)] = owner
        return id(owner)

    def _sequence(self, path: Path) -> object:
        value = find(self.doc, path).value
        sequence = isinstance(value, list) or (isinstance(value, Opaque) and value.appended)
        if not sequence:
            raise EditError(f"not a list that can grow: {_shown(path)}")
        return value

    def _mapping(self, path: Path, key: str) -> object:
        value = find(self.doc, path).value
        parts: list[object] = [*state_dicts(value)]
        if isinstance(value, dict) or (isinstance(value, Opaque) and value.items):
            parts.append(value)
        if not parts:
            raise EditError(f"neither a dict nor an object with a state: {_shown(path)}")
        try:
            find(self.doc, (*path, key))
        except PointerError:
            return parts[-1]
        raise EditError(f"{key!r} is already there in {_shown(path)}")


def _is_item(slot: Slot) -> bool:
    """Whether the slot is an item of a sequence rather than a key of a mapping."""
    if isinstance(slot.owner, Opaque):
        return isinstance(slot.key, int) and slot.key < len(slot.owner.appended)
    return isinstance(slot.owner, list)


def _shown(path: Path) -> str:
    return repr("/".join(str(step) for step in path))
