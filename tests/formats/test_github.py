from __future__ import annotations

import re

import pytest

from ckptctl.errors import RefusedError
from ckptctl.model.finding import Severity
from ckptctl.report import github
from ckptctl.report.renderers import PLANS, SCAN
from tests.formats.scans import CORPUS, NASTY, hostile_plans, hostile_scan, scan_of
from tests.unit.report.values import experiment, finding

COMMAND = re.compile(r"::(error|warning|notice)( [a-z]+=[^:,]*(?:,[a-z]+=[^:,]*)*)?::(.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read workflow commands as the runner does: properties to the next ``::``, then the data."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = [part.partition("=") for part in (match[2] or "").strip().split(",") if part]
        properties = {key: decoded(value) for key, _, value in pairs}
        found.append((match[1], properties, decoded(match[3])))
    return found


def decoded(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@pytest.mark.parametrize("name", CORPUS)
def test_each_finding_is_an_annotation(name: str) -> None:
    scan = scan_of(name)
    found = commands(SCAN["github"](scan))
    assert len(found) == len(scan.findings)
    titles = {properties["title"][:6] for _, properties, _ in found}
    assert titles == {f.code for f in scan.findings}


def test_the_worst_comes_first_and_a_log_has_its_line() -> None:
    scan = scan_of("rows-removed--ray-2.54.1-function_topk")
    found = commands(SCAN["github"](scan))
    assert [level for level, _, _ in found] == sorted(
        (level for level, _, _ in found), key=["error", "warning", "notice"].index
    )
    (level, properties, text) = next(c for c in found if c[1]["title"].startswith("CKP112"))
    assert level == "warning"
    assert "file" in properties
    assert "\nhelp: ckptctl reindex " in text


@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_give_commands(text: str) -> None:
    assert len(commands(SCAN["github"](hostile_scan(text)))) == 4
    assert commands(PLANS["github"](hostile_plans(text)))
    for _, properties, data in commands(SCAN["github"](hostile_scan(text))):
        assert "\r" not in data
        assert not [value for value in properties.values() if "\n" in value]


def test_a_step_has_ten_annotations_of_a_level() -> None:
    many = [finding() for _ in range(25)] + [finding(severity=Severity.WARNING)]
    found = commands(github.scan([experiment()], many))
    assert [level for level, _, _ in found] == ["error"] * 10 + ["warning"]
    assert found[9][2] == "and 16 more errors"
    assert len(commands(github.scan([experiment()], many[:10]))) == 10


def test_an_error_is_an_annotation() -> None:
    ((level, properties, text),) = commands(github.error(RefusedError("no", hint="do x")))
    assert (level, properties, text) == ("error", {"title": "ckptctl"}, "no\nhelp: do x")


def test_the_summary_stays_small() -> None:
    many = [finding(message="x" * 200) for _ in range(5000)]
    text = github.summary([experiment()], many)
    assert len(text) < 200_000
    assert "and 4,800 more findings" in text
