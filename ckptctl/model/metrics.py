"""Reported metrics, flat, without the bookkeeping that Ray adds to each result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ckptctl.model.checkpoint import MetricValue

NOT_METRICS = frozenset(
    {
        "config",
        "checkpoint_dir_name",
        "checkpoint_path",
        "date",
        "done",
        "experiment_id",
        "experiment_tag",
        "hostname",
        "node_ip",
        "pid",
        "should_checkpoint",
        "trial_id",
    }
)
"""Top-level keys of a result that say where and how it ran, not how well (Ray 2.54
``tune/trainable/trainable.py`` ``get_auto_filled_metrics``, and the checkpoint's own name)."""

_MAX_LEAVES = 10_000
_MAX_DEPTH = 50


def flatten(result: Mapping[object, object]) -> dict[str, MetricValue]:
    """The scalars of a result, nested keys joined by ``/``; containers of other kinds are left out.

    A result holds at most 10,000 of them here, and none deeper than 50 levels.
    """
    flat: dict[str, MetricValue] = {}
    for key, value in _leaves(result, "", 0):
        flat[key] = value
        if len(flat) >= _MAX_LEAVES:
            break
    return flat


def _leaves(
    values: Mapping[object, object], prefix: str, depth: int
) -> Iterator[tuple[str, MetricValue]]:
    for key, value in values.items():
        if depth == 0 and key in NOT_METRICS:
            continue
        name = f"{prefix}{key}" if isinstance(key, (str, int, float)) else ""
        if not name:
            continue
        if isinstance(value, Mapping):
            if depth < _MAX_DEPTH and value.get("_type") != "CLOUDPICKLE_FALLBACK":
                yield from _leaves(value, f"{name}/", depth + 1)
        elif value is None or isinstance(value, (bool, int, float, str)):
            yield name, value


def whole_number(value: object) -> int | None:
    """`value` as an int where it is a whole number, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def real_number(value: object) -> float | int | None:
    """`value` where it is a number, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value
