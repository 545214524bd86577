from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import JUnitXml

from ckptctl.model.finding import Severity
from ckptctl.report.renderers import SCAN, Scan
from tests.formats.scans import CORPUS, NASTY, hostile_scan, scan_of
from tests.unit.report.values import experiment, finding


def read(scan: Scan, tmp_path: Path) -> JUnitXml:
    path = tmp_path / "junit.xml"
    path.write_text(SCAN["junit"](scan), "utf-8")
    return JUnitXml.fromfile(str(path))


@pytest.mark.parametrize("name", CORPUS)
def test_a_case_fails_where_a_rule_found_an_error(name: str, tmp_path: Path) -> None:
    scan = scan_of(name)
    suites = list(read(scan, tmp_path))
    assert len(suites) == len(scan.experiments)
    for suite, home in zip(suites, scan.experiments, strict=True):
        cases = list(suite)
        failed = {(c.classname, c.name[:6]) for c in cases if c.result}
        assert len(cases) == suite.tests == len(scan.rules) * (len(home.trials) + 1)
        assert len({(c.classname, c.name) for c in cases}) == len(cases)
        assert len(failed) == suite.failures
        errors = {f.code for f in scan.findings if f.severity is Severity.ERROR}
        assert {code for _, code in failed} == errors
        told = " ".join(c.system_out or "" for c in cases)
        assert all(f.message in told for f in scan.findings if f.severity is not Severity.ERROR)


@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_break_the_document(text: str, tmp_path: Path) -> None:
    (suite,) = list(read(hostile_scan(text), tmp_path))
    failed = [case for case in suite if case.result]
    assert len(failed) == suite.failures == 2
    assert all(case.result[0].message for case in failed)


def test_the_counts_are_of_all_suites(tmp_path: Path) -> None:
    scan = scan_of(CORPUS[0])
    two = Scan(
        experiments=(experiment(), experiment(name="other")),
        findings=(finding(), finding(trial=None, checkpoint=None)),
        rules=scan.rules,
    )
    found = read(two, tmp_path)
    assert (found.tests, found.failures) == (6 * len(scan.rules), 2)
