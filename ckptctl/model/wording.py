"""How messages count and list things."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["count", "listing"]

_SHOWN = 4


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``2 rows``, ``1,024 rows``; `plural` where an s does not do."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listing(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many the first few, and how many more."""
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN:,} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
