"""A stretch of work on one experiment: the lock, the clock, progress and interrupts."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Protocol, runtime_checkable

from msgspec import Struct

from ckptctl.errors import CkptctlError, JournalError
from ckptctl.executor.process import is_dead, this_process
from ckptctl.journal import lock as locks
from ckptctl.journal.lock import Held
from ckptctl.journal.records import JournalEntry, unusable
from ckptctl.storage.store import Entry, Store

Clock = Callable[[], float]
"""Seconds since the epoch."""


class Progress(Protocol):
    """Told how the steps go on. The default says nothing."""

    def begin(self, what: str, total: int) -> None:
        """`total` steps of something begin."""

    def advance(self, done: int) -> None:
        """So many are done."""

    def end(self) -> None:
        """No more will follow."""


@runtime_checkable
class Transfer(Protocol):
    """Progress that also wants to know of every object that is copied."""

    def transfer(self, objects: int, of_objects: int, size: int, of_size: int) -> None:
        """So many objects of so many are copied, and so many bytes of so many."""


class Copies(Protocol):
    """Who copies the objects of a bucket: its store, or others for it."""

    @property
    def unchecked(self) -> bool:
        """Whether copies were made whose content is to be compared."""

    def copy(self, pairs: Sequence[tuple[Entry, str]]) -> AbstractContextManager[Iterator[Entry]]:
        """Copy objects to paths where nothing is; each comes back once it is copied.

        When the context is left, no copy is on its way any more.
        """


class Silent:
    """Progress that nobody sees."""

    def begin(self, what: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


@dataclass(slots=True, kw_only=True)
class Work:
    """What everything that writes to an experiment has in common."""

    store: Store
    clock: Clock
    progress: Progress
    held: Held | None
    interrupted: Callable[[], bool]
    copies: Copies | None = None
    """Who copies, if not the store."""

    def between(self) -> None:
        """Between two store calls: stop if we were asked to, and keep the lock fresh."""
        if self.interrupted():
            raise KeyboardInterrupt
        if self.held is not None:
            with suppress(CkptctlError, OSError):
                self.held = locks.renew(self.store, self.held, self.clock())

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell about the lock."""
        return (self.held.note,) if self.held and self.held.note else ()


class Terms(Struct, frozen=True, kw_only=True):
    """How to work: by which clock, whom to tell, whether under the lock, and who copies."""

    clock: Clock
    progress: Progress | None = None
    lock: bool = True
    copies: Copies | None = None


@contextmanager
def at_work(store: Store, terms: Terms) -> Iterator[Work]:
    """Hold the lock of an experiment, and put off interrupts to between store calls.

    Raises:
        JournalError: another run holds the lock, or the storage cannot lock.
    """
    if terms.lock and not store.capabilities.conditional_create:
        raise JournalError(
            f"cannot lock {store.location}: its storage cannot create a file only if it is new",
            hint="make sure that nothing else writes there, and pass --no-lock",
            location=store.location,
        )
    me = this_process()
    with _interrupts_put_off() as interrupted:
        held = None
        if terms.lock:
            held = locks.acquire(store, me, terms.clock(), lambda other: is_dead(other, me))
        work = Work(
            store=store,
            clock=terms.clock,
            progress=terms.progress or Silent(),
            held=held,
            interrupted=interrupted,
            copies=terms.copies,
        )
        try:
            yield work
        finally:
            if work.held is not None:
                # A lock that stays is taken over once this process has ended.
                with suppress(CkptctlError, OSError):
                    locks.release(store, work.held)


@contextmanager
def _interrupts_put_off() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is only noted; a second one interrupts at once."""
    asked = False
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def ways_out(location: str) -> str:
    """The two commands that end a pending apply, as a hint."""
    place = shlex.quote(location)
    return f"finish it with `ckptctl resume {place}`, or take it back with `ckptctl undo {place}`"


def half_done(
    location: str, entry: JournalEntry, what: str, holder: str | None = None
) -> JournalError:
    """The error where an apply has to be ended first.

    Args:
        location: the experiment.
        entry: what is pending, or damaged.
        what: what cannot be done till then.
        holder: who holds the lock, where that is known.
    """
    if entry.damage is not None:
        return unusable(entry, location)
    at_work = "" if holder is None else f": {holder} is at work"
    wait = "" if holder is None else "wait until it has finished, or where it has ended: "
    return JournalError(
        f"cannot {what}: {location}: {entry.command or 'an apply'} {entry.plan_id} is pending"
        f"{at_work}",
        hint=f"{wait}{ways_out(location)}",
        location=location,
    )
