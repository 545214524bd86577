from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ckptctl.codec.errors import EditError
from ckptctl.errors import StalePlanError
from ckptctl.model.experiment import Experiment, RecordFile, RecordKind, RecordRole
from ckptctl.model.plan import Edit, MoveTree, Plan, ReplaceFile, TreeFile
from ckptctl.planner.assemble import _Moved, assemble
from ckptctl.planner.draft import Draft

DATA = b"before"


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _record(path: str, role: RecordRole = RecordRole.STATE, data: bytes = DATA) -> RecordFile:
    return RecordFile(path=path, kind=RecordKind.JSON, role=role, sha256=_sha(data), size=1)


EXPERIMENT = Experiment(
    location="exp",
    name="exp",
    layout="ray-tune",
    trials=(),
    records=(
        _record("state.json"),
        _record("old.json", RecordRole.SUPERSEDED_STATE),
        _record("t/checkpoint_1/.tune_metadata", RecordRole.CHECKPOINT_METADATA),
        replace(_record("t/listed.json"), sha256=""),
    ),
)
EDIT = Edit(op="set", pointer="x", before=1, after=2)


def _apply(data: bytes, kind: RecordKind, edits: Sequence[Edit]) -> bytes:
    if edits[0].after == "bad":
        raise EditError("expected 1, found 2")
    return data if edits[0].after == edits[0].before else data + b" edited"


def _assemble(draft: Draft, contents: dict[str, bytes] | None = None) -> Plan:
    return assemble(
        EXPERIMENT,
        draft,
        dict.fromkeys(draft.edits, DATA) if contents is None else contents,
        {"t/checkpoint_1": (TreeFile(path="weights.bin", size=4),)},
        {"t/checkpoint_1": "8:15"},
        command="rename",
        apply_edits=_apply,
    )


def test_a_plan_holds_digests_from_before_and_after() -> None:
    plan = _assemble(Draft(edits={"state.json": (EDIT,)}, notes=("n",), unsafe=True))
    assert plan.steps == (
        ReplaceFile(
            file="state.json",
            kind=RecordKind.JSON,
            before=_sha(DATA),
            after=_sha(b"before edited"),
            edits=(EDIT,),
        ),
    )
    assert (plan.command, plan.location, plan.layout) == ("rename", "exp", "ray-tune")
    assert plan.notes == ("n",) and plan.unsafe and plan.plan_id == ""


def test_every_record_that_was_read_binds_the_plan_but_for_superseded_ones() -> None:
    assert [path for path, _ in _assemble(Draft()).reads] == [
        "state.json", "t/checkpoint_1/.tune_metadata",
    ]  # fmt: skip


def test_a_move_holds_the_files_and_identity_of_its_folder() -> None:
    aside = ".ckptctl/tmp/1-checkpoint_1"
    moves = (
        ("t/checkpoint_1", aside),
        ("t/checkpoint_2", "t/checkpoint_1"),
        (aside, "t/checkpoint_2"),
    )
    plan = _assemble(Draft(moves=moves))
    files = (TreeFile(path="weights.bin", size=4),)
    assert plan.moves[0] == MoveTree(
        source="t/checkpoint_1", target=aside, files=files, file_id="8:15"
    )
    assert plan.moves[2] == MoveTree(
        source=aside, target="t/checkpoint_2", files=files, file_id="8:15"
    )
    assert plan.fingerprint != _assemble(Draft()).fingerprint


def test_a_record_inside_a_moved_folder_is_rewritten_where_it_then_lies() -> None:
    file = "t/checkpoint_1/.tune_metadata"
    plan = _assemble(Draft(moves=(("t/checkpoint_1", "t/checkpoint_2"),), edits={file: (EDIT,)}))
    assert [step.file for step in plan.rewrites] == ["t/checkpoint_2/.tune_metadata"]


def test_an_edit_that_changes_nothing_is_no_step() -> None:
    draft = Draft(edits={"state.json": (replace(EDIT, after=1),), "old.json": ()})
    assert _assemble(draft).steps == ()


def test_an_edit_that_does_not_apply_is_a_refusal() -> None:
    plan = _assemble(Draft(edits={"state.json": (replace(EDIT, after="bad"),)}))
    assert plan.steps == ()
    assert plan.refusals[0].code == "unreadable"
    assert "state.json cannot be edited: expected 1" in plan.refusals[0].message


@pytest.mark.parametrize("file", ["state.json", "unknown.json"])
def test_a_file_that_was_not_read_is_a_refusal(file: str) -> None:
    contents = {} if file == "state.json" else {file: DATA}
    plan = _assemble(Draft(edits={file: (EDIT,)}), contents)
    assert plan.refusals[0].code == "unreadable"


def test_bytes_that_changed_since_the_scan_make_the_plan_stale() -> None:
    with pytest.raises(StalePlanError) as caught:
        _assemble(Draft(edits={"state.json": (EDIT,)}), {"state.json": b"newer"})
    assert caught.value.changed == ("state.json",)


_NAME = st.sampled_from(["a", "b", "c"])
_PATH = st.lists(_NAME, min_size=1, max_size=3).map("/".join)


@given(st.lists(st.tuples(_PATH, _PATH), max_size=6), st.lists(_NAME, min_size=1, max_size=5))
def test_a_file_lies_where_one_move_after_the_other_takes_it(
    moves: list[tuple[str, str]], parts: list[str]
) -> None:
    path = "/".join(parts)
    known = path
    for source, target in moves:
        if known.startswith(f"{source}/"):
            known = target + known.removeprefix(source)
    assert _Moved(moves).after(path) == known
