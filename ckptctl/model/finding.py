"""A desync that a rule found: what, where, who says what, and what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Severity(StrEnum):
    """How much a finding costs; ordered from worst to least."""

    ERROR = "error"
    """The next run loses or overwrites data, or cannot restore."""
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return ("error", "warning", "info").index(self.value)


class Applicability(StrEnum):
    """Who may apply a remedy."""

    SAFE = "safe"
    """`reindex` applies it."""
    UNSAFE = "unsafe"
    """`reindex --unsafe` applies it."""
    MANUAL = "manual"
    """A person has to decide; the message says what."""


class Evidence(Struct, frozen=True, kw_only=True):
    """One witness's side of a disagreement."""

    witness: str
    claim: str
    file: str
    """Relative to the experiment."""
    pointer: str = ""


class Remedy(Struct, frozen=True, kw_only=True):
    """What mends a finding."""

    applicability: Applicability
    command: str | None
    """Ready to paste; None where no command mends it."""
    note: str = ""
    """Why nothing is safe, or what the command does, in one sentence."""


class Finding(Struct, frozen=True, kw_only=True):
    """One disagreement, in the user's terms."""

    code: str
    rule: str
    severity: Severity
    experiment: str
    """The experiment's location."""
    trial: str | None
    """The trial's dirname."""
    checkpoint: str | None
    """The checkpoint's name (the first, where there are several)."""
    message: str
    evidence: Sequence[Evidence] = ()
    remedy: Remedy | None = None
    checkpoints: tuple[str, ...] = ()
    """All names concerned, when one finding speaks of several."""
