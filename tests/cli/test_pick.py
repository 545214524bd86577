from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Call, Copy

CLEAN = "ray-2.54.1-function_topk"


def test_latest_is_one_path_a_line(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    answer = ckptctl("latest", place)
    assert answer.code == 0
    expected = sorted(str(p) for p in place.glob("*/checkpoint_000007"))
    assert answer.out.splitlines() == expected


def test_latest_of_one_trial(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    folder = next(place.glob("function_02a88_00001*"))
    expected = f"{folder / 'checkpoint_000007'}\n"
    assert ckptctl("latest", place, "--trial", "02a88_00001").out == expected
    assert ckptctl("latest", folder).out == expected


def test_best_by_the_trials_own_metric_or_by_another(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    own = ckptctl("best", place)
    assert own.code == 0
    assert all(path.endswith("checkpoint_000006") for path in own.out.splitlines())
    other = ckptctl("best", place, "--metric", "loss", "--mode", "max")
    assert not any(path.endswith("checkpoint_000006") for path in other.out.splitlines())


def test_a_trial_without_an_answer_exits_with_1(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    for folder in place.glob("function_02a88_00001*/checkpoint_*"):
        shutil.rmtree(folder)
    answer = ckptctl("latest", place)
    assert answer.code == 1
    assert len(answer.out.splitlines()) == 1
    assert "02a88_00001: no complete checkpoint" in answer.err


def test_a_metric_that_nobody_reports(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("best", copy(CLEAN), "--metric", "lss", "--mode", "min")
    assert (answer.code, answer.out) == (1, "")
    assert "loss" in answer.err


def test_a_metric_needs_a_mode(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("best", copy(CLEAN), "--metric", "eval/acc")
    assert answer.code == 2
    assert "--mode" in answer.err


def test_picks_in_json(ckptctl: Call, copy: Copy) -> None:
    picks = ckptctl("latest", copy(CLEAN), "--json").json["checkpoints"]
    assert [p["checkpoint"]["name"] for p in picks] == ["checkpoint_000007"] * 2


def test_a_save_that_is_not_whole_is_neither_latest_nor_best(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    folder = next(place.glob("function_02a88_00000*"))
    for torn, verb, whole in (
        ("checkpoint_000007", "latest", "checkpoint_000006"),
        ("checkpoint_000006", "best", "checkpoint_000005"),
    ):
        lost = folder / torn / "weights.bin"
        content = lost.read_bytes()
        lost.unlink()
        answer = ckptctl(verb, place, "--trial", "02a88_00000")
        assert (answer.code, answer.out) == (0, f"{folder / whole}\n")
        lost.write_bytes(content)
    for path in (folder / "checkpoint_000006").iterdir():
        path.unlink()
    answer = ckptctl("best", place, "--trial", "02a88_00000")
    assert (answer.code, answer.out) == (0, f"{folder / 'checkpoint_000005'}\n")


def test_the_latest_of_train_v2_is_whole(ckptctl: Call, copy: Copy) -> None:
    place = copy("ray-2.54.1-train_v2_topk")
    newest = Path(ckptctl("latest", place).out.strip())
    max(newest.iterdir(), key=lambda path: path.stat().st_size).unlink()
    answer = ckptctl("latest", place)
    assert answer.code == 0
    assert Path(answer.out.strip()).parent == newest.parent
    assert Path(answer.out.strip()).name < newest.name
