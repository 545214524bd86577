"""What tells one save of a trial from every other."""

from __future__ import annotations

from collections.abc import Mapping


def save_of(result: Mapping[str, object]) -> tuple[int | float, ...] | None:
    """Iteration, time and total time of a result; None where it does not say all three.

    Iterations repeat in population-based training, and names where an index was reset.
    """
    parts = [result.get(key) for key in ("training_iteration", "timestamp", "time_total_s")]
    numbers = tuple(p for p in parts if isinstance(p, (int, float)))
    return numbers if len(numbers) == len(parts) else None
