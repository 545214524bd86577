from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Copy, snapshot

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
CLEAN = "ray-2.54.1-function_topk"
TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def test_check_says_whether_there_is_something_to_do(ckptctl: Call, copy: Copy) -> None:
    place = copy(BEHIND)
    before = snapshot(place)
    assert ckptctl("reindex", place, "--check").code == 1
    assert snapshot(place) == before
    assert ckptctl("reindex", place, "--yes").code == 0
    assert ckptctl("reindex", place, "--check").code == 0
    assert ckptctl("scan", place).code == 0


def test_rename_and_undo_give_every_byte_back(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    renamed = ckptctl("rename", place, "--to", TEMPLATE, "--yes")
    assert renamed.code == 0
    assert "checkpoint_000007  →  checkpoint_000008-0.4000  latest" in renamed.out
    assert renamed.out.endswith(f"done and verified. Take it back: ckptctl undo {place}\n")
    assert ckptctl("scan", place).code == 0
    assert snapshot(place) != before
    undone = ckptctl("undo", place, "--yes")
    assert undone.code == 0
    assert snapshot(place) == before


def test_undoing_an_undo_does_it_again(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    ckptctl("rename", place, "--to", TEMPLATE, "--yes")
    after = snapshot(place)
    again = ckptctl("undo", place, "--yes").out.splitlines()[-1].rpartition(" undo ")[2].split()
    assert ckptctl("undo", *again, "--yes").code == 0
    assert snapshot(place) == after


def test_nothing_is_left_to_undo(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("undo", copy(CLEAN), "--yes")
    assert (answer.code, answer.out) == (0, "")
    assert "nothing is left to undo" in answer.err


def test_without_a_terminal_yes_is_needed(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    answer = ckptctl("rename", place, "--to", TEMPLATE)
    assert answer.code == 2
    assert "--yes" in answer.err
    assert "checkpoint_000008-0.4000" in answer.out
    assert snapshot(place) == before


def test_a_dry_run_stops_after_the_plan(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    answer = ckptctl("rename", place, "--to", TEMPLATE, "-n")
    assert answer.code == 0
    assert answer.out.startswith(f"{CLEAN}   6 checkpoints get new names; ")
    assert snapshot(place) == before


def test_a_refused_plan_says_what_would_pass(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    answer = ckptctl("rename", place, "--to", "checkpoint_{nothing}", "--yes")
    assert answer.code == 14
    assert answer.err.startswith("error: refused: ")
    assert "help: " in answer.err
    answer = ckptctl("rename", place, "--to", "checkpoint_{nothing}", "--yes", "--json")
    assert answer.code == 14
    assert answer.json["plans"][0]["refusals"]
    assert answer.json["plans"][0]["outcome"] is None
    assert answer.error["code"] == "refused"


@pytest.mark.parametrize(
    "template", ["checkpoint_{", "checkpoint_{loss[0]}", "checkpoint_{loss!r}"]
)
def test_a_bad_template_is_a_usage_error(ckptctl: Call, copy: Copy, template: str) -> None:
    assert ckptctl("rename", copy(CLEAN), "--to", template, "-n").code == 2


def test_plans_in_json(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    answer = ckptctl("rename", place, "--to", TEMPLATE, "--yes", "--json")
    assert answer.err == ""
    (plan,) = answer.json["plans"]
    assert answer.json["command"] == "rename"
    assert {s["kind"] for s in plan["steps"]} == {"move", "rewrite"}
    assert plan["outcome"]["verified"] is True
    assert plan["outcome"]["steps_done"] == len(plan["steps"])


def test_a_saved_plan_is_applied_later_or_is_stale(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    place, file = copy(CLEAN), tmp_path / "plan.json"
    assert ckptctl("rename", place, "--to", TEMPLATE, "-n", "--plan-out", file).code == 0
    assert json.loads(file.read_text())["plan_id"]
    assert ckptctl("apply", file, "--yes").code == 0
    assert ckptctl("scan", place).code == 0
    again = ckptctl("apply", file, "--yes")
    assert again.code == 12
    assert "help: " in again.err


@pytest.mark.parametrize("content", ["", "{}", "[1]", "not json", '{"format": 99}'])
def test_what_is_no_plan_is_a_usage_error(ckptctl: Call, tmp_path: Path, content: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(content)
    assert ckptctl("apply", file, "--yes").code == 2


def test_a_plan_file_that_is_not_there(ckptctl: Call, tmp_path: Path) -> None:
    assert ckptctl("apply", tmp_path / "plan.json").code == 10


def test_if_one_plan_is_refused_none_is_applied(ckptctl: Call, copy: Copy) -> None:
    good, bad = copy(CLEAN), copy("ray-2.54.1-class_freq")
    before = snapshot(good)
    arguments = ("rename", good, bad, "--to", "checkpoint_{index:06d}-{eval/acc:.3f}", "--yes")
    assert ckptctl(*arguments).code == 14
    assert snapshot(good) == before
    assert ckptctl(*arguments, "--keep-going").code == 14
    assert snapshot(good) != before


def test_if_one_location_cannot_be_read_nothing_is_applied(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    good = copy(CLEAN)
    before = snapshot(good)
    arguments = ("rename", good, tmp_path / "nowhere", "--to", TEMPLATE, "--yes")
    assert ckptctl(*arguments).code == 10
    assert snapshot(good) == before
    assert ckptctl(*arguments, "--keep-going").code == 10
    assert snapshot(good) != before


def test_a_run_that_looks_alive_is_left_alone(ckptctl: Call, copy: Copy) -> None:
    place = copy("killed--ray-2.54.1")
    assert ckptctl("reindex", place, "-n").code == 0
    now = time.time()
    for path in place.rglob("*"):
        os.utime(path, (now, now))
    answer = ckptctl("reindex", place, "--yes")
    assert answer.code == 14
    assert "RUNNING" in answer.err
    assert "--allow-live" in answer.err
    assert ckptctl("reindex", place, "--yes", "--quiet-period", "0").code == 0


def test_allow_live_goes_on(ckptctl: Call, copy: Copy) -> None:
    place = copy("killed--ray-2.54.1")
    now = time.time()
    for path in place.rglob("*"):
        os.utime(path, (now, now))
    assert ckptctl("reindex", place, "--yes", "--allow-live").code == 0


def test_reindex_by_a_policy(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    answer = ckptctl("reindex", place, "--by", "training_iteration", "--yes")
    assert answer.code == 0
    assert "checkpoint_000007  →  checkpoint_000008" in answer.out
    assert ckptctl("scan", place).code == 0


def test_reindex_by_a_function_of_the_working_folder(
    ckptctl: Call, copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(CLEAN)
    (tmp_path / "my_policy.py").write_text(
        "def tens(metrics, previous):\n    return previous + 10\n"
    )
    monkeypatch.chdir(tmp_path)
    answer = ckptctl("reindex", place, "--by", "my_policy:tens", "--yes")
    assert answer.code == 0
    assert "checkpoint_000009" in answer.out
    assert ckptctl("reindex", place, "--by", "my_policy:none", "-n").code == 2
    assert ckptctl("reindex", place, "--by", "no_such_module:f", "-n").code == 2


def test_history_and_quiet(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    assert ckptctl("history", place).out == "nothing was applied here\n"
    done = ckptctl("rename", place, "--to", TEMPLATE, "--yes", "-q")
    entry = done.out.strip()
    assert done.out == f"{entry}\n"
    assert ckptctl("history", place, "-q").out.strip() in entry
    listed = ckptctl("history", place, "--json").json
    assert listed["entries"][0]["command"] == "rename"
    assert listed["entries"][0]["state"] == "applied"
    assert "applied" in ckptctl("history", place).out


def test_resume_with_nothing_pending(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("resume", copy(CLEAN), "--yes")
    assert answer.code == 0
    assert "nothing is pending" in answer.err


def test_undo_of_a_folder_with_several_experiments_asks_which(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    copy(CLEAN)
    copy(BEHIND)
    answer = ckptctl("undo", tmp_path, "--yes")
    assert answer.code == 2
    assert CLEAN in answer.err


def test_a_plan_that_is_nested_without_end_is_no_plan(ckptctl: Call, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text("[" * 100_000)
    answer = ckptctl("apply", plan, "--yes")
    assert answer.code == 2
    assert "is no saved plan: it is nested too deep" in answer.err


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_an_error_is_all_that_stderr_holds_for_a_program(
    process: Call, copy: Copy, form: str
) -> None:
    answer = process("reindex", copy(BEHIND), "--format", form)
    assert (answer.code, answer.out) == (2, "")
    assert answer.error["code"] == "usage"
    assert "--yes" in answer.error["hint"]


def test_the_template_that_would_pass_is_in_the_error_of_a_program(
    ckptctl: Call, copy: Copy
) -> None:
    answer = ckptctl("rename", copy(CLEAN), "--to", "checkpoint_{los:.2f}", "--json")
    assert answer.code == 14
    assert answer.error["hint"].startswith("nearest: loss; ckptctl rename ")
    assert "{loss:.2f}" in answer.error["hint"]


@pytest.mark.parametrize(
    "name",
    ["ray-2.54.1-function_topk", "ray-2.54.1-class_freq", "ray-2.6.3-function_topk"],
)
def test_a_log_that_lost_all_its_rows_gets_those_on_record(
    ckptctl: Call, copy: Copy, name: str
) -> None:
    place = copy(name)
    log = min(place.glob("*/result.json"))
    log.write_bytes(b"")
    before = snapshot(place)
    assert "ckptctl reindex" in ckptctl("scan", place).out
    assert ckptctl("reindex", place, "--yes").code == 0
    assert ckptctl("scan", place, "--fail-on", "warning").code == 0
    assert all("training_iteration" in json.loads(line) for line in log.open())
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before


def test_a_log_whose_end_tells_no_iteration_gets_no_second_row_of_a_save(
    ckptctl: Call, copy: Copy
) -> None:
    place = copy(CLEAN)
    log = min(place.glob("*/result.json"))
    text = log.read_text()
    assert '"training_iteration": 8' in text
    log.write_text(text.replace('"training_iteration": 8', '"training_iteration": null'))
    assert ckptctl("scan", place, "--fail-on", "warning").code == 0
    assert ckptctl("reindex", place, "--check").code == 0
