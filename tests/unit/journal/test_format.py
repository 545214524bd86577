"""Plans as JSON: nothing is lost, and nothing that was edited or reaches out gets in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ckptctl.errors import InternalError, RefusedError, UsageError
from ckptctl.journal.format import plan_from_json, plan_id_of, plan_to_json, with_id
from ckptctl.journal.paths import check_path
from ckptctl.journal.records import Intent, intent_from_bytes, intent_to_bytes
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import Edit, MoveTree, Plan, Refusal, ReplaceFile, TreeFile

PLAN = with_id(
    Plan(
        plan_id="",
        command="rename",
        location="s3://b/exp",
        layout="ray-tune",
        fingerprint="f" * 64,
        reads=(("t/result.json", "a" * 64),),
        steps=(
            MoveTree(
                source="t/checkpoint_1",
                target=".ckptctl/tmp/1-checkpoint_1",
                files=(TreeFile(path="w", size=3), TreeFile(path="caf\udce9/x", size=0)),
                file_id="1:2",
            ),
            ReplaceFile(
                file="t/result.json",
                kind=RecordKind.JSON_LINES,
                before="a" * 64,
                after="b" * 64,
                edits=(
                    Edit(op="set", pointer="/0/x", before=1, after={"$new": "a:B", "state": {}}),
                    Edit(op="insert", pointer="/1", after=[1, 2.5, None, True, "ä"]),
                    Edit(op="remove", pointer="/2", before="x"),
                ),
            ),
            ReplaceFile(
                file="p.csv",
                kind=RecordKind.CSV,
                before="c" * 64,
                after="d" * 64,
                edits=(),
                restores="d" * 64,
            ),
        ),
        refusals=(Refusal(code="order", message="m", trial="t", checkpoints=("a",), help=("do",)),),
        notes=("a note",),
        undoes="0001-" + "e" * 12,
        renames=(("t", "checkpoint_1", "checkpoint_2"),),
        created_by="ckptctl 0.1",
        unsafe=True,
    )
)


def wire(plan: Plan = PLAN) -> Any:
    return json.loads(json.dumps(plan_to_json(plan)))


def test_a_plan_survives_json() -> None:
    assert plan_from_json(wire()) == PLAN


def test_a_plan_has_the_shape_of_the_contract() -> None:
    value = wire()
    assert value["plan_id"] == PLAN.plan_id and re.fullmatch("[0-9a-f]{12}", PLAN.plan_id)
    assert {"location", "layout", "fingerprint", "steps", "refusals", "notes"} <= value.keys()
    move, rewrite, _ = value["steps"]
    assert (move["kind"], move["from"], move["to"]) == (
        "move",
        "t/checkpoint_1",
        ".ckptctl/tmp/1-checkpoint_1",
    )
    assert (rewrite["kind"], rewrite["file"]) == ("rewrite", "t/result.json")
    assert rewrite["edits"][0] == {
        "op": "set",
        "pointer": "/0/x",
        "before": 1,
        "after": {"$new": "a:B", "state": {}},
    }


def test_fields_of_later_versions_are_left_out() -> None:
    assert plan_from_json({**wire(), "outcome": None, "colour": "blue"}) == PLAN


@pytest.mark.parametrize(
    "change",
    [
        {"command": "reindex"},
        {"location": "elsewhere"},
        {"layout": "plain"},
        {"fingerprint": "0"},
        {"reads": ()},
        {"steps": PLAN.steps[1:]},
        {"steps": PLAN.steps[::-1]},
        {"refusals": ()},
        {"notes": ()},
        {"undoes": None},
        {"renames": ()},
        {"created_by": ""},
        {"unsafe": False},
    ],
)
def test_an_id_stands_for_all_of_the_content(change: dict[str, Any]) -> None:
    changed = replace(PLAN, **change)
    assert plan_id_of(changed) != PLAN.plan_id
    with pytest.raises(RefusedError, match="not what this id stands for"):
        plan_from_json(wire(changed))


def test_an_id_does_not_depend_on_tuples() -> None:
    step = PLAN.steps[1]
    assert isinstance(step, ReplaceFile)
    one = replace(step, edits=(Edit(op="set", pointer="", after={"a": (1, 2), "b": 1}),))
    two = replace(step, edits=(Edit(op="set", pointer="", after={"a": [1, 2], "b": 1}),))
    assert plan_id_of(replace(PLAN, steps=(one,))) == plan_id_of(replace(PLAN, steps=(two,)))


def test_numbers_that_json_cannot_hold_are_written_as_values_are() -> None:
    step = ReplaceFile(
        file="r",
        kind=RecordKind.JSON,
        before="a" * 64,
        after="b" * 64,
        edits=(Edit(op="set", pointer="", before=float("nan"), after=[float("-inf")]),),
    )
    plan = with_id(replace(PLAN, steps=(step,)))
    edit = wire(plan)["steps"][0]["edits"][0]
    assert (edit["before"], edit["after"]) == ({"$float": "nan"}, [{"$float": "-inf"}])
    assert plan_from_json(wire(plan)).plan_id == plan.plan_id


def test_what_json_cannot_hold_at_all_is_a_bug() -> None:
    step = replace(PLAN.rewrites[0], edits=(Edit(op="set", pointer="", after=object()),))
    with pytest.raises(InternalError, match="cannot be written"):
        plan_id_of(replace(PLAN, steps=(step,)))


def edited(change: Callable[[Any], None]) -> Any:
    value = wire()
    change(value)
    return value


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda v: v.pop("format"), UsageError, "no format number"),
        (lambda v: v.update(format=True), UsageError, "no format number"),
        (lambda v: v.update(format=2), UsageError, "format 2 is newer"),
        (lambda v: v.update(steps=3), UsageError, "steps"),
        (lambda v: v["steps"][0].update(kind="delete"), UsageError, "kind"),
        (lambda v: v["steps"][0].pop("files"), UsageError, "files"),
        (lambda v: v["steps"][0]["files"][0].update(size="3"), UsageError, "size"),
        (lambda v: v["steps"][1].update(record_kind="toml"), UsageError, "not a kind of record"),
        (lambda v: v["steps"][1].update(sha256_after="x"), UsageError, "not a SHA-256"),
        (lambda v: v["steps"][2].update(restores="../x"), UsageError, "not a SHA-256"),
        (lambda v: v["steps"][1]["edits"][0].update(op="eval"), UsageError, "not a kind of edit"),
        (lambda v: v["reads"][0].update(file="/etc/x"), RefusedError, "not a path inside"),
        (lambda v: v["steps"][0].update({"from": "../x"}), RefusedError, "not a path inside"),
        (lambda v: v["steps"][0].update({"to": ".ckptctl/x"}), RefusedError, "own folder"),
        (lambda v: v["steps"][0]["files"][0].update(path="../w"), RefusedError, "not a path"),
        (lambda v: v["steps"][1].update(file="a//b"), RefusedError, "not a path inside"),
        (lambda v: v.update(plan_id="0" * 12), RefusedError, "not what this id stands for"),
        (lambda v: v["notes"].append("x"), RefusedError, "not what this id stands for"),
    ],
)
def test_what_was_edited_by_hand_is_refused(
    change: Callable[[Any], None], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        plan_from_json(edited(change))


@pytest.mark.parametrize("value", [None, [], "x", 3, {}])
def test_what_is_no_plan_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        plan_from_json(value)


@pytest.mark.parametrize(
    "path", ["a", "a/b", ".ckptctl/tmp/x", ".ckptctl/quarantine/t/c", "a.ckptctl", "..a/b."]
)
def test_paths_that_a_plan_may_name(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "a/../b",
        "a\0b",
        ".ckptctl",
        ".ckptctl/tmp",
        ".ckptctl/journal/x",
        ".ckptctl/lock.json",
        ".CKPTCTL/tmp/x",
        "t/.ckptctl/tmp/x",
        ".ckptctl/tmp/.ckptctl",
    ],
)
def test_paths_that_a_plan_may_not_name(path: str) -> None:
    with pytest.raises(RefusedError):
        check_path(path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_value_of_an_edit_survives(value: Any) -> None:
    step = replace(PLAN.rewrites[0], edits=(Edit(op="set", pointer="p", after=value),))
    plan = with_id(replace(PLAN, steps=(step,)))
    assert plan_from_json(wire(plan)).plan_id == plan.plan_id


def test_what_a_plan_writes_keeps_its_order_through_the_journal() -> None:
    metrics = {"zeta": 1, "alpha": {"b": 2, "a": 3}}
    edit = Edit(op="insert", pointer="a", before=None, after=metrics)
    step = ReplaceFile(
        file="f.json", kind=RecordKind.JSON, before="0" * 64, after="1" * 64, edits=(edit,)
    )
    plan = with_id(replace(PLAN, steps=(step,)))
    read = intent_from_bytes(intent_to_bytes(Intent(plan=plan, begun="")), "plan.json")
    [again] = read.plan.rewrites
    assert json.dumps(again.edits[0].after) == json.dumps(metrics)
    other = replace(edit, after={"alpha": {"b": 2, "a": 3}, "zeta": 1})
    assert plan_id_of(replace(plan, steps=(replace(step, edits=(other,)),))) != plan.plan_id
