"""Whether an experiment is still as it was when a plan was made, before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.codec.edit import apply_edits
from ckptctl.codec.errors import CodecError
from ckptctl.errors import RefusedError, StalePlanError
from ckptctl.journal.course import Course
from ckptctl.journal.paths import is_own, parents
from ckptctl.journal.scene import Scene, sha256
from ckptctl.journal.store import Journal
from ckptctl.model.plan import MoveTree, Plan, ReplaceFile

_NAMED = 3


def check_fresh(scene: Scene, course: Course, location: str) -> None:
    """Compare all that a plan was made from with what is there now.

    Raises:
        StalePlanError: something changed; `changed` names all of it.
    """
    scene.fetch(course.records(0))
    changed = [
        complaint for strand in course.strands for complaint in scene.complaints(course, strand, 0)
    ]
    told = {span.path for strand in course.strands for span in strand.at(0) if span.digest}
    for path, digest in course.plan.reads:
        if path not in told and (found := scene.digest(path)) != digest:
            changed.append(f"{path}: gone" if found is None else f"{path}: its content changed")
    if changed:
        raise stale(course.plan, changed, location)


def stale(plan: Plan, changed: Iterable[str], location: str) -> StalePlanError:
    """The error that names what changed."""
    found = tuple(sorted(set(changed)))
    some = "; ".join(found[:_NAMED])
    if len(found) > _NAMED:
        some += f"; and {len(found) - _NAMED} more"
    if plan.undoes is not None:
        return StalePlanError(
            f"cannot undo {plan.undoes}: {location}: changed since: {some}",
            changed=found,
            hint="undo what came later first, or leave it as it is",
            location=location,
        )
    return StalePlanError(
        f"plan is stale: {location}: changed since it was made: {some}",
        changed=found,
        hint="make the plan again",
        location=location,
    )


def check_results(scene: Scene, course: Course, journal: Journal) -> None:
    """Work out what every record will hold, and that it is what the plan says.

    Raises:
        RefusedError: it is not, which a plan made by this version never does.
    """
    for number, step in enumerate(course.plan.steps):
        if isinstance(step, ReplaceFile):
            new_content(scene.content(course.start_of(number)), step, journal)


def new_content(data: bytes, step: ReplaceFile, journal: Journal) -> bytes:
    """The bytes that a record will hold after a step. Raises RefusedError."""
    if step.restores is not None:
        new = journal.blob(step.restores)
    else:
        try:
            new = apply_edits(data, step.kind, step.edits)
        except CodecError as error:
            raise _unfit(step, str(error)) from error
    if sha256(new) != step.after:
        raise _unfit(step, "the edits give other bytes than planned")
    return new


def _unfit(step: ReplaceFile, cause: str) -> RefusedError:
    return RefusedError(
        f"plan cannot be applied: {step.file}: {cause}",
        hint="make the plan again with this version",
    )


def made_folders(scene: Scene, course: Course) -> tuple[str, ...]:
    """The folders that the moves of a plan will have to make, ckptctl's own aside."""
    moved = {m.target for m in course.plan.moves}
    wanted = {
        parent
        for step in course.plan.steps
        if isinstance(step, MoveTree) and not is_own(step.target)
        for parent in parents(step.target)
    }
    return tuple(sorted(p for p in wanted - moved if not scene.listing.exists(p)))
