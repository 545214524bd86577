"""A desync that a rule found: what, where, who says what, and what mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Generic, TypeVar, overload

from msgspec import Struct

T = TypeVar("T")


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


class EachOf(Sequence[Evidence], Generic[T]):
    """Evidence of one kind for each of many things, made when it is looked at.

    An experiment may have a million checkpoints, and a finding that speaks of each.
    """

    __slots__ = ("_make", "_things")

    def __init__(self, make: Callable[[T], Evidence], things: Sequence[T]) -> None:
        self._make, self._things = make, things

    def __len__(self) -> int:
        return len(self._things)

    @overload
    def __getitem__(self, index: int) -> Evidence: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Evidence]: ...

    def __getitem__(self, index: int | slice) -> Evidence | Sequence[Evidence]:
        if isinstance(index, slice):
            return EachOf(self._make, self._things[index])
        return self._make(self._things[index])

    def __iter__(self) -> Iterator[Evidence]:
        return map(self._make, self._things)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


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
