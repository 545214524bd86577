"""Dropping journals that can no longer be undone."""

from __future__ import annotations

import time

from ckptctl.errors import CkptctlError
from ckptctl.executor.work import Clock, Terms, at_work, half_done
from ckptctl.journal.course import Course, course_of
from ckptctl.journal.records import EntryState, JournalEntry
from ckptctl.journal.scene import Scene
from ckptctl.journal.store import Journal, withdraw
from ckptctl.storage.store import Reader, Store


def prune(store: Store, *, clock: Clock = time.time, lock: bool = True) -> tuple[str, ...]:
    """Drop the entries that can no longer be undone; their names come back, oldest first.

    An entry stays as long as undoing later ones could bring back what it left, or as long as
    one that stays needs its bytes. A damaged one stays for a person to look at.

    Raises:
        JournalError: locked, or an apply is pending.
        LocationError: it cannot be written.
    """
    with at_work(store, Terms(clock=clock, lock=lock)):
        journal = Journal(store)
        if entry := journal.pending():
            raise half_done(store.location, entry, "prune")
        dropped = prunable(store)
        for name in dropped:
            withdraw(store, name)
        return dropped


def prunable(reader: Reader) -> tuple[str, ...]:
    """The entries that `prune` would drop now, oldest first."""
    journal = Journal(reader)
    kept = _kept(journal, Scene(reader))
    return tuple(name for name in journal.names() if name not in kept)


def _kept(journal: Journal, scene: Scene) -> set[str]:
    kept: set[str] = set()
    touched: set[str] = set()
    undone_by: dict[str, str] = {}
    needed: set[str] = set()
    for entry in reversed(journal.entries()):
        course = _course(journal, entry)
        if course is None or entry.state is EntryState.PENDING:
            kept.add(entry.name)
            continue
        if entry.state is EntryState.APPLIED:
            if entry.undoes is not None:
                undone_by[entry.undoes] = entry.name
            stays = _could_be_undone(scene, course, touched)
        else:
            stays = undone_by.get(entry.name) in kept
        if stays:
            kept.add(entry.name)
            touched |= _paths(course)
            needed |= {step.before for step in course.plan.rewrites}
    for name in journal.names():
        if name not in kept and journal.blobs_of(name) & needed:
            kept.add(name)
    return kept


def _course(journal: Journal, entry: JournalEntry) -> Course | None:
    if entry.damage is not None:
        return None
    try:
        return course_of(journal.intent(entry.name).plan)
    except CkptctlError:
        return None


def _could_be_undone(scene: Scene, course: Course, touched: set[str]) -> bool:
    """Whether what an entry left is there, or would be once later entries were undone."""
    for strand in course.strands:
        for span in strand.at(len(strand.steps)):
            if scene.complaint(span, course) is not None and span.path not in touched:
                return False
    return True


def _paths(course: Course) -> set[str]:
    return {span.path for strand in course.strands for span in strand.spans}
