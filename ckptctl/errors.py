"""Every exception of ckptctl; each class owns its exit code.

    CkptctlError
    ├─ UsageError        2    bad arguments, config or template
    ├─ LocationError    10    missing, no permission, no driver, no experiment in it, no room
    ├─ LayoutError      10    no layout fits, or two fit equally well
    ├─ ClusterError     10    the workers of a cluster cannot do what they are asked for
    ├─ JournalError     11    locked, an apply is pending, or a damaged journal
    ├─ StalePlanError   12    the experiment changed since the plan was made
    ├─ ApplyError       13    stopped part-way; nothing is lost
    ├─ RefusedError     14    the plan would be unsafe
    ├─ Cancelled       130    the answer was No, or an interrupt
    └─ InternalError    70    a broken invariant

Findings and per-trial trouble are values, never exceptions.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What a call of ckptctl ends with, the same in every output format."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    LOCATION = 10
    JOURNAL = 11
    STALE = 12
    STOPPED = 13
    REFUSED = 14
    BUG = 70
    CANCELLED = 130


class CkptctlError(Exception):
    """An error that ends a call: one sentence, and what to do next."""

    exit_code: ClassVar[ExitCode] = ExitCode.BUG
    code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, hint: str | None = None, location: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(f"help: {hint}")  # a traceback shows it
        self.location = location


class UsageError(CkptctlError):
    """Bad arguments, configuration or template."""

    exit_code = ExitCode.USAGE
    code = "usage"


class LocationError(CkptctlError):
    """A location cannot be read or written, and nothing was changed."""

    exit_code = ExitCode.LOCATION
    code = "location"


class LayoutError(CkptctlError):
    """No layout fits the files, or the named one does not."""

    exit_code = ExitCode.LOCATION
    code = "layout"


class ClusterError(CkptctlError):
    """A cluster cannot be reached, or its workers cannot do what they are asked for.

    That a worker cannot read something is no trouble of the experiment.
    """

    exit_code = ExitCode.LOCATION
    code = "cluster"


class JournalError(CkptctlError):
    """Another run holds the lock, an apply is pending, or a journal is damaged."""

    exit_code = ExitCode.JOURNAL
    code = "journal"


class StalePlanError(CkptctlError):
    """The experiment changed since the plan (or the apply to undo) was made."""

    exit_code = ExitCode.STALE
    code = "stale"

    def __init__(
        self,
        message: str,
        *,
        changed: tuple[str, ...] = (),
        hint: str | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, location=location)
        self.changed = changed


class ApplyError(CkptctlError):
    """An apply stopped part-way; the message says how to go on or back."""

    exit_code = ExitCode.STOPPED
    code = "stopped"


class RefusedError(CkptctlError):
    """The plan would be unsafe: collision, missing metric, changed order, live run."""

    exit_code = ExitCode.REFUSED
    code = "refused"

    def __init__(
        self,
        message: str,
        *,
        reasons: tuple[str, ...] = (),
        hint: str | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, location=location)
        self.reasons = reasons


class Cancelled(CkptctlError):
    """The answer at the prompt was No, or the call was interrupted."""

    exit_code = ExitCode.CANCELLED
    code = "cancelled"


class InternalError(CkptctlError):
    """A broken invariant: a bug in ckptctl."""

    exit_code = ExitCode.BUG
    code = "bug"
