from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import MetricValue
from ckptctl.model.experiment import TrainableKind, Trial
from ckptctl.model.policies import (
    BadIndex,
    ByFunction,
    ByMetric,
    IndexFunction,
    Policy,
    Ray26,
    Sequential,
    Trouble,
    indexes,
    parse_policy,
    runs_trainer,
)
from tests.property.strategies import Save, make_trial, saves


def _trial(*iterations: int | None, **metrics: Sequence[MetricValue]) -> Trial:
    own = [
        Save(
            name=f"checkpoint_{place:06d}",
            iteration=iteration,
            metrics={key: values[place] for key, values in metrics.items() if values[place] != ""},
        )
        for place, iteration in enumerate(iterations)
    ]
    return make_trial(own).trial


def _indexes(policy: Policy, trial: Trial, layout: str = "ray-tune") -> list[object]:
    return list(indexes(policy, trial, trial.saves, layout=layout))


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("sequential", Sequential()),
        ("ray-2.6", Ray26()),
        ("training_iteration", ByMetric("training_iteration")),
        ("eval/step", ByMetric("eval/step")),
    ],
)
def test_a_policy_is_known_by_its_name(text: str, policy: Policy) -> None:
    assert parse_policy(text) == policy
    assert str(policy) == text


@pytest.mark.parametrize("text", ["", "module:function"])
def test_a_policy_that_is_code_or_nothing_is_not_parsed(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_policy(text)
    assert caught.value.hint


def test_sequential_counts_in_save_order() -> None:
    assert _indexes(Sequential(), _trial(5, 10, 12)) == [0, 1, 2]


def test_a_metric_that_a_save_lacks_is_the_previous_index_and_one() -> None:
    assert _indexes(ByMetric("training_iteration"), _trial(None, 5, None, 9)) == [0, 5, 6, 9]
    steps: list[MetricValue] = [10.0, "", 20]
    trial = _trial(1, 2, 3, **{"eval/step": steps})
    assert _indexes(ByMetric("eval.step"), trial) == [10, 11, 20]


@pytest.mark.parametrize(
    ("values", "troubles"),
    [
        ([3, 3, 4], [Trouble.DUPLICATE]),
        ([3, 2, 4], [Trouble.NOT_RISING]),
        ([-1, 2, 4], [Trouble.NEGATIVE]),
        ([1, 2.5, 4], [Trouble.NOT_AN_INTEGER]),
        ([1, float("nan"), 4], [Trouble.NOT_AN_INTEGER]),
        ([1, float("inf"), 4], [Trouble.NOT_AN_INTEGER]),
        (["a", True, 4], [Trouble.NOT_AN_INTEGER, Trouble.NOT_AN_INTEGER]),
    ],
)
def test_an_index_that_cannot_be_used_is_told_with_its_save(
    values: list[MetricValue], troubles: list[Trouble]
) -> None:
    found = _indexes(ByMetric("step"), _trial(1, 2, 3, step=values))
    assert [bad.trouble for bad in found if isinstance(bad, BadIndex)] == troubles
    assert all(isinstance(bad, BadIndex) and bad.checkpoint.name in str(bad) for bad in found)


def test_a_clash_tells_the_other_save() -> None:
    (bad,) = _indexes(ByMetric("step"), _trial(1, 2, step=[3, 3]))
    assert str(bad) == "checkpoint_000001  3 is taken by an earlier save (checkpoint_000000)"


@pytest.mark.parametrize(
    ("kind", "dirname", "numbers"),
    [
        (TrainableKind.CLASS, "Train_c08b9_00000_0_x", [5, 10, 12]),
        (TrainableKind.FUNCTION, "train_c08b9_00000_0_x", [4, 9, 11]),
        (TrainableKind.FUNCTION, "TorchTrainer_c08b9_00000_0_x", [0, 1, 2]),
        (TrainableKind.CLASS, "MyTrainer_c08b9_00000_0_x", [5, 10, 12]),
    ],
)
def test_ray_2_6_numbers_by_the_sort_of_trainable(
    kind: TrainableKind, dirname: str, numbers: list[int]
) -> None:
    own = [
        replace(save, iteration=iteration)
        for save, iteration in zip(saves([0.3, 0.2, 0.1]), (5, 10, 12), strict=True)
    ]
    trial = make_trial(own, kind=kind, dirname=dirname).trial
    assert _indexes(Ray26(), trial) == numbers


def test_train_v2_is_a_trainer_by_its_layout() -> None:
    trial = replace(_trial(None, None), trial_id=None)
    assert runs_trainer(trial, "ray-train-v2")
    assert _indexes(Ray26(), trial, "ray-train-v2") == [0, 1]
    assert not runs_trainer(trial, "plain")


def test_ray_2_6_counts_on_where_an_iteration_is_unknown() -> None:
    trial = replace(_trial(None, 5, None), kind=TrainableKind.CLASS)
    assert _indexes(Ray26(), trial) == [0, 5, 6]


def test_a_function_gets_metrics_and_the_previous_index() -> None:
    seen: list[tuple[object, int]] = []

    def every_tenth(metrics: Mapping[str, MetricValue], previous: int) -> int:
        seen.append((metrics["training_iteration"], previous))
        return (previous + 1) * 10

    assert _indexes(ByFunction("m:f", every_tenth), _trial(5, 10)) == [0, 10]
    assert seen == [(5, -1), (10, 0)]


def _raises(metrics: Mapping[str, MetricValue], previous: int) -> int:
    raise KeyError("loss")


def _writes(metrics: Mapping[str, MetricValue], previous: int) -> int:
    metrics["loss"] = 0  # type: ignore[index]
    return 0


@pytest.mark.parametrize(
    ("function", "trouble"),
    [
        (_raises, Trouble.FAILED),
        (_writes, Trouble.FAILED),
        (lambda _m, _p: "7", Trouble.NOT_AN_INTEGER),
        (lambda _m, _p: None, Trouble.NOT_AN_INTEGER),
    ],
)
def test_a_function_that_fails_is_told_and_stops_nothing(
    function: IndexFunction, trouble: Trouble
) -> None:
    found = _indexes(ByFunction("m:f", function), _trial(5, 10))
    assert {bad.trouble for bad in found if isinstance(bad, BadIndex)} == {trouble}
    assert len(found) == 2
