from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path

from ckptctl.scanner import scan
from tests.support import copy_of, corpus

NAME = "ray-2.54.1-class_freq"
STATE = "experiment_state-2026-11-30_10-38-11.json"
SEARCH = "basic-variant-state-2026-11-30_10-38-11.json"


def imported(place: Path) -> dict[str, frozenset[str]]:
    (experiment,) = scan(str(place), collect_globals=True)
    return dict(experiment.globals)


def test_the_globals_of_all_that_a_restore_reads_are_told() -> None:
    found = imported(corpus(NAME))
    assert set(found) == {STATE, "tuner.pkl", SEARCH}
    assert {"ray.tune:Checkpoint", "pyarrow._fs:FileSystem._from_uri"} <= found[STATE]
    assert "ray.tune:RunConfig" in found["tuner.pkl"]
    assert "ray.cloudpickle.cloudpickle:_make_function" in found[SEARCH]


def test_they_are_told_only_where_they_are_asked_for() -> None:
    (experiment,) = scan(str(corpus(NAME)))
    assert experiment.globals == {}
    (train_v2,) = scan(str(corpus("ray-2.54.1-train_v2_topk")), collect_globals=True)
    assert train_v2.globals == {}


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
    assert set(imported(place)) == {STATE, SEARCH}
    assert imported(place)[STATE] == frozenset()


def test_the_fields_of_the_state_are_told_at_any_time() -> None:
    (tune,) = scan(str(corpus(NAME)))
    assert "_timestamp" in tune.state_fields
    (old,) = scan(str(corpus("ray-2.9.3-class_failed")))
    assert "storage_local_path" in old.state_fields
    (snapshot,) = scan(str(corpus("ray-2.60.0-train_v2_topk")))
    assert "validated_checkpoint_dir_names" in snapshot.state_fields
    (torn,) = scan(str(corpus("state-truncated--ray-2.54.1-train_v2_topk")))
    assert torn.state_fields == frozenset()
