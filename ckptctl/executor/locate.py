"""How far an interrupted apply has come, by what lies on storage and what the journal notes."""

from __future__ import annotations

from bisect import bisect_right

from ckptctl.errors import ApplyError
from ckptctl.journal.course import Course, Strand
from ckptctl.journal.records import damaged
from ckptctl.journal.scene import Scene, Standing, positions, torn_positions
from ckptctl.journal.store import BACKWARD, FORWARD, Journal, path_of

_NAMED = 3


def locate(scene: Scene, course: Course, journal: Journal, name: str) -> list[Standing]:
    """How far each strand of an entry has come.

    Raises:
        ApplyError: something is neither as before nor as after any step.
        JournalError: the journal is damaged.
    """
    rollback = journal.rollback(name)
    if rollback is not None and len(rollback.positions) != len(course.strands):
        raise damaged(path_of(name, "rollback.json"), "it belongs to another plan")
    standing: list[Standing] = []
    lost: list[str] = []
    for number, strand in enumerate(course.strands):
        least = _passed(strand, journal.marks(name, FORWARD)[-1:])
        most = len(strand.steps)
        if rollback is not None:
            least, most = 0, min(most, rollback.positions[number])
            if marks := journal.marks(name, BACKWARD):
                most = min(most, _passed(strand, marks[:1]))
        within = range(least, most + 1)
        found = _stand(scene, course, strand, within, back=rollback is not None)
        if found is None:
            lost += _nearest(scene, course, strand)
        else:
            standing.append(found)
    if lost:
        raise _lost(scene, lost)
    return standing


def _passed(strand: Strand, marks: list[int]) -> int:
    """How many of a strand's steps come before or at a mark."""
    return bisect_right(strand.steps, marks[0]) if marks else 0


def _stand(
    scene: Scene, course: Course, strand: Strand, within: range, *, back: bool
) -> Standing | None:
    """Of the positions that fit, the nearest to where the last mark was noted."""
    choose = max if back else min
    fit = [p for p in positions(scene, course, strand) if p in within]
    if fit:
        return Standing(position=choose(fit))
    # Half of the step after its position is done, so it lies beyond that position.
    torn = [p for p in torn_positions(scene, course, strand) if p in within[:-1]]
    return Standing(position=choose(torn), torn=True) if torn else None


def _nearest(scene: Scene, course: Course, strand: Strand) -> list[str]:
    """What speaks against the position that fits best."""
    every = (
        list(scene.complaints(course, strand, position))
        for position in range(len(strand.steps) + 1)
    )
    return min(every, key=len)


def _lost(scene: Scene, lost: list[str]) -> ApplyError:
    location = scene.location
    some = "; ".join(sorted(lost)[:_NAMED])
    if len(lost) > _NAMED:
        some += f"; and {len(lost) - _NAMED} more"
    return ApplyError(
        f"cannot go on: {location}: changed since the apply was interrupted: {some}",
        hint="put back what is named, and try again; the old records are in .ckptctl/journal",
        location=location,
    )
