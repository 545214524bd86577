from __future__ import annotations

import json
import math

import pytest

from ckptctl.errors import RefusedError
from ckptctl.model.bookkeeping import Witness
from ckptctl.model.finding import Severity
from ckptctl.model.plan import Outcome
from ckptctl.report import document
from ckptctl.report.json import render
from tests.unit.report.values import checkpoint, experiment, finding, rename_plan, trial


def test_a_scan_has_the_shape_of_the_contract() -> None:
    scan = json.loads(render(document.scan_document([experiment()], [finding()])))
    assert list(scan) == [
        "format_version", "tool", "command", "experiments", "findings", "summary",
    ]  # fmt: skip
    assert scan["format_version"] == "1.0"
    assert scan["tool"]["name"] == "ckptctl"
    first = scan["experiments"][0]
    assert {"location", "name", "layout", "ray_version", "state_file", "recorded_root"} <= set(
        first
    )
    one = first["trials"][0]
    assert one["latest"] == "checkpoint_000007"
    assert one["best"] == {
        "name": "checkpoint_000005", "metric": "loss", "mode": "min", "value": 0.25,
    }  # fmt: skip
    assert set(one["books"]) == {"storage", "trial", "trainable", "session"}
    assert one["books"]["trainable"] is None
    assert one["books"]["trial"] == {
        "latest_index": 7,
        "latest_checkpoint": "checkpoint_000007",
        "next_index": 8,
        "checkpoints": ["checkpoint_000007"],
    }
    assert one["checkpoints"][0]["recorded_by"] == ["trial", "session"]
    assert scan["findings"][0]["remedy"]["command"] == "ckptctl reindex runs/tune_lr"
    assert scan["summary"] == {
        "experiments": 1, "trials": 2, "checkpoints": 6, "size_bytes": 810,
        "errors": 1, "warnings": 0, "infos": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "text"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")]
)
def test_numbers_that_json_cannot_hold_are_texts(number: float, text: str) -> None:
    broken = checkpoint(5, metrics={"loss": number, "acc": 0.5})
    scan = document.scan_document([experiment(trial(checkpoints=(broken,)))], [])
    found = json.loads(render(scan))["experiments"][0]["trials"][0]["checkpoints"][0]
    assert found["metrics"] == {"loss": text, "acc": 0.5}


def test_names_cannot_act_on_a_terminal_in_json_either() -> None:
    hostile = experiment(trial(dirname="a\x1b[31m\u202e\udcff"))
    text = render(document.scan_document([hostile], []))
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["experiments"][0]["trials"][0]["dirname"] == "a\x1b[31m\u202e\udcff"


def test_nothing_found_is_a_document_too() -> None:
    scan = document.scan_document([], [])
    assert scan["experiments"] == []
    assert scan["findings"] == []


def test_plans_have_the_shape_of_the_contract() -> None:
    done = Outcome(applied=True, steps_done=3, verified=True, entry="0001-4be1e9b0c2aa")
    plans = json.loads(render(document.plans_document("rename", [(rename_plan(), done)])))["plans"]
    (plan,) = plans
    assert plan["steps"][0] == {
        "kind": "move",
        "from": "fn_00000/checkpoint_000005",
        "to": "fn_00000/checkpoint_000006-0.3333",
    }
    assert plan["steps"][2]["kind"] == "rewrite"
    assert plan["steps"][2]["edits"][0]["op"] == "set"
    assert plan["outcome"]["applied"] is True
    assert document.plans_document("rename", [(rename_plan(), None)])["plans"][0]["outcome"] is None  # type: ignore[index]


def test_an_error_is_one_object() -> None:
    error = RefusedError("refused: two names collide", reasons=("a",), hint="use {loss:.4f}")
    assert document.error_document(error)["error"] == {
        "code": "refused",
        "exit_code": 14,
        "message": "refused: two names collide",
        "hint": "use {loss:.4f}",
        "location": None,
        "reasons": ["a"],
    }


def test_severities_are_counted_apart() -> None:
    findings = [finding(), finding(severity=Severity.WARNING), finding(severity=Severity.INFO)]
    counted = document.summary([experiment()], findings)
    assert (counted["errors"], counted["warnings"], counted["infos"]) == (1, 1, 1)


def test_every_witness_is_named() -> None:
    assert [str(w) for w in Witness] == ["storage", "trial", "trainable", "session"]
