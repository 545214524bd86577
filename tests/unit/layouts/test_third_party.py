"""A layout of another package: found by its name, and no trouble unless it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ckptctl
from ckptctl.errors import LayoutError, UsageError
from ckptctl.layouts import by_name

CODE = """
from ckptctl.layouts import Match, Plain

class Mine:
    names = ("mine",)

    def match(self, tree):
        found = any(name.startswith("checkpoint_") for name in tree.folders())
        return Match(confidence=50, why="it was asked for") if found else None

    def read(self, tree, source):
        return Plain().read(tree, source)

broken = None
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site"
    info = folder / "mine-1.dist-info"
    info.mkdir(parents=True)
    (folder / "mine_layout.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[ckptctl.layouts]\nmine = mine_layout:Mine\nbad = mine_layout:nothing\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    yield
    sys.modules.pop("mine_layout", None)


def test_it_is_found_by_its_name(package: None, tmp_path: Path) -> None:
    (tmp_path / "exp" / "checkpoint_000001").mkdir(parents=True)
    (tmp_path / "exp" / "checkpoint_000001" / "weights").write_text("x")
    (experiment,) = ckptctl.scan(str(tmp_path / "exp"), layout="mine")
    assert experiment.why == "it was asked for"


def test_nothing_is_loaded_that_is_not_asked_for(package: None) -> None:
    by_name("plain")
    assert "mine_layout" not in sys.modules


def test_a_broken_one_says_whose_it_is(package: None) -> None:
    with pytest.raises(LayoutError, match="the layout bad cannot be loaded: AttributeError"):
        by_name("bad")
    with pytest.raises(UsageError, match="no layout is called nobody"):
        by_name("nobody")
