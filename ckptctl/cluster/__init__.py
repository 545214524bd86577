"""Work on other machines: what can be done in units that need not wait for one another.

A unit is a function of this package and one value; both travel as bytes, so that nothing of
ours is pickled. Units may be done again, since a worker may end half-way: listing and reading
change nothing, and copies have conditions. What decides, what writes records and what deletes
stays with the process that was called.

What runs units is a `Workers`: a cluster of Ray or Dask, in ``ckptctl.integrations``.
"""

from __future__ import annotations

from ckptctl.cluster.copies import ClusterCopies
from ckptctl.cluster.named import EXECUTORS, Executor, dismiss, workers_of
from ckptctl.cluster.reading import ClusterReader
from ckptctl.cluster.workers import Answer, Workers

__all__ = [
    "EXECUTORS",
    "Answer",
    "ClusterCopies",
    "ClusterReader",
    "Executor",
    "Workers",
    "dismiss",
    "workers_of",
]
