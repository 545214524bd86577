"""Applying a plan, finishing an interrupted apply, and taking one back.

The law: a checkpoint is complete in at least one place at every instant, and every instant can
be recovered from the journal alone. So the journal is written before the first step, each
step is a single act or can be seen to be half done, and the journal is closed last.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from ckptctl.errors import (
    ApplyError,
    Cancelled,
    CkptctlError,
    InternalError,
    RefusedError,
    StalePlanError,
)
from ckptctl.executor.bulk import BulkRun
from ckptctl.executor.fresh import check_fresh, check_results, made_folders, stale
from ckptctl.executor.inverse import choose, inverse
from ckptctl.executor.locate import locate
from ckptctl.executor.run import Run
from ckptctl.executor.work import Clock, Copies, Progress, Terms, Work, at_work, half_done, ways_out
from ckptctl.journal.course import Course, course_of
from ckptctl.journal.format import plan_id_of
from ckptctl.journal.lock import utc
from ckptctl.journal.paths import OWN, is_own, parents
from ckptctl.journal.records import EntryState, Intent, JournalEntry, Result, commit_of
from ckptctl.journal.scene import Scene, sha256
from ckptctl.journal.store import Journal, begin, begin_rollback, close, withdraw
from ckptctl.model.plan import Outcome, Plan, ReplaceFile
from ckptctl.storage.store import Store
from ckptctl.storage.trouble import cause_of, trouble
from ckptctl.verify import unlike

_STOPPERS = (CkptctlError, OSError, KeyboardInterrupt)


def apply(  # noqa: PLR0913 - keyword-only options
    store: Store,
    plan: Plan,
    *,
    clock: Clock = time.time,
    progress: Progress | None = None,
    lock: bool = True,
    copies: Copies | None = None,
) -> Outcome:
    """Do what a plan says, or nothing.

    Args:
        store: the experiment.
        plan: as the planner made it, or as `plan_from_json` loaded it.
        clock: seconds since the epoch.
        progress: told of each step.
        lock: False only where the storage cannot lock and nothing else writes there.
        copies: who copies the objects of a bucket, if not its store.

    Raises:
        RefusedError: the plan has refusals, or cannot be done in its order.
        JournalError: locked, or an apply is pending.
        StalePlanError: the experiment changed since the plan was made; nothing was changed.
        LocationError: it cannot be written; nothing was changed.
        ApplyError: stopped part-way; the hint says how to go on or back.
        Cancelled: interrupted; the message says whether something is pending.
    """
    if plan.refusals:
        reasons = tuple(refusal.message for refusal in plan.refusals)
        raise RefusedError(
            f"cannot apply {plan.plan_id}: {store.location}: {reasons[0]}",
            reasons=reasons,
            location=store.location,
        )
    if plan.plan_id != plan_id_of(plan):
        raise InternalError(f"plan cannot be applied: {plan.plan_id}: not the id of its content")
    course = _course(store, plan)
    if not plan.steps:
        return Outcome(applied=False, steps_done=0, verified=True)
    with at_work(store, Terms(clock=clock, progress=progress, lock=lock, copies=copies)) as work:
        return _apply(work, course)


def resume(
    store: Store,
    *,
    clock: Clock = time.time,
    progress: Progress | None = None,
    lock: bool = True,
    copies: Copies | None = None,
) -> Outcome:
    """Finish an interrupted apply (or its way back) from the journal alone.

    Raises:
        JournalError: locked, or the journal is damaged.
        ApplyError: something is neither as before nor as after a step, or stopped again.
        Cancelled: interrupted again.
    """
    with at_work(store, Terms(clock=clock, progress=progress, lock=lock, copies=copies)) as work:
        journal = Journal(store)
        entry = journal.pending()
        if entry is None:
            note = "nothing is pending"
            return Outcome(applied=False, steps_done=0, verified=True, notes=(note,))
        run = _pick_up(work, journal, entry)
        return _backward(run) if entry.rolling_back else _forward(run, again=True)


def undo(  # noqa: PLR0913 - keyword-only options
    store: Store,
    plan_id: str | None = None,
    *,
    clock: Clock = time.time,
    progress: Progress | None = None,
    lock: bool = True,
    copies: Copies | None = None,
) -> Outcome:
    """Take an apply back, or do one again by taking its undo back.

    Without an id: the pending apply, else the newest one that is not itself an undo.

    Raises:
        UsageError: no apply has this id, or it is taken back already.
        JournalError: locked, or the journal is damaged.
        StalePlanError: what the apply left changed since; nothing was changed.
        LocationError: it cannot be written; nothing was changed.
        ApplyError: stopped part-way.
        Cancelled: interrupted.
    """
    with at_work(store, Terms(clock=clock, progress=progress, lock=lock, copies=copies)) as work:
        journal = Journal(store)
        entry = choose(journal, plan_id, store.location)
        if entry is None:
            note = "nothing is left to undo"
            return Outcome(applied=False, steps_done=0, verified=True, notes=(note,))
        if entry.state is EntryState.PENDING:
            run = _pick_up(work, journal, entry)
            if not entry.rolling_back:
                _turn_round(run)
            return _backward(run)
        intent = journal.intent(entry.name)
        back = inverse(intent.plan, entry.name, store.location, range(len(intent.plan.steps)))
        return _apply(work, _course(store, back), unmakes=intent.made)


def _course(store: Store, plan: Plan) -> Course:
    return course_of(plan, atomic=store.capabilities.atomic_rename)


def _apply(work: Work, course: Course, *, unmakes: tuple[str, ...] = ()) -> Outcome:
    store, plan = work.store, course.plan
    journal = Journal(store)
    if entry := journal.pending():
        raise half_done(store.location, entry, "apply")
    scene = Scene(store)
    check_fresh(scene, course, store.location)
    check_results(scene, course, journal)
    intent = Intent(
        plan=plan,
        begun=utc(work.clock()),
        made=made_folders(scene, course) if store.capabilities.directories else (),
        unmakes=unmakes,
    )
    name = journal.next_name(plan.plan_id)
    try:
        begin(store, name, intent, _old_contents(work, scene, course))
    except _STOPPERS as error:
        raise _nothing_done(work, name, error) from error
    return _forward(_run(work, journal, name, intent, course, scene), again=False)


def _run(  # noqa: PLR0913, PLR0917 - all that a run is made of
    work: Work, journal: Journal, name: str, intent: Intent, course: Course, scene: Scene
) -> Run:
    if not work.store.capabilities.bulk:
        return Run(work, journal, name, intent, course)
    run = BulkRun(work, journal, name, intent, course)
    run.start_from(scene.listing)
    return run


def _old_contents(work: Work, scene: Scene, course: Course) -> Iterator[tuple[str, bytes]]:
    for number, step in enumerate(course.plan.steps):
        if isinstance(step, ReplaceFile):
            work.between()
            path = course.start_of(number)
            data = scene.content(path)
            if sha256(data) != step.before:
                raise stale(course.plan, [f"{path}: its content changed"], work.store.location)
            yield step.before, data


def _pick_up(work: Work, journal: Journal, entry: JournalEntry) -> Run:
    """A pending entry, with what a crash left beside its records cleared away."""
    intent = journal.intent(entry.name)
    course = _course(work.store, intent.plan)
    work.store.sweep(
        sorted({s.path for strand in course.strands for s in strand.spans if s.digest})
    )
    scene = Scene(work.store)
    run = _run(work, journal, entry.name, intent, course, scene)
    run.stand(locate(scene, course, journal, entry.name))
    return run


def _turn_round(run: Run) -> None:
    reached = [standing.begun for standing in run.standing]
    begin_rollback(run.work.store, run.name, reached)


def _forward(run: Run, *, again: bool) -> Outcome:
    try:
        run.forward()
        wrong = _finish(run, Result.APPLIED, run.intent.unmakes)
    except _STOPPERS as error:
        raise _stopped(run, error, fresh=not again) from error
    return Outcome(
        applied=True,
        steps_done=run.done,
        verified=not wrong,
        entry=run.name,
        notes=(*run.work.notes, *run.notes, *wrong),
    )


def _backward(run: Run) -> Outcome:
    total = run.begun
    try:
        run.back()
        wrong = _finish(run, Result.ROLLED_BACK, run.intent.made)
    except _STOPPERS as error:
        raise _stopped(run, error, fresh=False) from error
    return Outcome(
        applied=True,
        steps_done=total,
        verified=not wrong,
        entry=run.name,
        notes=(*run.work.notes, *run.notes, *wrong),
    )


def _finish(run: Run, result: Result, unmakes: tuple[str, ...]) -> list[str]:
    """Check, clear up and close the entry; what is not as it should be comes back."""
    store = run.work.store
    wrong = unlike(Scene(store), run.course, done=result is Result.APPLIED)
    emptied = set(unmakes)
    for move in run.intent.plan.moves:
        for path in (move.source, move.target):
            emptied |= {p for p in parents(path) if is_own(p) and p != OWN}
    if emptied:
        store.remove(sorted(emptied))
    commit = commit_of(run.intent, result, utc(run.work.clock()), verified=not wrong)
    try:
        close(store, run.name, commit)
    except (CkptctlError, OSError):
        # The answer may have been lost, and not the write.
        if not Journal(store).has(run.name, "commit.json"):
            raise
    return wrong


def _stopped(run: Run, error: BaseException, *, fresh: bool) -> CkptctlError:
    """The error of a run that did not come to its end; one that changed nothing is withdrawn."""
    store, total = run.work.store, len(run.intent.plan.steps)
    # That something is in the way of the first step is known before it does anything.
    in_the_way = isinstance(error, StalePlanError) and not run.has_copied
    if fresh and run.done == 0 and (in_the_way or _untouched(run)):
        return _nothing_done(run.work, run.name, error)
    message = (
        f"apply stopped: {store.location}: {_cause(store, error)}; "
        f"{run.done} of {total} steps are done"
    )
    kind = Cancelled if isinstance(error, KeyboardInterrupt) else ApplyError
    return kind(message, hint=ways_out(store.location), location=store.location)


def _untouched(run: Run) -> bool:
    try:
        return not unlike(Scene(run.work.store), run.course, done=False)
    except (CkptctlError, OSError):
        return False


def _nothing_done(work: Work, name: str, error: BaseException) -> CkptctlError:
    """Withdraw an entry that has changed nothing; the error to raise comes back."""
    store = work.store
    try:
        withdraw(store, name)
    except (CkptctlError, OSError) as second:
        if _may_be_there(store, name):
            return ApplyError(
                f"apply stopped: {store.location}: {_cause(store, error)}; nothing was changed, "
                f"but its journal stays: {_cause(store, second)}",
                hint=ways_out(store.location),
                location=store.location,
            )
    if isinstance(error, KeyboardInterrupt):
        return Cancelled(
            f"interrupted: {store.location}: nothing was changed", location=store.location
        )
    if isinstance(error, CkptctlError):
        return error
    return trouble(error, "cannot write", store.location)


def _may_be_there(store: Store, name: str) -> bool:
    try:
        return name in Journal(store).names()
    except (CkptctlError, OSError):
        return True


def _cause(store: Store, error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if not isinstance(error, CkptctlError):
        return cause_of(error)
    return error.message.replace(f"{store.location}: ", "")
