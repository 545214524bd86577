"""The plan that takes an apply back: every step reversed, in reverse order."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ckptctl.errors import UsageError
from ckptctl.executor.locate import locate
from ckptctl.executor.work import half_done
from ckptctl.journal.course import course_of
from ckptctl.journal.format import with_id
from ckptctl.journal.records import EntryState, JournalEntry, unusable
from ckptctl.journal.scene import Scene
from ckptctl.journal.store import Journal
from ckptctl.model.fingerprint import fingerprint_of
from ckptctl.model.plan import MoveTree, Plan, ReplaceFile, Step
from ckptctl.storage.store import Reader


def entry_to_undo(reader: Reader, plan_id: str | None = None) -> JournalEntry | None:
    """The journal entry that `undo` would take back, or None where there is none.

    Without an id: the pending one, else the newest applied one that is not itself an undo.

    Raises:
        UsageError: no entry has this id, or it is taken back already.
        JournalError: the entry is damaged, or another one is pending.
    """
    return choose(Journal(reader), plan_id, reader.location)


def choose(journal: Journal, plan_id: str | None, location: str) -> JournalEntry | None:
    """The same with a journal that is read already."""
    entries = journal.entries()
    pending = next((e for e in reversed(entries) if e.state is EntryState.PENDING), None)
    if plan_id is None:
        # What a damaged entry did is not known: nobody may pass over it.
        last = (
            e
            for e in reversed(entries)
            if e.damage is not None or (e.state is EntryState.APPLIED and e.undoes is None)
        )
        found = pending or next(last, None)
    else:
        found = _named(entries, plan_id, location)
        if pending is not None and found != pending:
            raise half_done(location, pending, f"undo {plan_id}")
    if found is not None and found.damage is not None:
        raise unusable(found, location)
    return found


def _named(entries: Iterable[JournalEntry], plan_id: str, location: str) -> JournalEntry:
    named = [e for e in entries if plan_id in (e.plan_id, e.name)]
    if not named:
        raise UsageError(
            f"cannot undo {plan_id}: {location}: no apply has this id",
            hint="list the applies with `ckptctl history`",
            location=location,
        )
    usable = [e for e in named if e.damage is not None or e.state is not EntryState.UNDONE]
    if not usable:
        raise UsageError(
            f"cannot undo {plan_id}: {location}: it is taken back already",
            hint="to do it again, undo its undo",
            location=location,
        )
    return usable[-1]


def inverse_plan(reader: Reader, entry: JournalEntry | str) -> Plan:
    """The plan that takes an entry back; of a pending one, only what it has done.

    Raises:
        JournalError: the entry is damaged.
        ApplyError: a pending one cannot be told how far it has come.
    """
    name = entry if isinstance(entry, str) else entry.name
    journal = Journal(reader)
    intent = journal.intent(name)
    numbers = range(len(intent.plan.steps))
    if not journal.has(name, "commit.json"):
        course = course_of(intent.plan)
        standing = locate(Scene(reader), course, journal, name)
        done = [standing[strand].reaches(place) for strand, place in course.places]
        return inverse(intent.plan, name, reader.location, [n for n in numbers if done[n]])
    return inverse(intent.plan, name, reader.location, numbers)


def inverse(plan: Plan, name: str, location: str, numbers: Iterable[int]) -> Plan:
    """The plan that takes these steps of an entry's plan back."""
    steps = tuple(_reverse(plan.steps[number]) for number in reversed(list(numbers)))
    back = Plan(
        plan_id="",
        command="undo",
        location=location,
        layout=plan.layout,
        fingerprint="",
        steps=steps,
        notes=(f"takes back {plan.command} {plan.plan_id}",),
        undoes=name,
        renames=tuple((trial, new, old) for trial, old, new in reversed(plan.renames)),
        created_by=plan.created_by,
    )
    course = course_of(back)
    reads = [
        (course.start_of(number), step.before)
        for number, step in enumerate(steps)
        if isinstance(step, ReplaceFile)
    ]
    return with_id(replace(back, fingerprint=fingerprint_of(reads, back.moves)))


def _reverse(step: Step) -> Step:
    if isinstance(step, MoveTree):
        return replace(step, source=step.target, target=step.source)
    return ReplaceFile(
        file=step.file,
        kind=step.kind,
        before=step.after,
        after=step.before,
        edits=(),
        restores=step.before,
    )
