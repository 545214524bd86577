from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.finding import Severity
from tests.rules.builders import a_trial, claims, commands, experiment, one, record, run
from tests.rules.stages import ranked, saver, set_up, tuned, with_lightning

TRIAL = a_trial(1, 2, 3)


def test_two_stages_that_rank_by_different_metrics_are_told_with_both_places() -> None:
    finding = one("CKP401", with_lightning(ranked(TRIAL, 2, "train/loss", "max"), saver()))
    assert finding.message == (
        "Lightning's ModelCheckpoint keeps 1 by val_loss (min), "
        "but Ray's CheckpointConfig keeps 2 by train/loss (max)"
    )
    assert finding.severity is Severity.WARNING
    assert claims(finding) == [
        ("lightning", "ModelCheckpoint keeps 1 by val_loss (min)"),
        ("ray", "CheckpointConfig keeps 2 by train/loss (max)"),
    ]
    assert [(e.file, e.pointer) for e in finding.evidence] == [
        ("t1/checkpoint_000003/checkpoint.ckpt", "callbacks/ModelCheckpoint{}"),
        (
            "experiment_state-2026-11-30_10-37-15.json",
            "trial_data/0/1#checkpoint_manager#_checkpoint_config",
        ),
    ]
    assert commands([finding]) == ["ckptctl policy runs/exp"]


def test_the_other_end_and_another_number_are_conflicts_too() -> None:
    mode = one("CKP401", with_lightning(ranked(TRIAL, 1, "val_loss", "max"), saver()))
    assert mode.message.endswith("keeps 1 by val_loss (max)")
    number = one("CKP401", with_lightning(ranked(TRIAL, 3, "val_loss", "min"), saver()))
    assert "keeps 1 by val_loss (min), but Ray's CheckpointConfig keeps 3" in number.message
    newest = one("CKP401", with_lightning(ranked(TRIAL, 3), saver()))
    assert newest.message.endswith("CheckpointConfig keeps 3, the newest")


def test_stages_that_agree_are_not_told() -> None:
    assert run("CKP401", with_lightning(ranked(TRIAL, 1, "val_loss", "min"), saver())) == []
    # Ray keeps everything, so that nothing that Lightning wants is lost.
    assert run("CKP401", with_lightning(ranked(TRIAL), saver())) == []
    # Lightning's default callback ranks by nothing.
    assert run("CKP401", with_lightning(ranked(TRIAL, 2, "loss", "min"), saver(None))) == []
    # After two epochs a callback that keeps two may still be going to keep more.
    few = with_lightning(ranked(TRIAL, 3, "val_loss", "min"), saver(keeps=2), epoch=2)
    assert run("CKP401", few) == []
    every = replace(saver(keeps=-1), keeps_exactly=True)
    assert run("CKP401", with_lightning(ranked(TRIAL, 3, "val_loss", "min"), every)) == []


def test_tune_and_ray_that_rank_one_metric_by_opposite_ends_are_told_once() -> None:
    trials = [ranked(a_trial(1, dirname=name), 2, "loss", "max") for name in ("t1", "t2")]
    finding = one("CKP401", set_up(*trials, tuned=tuned("loss", "min")))
    assert finding.message == (
        "TuneConfig ranks trials by loss (min), but Ray's CheckpointConfig keeps 2 by loss (max)"
    )
    assert run("CKP401", set_up(*trials, tuned=tuned("loss", "max"))) == []
    assert run("CKP401", set_up(*trials, tuned=tuned("accuracy", "max"))) == []


def v2(*losses: float, numbers: tuple[int, ...], monitor: str = "val_loss") -> list[str]:
    records = [record(f"r{n}", metrics={"loss": loss}) for n, loss in enumerate(losses)]
    trial = replace(a_trial(records=records), report_numbers=numbers)
    what = experiment(with_lightning(trial, saver(monitor)), layout="ray-train-v2")
    found = run("CKP401", what)
    assert {f.severity for f in found} <= {Severity.INFO}
    return [f.message for f in found]


def test_for_train_v2_the_order_of_the_records_stands_for_the_setting() -> None:
    assert v2(0.1, 0.2, 0.3, numbers=(2, 1, 0)) == [
        (
            "Lightning's ModelCheckpoint keeps 1 by val_loss (min), "
            "but Ray lists its checkpoints in the order of loss (max) (inferred)"
        )
    ]
    assert v2(0.3, 0.2, 0.1, numbers=(1, 2, 0), monitor="loss") == []
    # In the order of the saves it may be ranked by nothing.
    assert v2(0.1, 0.2, 0.3, numbers=(0, 1, 2)) == []


def test_for_train_v2_what_the_integration_noted_is_exact() -> None:
    config = {
        "num_to_keep": 2,
        "checkpoint_score_attribute": "loss",
        "checkpoint_score_order": "min",
    }
    trial = with_lightning(a_trial(1), saver())
    noted = set_up(trial, layout="ray-train-v2", recorded={"checkpoint_config": config})
    finding = one("CKP401", noted)
    assert finding.message.endswith("but Ray's CheckpointConfig keeps 2 by loss (min)")
    assert finding.severity is Severity.WARNING
    assert finding.evidence[1].file == ".ckptctl/train-v2.json"
