"""Find a value in a tracked pickle by its path, and the span of its opcodes."""

from __future__ import annotations

from msgspec import Struct

from ckptctl.codec.errors import PointerError
from ckptctl.codec.pickle_nodes import Opaque, state_dicts
from ckptctl.codec.pickle_reader import Doc, Tracks
from ckptctl.codec.pickle_tracking import Span
from ckptctl.codec.values import Path

__all__ = ["Slot", "find", "tracks_of"]


class Slot(Struct, frozen=True, kw_only=True, eq=False):
    """A place in a container that holds a value."""

    owner: object
    """The container; None for the root."""
    key: object
    """Index or key in the container."""
    value: object
    span: Span

    @property
    def place(self) -> tuple[int, object]:
        """What tells slots apart, however they were reached."""
        return (id(self.owner) if self.owner is not None else 0, self.key)


def tracks_of(doc: Doc) -> Tracks:
    """The tracks of a document that was decoded with ``track=True``."""
    if doc.tracks is None:
        raise ValueError("the pickle was decoded without tracks")
    return doc.tracks


def find(doc: Doc, path: Path) -> Slot:
    """The slot at a path. Raises PointerError if nothing is there.

    A text is a dict key or an attribute, a number an index; a text of digits is an
    index where there is a sequence, and a whole-number key where there is no such text.
    """
    tracks = tracks_of(doc)
    slot = Slot(owner=None, key=None, value=doc.root, span=tracks.root)
    for depth, step in enumerate(path):
        found = _step(tracks, slot.value, step)
        if found is None:
            shown = "/".join(str(part) for part in path[: depth + 1])
            raise PointerError(f"nothing at {shown!r} in the pickle")
        slot = found
    return slot


def _step(tracks: Tracks, node: object, step: str | int) -> Slot | None:
    if isinstance(node, list | tuple):
        return _in_sequence(tracks, node, node, step)
    if isinstance(node, dict):
        return _in_dict(tracks, node, step)
    if not isinstance(node, Opaque):
        return None
    for part in reversed(state_dicts(node)):
        found = _in_dict(tracks, part, step)
        if found is not None:
            return found
    if node.kind in ("set", "frozenset"):
        return None
    return _in_sequence(tracks, node, node.appended, step) or _in_items(tracks, node, step)


def _in_sequence(tracks: Tracks, owner: object, values: object, step: str | int) -> Slot | None:
    at = as_index(step)
    site = tracks.sites.get(id(owner))
    if at is None or site is None or not isinstance(values, list | tuple):
        return None
    if at >= len(values) or at >= len(site.items):
        return None
    return Slot(owner=owner, key=at, value=values[at], span=site.items[at])


def _in_dict(tracks: Tracks, owner: dict[object, object], step: str | int) -> Slot | None:
    site = tracks.sites.get(id(owner))
    for key in _keys(step):
        if site is not None and key in owner and key in site.values:
            return Slot(owner=owner, key=key, value=owner[key], span=site.values[key])
    return None


def _in_items(tracks: Tracks, owner: Opaque, step: str | int) -> Slot | None:
    site = tracks.sites.get(id(owner))
    for key in _keys(step):
        if site is None or key not in site.values:
            continue
        values = [value for kept, value in owner.items if type(kept) is type(key) and kept == key]
        if values:
            return Slot(owner=owner, key=key, value=values[-1], span=site.values[key])
    return None


def _keys(step: str | int) -> tuple[str | int, ...]:
    if isinstance(step, int):
        return (step,)
    at = as_index(step)
    return (step,) if at is None else (step, at)


def as_index(step: str | int) -> int | None:
    """A step as an index from 0, or None."""
    if isinstance(step, int):
        return step if step >= 0 else None
    if step.isascii() and step.isdecimal() and len(step) < 10 and (step == "0" or step[0] != "0"):
        return int(step)
    return None
