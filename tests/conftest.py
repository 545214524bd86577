from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "ci", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

GROUPS = {"judge": "ray", "matrix": "ray", "backends": "servers"}
"""Tests that share what is dear to start: with several workers, one works through each group."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        group = GROUPS.get(item.path.relative_to(here).parts[0])
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
