"""How messages count."""

from __future__ import annotations

__all__ = ["count"]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``2 rows``, ``1,024 rows``; `plural` where an s does not do."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
