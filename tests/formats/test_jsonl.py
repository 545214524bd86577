from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter

import pytest

from ckptctl.report.renderers import LISTINGS, PLANS, SCAN
from ckptctl.report.rules import document as rules_document
from tests.formats.scans import CORPUS, NASTY, hostile_plans, hostile_scan, scan_of

JQ = shutil.which("jq")
needs_jq = pytest.mark.skipif(JQ is None, reason="left out: jq is not here")


def jq(program: str, text: str) -> list[object]:
    assert JQ is not None
    done = subprocess.run(
        [JQ, "-c", program], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", CORPUS)
def test_lines_hold_all_that_the_document_holds(name: str) -> None:
    scan = scan_of(name)
    document = json.loads(SCAN["json"](scan))
    lines = [json.loads(line) for line in SCAN["jsonl"](scan).splitlines()]
    types = Counter(line["type"] for line in lines)
    assert (lines[0]["type"], lines[-1]["type"]) == ("header", "summary")
    assert types["experiment"] == len(document["experiments"])
    assert types["trial"] == document["summary"]["trials"]
    assert types["finding"] == len(document["findings"])
    on_storage = [c for c in lines if c["type"] == "checkpoint" and c["state"] != "missing"]
    assert len(on_storage) == document["summary"]["checkpoints"]
    assert all({"experiment", "trial", "trial_id"} <= set(c) for c in on_storage)


@pytest.mark.parametrize("text", NASTY)
def test_a_name_is_one_line(text: str) -> None:
    for rendered in (SCAN["jsonl"](hostile_scan(text)), PLANS["jsonl"](hostile_plans(text))):
        assert rendered.isascii()
        assert all(json.loads(line)["type"] for line in rendered.splitlines())


def test_a_list_has_a_line_for_each_item() -> None:
    scan = scan_of(CORPUS[0])
    lines = LISTINGS["jsonl"](rules_document(scan.rules)).splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["header", *["rule"] * len(scan.rules)]


@needs_jq
def test_jq_finds_its_way() -> None:
    scan = scan_of("killed--ray-2.54.1")
    assert jq(".summary.errors", SCAN["json"](scan)) == [3]
    found = jq('select(.type == "finding") | .code', SCAN["jsonl"](scan))
    assert found.count("CKP101") == 2


@needs_jq
@pytest.mark.parametrize("text", NASTY)
def test_jq_reads_any_name(text: str) -> None:
    assert jq(".command", SCAN["json"](hostile_scan(text))) == ["scan"]
    assert jq('select(.type == "header") | .command', SCAN["jsonl"](hostile_scan(text))) == ["scan"]
