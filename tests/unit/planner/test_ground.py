from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.experiment import TrainableKind, TrialStatus
from ckptctl.planner.ground import After, grounds
from tests.property.strategies import Save, make_experiment, make_trial


def _after(name: str, iteration: int | None, kind: TrainableKind | None) -> After:
    made = make_trial(
        [Save(name=name, iteration=iteration)], counter=False, status=TrialStatus.ERROR
    )
    made = replace(made, trial=replace(made.trial, kind=kind))
    (ground,) = grounds(make_experiment(made, layout="ray-legacy")).values()
    return ground.after({})


@pytest.mark.parametrize(
    ("name", "iteration", "kind", "number"),
    [
        ("checkpoint_000004", 4, TrainableKind.CLASS, 5),
        ("checkpoint_000002", 4, TrainableKind.CLASS, 5),
        ("checkpoint_000003", 4, TrainableKind.FUNCTION, 4),
        ("checkpoint_000001", 4, TrainableKind.FUNCTION, 2),
        ("checkpoint_000009-0.25", 4, TrainableKind.FUNCTION, 4),
        ("checkpoint_000004", None, TrainableKind.FUNCTION, 5),
        ("checkpoint_4-0.25", None, None, None),
    ],
)
def test_the_next_folder_of_ray_2_6_is_never_below_what_its_records_allow(
    name: str, iteration: int | None, kind: TrainableKind | None, number: int | None
) -> None:
    assert _after(name, iteration, kind).next_number(None) == number


def test_a_trial_without_checkpoints_has_no_next_number() -> None:
    (ground,) = grounds(make_experiment(make_trial([], counter=False))).values()
    assert ground.after({}).next_number(None) is None


@pytest.mark.parametrize(
    ("layout", "status", "in_state", "goes_on"),
    [
        ("ray-tune", TrialStatus.ERROR, True, True),
        ("ray-tune-2.7", None, True, True),
        ("ray-legacy", TrialStatus.PAUSED, True, True),
        ("ray-tune", TrialStatus.TERMINATED, True, False),
        ("ray-tune", TrialStatus.ERROR, False, False),
        ("ray-train-v2", None, True, False),
        ("plain", None, True, False),
    ],
)
def test_a_trial_goes_on_where_a_restore_would_count(
    layout: str, status: TrialStatus | None, in_state: bool, goes_on: bool
) -> None:
    made = make_trial([Save(name="checkpoint_000000")], status=status)
    made = replace(made, trial=replace(made.trial, in_state=in_state))
    (ground,) = grounds(make_experiment(made, layout=layout)).values()
    assert ground.goes_on is goes_on
