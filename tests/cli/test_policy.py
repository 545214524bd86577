from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ckptctl.report import formats
from tests.cli.conftest import Call, Copy, snapshot

V1, V2 = "ray-2.54.1-lightning_v1", "ray-2.54.1-lightning_v2"


def told(ckptctl: Call, place: Path) -> dict[str, Any]:
    answer = ckptctl("policy", place, "--json")
    assert (answer.code, answer.err) == (0, "")
    document: dict[str, Any] = json.loads(answer.out)
    return document


def settings(document: dict[str, Any], stage: str) -> dict[str, Any]:
    """What one stage of the first trial says, by setting."""
    found = document["experiments"][0]["trials"][0]["settings"]
    return {
        s["setting"]: (s["value"], s["applies"], s["exact"]) for s in found if s["stage"] == stage
    }


def test_two_stages_that_disagree_are_shown_side_by_side(ckptctl: Call, copy: Copy) -> None:
    place = copy(V1)
    before = snapshot(place)
    answer = ckptctl("policy", place)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert "b6b73_00000: TorchTrainer, a trainer of Ray Train" in lines[2]
    assert [line.strip() for line in lines if line[:3] in ("  1", "  2", "  3")] == [
        "1 Lightning",
        "2 report",
        "3 Ray CheckpointConfig",
    ]
    assert "warning CKP401 retention-conflict" in answer.out
    assert "the next save deletes checkpoint_000003, checkpoint_000001, if it ranks" in answer.out
    assert snapshot(place) == before


def test_programs_get_each_setting_with_its_place(ckptctl: Call, copy: Copy) -> None:
    document = told(ckptctl, copy(V1))
    assert settings(document, "lightning") == {
        "saves": ("every epoch", "yes", True),
        "monitor": ("val_loss", "yes", True),
        "mode": ("min", "yes", True),
        "save_top_k": (1, "yes", False),
    }
    assert settings(document, "report") == {
        "metrics": ("epoch, step, train/loss, val_loss", "yes", True)
    }
    assert settings(document, "ray") == {
        "num_to_keep": (2, "yes", True),
        "checkpoint_score_attribute": ("train/loss", "yes", True),
        "checkpoint_score_order": ("max", "yes", True),
        "checkpoint_frequency": (0, "refused", True),
        "checkpoint_at_end": (None, "refused", True),
    }
    assert [f["code"] for f in document["findings"]] == ["CKP401", "CKP404"]
    (conflict, _) = document["findings"]
    assert [e["file"].rpartition("/")[2] for e in conflict["evidence"]] == [
        "checkpoint.ckpt",
        "experiment_state-2026-11-30_11-25-14.json",
    ]


def test_what_train_v2_was_set_to_is_inferred_and_said_to_be(ckptctl: Call, copy: Copy) -> None:
    place = copy(V2)
    document = told(ckptctl, place)
    ray = settings(document, "ray")
    assert ray["checkpoint_score_attribute"] == (None, "yes", False)
    assert ray["checkpoint_frequency"][1] == "refused"
    assert [(f["code"], f["severity"]) for f in document["findings"]] == [("CKP401", "info")]
    assert "not known  inferred" in ckptctl("policy", place).out


def test_a_note_of_the_integration_makes_it_exact(ckptctl: Call, copy: Copy) -> None:
    place = copy(V2)
    config = {
        "num_to_keep": 2,
        "checkpoint_score_attribute": "train/loss",
        "checkpoint_score_order": "max",
    }
    (place / ".ckptctl").mkdir()
    (place / ".ckptctl/train-v2.json").write_text(json.dumps({"checkpoint_config": config}))
    document = told(ckptctl, place)
    assert settings(document, "ray")["num_to_keep"] == (2, "yes", True)
    found = [(f["code"], f["severity"]) for f in document["findings"]]
    assert found == [("CKP401", "warning"), ("CKP404", "info")]
    assert ckptctl("scan", place).code == 0


@pytest.mark.parametrize("text", ["", "[]", "{", '{"checkpoint_config": 7}', "[" * 5000])
def test_a_note_that_is_none_is_passed_over(ckptctl: Call, copy: Copy, text: str) -> None:
    place = copy(V2)
    (place / ".ckptctl").mkdir()
    (place / ".ckptctl/train-v2.json").write_text(text)
    assert settings(told(ckptctl, place), "ray")["num_to_keep"] == (None, "yes", False)


@pytest.mark.parametrize(
    ("name", "runner", "verdicts"),
    [
        ("ray-2.54.1-class_freq", "class trainable", (5, "yes", True, "yes")),
        ("ray-2.6.3-class_freq", "class trainable", (5, "yes", True, "yes")),
        ("ray-2.54.1-function_topk", "function trainable", (0, "refused", None, "refused")),
        ("ray-2.6.3-function_topk", "function trainable", (0, "refused", None, "refused")),
        (V1, "trainer of Ray Train", (0, "refused", None, "refused")),
        (V2, "trainer of Ray Train V2", (None, "refused", None, "refused")),
    ],
)
def test_each_trainable_reads_the_settings_that_its_ray_lets_it(
    ckptctl: Call, copy: Copy, name: str, runner: str, verdicts: tuple[object, ...]
) -> None:
    document = told(ckptctl, copy(name))
    assert document["experiments"][0]["trials"][0]["runner"] == runner
    ray = settings(document, "ray")
    told_of = (*ray["checkpoint_frequency"][:2], *ray["checkpoint_at_end"][:2])
    assert told_of == verdicts


def test_trials_that_are_set_up_alike_are_told_once(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("policy", copy("ray-2.54.1-pbt"))
    assert answer.out.count("Ray CheckpointConfig") == 1
    assert "and 1 more: a class trainable" in answer.out


@pytest.mark.parametrize("form", formats.LISTINGS)
def test_every_format_has_every_setting(ckptctl: Call, copy: Copy, form: str) -> None:
    answer = ckptctl("policy", copy(V1), "--format", form)
    assert answer.code == 0
    for word in ("save_top_k", "checkpoint_score_attribute", "train/loss"):
        assert word in answer.out.replace("\\", "")
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(answer.out)))
        assert next(r["setting"] for r in rows if r["stage"] == "ray") == "num_to_keep"
    if form == "jsonl":
        kinds = [json.loads(line)["type"] for line in answer.out.splitlines()]
        assert kinds == ["header", *["setting"] * 10, "finding", "finding"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--fail-on", "warning"), 1),
        (("--fail-on", "error"), 0),
        (("--fail-on", "never"), 0),
        (("--fail-on", "fatal"), 2),
        (("--format", "sarif"), 2),
        (("--trial", "nobody"), 2),
    ],
)
def test_what_a_call_ends_with(
    ckptctl: Call, copy: Copy, arguments: tuple[str, ...], code: int
) -> None:
    assert ckptctl("policy", copy(V1), *arguments).code == code


def test_quiet_gives_the_codes(ckptctl: Call, copy: Copy) -> None:
    assert ckptctl("policy", copy(V1), "--quiet").out == "CKP401\nCKP404\n"


def test_a_place_without_an_experiment_is_a_location_error(ckptctl: Call, tmp_path: Path) -> None:
    assert ckptctl("policy", tmp_path).code == 10
