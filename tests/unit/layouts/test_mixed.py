"""Folders with several experiments in them, whole and broken, and with what belongs to none."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptctl.api import check, plan_reindex, plan_rename
from ckptctl.errors import LocationError
from ckptctl.model.experiment import Experiment, RecordRole
from ckptctl.scanner import scan
from ckptctl.storage import local_store
from tests.support import HEALTHY, copy_of, corpus, listed_folder

TUNE, V2, LEGACY = (
    "ray-2.54.1-function_topk",
    "ray-2.54.1-train_v2_topk",
    "ray-2.6.3-function_topk",
)


def by_name(folder: Path) -> dict[str, Experiment]:
    return {os.path.relpath(e.location, folder): e for e in scan(str(folder))}


def only(location: Path) -> Experiment:
    (found,) = scan(str(location))
    return found


def state_of(experiment: Path) -> Path:
    return max(experiment.glob("experiment_state-*.json"))


def bare(parent: Path, *names: str) -> None:
    for name in names:
        (parent / name).mkdir(parents=True)
        (parent / name / "model.bin").write_text("x")


def test_fifty_experiments_of_all_families(tmp_path: Path) -> None:
    made = []
    for number in range(50):
        name = HEALTHY[number % len(HEALTHY)]
        target = tmp_path / f"group{number % 3}" / f"{number:02d}-{name}"
        shutil.copytree(corpus(name), target)
        made.append(os.path.relpath(target, tmp_path))
    bare(tmp_path / "group0" / "bare", "checkpoint_1", "checkpoint_2")
    bare(tmp_path / "group3" / "bare", "checkpoint_1", "checkpoint_2")
    found = by_name(tmp_path)
    assert set(found) == {*made, "group0/bare", "group3"}
    for name, experiment in found.items():
        alone = only(tmp_path / name)
        assert alone.layout == experiment.layout
        assert alone.trials == experiment.trials
        assert alone.mentions == experiment.mentions
    assert list(found) == sorted(found, key=lambda name: name.split("/"))


class HostilePickle:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch canary",)


def garbage(experiment: Path) -> None:
    state_of(experiment).write_bytes(b"\xff\xfe{]" * 100)


def nested(experiment: Path) -> None:
    state_of(experiment).write_text("[" * 200_000)


def another_document(experiment: Path) -> None:
    state_of(experiment).write_text('{"trial_data": [[1, 2], "x"]}')


def hostile(experiment: Path) -> None:
    state = json.loads(state_of(experiment).read_text())
    trial = json.loads(state["trial_data"][0][1])
    trial["checkpoint_manager"]["value"] = (pickle.dumps(HostilePickle(), 2)[:-1]).hex()
    state["trial_data"][0][1] = json.dumps(trial)
    state_of(experiment).write_text(json.dumps(state))


def broken_log(experiment: Path) -> None:
    for path in experiment.glob("*/result.json"):
        path.write_bytes(b"\x00\xff\n{\n" * 10)


def broken_snapshot(experiment: Path) -> None:
    (experiment / "checkpoint_manager_snapshot.json").write_text('{"checkpoint_results": 3}')


@pytest.mark.parametrize(
    ("name", "breaks"),
    [
        *((TUNE, b) for b in (garbage, nested, another_document, hostile, broken_log)),
        *((LEGACY, b) for b in (garbage, nested, another_document, broken_log)),
        (V2, broken_snapshot),
    ],
)
def test_a_broken_experiment_hides_no_other(
    tmp_path: Path, name: str, breaks: Callable[[Path], None]
) -> None:
    expected = {"a", "broken", "z"}
    for one in expected - {"broken"}:
        shutil.copytree(corpus(TUNE), tmp_path / one)
    shutil.copytree(corpus(name), tmp_path / "broken")
    breaks(tmp_path / "broken")
    found = by_name(tmp_path)
    assert set(found) == expected
    assert not found["a"].problems and not found["z"].problems
    for experiment in found.values():
        check(experiment)
        plan_reindex(experiment)
    assert not Path("canary").exists()


def test_a_state_that_may_not_be_read_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in ("a", "b", "c"):
        shutil.copytree(corpus(TUNE), tmp_path / one)
    reader = local_store.LocalStore
    plain_read = reader.read_bytes

    def refuse(self: object, path: str, limit: int | None = None) -> bytes:
        if path.startswith("b/experiment_state"):
            raise LocationError(f"cannot read {path}: permission denied")
        return plain_read(self, path, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "read_bytes", refuse)
    found = by_name(tmp_path)
    assert set(found) == {"a", "b", "c"}
    assert [p.reason for p in found["b"].problems] == [
        f"cannot read b/{state_of(tmp_path / 'b').name}: permission denied"
    ]
    assert not found["a"].problems and not found["c"].problems
    assert {f.code for f in check(found["b"])} >= {"CKP201"}


def test_an_experiment_inside_anothers_folder_is_one_of_its_own(tmp_path: Path) -> None:
    outer = copy_of(TUNE, tmp_path)
    trial = min(path.parent for path in outer.glob("*/result.json"))
    shutil.copytree(corpus(V2), outer / "inner_v2")
    shutil.copytree(corpus(LEGACY), outer / "inner_legacy")
    shutil.copytree(corpus(V2), trial / "deeper" / "inner")
    before = only(corpus(TUNE))
    found = by_name(tmp_path)
    assert {name: e.layout for name, e in found.items()} == {
        TUNE: "ray-tune",
        f"{TUNE}/inner_v2": "ray-train-v2",
        f"{TUNE}/inner_legacy": "ray-legacy",
        f"{TUNE}/{trial.name}/deeper/inner": "ray-train-v2",
    }
    assert [t.dirname for t in found[TUNE].trials] == [t.dirname for t in before.trials]
    assert found[TUNE].mentions == before.mentions


def test_bare_folders_inside_an_experiment_are_part_of_it(tmp_path: Path) -> None:
    outer = copy_of(TUNE, tmp_path)
    trial = min(path.parent for path in outer.glob("*/result.json"))
    bare(trial / "rank_all" / "run", "checkpoint_1", "checkpoint_2")
    (trial / "checkpoint_000005").mkdir(exist_ok=True)
    (trial / "checkpoint_000005" / "result.json").write_text("{}\n")
    (trial / "checkpoint_000005" / "checkpoint_1").mkdir()
    assert set(by_name(tmp_path)) == {TUNE}


def test_the_newest_state_counts_and_a_trial_may_be_foreign_or_absent(tmp_path: Path) -> None:
    outer = copy_of(TUNE, tmp_path)
    other = min(path.parent for path in corpus("ray-2.40.0-class_freq").glob("*/result.json"))
    shutil.copytree(other, outer / other.name)
    shutil.copy(state_of(outer), outer / "experiment_state-2020-01-01_00-00-00.json")
    absent = max(path.parent for path in outer.glob("function*/result.json"))
    shutil.rmtree(absent)
    found = only(outer)
    assert found.state_file == state_of(outer).name
    superseded = [r.path for r in found.records if r.role is RecordRole.SUPERSEDED_STATE]
    assert superseded == ["experiment_state-2020-01-01_00-00-00.json"]
    known = {str(t.dirname): (t.in_state, t.on_storage) for t in found.trials}
    assert known[other.name] == (False, True)
    assert known[absent.name] == (True, False)


@pytest.mark.parametrize("name", [TUNE, LEGACY, V2])
def test_links_are_told_and_never_followed(tmp_path: Path, name: str) -> None:
    experiment = copy_of(name, tmp_path / "exp")
    before = only(experiment)
    latest = before.trials[0].latest
    assert latest is not None
    shutil.move(experiment / latest.path, tmp_path / "elsewhere")
    (experiment / latest.path).symlink_to(tmp_path / "elsewhere")
    (experiment / "loop").symlink_to(experiment)
    os.mkfifo(experiment / "pipe")
    found = only(experiment)
    assert found.odd == tuple(sorted((latest.path, "loop", "pipe")))
    assert len(found.trials) == len(before.trials)
    missing = found.trials[0].checkpoint(latest.name)
    assert missing is None or not missing.on_storage
    # What a link leads to may well be the checkpoint: its record is not dropped.
    plan = plan_reindex(found)
    assert not any(latest.name in note and "dropped" in note for note in plan.notes)


def test_the_name_of_a_link_is_taken(tmp_path: Path) -> None:
    bare(tmp_path / "run", "checkpoint_1", "checkpoint_2")
    (tmp_path / "run" / "checkpoint_000002").symlink_to(tmp_path)
    refusals = plan_rename(only(tmp_path / "run"), template="checkpoint_{index:06d}").refusals
    assert [r.code for r in refusals] == ["collision"]


def test_own_folders_are_no_part_of_any_experiment(tmp_path: Path) -> None:
    outer = copy_of(TUNE, tmp_path)
    bare(outer / ".ckptctl" / "quarantine" / "trial", "checkpoint_1", "checkpoint_2")
    bare(tmp_path / "plain", "checkpoint_1")
    bare(tmp_path / "plain" / ".ckptctl" / "quarantine", "checkpoint_7")
    found = by_name(tmp_path)
    assert set(found) == {TUNE, "plain"}
    assert found[TUNE].quarantined == ("trial", "trial/checkpoint_1", "trial/checkpoint_2")
    assert [c.name for c in found["plain"].trials[0].checkpoints] == ["checkpoint_1"]


def test_a_folder_is_listed_once_however_many_experiments_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        shutil.copytree(corpus(TUNE), tmp_path / f"e{number:02d}")
    root = tmp_path.resolve()
    folders = [str(root), *(str(p) for p in root.rglob("*") if p.is_dir())]
    listed: list[str] = []
    real = os.scandir

    def scandir(place: int | str) -> object:
        listed.append(listed_folder(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)
    scan(str(tmp_path))
    assert sorted(listed) == sorted(folders)
