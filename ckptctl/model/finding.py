"""A desync that a rule found: what, where, who says what, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One witness's side of a disagreement."""

    witness: str
    claim: str
    file: str
    """Relative to the experiment."""
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What mends a finding."""

    applicability: Applicability
    command: str | None
    """Ready to paste; None where no command mends it."""
    note: str = ""
    """Why nothing is safe, or what the command does, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
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
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    checkpoints: tuple[str, ...] = ()
    """All names concerned, when one finding speaks of several."""
