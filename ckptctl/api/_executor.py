"""Who does the work of a call: this process, or a cluster that is imported when it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from ckptctl.cluster import ClusterCopies, Workers
    from ckptctl.storage.store import Store

LOCAL = "local"
Executor: TypeAlias = Union[str, "Workers"]
"""``local``, ``ray``, ``dask``, or workers of the caller's own."""


def workers_of(executor: Executor) -> Workers | None:
    """Find the workers of an executor; None for this process."""
    if executor == LOCAL:
        return None
    from ckptctl import cluster

    return cluster.workers_of(executor)


def copies_of(location: str, store: Store, executor: Executor) -> ClusterCopies | None:
    """Find who copies at a location, if not its store: on a disk nothing is copied."""
    workers = workers_of(executor)
    if workers is None or not store.capabilities.bulk:
        return None
    from ckptctl.cluster import ClusterCopies

    return ClusterCopies(location, workers)


def check_executor(executor: Executor) -> None:
    """See that an executor is there, before anything is read.

    Raises:
        UsageError: it has no such name, or what it needs is not installed.
    """
    workers_of(executor)


def dismiss() -> None:
    """Stop the clusters that calls have started; else they stay until the process ends."""
    from ckptctl import cluster

    cluster.dismiss()
