from __future__ import annotations

import pytest

from ckptctl.stages.modes import suspect_mode
from tests.rules.builders import a_trial, one, run
from tests.rules.stages import ranked, saver, set_up, with_lightning


@pytest.mark.parametrize(
    ("metric", "mode", "suspect"),
    [
        ("loss", "max", True),
        ("loss", "min", False),
        ("eval/acc", "min", True),
        ("val_accuracy", "min", True),
        ("valLoss", "max", True),
        ("episode_reward_mean", "min", True),
        ("RMSE", "max", True),
        ("score", "max", False),
        ("lossless", "max", False),
        ("error_score", "max", False),
        ("epoch", "min", False),
    ],
)
def test_a_name_speaks_for_one_end(metric: str, mode: str, suspect: bool) -> None:
    assert suspect_mode(metric, mode) is suspect


def test_the_wrong_end_is_told_once_for_all_trials() -> None:
    trials = [ranked(a_trial(1, dirname=name), 2, "loss", "max") for name in ("t1", "t2")]
    finding = one("CKP404", set_up(*trials))
    assert finding.message == (
        "CheckpointConfig keeps 2 by loss (max): the highest loss counts as the best"
    )
    assert finding.trial == "t1"


def test_lightnings_end_is_looked_at_too() -> None:
    trial = with_lightning(ranked(a_trial(1)), saver("val_acc", "min"))
    assert one("CKP404", trial).evidence[0].witness == "lightning"
    assert run("CKP404", with_lightning(ranked(a_trial(1)), saver("val_acc", "max"))) == []
