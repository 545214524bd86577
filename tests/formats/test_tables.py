from __future__ import annotations

import csv
import io

import pytest

from ckptctl.report import rows
from ckptctl.report.renderers import PLANS, SCAN
from tests.formats.scans import CORPUS, NASTY, hostile_plans, hostile_scan, scan_of
from tests.unit.report.values import experiment, finding, trial

FORMULA = tuple("=+-@")


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def read_tsv(text: str) -> list[list[str]]:
    assert text.endswith("\n")
    return [line.split("\t") for line in text[:-1].split("\n")]


@pytest.mark.parametrize("name", CORPUS)
def test_both_tables_hold_the_same_rows(name: str) -> None:
    scan = scan_of(name)
    found = read_csv(SCAN["csv"](scan))
    assert found == read_tsv(SCAN["tsv"](scan))
    assert found[0] == list(rows.SCAN)
    assert {len(row) for row in found} == {len(rows.SCAN)}


@pytest.mark.parametrize("name", CORPUS)
def test_every_checkpoint_and_every_finding_is_there(name: str) -> None:
    scan = scan_of(name)
    header, *found = read_tsv(SCAN["tsv"](scan))
    records = [dict(zip(header, row, strict=True)) for row in found]
    listed = {(r["trial"], r["checkpoint"]) for r in records if r["state"]}
    assert listed == {
        (t.dirname, c.name) for e in scan.experiments for t in e.trials for c in t.checkpoints
    }
    codes = {code for r in records for code in r["findings"].split()}
    assert codes == {f.code for f in scan.findings}


@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_break_a_scan_table(text: str) -> None:
    scan = hostile_scan(text)
    found = read_csv(SCAN["csv"](scan))
    assert found == read_tsv(SCAN["tsv"](scan))
    assert {len(row) for row in found} == {len(rows.SCAN)}
    assert not [cell for row in found for cell in row if cell.startswith(FORMULA)]


@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_break_a_plan_table(text: str) -> None:
    plans = hostile_plans(text)
    found = read_csv(PLANS["csv"](plans))
    assert found == read_tsv(PLANS["tsv"](plans))
    assert {len(row) for row in found} == {len(rows.PLANS)}
    assert not [cell for row in found for cell in row if cell.startswith(FORMULA)]


def test_a_cell_stays_whole_where_semicolons_separate() -> None:
    text = SCAN["csv"](hostile_scan("a;=cmd"))
    for row in csv.reader(io.StringIO(text), delimiter=";"):
        assert not [cell for cell in row if cell.startswith("=cmd")]


def test_what_concerns_a_whole_trial_has_a_row_of_its_own() -> None:
    found = [
        finding("CKP101"),
        finding("CKP112", checkpoint=None),
        finding("CKP116", trial=None, checkpoint=None),
        finding("CKP205", trial="stray", checkpoint=None),
    ]
    table = rows.scan([experiment(trial(0)), experiment(name="empty")], found)
    keys = [rows.SCAN.index(c) for c in ("trial", "checkpoint", "findings")]
    assert [tuple(row[k] for k in keys) for row in table.rows][:6] == [
        (None, None, "CKP116"),
        ("fn_00000", None, "CKP112"),
        ("fn_00000", "checkpoint_000005", ""),
        ("fn_00000", "checkpoint_000006", ""),
        ("fn_00000", "checkpoint_000007", "CKP101"),
        ("stray", None, "CKP205"),
    ]
