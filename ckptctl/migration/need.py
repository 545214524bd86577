"""One thing that another Ray or pyarrow needs of an experiment and does not find."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from msgspec import Struct

from ckptctl.model.finding import Evidence
from ckptctl.model.plan import Edit

__all__ = ["Need", "Outcome", "Place", "worst"]


class Outcome(IntEnum):
    """What the Ray does with the experiment as it is; the worse one is the greater."""

    GOES_ON = 0
    """It goes on from the latest checkpoint."""
    OVERWRITES = 1
    """It goes on, and its next save goes into a folder that is there."""
    FAILS_LATER = 2
    """It goes on until it reads what is missing, such as when it makes another trial."""
    STARTS_OVER = 3
    """It prints `Restarting experiment` and starts from scratch in the same folder."""
    REFUSES = 4
    """It raises, and nothing is lost."""

    @property
    def words(self) -> str:
        """For the end of a message."""
        return {
            Outcome.GOES_ON: "it goes on all the same",
            Outcome.OVERWRITES: "its next save would go into the latest folder",
            Outcome.FAILS_LATER: "it goes on until it reads that, and then fails",
            Outcome.STARTS_OVER: "a restore would start the experiment from scratch",
            Outcome.REFUSES: "a restore would raise",
        }[self]


class Place(Struct, frozen=True, kw_only=True):
    """Where something stands that does not fit, and the edit that makes it fit."""

    file: str
    pointer: str
    claim: str
    """What stands there, in words."""
    edit: Edit | None
    """None where no edit can do it."""


class Need(Struct, frozen=True, kw_only=True):
    """One thing that does not fit, with all its places."""

    message: str
    outcome: Outcome
    places: tuple[Place, ...]
    before: str = ""
    """What has to be done first, where no edit can do it as it is."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The first place of each claim in each file."""
        first: dict[tuple[str, str], Place] = {}
        for place in self.places:
            first.setdefault((place.file, place.claim), place)
        return tuple(
            Evidence(witness="trial", claim=p.claim, file=p.file, pointer=p.pointer)
            for p in first.values()
        )

    @property
    def left(self) -> tuple[Place, ...]:
        """The places that no edit can make fit."""
        return tuple(place for place in self.places if place.edit is None)


def worst(needs: Iterable[Need]) -> Outcome:
    """What the Ray does in the end."""
    return max((need.outcome for need in needs), default=Outcome.GOES_ON)
