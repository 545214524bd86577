"""Executors by name: each is imported, connected to or started when it is first asked for."""

from __future__ import annotations

import atexit
import importlib
from typing import Protocol, cast

from ckptctl.cluster.workers import Workers
from ckptctl.errors import UsageError

EXECUTORS = ("local", "ray", "dask")
Executor = str | Workers
"""One of `EXECUTORS`, or workers of the caller's own."""


class Cluster(Workers, Protocol):
    """Workers that we may have started."""

    def close(self) -> None:
        """Leave it, and stop it where we started it."""


_HOMES = {
    "ray": ("ckptctl.integrations.ray.cluster", "RayCluster"),
    "dask": ("ckptctl.integrations.dask.cluster", "DaskCluster"),
}
_at_work: dict[str, Cluster] = {}


def workers_of(executor: Executor) -> Workers | None:
    """Who does the work; None for this process.

    A cluster stays until the process ends, so that each call need not start one.

    Raises:
        UsageError: no executor has this name, or what it needs is not installed.
    """
    if not isinstance(executor, str):
        return executor
    if executor not in EXECUTORS:
        raise UsageError(
            f"executor {executor} is not available",
            hint=f"choose one of {', '.join(EXECUTORS)}",
        )
    if executor == "local":
        return None
    if executor not in _at_work:
        module, name = _HOMES[executor]
        try:
            cluster = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise UsageError(
                f"executor {executor} needs what is not installed: {error}",
                hint=f"pip install 'ckptctl[{executor}]', or use --executor local",
            ) from error
        _at_work[executor] = cast(Cluster, cluster())
        atexit.register(dismiss)
    return _at_work[executor]


def dismiss() -> None:
    """Stop the clusters that we started, and leave the others."""
    while _at_work:
        _at_work.popitem()[1].close()
