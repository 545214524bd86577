"""Reported metrics, flat, without the bookkeeping that Ray adds to each result."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

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
_SCALARS = frozenset({int, float, str, bool, type(None)})
_MAX_DEPTH = 50


def flatten(result: Mapping[Any, Any]) -> dict[str, MetricValue]:
    """The scalars of a result, nested keys joined by ``/``; containers of other kinds are left out.

    A result holds at most 10,000 of them here, and none deeper than 50 levels.
    """
    flat: dict[str, MetricValue] = {}
    _fill(flat, result, "", 0)
    return flat if len(flat) <= _MAX_LEAVES else dict(islice(flat.items(), _MAX_LEAVES))


def _fill(flat: dict[str, MetricValue], values: Mapping[Any, Any], prefix: str, depth: int) -> None:
    """Add the scalars of `values`. It runs once for every save: the usual types come first."""
    for key, value in values.items():
        if not depth and key in NOT_METRICS:
            continue
        name = prefix + key if type(key) is str else _name(prefix, key)
        if not name:
            continue
        kind = type(value)
        if kind in _SCALARS:
            flat[name] = value
        elif kind is dict or isinstance(value, Mapping):
            if depth < _MAX_DEPTH and value.get("_type") != "CLOUDPICKLE_FALLBACK":
                _fill(flat, value, f"{name}/", depth + 1)
        elif isinstance(value, (int, float, str)):
            flat[name] = value


def _name(prefix: str, key: object) -> str:
    return f"{prefix}{key}" if isinstance(key, (str, int, float)) else ""


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
