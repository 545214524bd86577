"""Moving folders where a store cannot rename: by copies, many at once.

All objects are copied and the copies checked, then the records are rewritten, and only then
what was copied is deleted, so that no record ever names what is not there. Moves that wait for
one another (a swap) are copied and deleted one after the other, as the plan has them.

What is deleted was listed right before, is still what was copied, and lies whole at its new
place. An object that appeared or changed under an old name meanwhile stays there and is told.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import cast

from ckptctl.errors import StalePlanError
from ckptctl.executor.run import Run
from ckptctl.executor.work import Copies, Transfer
from ckptctl.journal.scene import Standing
from ckptctl.journal.store import BACKWARD, FORWARD
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import MoveTree, ReplaceFile
from ckptctl.storage.listing import Listing
from ckptctl.storage.store import BulkStore, Entry
from ckptctl.storage.together import together

_PAGE = 1000


class _Objects:
    """A listing of objects, by path and by whether it is a marker of a folder: both can be."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = sorted(entries, key=lambda entry: entry.path)
        self.paths = [entry.path for entry in self._entries]
        self._by_name = {(entry.path, entry.is_dir): entry for entry in self._entries}

    def get(self, path: str, like: Entry) -> Entry | None:
        """The object of this path that is a marker, or is none, like another one."""
        return self._by_name.get((path, like.is_dir))

    def inside(self, path: str) -> list[Entry]:
        """What lies at and below a path."""
        top = (self._by_name.get((path, is_dir)) for is_dir in (False, True))
        first, end = self.span(path)
        return [*(entry for entry in top if entry), *self._entries[first:end]]

    def span(self, folder: str) -> tuple[int, int]:
        """Where what lies below a folder begins and ends."""
        return bisect_left(self.paths, f"{folder}/"), bisect_left(self.paths, f"{folder}0")


@dataclass(slots=True, kw_only=True)
class _Moving:
    """One move of a plan, in the direction in which it is being done."""

    number: int
    source: str
    target: str
    entries: list[Entry] = field(default_factory=list)
    """What is at `source`, and to be deleted there once it is copied."""

    def moved(self, path: str) -> str:
        """Where a path inside comes to lie."""
        return self.target + path[len(self.source) :]


class BulkRun(Run):
    """A run on a store of objects."""

    _all: _Objects | None = None
    """What there was at the first look, to know what a listing costs."""
    _seen: Listing | None = None
    """A listing made a moment ago, which saves the first look; None once a step is done."""
    _trying: Sequence[tuple[Entry, str]] = ()
    """What is being copied, or was, while nothing else has been done."""

    @property
    def has_copied(self) -> bool:
        """Whether copies may lie around that no finished step has made."""
        return bool(self._trying)

    def start_from(self, listing: Listing) -> None:
        """Take a listing made a moment ago for the first look.

        What changed since is not copied, and nothing is replaced: the copies have conditions.
        """
        self._seen = listing

    def forward(self) -> None:
        """Do every step that is not done."""
        self.work.progress.begin("applying", len(self.intent.plan.steps))
        for numbers in self._stretches(len(self.intent.plan.steps)):
            self._through(numbers, back=False)
            if numbers[-1] in self.course.marks:
                self._note(FORWARD, numbers[-1])
        self.work.progress.end()

    def back(self) -> None:
        """Take every step back that is done."""
        last = self._last_done()
        self.work.progress.begin("taking back", self.begun)
        for numbers in reversed(self._stretches(last + 1)):
            if numbers[-1] in self.course.marks and numbers[-1] < last:
                self._note(BACKWARD, numbers[-1])
            self._through(numbers[::-1], back=True)
        self.work.progress.end()

    def _stretches(self, total: int) -> list[range]:
        """The steps between marks: within each, strands need not wait for one another."""
        ends = sorted({m + 1 for m in self.course.marks if m < total} | {total})
        return [range(a, b) for a, b in zip([0, *ends], ends, strict=False) if a < b]

    def _through(self, numbers: Iterable[int], *, back: bool) -> None:
        """Do (or take back) the steps of one stretch that are not yet."""
        waiting: dict[int, list[int]] = {}
        records: list[int] = []
        for number in numbers:
            strand, place = self.course.places[number]
            standing = self.standing[strand]
            if standing.reaches(place) if back else standing.position <= place:
                if len(self.course.strands[strand].steps) == 1 and self._is_rewrite(number):
                    records.append(number)
                else:
                    waiting.setdefault(strand, []).append(number)
        last: list[_Moving] = []
        while waiting:
            last += self._round(waiting, back=back)
        for _, alike in groupby(records, key=self._kind):
            self._rewrite_all(list(alike), back=back)
        self._delete(last, back=back)

    def _round(self, waiting: dict[int, list[int]], *, back: bool) -> list[_Moving]:
        """The next step of each strand; moves that nothing waits for are left undeleted."""
        heads = {strand: numbers.pop(0) for strand, numbers in waiting.items()}
        moves = {s: self._moving(n, back=back) for s, n in heads.items() if not self._is_rewrite(n)}
        for number in heads.values():
            if self._is_rewrite(number):
                self._rewrite_one(number, back=back)
        self._copy(list(moves.values()))
        self._delete([move for strand, move in moves.items() if waiting[strand]], back=back)
        last = [move for strand, move in moves.items() if not waiting[strand]]
        for strand in [s for s, numbers in waiting.items() if not numbers]:
            del waiting[strand]
        return last

    def _is_rewrite(self, number: int) -> bool:
        return isinstance(self.intent.plan.steps[number], ReplaceFile)

    def _kind(self, number: int) -> RecordKind:
        return cast(ReplaceFile, self.intent.plan.steps[number]).kind

    def _rewrite_all(self, numbers: Sequence[int], *, back: bool) -> None:
        """Rewrite records of one kind, many at once: the order of the plan is one of kinds."""
        steps = self.intent.plan.steps
        at_once = min(self._bulk.capabilities.max_concurrency, len(numbers))
        self.work.between()
        with together(lambda n: self._perform(n, steps[n], back=back), numbers, at_once) as done:
            for number, _ in zip(numbers, done, strict=True):
                self._passed(number, back=back)
                self.work.between()

    def _rewrite_one(self, number: int, *, back: bool) -> None:
        self.work.between()
        self._perform(number, self.intent.plan.steps[number], back=back)
        self._passed(number, back=back)

    def _moving(self, number: int, *, back: bool) -> _Moving:
        step = cast(MoveTree, self.intent.plan.steps[number])
        source, target = (step.target, step.source) if back else (step.source, step.target)
        return _Moving(number=number, source=source, target=target)

    def _passed(self, number: int, *, back: bool) -> None:
        strand, place = self.course.places[number]
        self.done += -(self.standing[strand].position > place) if back else 1
        self.standing[strand] = Standing(position=place if back else place + 1)
        self._trying = ()
        self._seen = None  # it shows what was before this step
        self.work.progress.advance(len(self.intent.plan.steps) - self.done if back else self.done)

    def _copy(self, moves: Sequence[_Moving]) -> None:
        """Copy what is not copied yet."""
        if moves:
            objects = self._first_look() or self._look(moves)
            if pairs := [pair for move in moves for pair in self._lacking(move, objects)]:
                self._transfer(pairs, moves)

    def _lacking(self, move: _Moving, objects: _Objects) -> list[tuple[Entry, str]]:
        """What is to be copied; what a run before this one has copied is not."""
        strand, _ = self.course.places[move.number]
        move.entries = objects.inside(move.source)
        taken = any(not entry.is_dir for entry in objects.inside(move.target))
        if taken and not self.standing[strand].torn:
            raise self._changed(f"{move.target}: exists")
        pairs = []
        for entry in move.entries:
            there = objects.get(move.moved(entry.path), entry)
            if there is None:
                pairs.append((entry, move.moved(entry.path)))
            elif not self._bulk.is_copy(entry, there):
                raise self._changed(f"{there.path}: not a copy of {entry.path}")
        return pairs

    def _transfer(self, pairs: Sequence[tuple[Entry, str]], moves: Sequence[_Moving]) -> None:
        progress = self.work.progress if isinstance(self.work.progress, Transfer) else None
        done = size = 0
        total = sum(entry.size for entry, _ in pairs)
        if self.done == 0:
            self._trying = pairs
        copies: Copies = self.work.copies or self._bulk
        try:
            # What is on its way when this is left comes to its end before.
            with copies.copy(pairs) as copied:
                for entry in copied:
                    done, size = done + 1, size + entry.size
                    if progress is not None:
                        progress.transfer(done, len(pairs), size, total)
                    self.work.between()
            if copies.unchecked:
                self._look_at(pairs, self._look(moves))
        except StalePlanError:
            self._take_copies_back()
            raise

    def _look_at(self, pairs: Sequence[tuple[Entry, str]], objects: _Objects) -> None:
        """Compare copies before any record names them."""
        there = [(entry, target, objects.get(target, entry)) for entry, target in pairs]
        if lacking := [entry.path for entry, _, copy in there if copy is None]:
            raise OSError(f"the copy of {lacking[0]} is not there")
        others = {e.path: copy for e, _, copy in there if copy and not self._bulk.is_copy(e, copy)}
        if others:
            self._bulk.discard(list(others.values()))
            raise self._changed(f"{min(others)}: its content changed")

    def _take_copies_back(self) -> None:
        """Where something was in the way of the first copies, leave none of them behind."""
        if not self._trying:
            return
        objects = self._list([target for _, target in self._trying])
        found = [(entry, objects.get(target, entry)) for entry, target in self._trying]
        copies = [there for entry, there in found if there and self._bulk.is_copy(entry, there)]
        if not self._bulk.discard(copies):
            self._trying = ()

    def _check(self, move: _Moving, entry: Entry, objects: _Objects) -> None:
        there = objects.get(move.moved(entry.path), entry)
        if there is None:
            raise OSError(f"the copy of {entry.path} is not there")
        if not self._bulk.is_copy(entry, there):
            raise OSError(f"the copy of {entry.path} is another one")

    def _delete(self, moves: Sequence[_Moving], *, back: bool) -> None:
        """Delete what was copied, as many at once as the store takes."""
        every = iter([(move, entry) for move in moves for entry in move.entries])
        while batch := list(islice(every, self._bulk.batch)):
            self.work.between()
            self._discard(batch)
        for move in moves:
            self._passed(move.number, back=back)

    def _discard(self, batch: Sequence[tuple[_Moving, Entry]]) -> None:
        moves = {move.number: move for move, _ in batch}
        objects = self._look(list(moves.values()))
        rest = []
        for move, entry in batch:
            now = objects.get(entry.path, entry)
            if now is None:
                continue
            if now.version == entry.version:
                self._check(move, entry, objects)
                rest.append(now)
            else:
                self._keep(entry)
        for move in moves.values():
            known = {(entry.path, entry.is_dir) for entry in move.entries}
            for entry in objects.inside(move.source):
                if (entry.path, entry.is_dir) not in known:
                    self._keep(entry, "appeared")
        for entry in self._bulk.discard(rest):
            self._keep(entry)

    def _keep(self, entry: Entry, how: str = "changed") -> None:
        note = f"{entry.path} {how} while it was moved, and was not deleted"
        if note not in self.notes:
            self.notes.append(note)

    def _first_look(self) -> _Objects | None:
        listing, self._seen = self._seen, None
        if listing is None:
            return None
        # Folders without a version are only implied by names.
        self._all = _Objects(entry for entry in listing.below("") if entry.version is not None)
        return self._all

    def _look(self, moves: Iterable[_Moving]) -> _Objects:
        return self._list([path for move in moves for path in (move.source, move.target)])

    def _list(self, paths: Iterable[str]) -> _Objects:
        """The objects at and below these paths and around them, in the fewest requests."""
        roots = _outermost({posixpath.dirname(path) for path in paths})
        if self._all is None or self._pages("") <= sum(map(self._pages, roots)):
            roots = [""]
        at_once = self._bulk.capabilities.max_concurrency
        with together(self._bulk.list_objects, roots, min(at_once, len(roots))) as parts:
            found = _Objects(entry for part in parts for entry in part)
        self._all = self._all or found
        return found

    def _pages(self, root: str) -> int:
        """How many requests it takes to list what is below a folder."""
        if self._all is None:
            return 1
        first, end = self._all.span(root) if root else (0, len(self._all.paths))
        return -(-(end - first) // _PAGE) or 1

    @property
    def _bulk(self) -> BulkStore:
        return cast(BulkStore, self._store)


def _outermost(folders: Iterable[str]) -> list[str]:
    """The folders that lie in none of the others."""
    found: list[str] = []
    for folder in sorted(folders):
        if not any(not root or folder.startswith(f"{root}/") for root in found):
            found.append(folder)
    return found
