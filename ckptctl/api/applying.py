"""Applying plans, and the ways back: what the verbs that write are made of."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ckptctl.api._cost import cost
from ckptctl.api._executor import LOCAL, Executor, copies_of, workers_of
from ckptctl.errors import (
    Cancelled,
    CkptctlError,
    JournalError,
    LayoutError,
    RefusedError,
    UsageError,
)
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Outcome, Plan

if TYPE_CHECKING:
    from ckptctl.executor import Progress
    from ckptctl.journal.records import JournalEntry
    from ckptctl.storage.store import Store

QUIET_PERIOD = 60.0
"""Seconds without a change after which a running trial counts as dead."""


def apply(
    plan: Plan,
    *,
    allow_live: bool = False,
    quiet_period: float = QUIET_PERIOD,
    no_lock: bool = False,
    progress: Progress | None = None,
    executor: Executor = LOCAL,
) -> Outcome:
    """Do what a plan says, with a journal; refuses a plan whose experiment has changed.

    `no_lock` goes on where the storage has no way to lock; where it has one, it is locked.
    `executor` is who copies the objects of a bucket, as in `scan`.
    """
    from ckptctl.executor import apply as carry_out

    place = plan.location
    store = _writable(place, allow_live=allow_live, quiet_period=quiet_period, executor=executor)
    lock, copies = _lock(store, no_lock=no_lock), copies_of(place, store, executor)
    return carry_out(store, plan, progress=progress, lock=lock, copies=copies)


def plan_undo(
    location: str, *, plan_id: str | None = None, executor: Executor = LOCAL
) -> Plan | None:
    """Plan the way back from the last apply or the one that is named; None where there is none."""
    from ckptctl.executor import entry_to_undo, inverse_plan
    from ckptctl.storage.location import open_reader

    reader = open_reader(home(location, executor=executor))
    entry = entry_to_undo(reader, plan_id)
    if entry is None:
        return None
    plan = inverse_plan(reader, entry)
    return replace(plan, notes=(*plan.notes, *cost(plan, 0, reader.capabilities)))


def undo(
    location: str,
    *,
    plan_id: str | None = None,
    allow_live: bool = False,
    quiet_period: float = QUIET_PERIOD,
    no_lock: bool = False,
    progress: Progress | None = None,
    executor: Executor = LOCAL,
) -> Outcome:
    """Take back the last apply, or the one that is named."""
    from ckptctl.executor import undo as take_back

    place = home(location, executor=executor)
    store = _writable(place, allow_live=allow_live, quiet_period=quiet_period, executor=executor)
    lock, copies = _lock(store, no_lock=no_lock), copies_of(place, store, executor)
    return take_back(store, plan_id, progress=progress, lock=lock, copies=copies)


def plan_resume(location: str, *, executor: Executor = LOCAL) -> Plan | None:
    """Read what is to be finished; None where nothing is pending.

    The plan of the apply that was interrupted, or the way back where it was being taken back.
    """
    from ckptctl.executor import inverse_plan
    from ckptctl.journal.records import unusable
    from ckptctl.journal.store import Journal
    from ckptctl.storage.location import open_reader

    reader = open_reader(home(location, executor=executor))
    journal = Journal(reader)
    entry = journal.pending()
    if entry is not None and entry.damage is not None:
        raise unusable(entry, location)
    if entry is not None and entry.rolling_back:
        return inverse_plan(reader, entry)
    if entry is None:
        return None
    # Where it lay when the apply began is no place to write to now.
    return replace(journal.intent(entry.name).plan, location=reader.location)


def resume(
    location: str,
    *,
    no_lock: bool = False,
    progress: Progress | None = None,
    executor: Executor = LOCAL,
) -> Outcome:
    """Finish an interrupted apply."""
    from ckptctl.executor import resume as go_on
    from ckptctl.storage.location import open_store

    place = home(location, executor=executor)
    store = open_store(place)
    lock, copies = _lock(store, no_lock=no_lock), copies_of(place, store, executor)
    return go_on(store, progress=progress, lock=lock, copies=copies)


def history(location: str) -> tuple[JournalEntry, ...]:
    """List every apply of the experiment at `location`, the oldest first."""
    from ckptctl.journal.store import history as of
    from ckptctl.storage.location import open_reader

    return of(open_reader(home(location)))


def prunable(location: str) -> tuple[str, ...]:
    """List the journal entries that can no longer be undone, the oldest first."""
    from ckptctl import executor
    from ckptctl.storage.location import open_reader

    return executor.prunable(open_reader(home(location)))


def prune(location: str, *, no_lock: bool = False) -> tuple[str, ...]:
    """Drop the journals that can no longer be undone; the names of their entries come back."""
    from ckptctl import executor
    from ckptctl.storage.location import open_store

    store = open_store(home(location))
    return executor.prune(store, lock=_lock(store, no_lock=no_lock))


def interrupted(plans: Sequence[Plan]) -> Cancelled:
    """Say what became of plans when Ctrl-C came, by what their journals hold."""
    from ckptctl.executor.work import ways_out
    from ckptctl.journal.records import EntryState
    from ckptctl.journal.store import history as of
    from ckptctl.storage.location import open_reader

    applied = []
    for plan in plans:
        try:
            entries = of(open_reader(plan.location))
        except CkptctlError:
            continue
        if any(entry.state is EntryState.PENDING for entry in entries):
            return Cancelled(
                f"interrupted: {plan.location}: {plan.command} {plan.plan_id} is pending",
                hint=ways_out(plan.location),
                location=plan.location,
            )
        if entries and entries[-1].plan_id == plan.plan_id:
            applied.append(plan.location)
    if not applied:
        return Cancelled("interrupted: nothing was applied")
    backs = " and ".join(f"`{shlex.join(('ckptctl', 'undo', place))}`" for place in applied)
    done = "all of it is done" if len(applied) == len(plans) else "a part of it is done"
    return Cancelled(f"interrupted: {done}", hint=f"take it back with {backs}")


def home(location: str, *, executor: Executor = LOCAL) -> str:
    """Find the one experiment that a location names; its journal lies there."""
    from ckptctl import scanner
    from ckptctl.journal.paths import OWN
    from ckptctl.storage.location import open_reader

    if open_reader(location).stat(OWN) is not None:
        return location
    read = scanner.scan(location, workers=workers_of(executor))
    found = tuple(e.location for e in read)
    if len(found) != 1:
        raise UsageError(
            f"{location} holds {len(found)} experiments, and each has a journal of its own",
            hint=f"name one of {', '.join(found[:8])}",
            location=location,
        )
    return found[0]


def looks_alive(
    location: str,
    *,
    experiment: Experiment | None = None,
    quiet_period: float = QUIET_PERIOD,
    clock: Callable[[], float] = time.time,
    executor: Executor = LOCAL,
) -> RefusedError | None:
    """Say why a run may still be writing at `location`; None where nothing looks like it."""
    from ckptctl import scanner
    from ckptctl.api._alive import why_alive

    try:
        workers = workers_of(executor)
        found = (experiment,) if experiment else scanner.scan(location, workers=workers)
        reasons = tuple(r for e in found for r in why_alive(e, clock(), quiet_period).values())
    except (LayoutError, JournalError):  # no run writes what cannot be told apart
        return None
    if not reasons:
        return None
    return RefusedError(
        f"refused: a run may still be writing to {location}: {reasons[0]}",
        reasons=reasons[1:],
        hint="wait until it has ended, or add --allow-live",
        location=location,
    )


def _writable(location: str, *, allow_live: bool, quiet_period: float, executor: Executor) -> Store:
    """Open an experiment for writing, unless a run may be writing there too."""
    from ckptctl.storage.location import open_store

    if not allow_live:
        refusal = looks_alive(location, quiet_period=quiet_period, executor=executor)
        if refusal is not None:
            raise refusal
    return open_store(location)


def _lock(store: Store, *, no_lock: bool) -> bool:
    """Lock wherever that can be done, whatever the caller would do without."""
    return store.capabilities.conditional_create or not no_lock
