"""How messages count and list things."""

from __future__ import annotations

from collections.abc import Sequence

from ckptctl.model.wording import count

__all__ = ["count", "in_words", "is_are", "listing"]

from ckptctl.model.finding import Evidence
from ckptctl.stages.conflicts import Said

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHOWN = 4


def in_words(number: int) -> str:
    """``two``; digits above ten."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"


def is_are(number: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def listing(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many the first few, and how many more."""
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN:,} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def evidence_of(said: Said) -> Evidence:
    """What a stage says, as evidence."""
    place = said.provenance
    return Evidence(witness=said.stage, claim=said.claim, file=place.file, pointer=place.pointer)
