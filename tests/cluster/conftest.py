"""Clusters that are none, and real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ckptctl import cluster
from ckptctl.storage import local_walk, object_listing
from tests.backends.conftest import bucket, gcs, gs, make_bucket, s3, weed
from tests.cluster.here import Here

__all__ = ["bucket", "gcs", "gs", "make_bucket", "s3", "weed"]


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small listings are divided too."""
    monkeypatch.setattr(local_walk, "ENOUGH", 1)
    monkeypatch.setattr(object_listing, "_FEWEST", 1)


@pytest.fixture
def here(divided: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """Workers in this process, which are what `--executor dask` names."""
    workers, real = Here(), cluster.workers_of
    monkeypatch.setattr(cluster, "workers_of", lambda e: workers if e == "dask" else real(e))
    yield workers
    assert workers.done, "nothing was given to the workers"
