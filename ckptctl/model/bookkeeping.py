"""What each witness says of a trial's checkpoints, and exactly where it says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, TypeVar, overload

from msgspec import Struct

T = TypeVar("T")


class Witness(StrEnum):
    """Who says something about a trial's checkpoints."""

    STORAGE = "storage"
    """The folders themselves."""
    TRIAL = "trial"
    """The driver's record of the trial in the experiment state."""
    TRAINABLE = "trainable"
    """What a class trainable left beside its checkpoints (Ray 2.6 and before)."""
    SESSION = "session"
    """The result log, written from what the session reported."""


class Provenance(Struct, frozen=True, kw_only=True):
    """Where a claim is written: a file of the experiment and the place inside it."""

    file: str
    """Relative to the experiment."""
    pointer: str = ""
    """A `codec.pointer` address, empty for the file (or folder) as a whole."""


class Claim(Struct, Generic[T], frozen=True, kw_only=True):
    """One witness's statement."""

    value: T
    witness: Witness
    provenance: Provenance


class Names(Sequence[Claim[str]]):
    """Claims of one witness about the names of checkpoints, each made when it is looked at.

    A large experiment has millions, of which nearly none is ever shown.
    """

    def __init__(
        self,
        witness: Witness,
        values: Callable[[], Sequence[str]],
        place: Callable[[int], Provenance],
    ) -> None:
        self._witness = witness
        self._values = values
        self._place = place

    @property
    def values(self) -> Sequence[str]:
        """The names alone."""
        return self._values()

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Claim[str]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Claim[str]]: ...

    def __getitem__(self, index: int | slice) -> Claim[str] | Sequence[Claim[str]]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        at = range(len(self))[index]
        return Claim(value=self.values[at], witness=self._witness, provenance=self._place(at))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self.values))


class Bookkeeping(Struct, frozen=True, kw_only=True):
    """All that one witness says of one trial."""

    latest_index: Claim[int] | None = None
    """The last index used, whatever the Ray version means by its counter."""
    latest_checkpoint: Claim[str] | None = None
    """The latest checkpoint's name."""
    iteration: Claim[int] | None = None
    """The newest training iteration this witness knows of."""
    checkpoints: Sequence[Claim[str]] = ()
    """The names of the checkpoints it believes to exist, in its own order."""

    @property
    def names(self) -> Sequence[str]:
        """The same without their places."""
        own = self.checkpoints
        return own.values if isinstance(own, Names) else [claim.value for claim in own]

    @property
    def next_index(self) -> int | None:
        """The index that the next save would take by this witness."""
        return None if self.latest_index is None else self.latest_index.value + 1
