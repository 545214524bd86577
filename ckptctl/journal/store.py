"""The journal of an experiment: one folder for each apply, of files that never change.

    .ckptctl/journal/<NNNN>-<plan id>/
        blobs/<sha256>                the bytes of each record before it was rewritten
        plan.json                     the intent; with it the entry exists
        marks/<direction>-<step>      how far a swap has come
        rollback.json                 from here on it goes back
        commit.json                   closes it

A folder without ``plan.json`` is what an apply left that never began.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from ckptctl.errors import InternalError, JournalError
from ckptctl.journal.paths import JOURNAL, OWN, entry_name, parse_entry_name
from ckptctl.journal.records import (
    JOURNAL_FORMAT,
    MAX_PLAN,
    MAX_RECORD,
    Commit,
    EntryState,
    Intent,
    JournalEntry,
    Result,
    Rollback,
    damaged,
    intent_from_bytes,
    intent_to_bytes,
    record_from_bytes,
    record_to_bytes,
)
from ckptctl.storage.listing import Listing
from ckptctl.storage.store import Reader, Store
from ckptctl.storage.together import together

_AT_ONCE = 16

FORWARD, BACKWARD = "forward", "backward"


class Journal:
    """What the journal holds, by one listing of it, and what is read from it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._listing = Listing(reader.list_tree(JOURNAL))
        self._blobs: dict[str, list[str]] = {}
        for entry in self._listing.below(JOURNAL):
            parts = entry.path.split("/")
            if parts[3:4] == ["blobs"] and not entry.is_dir:
                self._blobs.setdefault(parts[-1], []).append(entry.path)

    def names(self) -> list[str]:
        """The folders of all entries, in order, those that never began included."""
        found = {e.path.split("/")[2] for e in self._listing.below(JOURNAL)}
        parsed = [(p[0], name) for name in found if (p := parse_entry_name(name))]
        return [name for _, name in sorted(parsed)]

    def has(self, name: str, file: str) -> bool:
        """Whether an entry has this file."""
        return self._listing.get(path_of(name, file)) is not None

    def entries(self) -> tuple[JournalEntry, ...]:
        """Every apply that began, oldest first, with what became of it."""
        found = [
            self._entry(name)
            for name in self.names()
            if self.has(name, "plan.json") or self._is_no_folder(name)
        ]
        standing: set[str] = set()
        entries: list[JournalEntry] = []
        for entry in reversed(found):
            if entry.name in standing and entry.state is EntryState.APPLIED:
                entries.append(replace(entry, state=EntryState.UNDONE))
                continue
            if entry.state is EntryState.APPLIED and entry.undoes is not None:
                standing.add(entry.undoes)
            entries.append(entry)
        return tuple(reversed(entries))

    def _is_no_folder(self, name: str) -> bool:
        entry = self._listing.get(f"{JOURNAL}/{name}")
        return entry is not None and not entry.is_dir

    def _entry(self, name: str) -> JournalEntry:
        sequence, plan_id = parse_entry_name(name) or (0, "")
        try:
            if self._is_no_folder(name):
                raise damaged(f"{JOURNAL}/{name}", "a link or a file, not a folder")
            commit = self._commit(name)
            if commit is None:
                return self._pending(name, sequence, plan_id)
        except JournalError as error:
            closed = self.has(name, "commit.json")
            return JournalEntry(
                sequence=sequence,
                name=name,
                plan_id=plan_id,
                command="",
                begun="",
                applied_at=None,
                state=EntryState.UNDONE if closed else EntryState.PENDING,
                steps=0,
                verified=False,
                damage=error.message,
            )
        applied = commit.result is Result.APPLIED
        return JournalEntry(
            sequence=sequence,
            name=name,
            plan_id=plan_id,
            command=commit.command,
            begun=commit.begun,
            applied_at=commit.at,
            state=EntryState.APPLIED if applied else EntryState.UNDONE,
            steps=commit.steps,
            undoes=commit.undoes,
            verified=commit.verified,
        )

    def _pending(self, name: str, sequence: int, plan_id: str) -> JournalEntry:
        intent = self.intent(name)
        return JournalEntry(
            sequence=sequence,
            name=name,
            plan_id=plan_id,
            command=intent.plan.command,
            begun=intent.begun,
            applied_at=None,
            state=EntryState.PENDING,
            steps=len(intent.plan.steps),
            undoes=intent.plan.undoes,
            rolling_back=self.has(name, "rollback.json"),
        )

    def _commit(self, name: str) -> Commit | None:
        if not self.has(name, "commit.json"):
            return None
        path = path_of(name, "commit.json")
        return record_from_bytes(self._reader.read_bytes(path, MAX_RECORD), Commit, path)

    def pending(self) -> JournalEntry | None:
        """The apply that was interrupted, or None."""
        found = [e for e in self.entries() if e.state is EntryState.PENDING]
        return found[-1] if found else None

    def intent(self, name: str) -> Intent:
        """What an entry set out to do. Raises JournalError where it is damaged."""
        path = path_of(name, "plan.json")
        intent = intent_from_bytes(self._reader.read_bytes(path, MAX_PLAN), path)
        if intent.plan.plan_id != (parse_entry_name(name) or (0, ""))[1]:
            raise damaged(path, "another plan than its folder says")
        return intent

    def rollback(self, name: str) -> Rollback | None:
        """From where an entry goes back, or None."""
        if not self.has(name, "rollback.json"):
            return None
        path = path_of(name, "rollback.json")
        return record_from_bytes(self._reader.read_bytes(path, MAX_RECORD), Rollback, path)

    def marks(self, name: str, direction: str) -> list[int]:
        """The steps that are noted as passed in this direction, in order."""
        folder = path_of(name, "marks")
        names = (e.path.rpartition("/")[2].partition("-") for e in self._listing.below(folder))
        return sorted(int(s) for way, _, s in names if way == direction and s.isdecimal())

    def blob(self, sha256: str) -> bytes:
        """Bytes that some entry keeps. Raises JournalError where they are gone or damaged."""
        paths = self._blobs.get(sha256, ())
        for path in paths:
            data = self._reader.read_bytes(path)
            if hashlib.sha256(data).hexdigest() == sha256:
                return data
        cause = "its content changed" if paths else "not there"
        raise damaged(f"{JOURNAL}/*/blobs/{sha256}", cause)

    def blobs_of(self, name: str) -> frozenset[str]:
        """The digests of the blobs in one entry's own folder."""
        folder = path_of(name, "blobs/")
        return frozenset(
            sha for sha, paths in self._blobs.items() if any(p.startswith(folder) for p in paths)
        )

    def next_name(self, plan_id: str) -> str:
        """The folder of the next entry."""
        names = self.names()
        last = (parse_entry_name(names[-1]) or (0, ""))[0] if names else 0
        return entry_name(last + 1, plan_id)


def path_of(name: str, file: str) -> str:
    """The path of an entry's file."""
    return f"{JOURNAL}/{name}/{file}"


def history(reader: Reader) -> tuple[JournalEntry, ...]:
    """Every apply of an experiment, oldest first."""
    return Journal(reader).entries()


class OwnWrites(Struct, frozen=True, kw_only=True):
    """What ckptctl itself has written here, so that it is not taken for a run that goes on."""

    digests: frozenset[str] = frozenset()
    """Of contents of records."""
    files: frozenset[str] = frozenset()
    """Paths of the records."""
    moved: Mapping[str, float] = field(default_factory=dict)
    """Until when folders were moved here; where moves are copies, these are new files."""


def own_writes(reader: Reader) -> OwnWrites:
    """Everything that ckptctl itself has written into an experiment, by its journal."""
    journal = Journal(reader)
    digests: set[str] = set()
    files: set[str] = set()
    moved: dict[str, float] = {}
    for entry in journal.entries():
        if entry.damage is not None:
            continue
        plan = journal.intent(entry.name).plan
        until = datetime.fromisoformat(entry.applied_at).timestamp() if entry.applied_at else inf
        for step in plan.rewrites:
            files.add(step.file)
            digests.add(step.after)
            if entry.state is not EntryState.APPLIED:
                digests.add(step.before)
        for move in plan.moves:
            moved |= {move.source: until, move.target: until}
    return OwnWrites(digests=frozenset(digests), files=frozenset(files), moved=moved)


def begin(store: Store, name: str, intent: Intent, blobs: Iterable[tuple[str, bytes]]) -> None:
    """Open an entry: first all blobs, then the intent."""

    def keep(blob: tuple[str, bytes]) -> bool:
        return store.create(path_of(name, f"blobs/{blob[0]}"), blob[1])

    with together(keep, blobs, min(store.capabilities.max_concurrency, _AT_ONCE)) as kept:
        for _ in kept:
            pass
    _write(store, path_of(name, "plan.json"), intent_to_bytes(intent))


def mark(store: Store, name: str, direction: str, step: int) -> None:
    """Note that this step was passed."""
    store.create(path_of(name, f"marks/{direction}-{step:06d}"), b"")


def begin_rollback(store: Store, name: str, positions: Sequence[int]) -> None:
    """Turn an entry round."""
    record = Rollback(format=JOURNAL_FORMAT, positions=list(positions))
    _write(store, path_of(name, "rollback.json"), record_to_bytes(record))


def close(store: Store, name: str, commit: Commit) -> None:
    """Close an entry."""
    _write(store, path_of(name, "commit.json"), record_to_bytes(commit))


def withdraw(store: Store, name: str) -> None:
    """Remove an entry, its intent first, and the journal's folders where they are empty then."""
    folder = f"{JOURNAL}/{name}"
    store.remove([path_of(name, "plan.json")])
    paths = [entry.path for entry in store.list_tree(folder)]
    store.remove([*paths, folder])
    store.remove([JOURNAL, OWN])


def _write(store: Store, path: str, data: bytes) -> None:
    # A driver that tries again after a lost answer finds what it wrote itself.
    if not store.create(path, data) and store.read_bytes(path) != data:
        raise InternalError(f"journal cannot be written: {path}: exists", location=store.location)
