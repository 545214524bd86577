"""Who is at work on an experiment: one lock, and no way for two to believe they hold it.

``lock.json`` is made by conditional create. Where its holder is dead, nobody removes it, since
between looking and removing it could have become another's. Instead the one who creates
``lock-<token of the dead>.json`` is the successor, and that file is the lock from then on; a
successor that died has a successor of its own. Releasing removes ``lock.json`` first: without
it the rest means nothing. Tokens are never used twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from ckptctl.errors import CkptctlError, JournalError, LocationError
from ckptctl.journal.paths import LOCK, OWN
from ckptctl.journal.records import JOURNAL_FORMAT, MAX_RECORD, record_from_bytes, record_to_bytes
from ckptctl.storage.store import Reader, Store

LEASE = 300.0
"""Seconds after which a lock that was not renewed has probably lost its holder."""
_TRIES = 8


class Holder(Struct, frozen=True, kw_only=True):
    """A process that holds, or would hold, the lock."""

    host: str
    pid: int
    started: str
    """When the process started, as its machine tells it; tells a pid used again."""
    boot: str = ""
    """Changes whenever the machine starts."""
    space: str = ""
    """The namespace in which the pid counts: containers of one machine differ."""


class Lock(msgspec.Struct, kw_only=True):
    """``lock.json``."""

    format: int
    token: str
    host: str
    pid: int
    started: str
    boot: str
    space: str
    taken: float
    renewed: float
    lease: float

    @property
    def holder(self) -> Holder:
        """The process that holds it."""
        return Holder(
            host=self.host,
            pid=self.pid,
            started=self.started,
            boot=self.boot,
            space=self.space,
        )


class Held(Struct, frozen=True, kw_only=True):
    """A lock that is ours."""

    lock: Lock
    chain: tuple[str, ...]
    """The files that make it ours, ``lock.json`` first; the last holds our own record."""
    note: str | None = None
    """What to tell: whose lock was taken over."""


IsDead = Callable[[Holder], bool]
"""Whether a process is known to have ended; False where that cannot be known."""


def acquire(store: Store, me: Holder, now: float, is_dead: IsDead) -> Held:
    """Take the lock.

    Raises:
        JournalError: another run holds it.
        LocationError: it cannot be written.
    """
    mine = _lock_of(me, now)
    for _ in range(_TRIES):
        if _create(store, LOCK, mine):
            return Held(lock=mine, chain=(LOCK,))
        chain = _chain(store)
        if not chain:
            continue
        current = chain[-1][1]
        if current.token == mine.token:
            # A driver tried again after a lost answer, and found what it wrote itself.
            return Held(lock=mine, chain=tuple(path for path, _ in chain))
        if not is_dead(current.holder):
            raise _taken(store, current, now)
        claim = _claim(current)
        made = _create(store, claim, mine)
        chain = _chain(store)
        if chain and chain[-1][1].token == mine.token:
            note = f"took over the lock of a run that has ended ({_who(current, now)})"
            return Held(lock=mine, chain=tuple(path for path, _ in chain), note=note)
        # Another was faster, or the lock was released between our look and our claim.
        if made:
            store.remove([claim])
    raise JournalError(
        f"cannot lock {store.location}: others keep taking the lock",
        hint="try again in a moment",
        location=store.location,
    )


def _create(store: Store, path: str, mine: Lock) -> bool:
    """Make a lock; one that was made though an error came leaves nothing behind."""
    try:
        return store.create(path, record_to_bytes(mine))
    except (CkptctlError, OSError):
        with suppress(CkptctlError, OSError):
            release(store, Held(lock=mine, chain=tuple(path for path, _ in _chain(store))))
        raise


def release(store: Store, held: Held) -> None:
    """Give the lock back; nothing happens where it is no longer ours."""
    if not _is_ours(store, held):
        return
    first, *rest = held.chain
    store.remove([first])
    if store.capabilities.directories:
        rest.append(OWN)
    if rest:
        store.remove(rest)


def renew(store: Store, held: Held, now: float) -> Held:
    """Say that we are still at work, once half of the lease has run out."""
    if now - held.lock.renewed < LEASE / 2 or not _is_ours(store, held):
        return held
    lock = msgspec.structs.replace(held.lock, renewed=now)
    store.replace(held.chain[-1], record_to_bytes(lock))
    return Held(lock=lock, chain=held.chain, note=held.note)


def holder_of(reader: Reader) -> Lock | None:
    """The lock that counts, or None."""
    chain = _chain(reader)
    return chain[-1][1] if chain else None


def _is_ours(store: Reader, held: Held) -> bool:
    chain = _chain(store)
    return bool(chain) and chain[-1][1].token == held.lock.token


def _chain(reader: Reader) -> list[tuple[str, Lock]]:
    """The lock and its successors; empty where there is no lock."""
    found: list[tuple[str, Lock]] = []
    path = LOCK
    while path == LOCK or reader.stat(path) is not None:
        try:
            data = reader.read_bytes(path, MAX_RECORD)
        except LocationError:
            if reader.stat(path) is None:
                break
            raise
        lock = record_from_bytes(data, Lock, path)
        found.append((path, lock))
        path = _claim(lock)
    return found


def _claim(lock: Lock) -> str:
    return f"{OWN}/lock-{lock.token}.json"


def _lock_of(me: Holder, now: float) -> Lock:
    return Lock(
        format=JOURNAL_FORMAT,
        token=secrets.token_hex(8),
        host=me.host,
        pid=me.pid,
        started=me.started,
        boot=me.boot,
        space=me.space,
        taken=now,
        renewed=now,
        lease=LEASE,
    )


def _taken(store: Reader, lock: Lock, now: float) -> JournalError:
    idle = now - lock.renewed
    hint = "wait until it has finished"
    if idle > lock.lease:
        hint = (
            f"it has not been heard of for {_span(idle)}; if it has ended, "
            f"remove {LOCK} there and try again"
        )
    return JournalError(
        f"cannot lock {store.location}: held by {_who(lock, now)}",
        hint=hint,
        location=store.location,
    )


def _who(lock: Lock, now: float) -> str:
    return f"process {lock.pid} on {lock.host}, for {_span(now - lock.taken)}"


def _span(seconds: float) -> str:
    seconds = max(0.0, seconds)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def utc(seconds: float) -> str:
    """A time as RFC 3339 UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
