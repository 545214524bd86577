"""How messages count and list things."""

from __future__ import annotations

from ckptctl.model.finding import Evidence
from ckptctl.model.wording import count, listing
from ckptctl.stages.conflicts import Said

__all__ = ["count", "evidence_of", "in_words", "is_are", "listing"]


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(number: int) -> str:
    """``two``; digits above ten."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"


def is_are(number: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def evidence_of(said: Said) -> Evidence:
    """What a stage says, as evidence."""
    place = said.provenance
    return Evidence(witness=said.stage, claim=said.claim, file=place.file, pointer=place.pointer)
