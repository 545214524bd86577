"""Options that reach down: other Rays, quarantine, pruning, locks, plans applied from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ckptctl.api import applying
from tests.cli.conftest import Call, Copy, snapshot

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
CLEAN = "ray-2.54.1-function_topk"
PARTIAL = "partial-checkpoint--ray-2.54.1-function_topk"
TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def codes(answer: Any) -> set[str]:
    return {finding["code"] for finding in answer.json["findings"]}


def test_another_ray_is_asked_about(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    assert "CKP207" not in codes(ckptctl("scan", place, "--json"))
    answer = ckptctl("scan", place, "--json", "--for-ray", "2.9.3")
    assert answer.code == 1
    assert "CKP207" in codes(answer)
    assert ckptctl("scan", place, "--for-ray", "2.54.1").code == 0
    assert ckptctl("scan", place, "--for-ray", "newest").code == 2


def test_another_pyarrow_is_asked_about(ckptctl: Call, copy: Copy) -> None:
    place = copy("ray-2.9.3-class_failed")
    assert "CKP207" in codes(ckptctl("scan", place, "--json", "--for-pyarrow", "26.0.0"))
    assert "CKP207" not in codes(ckptctl("scan", place, "--json", "--for-pyarrow", "14.0.0"))


def test_quarantine_moves_what_is_not_whole_aside_and_back(ckptctl: Call, copy: Copy) -> None:
    place = copy(PARTIAL)
    before = snapshot(place)
    assert ckptctl("scan", place).code == 1
    answer = ckptctl("reindex", place, "--quarantine", "--yes")
    assert answer.code == 0
    assert list(place.glob(".ckptctl/quarantine/*/checkpoint_*"))
    assert ckptctl("scan", place).code == 0
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before
    assert ckptctl("reindex", place, "--quarantine", "--by", "sequential", "-n").code == 2


def test_journals_that_can_no_longer_be_undone_are_dropped(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    assert ckptctl("history", place, "--prune").out == "every apply can still be undone\n"
    ckptctl("rename", place, "--to", TEMPLATE, "--yes")
    assert ckptctl("history", place, "--prune", "--yes").out == "every apply can still be undone\n"
    assert ckptctl("history", place, "--json").json["entries"]
    for folder in place.glob("*/checkpoint_*"):
        folder.rename(folder.with_name(folder.name + "x"))
    assert ckptctl("history", place, "--prune", "-n").out.count("rename") == 1
    assert ckptctl("history", place, "--prune").code == 2
    answer = ckptctl("history", place, "--prune", "--yes")
    assert (answer.code, answer.err) == (0, "1 journal dropped\n")
    assert not ckptctl("history", place, "--json").json["entries"]


def test_a_saved_plan_is_applied_from_another_folder(
    ckptctl: Call, copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(CLEAN)
    monkeypatch.chdir(tmp_path)
    shown = ckptctl("rename", CLEAN, "--to", TEMPLATE, "-n", "--plan-out", "plan.json", "--json")
    assert shown.json["plans"][0]["location"] == CLEAN
    assert json.loads(Path("plan.json").read_text())["location"] == str(place)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answer = ckptctl("apply", "../plan.json", "--yes")
    assert answer.code == 0
    assert answer.out.endswith(f"Take it back: ckptctl undo {place}\n")


def test_plans_to_apply_and_undo_call_trials_by_their_ids(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    place, file = copy(CLEAN), tmp_path / "plan.json"
    made = ckptctl("rename", place, "--to", TEMPLATE, "-n", "--plan-out", file).out
    assert "\n  02a88_00000\n" in made
    assert ckptctl("apply", file, "-n").out == made
    ckptctl("apply", file, "--yes")
    back = ckptctl("undo", place, "-n").out
    assert "\n  02a88_00000\n" in back
    assert "checkpoint_000008-0.4000  →  checkpoint_000007  latest\n" in back


@pytest.mark.parametrize(
    ("can", "no_lock", "locks"),
    [(True, False, True), (True, True, True), (False, False, True), (False, True, False)],
)
def test_no_lock_only_matters_where_there_is_none(can: bool, no_lock: bool, locks: bool) -> None:
    store = SimpleNamespace(capabilities=SimpleNamespace(conditional_create=can))
    assert applying._lock(cast(Any, store), no_lock=no_lock) is locks


@pytest.mark.parametrize("verb", ["rename", "reindex", "apply", "undo", "resume", "history"])
def test_every_verb_that_locks_has_the_flag_that_its_error_names(ckptctl: Call, verb: str) -> None:
    assert "--no-lock" in ckptctl(verb, "--help").out


def test_two_saves_in_one_folder_count_as_not_whole(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    (folder,) = place.glob("function_02a88_00000*/checkpoint_000007")
    (folder / "ckpt-loss=0.25.bin").write_bytes(b"x")
    for other in place.glob("*/checkpoint_*"):
        (other / "ckpt-loss=0.5.bin").write_bytes(b"x")
    text = ckptctl("scan", place).out
    assert ("CKP303" in text) == ("1 checkpoint cannot be loaded whole" in text)
