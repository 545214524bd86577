from __future__ import annotations

import re
from pathlib import Path

from ckptctl.report import formats, listings, rows, schema

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def columns_of(title: str) -> list[str]:
    text = DOCS[DOCS.index(f"**{title}**:") :]
    return re.findall(r"`([^`]+)`", text[len(title) + 4 : text.index("\n\n")])


def test_the_columns_are_told_as_they_are() -> None:
    assert columns_of("`scan`") == list(rows.SCAN)
    assert columns_of("plans") == list(rows.PLANS)
    for title, command in (
        ("`latest`, `best`", "latest"),
        ("`history`", "history"),
        ("`rules`", "rules"),
    ):
        empty = {"command": command, "checkpoints": [], "entries": [], "rules": []}
        assert columns_of(title) == list(listings.table(empty).columns)  # type: ignore[arg-type]


def test_the_formats_are_told_as_they_are() -> None:
    told = {
        cells[1].strip(" `"): [bool(cell.strip()) for cell in cells[3:6]]
        for cells in (line.split("|") for line in DOCS.splitlines() if line.startswith("| `"))
    }
    assert set(told) == set(formats.ALL)
    for form, marks in told.items():
        assert marks == [form in formats.of(verb) for verb in ("scan", "rename", "latest")]


def test_the_schemas_are_told() -> None:
    assert all(f"`{name}`" in DOCS for name in schema.DOCUMENTS)
