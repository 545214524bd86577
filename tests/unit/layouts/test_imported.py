from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ckptctl.model.experiment import Experiment
from ckptctl.scanner import scan
from tests.support import copy_of, corpus

NAME = "ray-2.54.1-class_freq"
STATE = "experiment_state-2026-11-30_10-38-11.json"
SEARCH = "basic-variant-state-2026-11-30_10-38-11.json"


def read(place: Path) -> Experiment:
    (experiment,) = scan(str(place), collect_globals=True)
    return experiment


def imported(place: Path) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for held in read(place).pickles:
        found[held.file] = found.get(held.file, frozenset()) | held.names
    return found


def test_the_names_in_all_that_a_restore_reads_are_told() -> None:
    found = imported(corpus(NAME))
    assert set(found) == {STATE, "tuner.pkl", SEARCH}
    assert {"ray.tune:Checkpoint", "pyarrow._fs:FileSystem._from_uri"} <= found[STATE]
    assert "ray.tune:RunConfig" in found["tuner.pkl"]
    assert "ray.cloudpickle.cloudpickle:_make_function" in found[SEARCH]


def test_they_are_told_only_where_they_are_asked_for() -> None:
    (experiment,) = scan(str(corpus(NAME)))
    assert experiment.pickles == ()
    assert experiment.state_keys == ()
    (train_v2,) = scan(str(corpus("ray-2.54.1-train_v2_topk")), collect_globals=True)
    assert train_v2.pickles == ()


def test_objects_and_calls_are_told_with_their_places() -> None:
    found = read(corpus(NAME)).pickles
    storage = next(p for p in found if p.pointer == "trial_data/0/0#storage#")
    context = next(o for o in storage.objects if o.name.endswith(":StorageContext"))
    assert context.pointer == "trial_data/0/0#storage#"
    assert {"_timestamp", "current_checkpoint_index"} <= context.fields
    assert isinstance(context.plain["current_checkpoint_index"], int)
    (call,) = storage.calls
    assert call.name == "pyarrow._fs:FileSystem._from_uri"
    assert call.args == ("file:///_",)
    assert call.pointer == "trial_data/0/0#storage#storage_filesystem"


def test_functions_that_are_kept_by_value_are_told_with_their_python() -> None:
    search = next(p for p in read(corpus(NAME)).pickles if p.file == SEARCH)
    (code,) = search.code
    assert code.name == "ArgumentParser.__init__.<locals>.identity"
    assert code.file.endswith("argparse.py")
    assert "3.11" in code.pythons


def test_the_keys_of_the_state_are_told() -> None:
    keys = {held.pointer: held for held in read(corpus(NAME)).state_keys}
    assert keys["runner_data"].part == "runner"
    assert "_session_str" in keys["runner_data"].keys
    assert keys["trial_data/0/0#"].part == "trial"
    assert "trainable_name" in keys["trial_data/0/0#"].keys
    assert "trial_data/0/1#" not in keys


def test_of_several_searcher_states_the_newest_counts(tmp_path: Path) -> None:
    place = copy_of(NAME, tmp_path)
    newer = place / "basic-variant-state-2030-01-01_00-00-00.json"
    newer.write_bytes(pickle.dumps(OrderedDict(), protocol=5))
    found = imported(place)
    assert found[newer.name] == {"collections:OrderedDict"}
    assert SEARCH not in found


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    place = copy_of(NAME, tmp_path)
    (place / "tuner.pkl").write_bytes(b"\x80\x05")
    (place / STATE).write_bytes(b"{")
    assert set(imported(place)) == {SEARCH}


def test_the_fields_of_the_state_are_told_at_any_time() -> None:
    (tune,) = scan(str(corpus(NAME)))
    assert "_timestamp" in tune.state_fields
    (old,) = scan(str(corpus("ray-2.9.3-class_failed")))
    assert "storage_local_path" in old.state_fields
    (snapshot,) = scan(str(corpus("ray-2.60.0-train_v2_topk")))
    assert "validated_checkpoint_dir_names" in snapshot.state_fields
    (torn,) = scan(str(corpus("state-truncated--ray-2.54.1-train_v2_topk")))
    assert torn.state_fields == frozenset()
