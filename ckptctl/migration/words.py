"""How the messages of this package list things."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 4


def listing(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many the first few, and how many more."""
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN:,} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
