"""Real experiments: everything in them is read, and edits touch nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ckptctl.codec.csv_records import CsvText, read_column
from ckptctl.codec.edit import apply_edits, read_pointer
from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_records import fallback_bytes, load_json
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_reader import Opaque, attr_int, decode, plain, walk
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.values import CopyFrom, New, Value, same, to_json
from ckptctl.model.experiment import RecordKind

CORPUS = Path(__file__).parents[2] / "corpus"
STATES = sorted(CORPUS.glob("*/*/experiment_state-*.json"))
EDITED = [
    path
    for path in STATES
    if "ray-2.6." not in str(path)
    and not path.parent.name.startswith(("state-truncated", "killed"))
]


@dataclass(frozen=True)
class Change:
    op: str
    pointer: str
    before: Any = None
    after: Any = None


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.name[17:]}"


def blobs(value: object) -> Iterator[bytes]:
    """Every pickle in a document and in the documents in it."""
    found = fallback_bytes(value)
    if found is not None:
        yield found
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from blobs(item)
    elif isinstance(value, str) and value.startswith(("{", "[")):
        try:
            inner = load_json(value.encode())
        except CodecError:
            return
        yield from blobs(inner)


def check_pickle(data: bytes) -> None:
    doc = decode(data)
    assert doc.end == len(data)
    plain(doc.root)
    to_value(doc.root)
    assert PickleEditor(data).tobytes() == data


def test_there_is_a_corpus() -> None:
    assert len(STATES) > 30


@pytest.mark.parametrize("path", STATES, ids=label)
def test_every_pickle_in_a_state(path: Path) -> None:
    if path.parent.name.startswith("state-truncated"):
        with pytest.raises(CodecError):
            load_json(path.read_bytes())
        return
    found = list(blobs(load_json(path.read_bytes())))
    assert found
    for data in found:
        check_pickle(data)


@pytest.mark.parametrize("experiment", sorted(CORPUS.glob("*/*")), ids=lambda path: path.name)
def test_every_other_record(experiment: Path) -> None:
    names = ("*.pkl", "*/*.pkl", "*/*/.tune_metadata", "*/*/.metadata.pkl", "basic-variant-*")
    for path in (found for name in names for found in experiment.glob(name)):
        data = path.read_bytes()
        if data:
            check_pickle(data)
    for path in experiment.glob("*/result.json"):
        lines = path.read_bytes().splitlines()
        # The last one may have been cut off.
        assert all(isinstance(load_json(line), dict) for line in lines[:-1])
    for path in experiment.glob("*/progress.csv"):
        data = path.read_bytes()
        iterations = [int(text) for _, text in read_column(data, "training_iteration")]
        assert len(iterations) == len(CsvText(data.decode()))


@pytest.mark.parametrize("path", EDITED, ids=label)
def test_records_come_and_go_in_real_states(path: Path) -> None:
    data = path.read_bytes()
    document: Any = load_json(data)
    edits: list[Change] = []
    for number in range(len(document["trial_data"])):
        edits += trial_edits(data, number)
    made = apply_edits(data, RecordKind.JSON, edits)
    after: Any = load_json(made)
    assert {key: after[key] for key in after if key != "trial_data"} == {
        key: document[key] for key in document if key != "trial_data"
    }
    for number, (old, new) in enumerate(
        zip(document["trial_data"], after["trial_data"], strict=True)
    ):
        check_trial(old, new, data, made, number)


def trial_edits(data: bytes, number: int) -> list[Change]:
    index = f"trial_data/{number}/0#storage#current_checkpoint_index"
    rows = f"trial_data/{number}/1#checkpoint_manager#_checkpoint_results"
    records: Any = read_pointer(data, RecordKind.JSON, rows)
    name = f"trial_data/{number}/1#last_result/checkpoint_dir_name"
    edits = [
        Change("set", index, read_pointer(data, RecordKind.JSON, index), 70_000),
        Change("set", name, None, "moved"),
    ]
    if not records:
        return edits
    first: New = records[0]
    checkpoint: Any = first.state["checkpoint"]
    state: dict[str, Value] = {
        "path": "/new/é",
        "filesystem": CopyFrom(f"trial_data/{number}/0#storage#storage_filesystem"),
        "_uuid": New(global_="uuid:UUID", state={"int": 1 << 127}),
    }
    record = New(
        global_=first.global_,
        state={
            "checkpoint": New(global_=checkpoint.global_, state=state),
            "metrics": {"training_iteration": 9, "nested": {"x": 0.5}},
        },
    )
    edits += [
        Change("set", f"{rows}/0/checkpoint/path", None, "/moved"),
        Change("insert", f"{rows}/0", None, to_json(record)),
        Change("insert", f"{rows}/{len(records)}", None, {"$copy": ["_checkpoint_results", 0]}),
    ]
    if len(records) > 1:
        edits.append(Change("remove", f"{rows}/1", to_json(records[1])))
    return edits


def check_trial(old: list[str], new: list[str], data: bytes, made: bytes, number: int) -> None:
    before, after = json.loads(old[0]), json.loads(new[0])
    assert {**before, "storage": 0} == {**after, "storage": 0}
    storage = fallback_bytes(after["storage"])
    assert storage is not None
    assert attr_int(decode(storage).root, "current_checkpoint_index") == 70_000
    before, after = json.loads(old[1]), json.loads(new[1])
    before["last_result"]["checkpoint_dir_name"] = "moved"
    assert {**before, "checkpoint_manager": 0} == {**after, "checkpoint_manager": 0}
    rows = f"trial_data/{number}/1#checkpoint_manager#_checkpoint_results"
    was: Any = read_pointer(data, RecordKind.JSON, rows)
    now: Any = read_pointer(made, RecordKind.JSON, rows)
    assert now[0].state["checkpoint"].state["path"] == "/new/é"
    assert now[1].state["checkpoint"].state["path"] == "/moved"
    assert same(now[-1], was[0])
    assert len(now) == len(was) + (1 if len(was) > 1 else 2)
    filesystem = now[0].state["checkpoint"].state["filesystem"]
    assert filesystem == was[0].state["checkpoint"].state["filesystem"]


def test_a_whole_pickle_is_walked() -> None:
    path = next(CORPUS.glob("healthy/ray-2.54.1-function_topk/tuner.pkl"))
    names = {node.name for node in walk(decode(path.read_bytes()).root) if isinstance(node, Opaque)}
    assert any(name.endswith(":RunConfig") for name in names)
