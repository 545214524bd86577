from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def a_bug_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not made into a report."""
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")
