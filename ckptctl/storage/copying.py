"""Moving a folder of a bucket: every object is copied and checked before any is deleted."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from ckptctl.errors import StalePlanError
from ckptctl.storage.store import BulkStore, Entry


def move(store: BulkStore, source: str, target: str) -> None:
    """Move everything at and below `source`.

    Raises:
        FileExistsError: something is at `target`.
        FileNotFoundError: nothing is at `source`.
        StalePlanError: it changed meanwhile.
    """
    if _tree(store, target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    entries = _tree(store, source)
    if not entries:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
    moved = {entry.path: target + entry.path[len(source) :] for entry in entries}
    made: list[Entry] = []
    try:
        with store.copy([(entry, moved[entry.path]) for entry in entries]) as copied:
            made.extend(copied)
        check(store, entries, moved, _tree(store, target))
    except Exception:
        _take_back(store, entries, made, moved, target)
        raise
    if changed := store.discard(entries):
        raise StalePlanError(
            f"changed meanwhile: {store.location}: {changed[0].path}: not deleted",
            changed=tuple(entry.path for entry in changed),
            location=store.location,
        )


def _tree(store: BulkStore, path: str) -> tuple[Entry, ...]:
    """Every object at and below a path."""
    top = store.stat(path)
    mine = () if top is None or top.is_dir else (top,)
    return (*mine, *store.list_objects(path))


def check(
    store: BulkStore,
    entries: Sequence[Entry],
    moved: Mapping[str, str],
    listed: Sequence[Entry],
) -> None:
    """Raise OSError unless every entry is listed, whole, where it was copied to."""
    there = {(entry.path, entry.is_dir): entry for entry in listed}
    for entry in entries:
        copied = there.get((moved[entry.path], entry.is_dir))
        if copied is None:
            raise OSError(f"the copy of {entry.path} is not there")
        if not store.is_copy(entry, copied):
            raise OSError(f"the copy of {entry.path} is another one")


def _take_back(
    store: BulkStore,
    entries: Sequence[Entry],
    made: Sequence[Entry],
    moved: Mapping[str, str],
    target: str,
) -> None:
    """Delete the copies: those that came back are ours, whatever they hold."""
    sources = {(moved[entry.path], entry.is_dir): entry for entry in entries}
    ours = {(moved[entry.path], entry.is_dir) for entry in made}

    def is_ours(there: Entry) -> bool:
        source = sources.get((there.path, there.is_dir))
        return source is not None and (
            (there.path, there.is_dir) in ours or store.is_copy(source, there)
        )

    store.discard([there for there in _tree(store, target) if is_ours(there)])
