"""Doing the steps of a plan, or taking them back. Nothing else changes an experiment."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ckptctl.errors import StalePlanError
from ckptctl.executor.fresh import new_content
from ckptctl.executor.work import Work
from ckptctl.journal.course import Course
from ckptctl.journal.records import Intent
from ckptctl.journal.scene import Scene, Standing, sha256
from ckptctl.journal.store import BACKWARD, FORWARD, Journal, mark
from ckptctl.model.plan import MoveTree, ReplaceFile, Step


class Run:
    """One journal entry on its way, forward or back, and how far it has come."""

    def __init__(
        self, work: Work, journal: Journal, name: str, intent: Intent, course: Course
    ) -> None:
        self.work = work
        self.name = name
        self.intent = intent
        self.course = course
        self.standing = [Standing(position=0) for _ in course.strands]
        """Of each strand."""
        self.done = 0
        """How many steps are done."""
        self.notes: list[str] = []
        """What to tell about the steps."""
        self._journal = journal
        self._store = work.store
        self._noted = {way: set(journal.marks(name, way)) for way in (FORWARD, BACKWARD)}
        self._unsynced: set[str] = set()

    @property
    def has_copied(self) -> bool:
        """Whether copies may lie around that no finished step has made."""
        return False

    @property
    def begun(self) -> int:
        """How many steps are done, or half done."""
        return sum(standing.begun for standing in self.standing)

    def stand(self, standing: Sequence[Standing]) -> None:
        """Go on from here; what is done already may not be durable yet."""
        self.standing = list(standing)
        self.done = sum(one.position for one in self.standing)
        for step in self.intent.plan.moves:
            self._touch(step)

    def forward(self) -> None:
        """Do every step that is not done, in the order of the plan."""
        steps = self.intent.plan.steps
        self.work.progress.begin("applying", len(steps))
        for number, step in enumerate(steps):
            strand, place = self.course.places[number]
            if self.standing[strand].position == place:
                self.work.between()
                self._perform(number, step, back=False)
                self.standing[strand] = Standing(position=place + 1)
                self.done += 1
                self.work.progress.advance(self.done)
            if number in self.course.marks:
                self._note(FORWARD, number)
        self._sync()
        self.work.progress.end()

    def back(self) -> None:
        """Take every step back that is done, in reverse order."""
        steps = self.intent.plan.steps
        taken, last = 0, self._last_done()
        self.work.progress.begin("taking back", self.begun)
        for number in range(last, -1, -1):
            if number in self.course.marks and number < last:
                self._note(BACKWARD, number)
            strand, place = self.course.places[number]
            if self.standing[strand].reaches(place):
                self.work.between()
                self._perform(number, steps[number], back=True)
                self.done -= self.standing[strand].position > place
                self.standing[strand] = Standing(position=place)
                taken += 1
                self.work.progress.advance(taken)
        self._sync()
        self.work.progress.end()

    def _last_done(self) -> int:
        reached = [
            number
            for number, (strand, place) in enumerate(self.course.places)
            if self.standing[strand].reaches(place)
        ]
        return reached[-1] if reached else -1

    def _perform(self, number: int, step: Step, *, back: bool) -> None:
        """The one gate through which every change of an experiment goes."""
        if isinstance(step, ReplaceFile):
            self._sync()
            self._rewrite(step, back=back)
            return
        source, target = (step.target, step.source) if back else (step.source, step.target)
        strand, _ = self.course.places[number]
        if self.standing[strand].torn and self._mend(strand, step, source, target):
            return
        try:
            self._store.move_tree(source, target)
        except FileExistsError as error:
            raise self._changed(f"{target}: exists") from error
        self._touch(step)

    def _rewrite(self, step: ReplaceFile, *, back: bool) -> None:
        before, after = (step.after, step.before) if back else (step.before, step.after)
        data = self._store.read_bytes(step.file)
        found = sha256(data)
        if found == after:
            return
        if found != before:
            raise self._changed(f"{step.file}: its content changed")
        if back:
            self._store.replace(step.file, self._journal.blob(step.before))
        else:
            self._store.replace(step.file, new_content(data, step, self._journal))

    def _mend(self, strand: int, step: MoveTree, source: str, target: str) -> bool:
        """Clear up a move that was cut off; True where nothing is left to be moved."""
        spans = self.course.strands[strand].at(self.standing[strand].position)
        tree = next(span.tree for span in spans if span.path == step.source and span.tree)
        arrived = Scene(self._store).complete(target, tree)
        rest = source if arrived else target
        self._store.remove([*(e.path for e in self._store.list_tree(rest)), rest])
        return arrived

    def _note(self, way: str, number: int) -> None:
        """Note a mark, after everything before it is durable."""
        if number not in self._noted[way]:
            self._sync()
            mark(self._store, self.name, way, number)
            self._noted[way].add(number)

    def _touch(self, step: MoveTree) -> None:
        self._unsynced |= {posixpath.dirname(step.source), posixpath.dirname(step.target)}

    def _sync(self) -> None:
        """Make the moves so far durable: no record may name what a crash takes back."""
        if self._unsynced:
            self._store.flush(sorted(self._unsynced))
            self._unsynced.clear()

    def _changed(self, what: str) -> StalePlanError:
        location = self._store.location
        return StalePlanError(
            f"changed meanwhile: {location}: {what}", changed=(what,), location=location
        )
