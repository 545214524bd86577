"""Turn collected edits of a pickle into splices of its bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from ckptctl.codec.errors import EditError
from ckptctl.codec.pickle_copy import Knot, single_op
from ckptctl.codec.pickle_emit import Emitter
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_opcodes import (
    APPEND,
    GETS,
    LIST,
    SETITEM,
    encode_names,
    encode_text,
    operand_end,
)
from ckptctl.codec.pickle_paths import Slot, tracks_of
from ckptctl.codec.pickle_proof import Expected, Kept
from ckptctl.codec.pickle_reader import Doc
from ckptctl.codec.pickle_remade import Remade
from ckptctl.codec.pickle_splices import AFTER, BEFORE, Splices
from ckptctl.codec.pickle_tracking import Sites, Span
from ckptctl.codec.values import Call, Value, to_json

__all__ = ["Edits", "identical", "items_of", "weave"]

_SCALARS = (bool, int, float, str, bytes, type(None))
Place = tuple[int, object]


@dataclass(slots=True, kw_only=True, eq=False)
class Edits:
    """Edits of one pickle. Containers are named by their ``id``; ``owners`` holds them."""

    sets: dict[Place, tuple[Slot, Value]] = field(default_factory=dict)
    inserts: dict[int, list[tuple[int, Value]]] = field(default_factory=dict)
    removed: dict[int, dict[object, Slot]] = field(default_factory=dict)
    added: dict[int, list[tuple[str, Value]]] = field(default_factory=dict)
    dropped: dict[int, dict[object, Slot]] = field(default_factory=dict)
    owners: dict[int, object] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    """New names of classes and functions; their parts are in ``sets`` too."""
    text_names: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The new names of GLOBAL opcodes, which hold them as text, by offset."""
    remade: dict[int, tuple[Opaque, Slot, Call]] = field(default_factory=dict)
    """Objects that another call makes, by ``id``, each with one slot that holds it."""

    def expected(self) -> Expected:
        """What these edits must have changed."""
        lists = self.inserts.keys() | self.removed.keys()
        return Expected(
            values={place: value for place, (_, value) in self.sets.items()},
            sequences={owner: self.sequence(owner) for owner in lists},
            added=self.added,
            dropped={owner: set(slots) for owner, slots in self.dropped.items()},
            renamed=self.renamed,
            remade={made: call for made, (_, _, call) in self.remade.items()},
        )

    def sequence(self, owner: int) -> list[Kept | Value]:
        """What a list is made of afterwards."""
        gone = self.removed.get(owner, {})
        groups = _by_index(self.inserts.get(owner, []))
        made: list[Kept | Value] = []
        size = len(items_of(self.owners[owner]))
        for index in range(size + 1):
            made.extend(groups.get(index, []))
            if index < size and index not in gone:
                made.append(Kept(index))
        return made


def weave(doc: Doc, edits: Edits, emitter: Emitter) -> bytes:
    """The bytes with all edits in them; the same object if nothing changes."""
    weaver = _Weaver(doc, edits, emitter)
    weaver.emit()
    weaver.splice()
    return weaver.splices.apply() if weaver.splices else doc.data


class _Weaver:
    def __init__(self, doc: Doc, edits: Edits, emitter: Emitter) -> None:
        self._doc = doc
        self._data = doc.data
        self._tracks = tracks_of(doc)
        self._edits = edits
        self._emitter = emitter
        self.splices = Splices(doc)
        self._changed = [
            (slot, value)
            for slot, value in edits.sets.values()
            if slot.span[0] not in edits.text_names and not _already(slot.value, value)
        ]
        self._changed.sort(key=lambda change: change[0].span)
        self._readers = self._reader_values()
        self._covered: set[int] = set()
        self._set_parts: list[bytes] = []
        self._relaid_from: dict[int, int] = {}
        self._insert_parts: dict[int, list[tuple[int, bytes]]] = {}
        self._added_parts: dict[int, list[bytes]] = {}
        self._remade = Remade(doc, emitter.copier.pinned)

    def emit(self) -> None:
        """Write all values first: copies pin memo entries, which then must not change."""
        emit = self._emitter.emit
        self._set_parts = [emit(value, slot.span[0]) for slot, value in self._changed]
        for made, slot, call in self._edits.remade.values():
            self._remade.add(made, slot.span, emit(call, slot.span[0]))
        for owner, inserts in self._edits.inserts.items():
            site = self._site(owner)
            try:
                self._insert_parts[owner] = [
                    (index, emit(value, _insert_place(site, index))) for index, value in inserts
                ]
            except Knot:
                self._relay(owner, min(index for index, _ in inserts))
        for owner, added in self._edits.added.items():
            place = _fill_place(self._site(owner))
            self._added_parts[owner] = [
                encode_text(key) + emit(value, place) for key, value in added
            ]

    def splice(self) -> None:
        """Lay out where each value goes."""
        self._remade.splice(self.splices)
        for at, (module, name) in self._edits.text_names.items():
            self.splices.add(at, operand_end(self._data, at), AFTER, encode_names(module, name))
        for (slot, value), part in zip(self._changed, self._set_parts, strict=True):
            single = single_op(self._data, slot.span)
            if single is None or slot.span[0] not in self._covered:
                self._set(slot, value, single, part)
        for owner, removed in self._edits.removed.items():
            spans = [slot.span for at, slot in removed.items() if at not in self._relaid(owner)]
            self._remove(spans, APPEND, b"0")
        for owner in self._relaid_from:
            at = self._relaid(owner).start
            self._remove(self._site(owner).items[at:], APPEND, b"0")
        for dropped in self._edits.dropped.values():
            self._remove([slot.span for slot in dropped.values()], SETITEM, b"00")
        for owner, inserts in self._insert_parts.items():
            for index, part in inserts:
                self._insert(self._site(owner), index, part)
        for owner, parts in self._added_parts.items():
            self._add(_fill_place(self._site(owner)), parts)

    def _site(self, owner: int) -> Sites:
        site = self._tracks.sites.get(owner)
        return site if site is not None else Sites(self._edits.owners[owner])

    def _reader_values(self) -> dict[int, Value]:
        """Values to be set where a memo entry is read, by the offset of that opcode."""
        return {
            slot.span[0]: value
            for slot, value in self._changed
            if self._data[slot.span[0]] in GETS and single_op(self._data, slot.span)
        }

    def _set(
        self, slot: Slot, value: Value, single: tuple[int, list[int]] | None, part: bytes
    ) -> None:
        start, end = slot.span
        if single is None or not self._replaceable(value, single[1]):
            # Still built, for the memo entries in it, then dropped.
            self.splices.add(end, end, BEFORE, b"0" + part)
        else:
            self.splices.add(start, single[0], AFTER, part)

    def _replaceable(self, value: Value, memos: list[int]) -> bool:
        """Whether all that read the old value's memo entries are to change alike."""
        reads = [at for memo in memos for at in self._tracks.memos[memo].readers]
        if any(memo in self._emitter.copier.pinned for memo in memos):
            return False
        if reads and not isinstance(value, _SCALARS):
            return False
        if not all(at in self._readers and identical(self._readers[at], value) for at in reads):
            return False
        self._covered.update(reads)
        return True

    def _relaid(self, owner: int) -> range:
        first = self._relaid_from.get(owner)
        return range(0) if first is None else range(first, len(self._site(owner).items))

    def _relay(self, owner: int, first: int) -> None:
        """Drop the items from ``first`` on, and push them again behind the last one.

        A copy may need code that cloudpickle put in by value in an item further on; at
        the end of the list all of it has been built, and can be read from the memo.
        """
        site, items = self._site(owner), items_of(self._edits.owners[owner])
        place = _insert_place(site, len(site.items))
        parts: list[bytes] = []
        for part in self._edits.sequence(owner):
            if not isinstance(part, Kept):
                parts.append(self._emitter.emit(part, place))
            elif part.index >= first:
                changed = self._edits.sets.get((owner, part.index))
                slot = Slot(
                    owner=self._edits.owners[owner],
                    key=part.index,
                    value=items[part.index],
                    span=site.items[part.index],
                )
                made = self._emitter.emit(changed[1], place) if changed else None
                parts.append(self._emitter.again(slot, place) if made is None else made)
        self._relaid_from[owner] = first
        self._insert_parts[owner] = [(len(site.items), part) for part in parts]

    def _remove(self, spans: Sequence[Span], single: int, pops: bytes) -> None:
        for _, end in spans:
            if self._data[end] == single:
                self.splices.replace_op(end, pops)
            else:
                self.splices.add(end, end, BEFORE, pops)

    def _insert(self, site: Sites, index: int, part: bytes) -> None:
        if index < len(site.items):
            start, end = site.items[index]
            alone = self._data[end] == APPEND
            self.splices.add(start, start, AFTER, part + b"a" if alone else part)
            return
        at = site.items[-1][1] if site.items else site.made
        if at < 0:
            raise EditError("an empty sequence of this kind cannot grow")
        if self._data[at] == APPEND or (not site.items and self._data[at] != LIST):
            self.splices.extend_op(at, part + b"a")
        else:
            self.splices.add(at, at, AFTER, part)

    def _add(self, at: int, parts: list[bytes]) -> None:
        for part in parts:
            if self._data[at] in (SETITEM, ord("}")):
                self.splices.extend_op(at, part + b"s")
            else:
                self.splices.add(at, at, AFTER, part)


def items_of(owner: object) -> list[object]:
    """The items of a list, or what was appended to an Opaque."""
    values = owner.appended if isinstance(owner, Opaque) else owner
    return list(values) if isinstance(values, list | tuple) else []


def _insert_place(site: Sites, index: int) -> int:
    if index < len(site.items):
        return site.items[index][0]
    return site.items[-1][1] if site.items else max(site.made, 0)


def _fill_place(site: Sites) -> int:
    at = site.filled if site.filled >= 0 else site.made
    if at < 0:
        raise EditError("an empty mapping of this kind cannot grow")
    return at


def _by_index(inserts: list[tuple[int, Value]]) -> dict[int, list[Value]]:
    groups: dict[int, list[Value]] = {}
    for index, value in inserts:
        groups.setdefault(index, []).append(value)
    return groups


def _already(old: object, value: Value) -> bool:
    """Whether the slot holds this very scalar."""
    return type(old) is type(value) and isinstance(value, _SCALARS) and identical(old, value)


def identical(left: object, right: object) -> bool:
    """Whether two values have one and the same JSON form."""
    return json.dumps(to_json(cast(Value, left))) == json.dumps(to_json(cast(Value, right)))
