"""The table of Rays is what installed Rays say."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import pytest

from tests.judge.judge import READY_MARKER, rays_folder
from tests.judge.ray_table import TABLE, ask, dump, marked, that_differ

CHECKED = ("2.9.3", "2.60.0")


@pytest.mark.judge
@pytest.mark.parametrize("version", CHECKED)
def test_a_row_is_what_the_installed_ray_says(version: str) -> None:
    if not (rays_folder() / f"ray-{version}" / READY_MARKER).is_file():
        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(f"Ray {version} is not installed")
        pytest.fail(f"Ray {version} is not installed", pytrace=False)
    table = json.loads(TABLE.read_text())
    column = [row["version"] for row in table["rays"]].index(version)
    told = {
        f"{module}:{name}": marks[column]
        for module, groups in table["ray_names"].items()
        for marks, names in groups.items()
        for name in names
    }
    said = ask(version, ask="has", names=sorted(told), fields={})
    assert {name for name, mark in told.items() if mark != "."} == set(said["has"])


def test_the_table_is_written_a_row_a_line() -> None:
    text = TABLE.read_text()
    assert dump(json.loads(text)) == text


def test_marks_tell_who_writes_a_name_and_who_has_it() -> None:
    own = {"1": {"m:A"}, "2": {"n:A"}}
    having = {"1": {"m:A"}, "2": {"m:A", "n:A"}}
    assert marked(["1", "2"], having, own) == {"m": {"wh": ["A"]}, "n": {".w": ["A"]}}


def test_only_attributes_that_some_rays_ask_for_are_kept() -> None:
    rows: list[Mapping[str, Any]] = [
        {"old:Config": {"a": {}, "b": {}}},
        {"new:Config": {"a": {}, "c": {"default": 1}}, "new:Other": {"x": {}}},
    ]
    assert that_differ(rows) == [
        {"old:Config": {"b": {}}},
        {"new:Config": {"c": {"default": 1}}},
    ]
