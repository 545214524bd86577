from __future__ import annotations

import pytest

from ckptctl.model.experiment import TrainableKind
from tests.rules.builders import a_trial, commands, one, run
from tests.rules.stages import ranked, requested, set_up

CLASS = ranked(a_trial(1, kind=TrainableKind.CLASS))
BOOSTED = ranked(a_trial(1, dirname="XGBoostTrainer_id_t1"))


def booster(*, own_loop: bool, **asked: object) -> list[str]:
    what = set_up(
        BOOSTED,
        trainer="ray.train.xgboost.xgboost_trainer:XGBoostTrainer",
        own_loop=own_loop,
        requested=requested(**asked),
    )
    return [f.message for f in run("CKP402", what)]


def test_a_loop_of_the_users_own_reads_no_setting() -> None:
    assert booster(own_loop=True, frequency=5, at_end=True) == [
        (
            "checkpoint_frequency 5 has no effect: the training loop is the user's own: "
            "its report callback has a frequency"
        ),
        (
            "checkpoint_at_end True has no effect: the training loop is the user's own: "
            "its report callback has the switch"
        ),
    ]
    assert booster(own_loop=False, frequency=5, at_end=True) == []
    assert booster(own_loop=True, frequency=0) == []


def test_a_class_trainable_reads_both() -> None:
    assert run("CKP402", set_up(CLASS, requested=requested(frequency=5, at_end=True))) == []


def test_an_order_without_a_metric_has_no_effect() -> None:
    finding = one("CKP402", set_up(ranked(a_trial(1), 2, None, "min")))
    assert finding.message == (
        "checkpoint_score_order min has no effect: "
        "there is no checkpoint_score_attribute, so the newest are kept"
    )
    assert commands([finding]) == ["ckptctl policy runs/exp"]
    assert run("CKP402", set_up(ranked(a_trial(1), 2, "loss", "min"))) == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"num_to_keep": 5}, "num_to_keep 5 has no effect: trials go by their own record"),
        ({"num_to_keep": None}, "num_to_keep not set has no effect: trials go by their own"),
        ({"monitor": "acc", "num_to_keep": 2}, "checkpoint_score_attribute acc has no effect"),
    ],
)
def test_what_the_trials_own_records_overrule_is_told_once(
    asked: dict[str, object], message: str
) -> None:
    trials = [ranked(a_trial(1, dirname=name), 2) for name in ("t1", "t2")]
    finding = one("CKP402", set_up(*trials, requested=requested(**asked)))
    assert finding.message.startswith(message)
    assert finding.evidence[0].file == "tuner.pkl"


def test_what_ray_2_6_fills_in_by_itself_overrules_nothing() -> None:
    trial = ranked(a_trial(1), 2, "training_iteration")
    what = set_up(trial, layout="ray-legacy", requested=requested(num_to_keep=2))
    assert run("CKP402", what) == []
