"""A scan beside a real run that goes on: it never fails, and the step in flight is no error."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.judge.judge import Judge
from tests.security.verbs import run

VERSION = "2.54.1"
STEPS = 5


@pytest.fixture
def live() -> Judge:
    return Judge(VERSION)


@pytest.mark.parametrize("scenario", ["function", "class"])
def test_a_scan_beside_a_run_never_fails_and_reports_no_error(
    live: Judge, tmp_path: Path, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    failed: list[Exception] = []

    def train() -> None:
        try:
            live.make(scenario, tmp_path, "exp", steps=STEPS, keep=3, pause=1)
        except Exception as error:  # noqa: BLE001  told in the thread of the test
            failed.append(error)

    with live:
        runner = threading.Thread(target=train)
        runner.start()
        codes, errors, statuses = Counter[int](), Counter[str](), Counter[str]()
        notes = Counter[bool]()
        while runner.is_alive():
            if not (tmp_path / "exp").is_dir():
                time.sleep(0.05)
                continue
            said = run("scan", tmp_path / "exp", "--json")
            codes[said.code] += 1
            if said.code not in (0, 1):
                assert "no experiment in it" in said.err, said
                continue
            found = json.loads(said.out)
            for trial in found["experiments"][0]["trials"]:
                statuses[str(trial["status"])] += 1
            for finding in found["findings"]:
                notes["the run goes on" in finding["message"]] += 1
                if finding["severity"] == "error":
                    print(finding["code"], finding["message"])
                    errors[finding["code"]] += 1
        runner.join()
        assert failed == []
        last = run("scan", tmp_path / "exp")
    with capsys.disabled():
        print(f"\n  {codes.total()} scans beside a {scenario} run: {dict(codes)}, {dict(statuses)}")
        print(f"  {notes[True]} findings that the run clears by itself")
    assert errors == {}
    assert notes[True] > 10 and codes[0] > 10 and statuses["RUNNING"] > 10
    assert last.code == 0
