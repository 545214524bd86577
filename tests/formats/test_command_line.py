"""Every verb gives every format that it names, with the same exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptctl.cli.main import main
from ckptctl.report import formats, renderers
from tests.support import copy_of, corpus

KILLED = "killed--ray-2.54.1"

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_every_name_has_its_renderer() -> None:
    assert tuple(renderers.SCAN) == formats.SCAN
    assert tuple(renderers.PLANS) == formats.PLANS
    assert tuple(renderers.LISTINGS) == formats.LISTINGS


@pytest.mark.parametrize("form", formats.ALL)
def test_a_scan_ends_alike_in_every_format(call: Call, form: str) -> None:
    code, out, err = call("scan", corpus(KILLED), "--format", form)
    assert (code, err) == (1, "")
    assert "CKP101" in out


@pytest.mark.parametrize("form", formats.PLANS)
@pytest.mark.parametrize("verb", ["reindex", "rename"])
def test_a_plan_is_given_and_nothing_is_done(call: Call, form: str, verb: str) -> None:
    more = ("--to", "checkpoint_{index:06d}-x") if verb == "rename" else ()
    place = corpus("older-folder-removed--ray-2.54.1-function_topk")
    code, out, _ = call(verb, place, "--format", form, "-n", *more)
    assert code == 0
    assert out


@pytest.mark.parametrize("form", formats.PLANS)
def test_what_was_done_and_undone_is_given(call: Call, form: str, tmp_path: Path) -> None:
    place = copy_of(KILLED, tmp_path)
    code, out, _ = call("reindex", place, "--format", form, "--yes", "--allow-live")
    assert code == 0
    assert out
    code, out, _ = call("undo", place, "--format", form, "--yes", "--allow-live")
    assert code == 0
    assert out
    if form in formats.LISTINGS:
        code, out, _ = call("history", place, "--format", form)
        assert code == 0
        assert "reindex" in out


@pytest.mark.parametrize("form", formats.LISTINGS)
@pytest.mark.parametrize("verb", ["latest", "best", "rules"])
def test_a_list_is_given(call: Call, form: str, verb: str) -> None:
    place = () if verb == "rules" else (corpus("ray-2.54.1-function_topk"),)
    code, out, err = call(verb, *place, "--format", form)
    assert (code, err) == (0, "")
    expected = "CKP101" if verb == "rules" else "checkpoint"
    assert expected in out


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        (verb, form)
        for verb in formats.VERBS
        for form in formats.ALL
        if form not in formats.of(verb)
    ],
)
def test_a_format_that_a_verb_lacks_is_a_usage_error(call: Call, verb: str, form: str) -> None:
    more = {"rename": ("--to", "x"), "migrate": ("--to-ray", "2.60.0")}.get(verb, ())
    place = {"rules": (), "diff": ("here", "there")}.get(verb, ("nowhere",))
    code, out, err = call(verb, *place, "--format", form, *more)
    assert (code, out) == (2, "")
    assert f"{verb} has no --format {form}" in err


def test_the_help_names_the_formats_of_the_verb(call: Call) -> None:
    _, out, _ = call("rename", "--help")
    assert "sarif" not in out
    _, out, _ = call("scan", "--help")
    assert "sarif" in out


def test_rules_that_were_not_checked_do_not_pass(call: Call) -> None:
    _, out, _ = call("scan", corpus(KILLED), "--format", "junit", "--select", "CKP104")
    assert "CKP104" in out
    assert "CKP101" not in out


def test_the_summary_of_a_step_is_appended(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    call("scan", corpus(KILLED))
    assert path.read_text() == "before\n"
    code, _, _ = call("scan", corpus(KILLED), "--format", "github")
    assert code == 1
    text = path.read_text("utf-8")
    assert text.startswith("before\n### ckptctl scan: 3 errors, 2 warnings\n")
    assert "| error | CKP101 index-behind-storage |" in text
    call("reindex", corpus(KILLED), "--format", "github", "-n")
    assert "no folder moves" in path.read_text("utf-8")[len(text) :]


def test_a_summary_that_cannot_be_written_changes_nothing(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    code, out, err = call("scan", corpus(KILLED), "--format", "github")
    assert code == 1
    assert out.startswith("::error ")
    assert err.startswith("::error title=ckptctl::cannot write ")


def test_errors_are_said_as_the_answer_would_be(call: Call) -> None:
    code, out, err = call("scan", "nowhere", "--format", "jsonl")
    assert (code, out) == (10, "")
    assert json.loads(err)["error"]["exit_code"] == 10
    code, out, err = call("scan", "nowhere", "--format", "github")
    assert (code, out) == (10, "")
    assert err.startswith("::error title=ckptctl::")


def test_a_page_is_written_beside_the_answer(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    code, out, err = call("scan", corpus(KILLED), "--html", path, "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["summary"]["errors"] == 3
    assert path.read_text("utf-8").startswith("<!doctype html>")
    code, _, err = call("scan", corpus(KILLED), "--html", tmp_path)
    assert code == 10
    assert "cannot write" in err
