"""The journal's own records as they are written, and what they tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

import msgspec
from msgspec import Struct

from ckptctl.codec.reasons import reason_of
from ckptctl.errors import CkptctlError, JournalError
from ckptctl.journal.format import canonical, check_format, plan_from_json, plan_to_json
from ckptctl.model.plan import Plan

JOURNAL_FORMAT = 1
MAX_RECORD = 64 * 1024 * 1024
"""Bytes of a lock, commit or rollback; honest ones stay far below."""
MAX_PLAN = 512 * 1024 * 1024
"""Bytes of a plan."""
MEND = "put the file back from a copy, or move that folder out of the journal"
"""What to do about a damaged entry."""

T = TypeVar("T", bound=msgspec.Struct)


class EntryState(StrEnum):
    """What became of an apply."""

    PENDING = "pending"
    """Interrupted: to be resumed or undone before anything else."""
    APPLIED = "applied"
    UNDONE = "undone"
    """Taken back, by a later entry or half-way."""


class Result(StrEnum):
    """How an entry was closed."""

    APPLIED = "applied"
    ROLLED_BACK = "rolled-back"


class JournalEntry(Struct, frozen=True, kw_only=True):
    """One apply, as `history` lists it."""

    sequence: int
    name: str
    """Its folder in the journal: the sequence number and the plan id."""
    plan_id: str
    command: str
    begun: str
    """When it began, RFC 3339 UTC."""
    applied_at: str | None
    """When it was done, RFC 3339 UTC; None while it is pending."""
    state: EntryState
    steps: int
    undoes: str | None = None
    """The name of the entry that it takes back."""
    rolling_back: bool = False
    """Pending, and on its way back."""
    verified: bool = True
    damage: str | None = None
    """Why its records cannot be read; such an entry can be neither resumed nor undone."""


class Intent(Struct, frozen=True, kw_only=True):
    """``plan.json``: all that is needed to finish an apply, or to take it back."""

    plan: Plan
    begun: str
    made: tuple[str, ...] = ()
    """Folders that the moves make, to be removed when they are taken back."""
    unmakes: tuple[str, ...] = ()
    """Folders to remove at the end, where they are empty then."""


class Commit(msgspec.Struct, kw_only=True):
    """``commit.json``: closes an entry, and tells what `history` lists."""

    format: int
    result: Result
    at: str
    begun: str
    command: str
    steps: int
    undoes: str | None = None
    verified: bool = True


class Rollback(msgspec.Struct, kw_only=True):
    """``rollback.json``: from here on the entry goes back. One position for each strand."""

    format: int
    positions: list[int]


class _WireIntent(msgspec.Struct, kw_only=True):
    format: int
    begun: str
    plan: dict[str, object]
    made: list[str] = []
    unmakes: list[str] = []


def commit_of(intent: Intent, result: Result, at: str, *, verified: bool) -> Commit:
    """What closes an entry of this intent, `at` a time in RFC 3339 UTC."""
    return Commit(
        format=JOURNAL_FORMAT,
        result=result,
        at=at,
        begun=intent.begun,
        command=intent.plan.command,
        steps=len(intent.plan.steps),
        undoes=intent.plan.undoes,
        verified=verified,
    )


def intent_to_bytes(intent: Intent) -> bytes:
    """The content of ``plan.json``."""
    return record_to_bytes(
        _WireIntent(
            format=JOURNAL_FORMAT,
            begun=intent.begun,
            plan=plan_to_json(intent.plan),
            made=list(intent.made),
            unmakes=list(intent.unmakes),
        )
    )


def intent_from_bytes(data: bytes, where: str) -> Intent:
    """An intent from ``plan.json``. Raises JournalError where it is damaged."""
    wire = record_from_bytes(data, _WireIntent, where)
    try:
        plan = plan_from_json(wire.plan)
    except CkptctlError as error:
        raise damaged(where, error.message) from error
    return Intent(plan=plan, begun=wire.begun, made=tuple(wire.made), unmakes=tuple(wire.unmakes))


def record_to_bytes(record: msgspec.Struct) -> bytes:
    """A record as a line of JSON."""
    return canonical(msgspec.to_builtins(record)) + b"\n"


def record_from_bytes(data: bytes, kind: type[T], where: str) -> T:
    """A record of this kind. Raises JournalError where it is damaged or of a newer format."""
    try:
        value = json.loads(data)
        if isinstance(value, Mapping) and "format" in value:
            check_format(value, JOURNAL_FORMAT, where)
        return msgspec.convert(value, kind)
    except CkptctlError as error:
        raise JournalError(error.message, hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        raise damaged(where, reason_of(error)) from error


def unusable(entry: JournalEntry, location: str) -> JournalError:
    """The error of an entry that is damaged."""
    return JournalError(entry.damage or "journal is damaged", hint=MEND, location=location)


def damaged(where: str, cause: str) -> JournalError:
    """The error of a journal that cannot be relied on."""
    return JournalError(f"journal is damaged: {where}: {cause}", hint=MEND)
