"""`reindex` on Ray Train V2: the snapshot follows the folders, or is made anew from them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ckptctl.api import apply, check, plan_reindex, plan_rename
from ckptctl.codec.json_prefix import whole_members
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Plan
from ckptctl.scanner import scan
from tests.support import copy_of

SNAPSHOT = "checkpoint_manager_snapshot.json"
RUNS = ("ray-2.54.1-train_v2_topk", "ray-2.54.1-train_v2_named", "ray-2.60.0-train_v2_topk")
every_run = pytest.mark.parametrize("name", RUNS)


def read(experiment: Path) -> Experiment:
    (found,) = scan(str(experiment))
    return found


def snapshot(experiment: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((experiment / SNAPSHOT).read_text())
    return document


def names(results: list[dict[str, Any]]) -> list[str]:
    return [result["checkpoint_dir_name"] for result in results]


def reindex(experiment: Path, *, unsafe: bool = False) -> Plan:
    plan = plan_reindex(read(experiment), unsafe=unsafe)
    assert plan.refusals == ()
    assert apply(plan, allow_live=True).verified
    assert plan_reindex(read(experiment), unsafe=unsafe).steps == ()
    assert not {f.code for f in check(read(experiment))} & {"CKP103", "CKP104", "CKP115", "CKP201"}
    return plan


@every_run
def test_what_ray_wrote_is_left_alone(tmp_path: Path, name: str) -> None:
    experiment = copy_of(name, tmp_path)
    assert plan_reindex(read(experiment)).steps == ()
    assert plan_reindex(read(experiment), unsafe=True).steps == ()


@every_run
def test_a_missing_latest(tmp_path: Path, name: str) -> None:
    experiment = copy_of(name, tmp_path)
    before = snapshot(experiment)
    gone = before["latest_checkpoint_result"]["checkpoint_dir_name"]
    shutil.rmtree(experiment / gone)
    reindex(experiment)
    after = snapshot(experiment)
    assert names(after["checkpoint_results"]) == [
        n for n in names(before["checkpoint_results"]) if n != gone
    ]
    numbers = dict(
        zip(
            names(before["checkpoint_results"]),
            before["checkpoint_report_indices"],
            strict=True,
        )
    )
    del numbers[gone]
    assert after["checkpoint_report_indices"] == [
        numbers[n] for n in names(after["checkpoint_results"])
    ]
    newest = max(numbers, key=lambda n: numbers[n])
    assert after["latest_checkpoint_result"]["checkpoint_dir_name"] == newest


def test_validations_of_a_missing_save_are_forgotten(tmp_path: Path) -> None:
    """Ray fails on a pending result that is not among the results."""
    experiment = copy_of("ray-2.60.0-train_v2_topk", tmp_path)
    document = snapshot(experiment)
    gone, other, last = names(document["checkpoint_results"])
    document["pending_training_results"] = [
        document["checkpoint_results"][0],
        document["checkpoint_results"][2],
    ]
    document["pending_validation_specs"] = [True, {"fn_kwargs": {}}]
    document["validated_checkpoint_dir_names"] = [other, gone]
    (experiment / SNAPSHOT).write_text(json.dumps(document))
    shutil.rmtree(experiment / gone)
    reindex(experiment)
    after = snapshot(experiment)
    assert names(after["pending_training_results"]) == [last]
    assert after["pending_validation_specs"] == [{"fn_kwargs": {}}]
    assert after["validated_checkpoint_dir_names"] == [other]


def test_a_nested_name_is_a_folder_of_the_run(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-train_v2_topk", tmp_path)
    old = snapshot(experiment)["latest_checkpoint_result"]["checkpoint_dir_name"]
    (experiment / "sub").mkdir()
    (experiment / old).rename(experiment / "sub" / "epoch5")
    text = (experiment / SNAPSHOT).read_text()
    (experiment / SNAPSHOT).write_text(text.replace(old, "sub/epoch5"))
    (run,) = read(experiment).trials
    assert run.latest is not None and run.latest.name == "sub/epoch5"
    assert all(c.on_storage for c in run.checkpoints)
    assert plan_reindex(read(experiment)).steps == ()


def test_every_place_that_ray_keeps_follows_a_rename(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.60.0-train_v2_topk", tmp_path)
    document = snapshot(experiment)
    first, second, last = names(document["checkpoint_results"])
    document["pending_training_results"] = [document["checkpoint_results"][2]]
    document["pending_validation_specs"] = [True]
    document["validated_checkpoint_dir_names"] = [first]
    document["timed_out_validation_checkpoint_dir_names"] = [second]
    document["failed_validation_checkpoint_dir_names"] = [last, first]
    (experiment / SNAPSHOT).write_text(json.dumps(document, separators=(",", ":")))
    plan = plan_rename(read(experiment), template="checkpoint_{step:04d}")
    assert plan.refusals == ()
    assert apply(plan, allow_live=True).verified
    text = (experiment / SNAPSHOT).read_text()
    assert not any(name in text for name in (first, second, last))
    after = json.loads(text)
    new = names(after["checkpoint_results"])
    assert new == ["checkpoint_0004", "checkpoint_0003", "checkpoint_0005"]
    assert names(after["pending_training_results"]) == [new[2]]
    assert after["validated_checkpoint_dir_names"] == [new[0]]
    assert after["timed_out_validation_checkpoint_dir_names"] == [new[1]]
    assert after["failed_validation_checkpoint_dir_names"] == [new[2], new[0]]


@every_run
@pytest.mark.parametrize("cut", [0, 1, 20, 150, 250, 350, 400, 500, 600, 650])
def test_a_torn_snapshot_is_made_anew(tmp_path: Path, name: str, cut: int) -> None:
    experiment = copy_of(name, tmp_path)
    before = snapshot(experiment)
    data = (experiment / SNAPSHOT).read_bytes()[:cut]
    (experiment / SNAPSHOT).write_bytes(data)
    refused = plan_reindex(read(experiment))
    assert [r.code for r in refused.refusals] == ["unreadable"]
    assert any("--unsafe" in line for r in refused.refusals for line in r.help)

    assert reindex(experiment, unsafe=True).unsafe
    after = snapshot(experiment)
    assert after.keys() >= before.keys() - {"ray_version"}
    numbers = dict(
        zip(names(after["checkpoint_results"]), after["checkpoint_report_indices"], strict=True)
    )
    assert set(numbers) == set(names(before["checkpoint_results"]))
    latest = after["latest_checkpoint_result"]["checkpoint_dir_name"]
    assert latest == before["latest_checkpoint_result"]["checkpoint_dir_name"]
    assert latest == max(numbers, key=lambda n: numbers[n])
    assert after["current_report_index"] > max(numbers.values())
    told = {r["checkpoint_dir_name"]: r for r in before["checkpoint_results"]}
    for result in after["checkpoint_results"]:
        whole = json.dumps(told[result["checkpoint_dir_name"]]).replace(" ", "").encode()
        kept = told[result["checkpoint_dir_name"]]["metrics"]
        assert result["metrics"] == (kept if whole in data.replace(b" ", b"") else {})


def test_folders_of_any_name_are_found_and_put_in_order_by_time(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-train_v2_topk", tmp_path)
    for number, folder in enumerate(sorted(experiment.glob("checkpoint_2*"))):
        new = folder.rename(experiment / f"epoch={'cab'[number]}")
        for path in new.rglob("*"):
            os.utime(path, (1000 + number, 1000 + number))
    (experiment / SNAPSHOT).write_text("")
    reindex(experiment, unsafe=True)
    after = snapshot(experiment)
    assert names(after["checkpoint_results"]) == ["epoch=c", "epoch=a", "epoch=b"]
    assert after["latest_checkpoint_result"]["checkpoint_dir_name"] == "epoch=b"
    assert after["checkpoint_report_indices"] == [0, 1, 2]
    assert after["current_report_index"] == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("[1, 2]", {}),
        ("{", {}),
        ('{"a": 1', {}),
        ('{"a": 1,', {"a": 1}),
        ('{"a": {"b": 1', {}),
        ('{"a": "b"', {"a": "b"}),
        ('{"a": true, "b": [1, {"c": 2}, {"d"', {"a": True, "b": [1, {"c": 2}]}),
        ('{"b": [1, 2', {"b": [1]}),
        ('{"b": [[1], [2], [', {"b": [[1], [2]]}),
        ('{"b": [', {"b": []}),
        ('{"a": 1, "b"', {"a": 1}),
        ('{"a": 1} rest', {"a": 1}),
    ],
)
def test_what_is_whole_in_a_torn_object(text: str, expected: dict[str, object]) -> None:
    assert whole_members(text.encode()) == expected


def test_text_that_ends_inside_a_character_is_read_to_there() -> None:
    assert whole_members('{"a": "é", "b": "é'.encode()[:-1]) == {"a": "é"}
