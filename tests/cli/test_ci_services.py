"""A name on disk gives no orders to the service that runs a job, whatever is printed."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ckptctl.report import formats
from ckptctl.report.runner import guarded
from tests.cli.conftest import Call, Copy

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
# What runners act on: https://github.com/actions/runner, ActionCommand.cs; both are trimmed first.
ORDERS = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE | re.IGNORECASE)
NAMES = ("::error::boom", "::set-output name=a::b", "x##[add-mask]e", "##vso[task.complete]", "t")


@pytest.fixture
def named(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Damaged experiments with such names, and trials with such names in the last of them."""
    place = tmp_path / "named"
    place.mkdir()
    for name in NAMES:
        copy(BEHIND).rename(place / name)
    for number, trial in enumerate(sorted((place / "t").glob("function_*"))):
        trial.rename(place / "t" / f"{NAMES[number]} {number}")
    monkeypatch.chdir(place)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return place


def calls() -> list[tuple[str, ...]]:
    scans = [("scan", *NAMES, "--format", form, "-v") for form in formats.of("scan")]
    lists = [("latest", "t", "--format", form) for form in formats.of("latest")]
    plans = [
        ("reindex", name, "-n", "--format", form)
        for name in NAMES[:3]
        for form in formats.of("reindex")
    ]
    bare = [("scan", *NAMES, "-q"), ("latest", ".", "-q"), ("scan", "::nothing here")]
    refused = [("rename", "t", "--to", "x", *more) for more in ((), ("--json",))]
    return [*scans, *lists, *plans, *bare, *refused, ("diff", NAMES[0], "t"), ("history", "t")]


@pytest.mark.parametrize("arguments", calls(), ids=lambda a: " ".join(a[:1] + a[-2:]))
def test_nothing_printed_is_an_order(
    named: Path, ckptctl: Call, arguments: tuple[str, ...]
) -> None:
    answer = ckptctl(*arguments)
    assert answer.out or answer.err
    lines = [*answer.out.splitlines(), *answer.err.splitlines()]
    if "github" in arguments:
        assert all(re.match(r"::(error|warning|notice) [^:]*::", line) for line in lines)
        return
    assert not [line for line in lines if ORDERS.search(line)]


def test_documents_mean_the_same_with_and_without_the_service(
    named: Path, ckptctl: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(form: str) -> object:
        text = ckptctl("scan", *NAMES, "--format", form).out
        match form:
            case "json" | "sarif":
                return json.loads(text)
            case "jsonl":
                return [json.loads(line) for line in text.splitlines()]
            case "csv":
                rows = csv.reader(io.StringIO(text))
                return [[c.replace("\\x3a", ":").replace("\\x23", "#") for c in r] for r in rows]
            case _:
                return ET.canonicalize(re.sub(r' (time|timestamp)="[^"]*"', "", text))

    forms = ("json", "jsonl", "sarif", "csv", "junit")
    there = {form: read(form) for form in forms}
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert {form: read(form) for form in forms} == there


def test_bare_paths_still_lead_there(named: Path, ckptctl: Call) -> None:
    paths = ckptctl("latest", NAMES[0], "-q").out.splitlines()
    assert paths and all(path.startswith("./::error::boom/") for path in paths)
    assert all((named / path).is_dir() for path in paths)


def test_without_a_service_nothing_is_written_otherwise(
    named: Path, ckptctl: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert ckptctl("scan", NAMES[0]).out.startswith(NAMES[0])
    assert ckptctl("latest", NAMES[0], "-q").out.startswith(NAMES[0])


@pytest.mark.parametrize("text", ["a::b", "# [x]", "##", "a\nb: :\n", "1 :: 2"])
def test_what_is_no_order_stays(text: str) -> None:
    assert guarded(text, "text") == text
