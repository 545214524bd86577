"""What every store must do, in buckets of real servers."""

from __future__ import annotations

import pytest

from ckptctl.storage.object_store import ObjectStore
from tests.backends.conftest import Bucket
from tests.contract.test_store_contract import *  # noqa: F403

del test_create_has_one_winner_among_processes  # noqa: F821


@pytest.fixture  # type: ignore[no-redef]
def store(bucket: Bucket) -> ObjectStore:
    """An empty store on each server."""
    return bucket.empty_store()
