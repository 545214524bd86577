from __future__ import annotations

import math

import pytest

from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import Trial
from ckptctl.model.metrics import finite_number
from ckptctl.model.ranking import best_by

HUGE = int("9" * 400)


def trial(*losses: object) -> Trial:
    """One that saved once with each."""
    return Trial(
        trial_id="t",
        dirname=TrialDir("t"),
        status=None,
        in_state=True,
        on_storage=True,
        checkpoints=tuple(
            Checkpoint(
                trial=TrialDir("t"),
                name=CheckpointName(f"checkpoint_{n:06d}"),
                index=n,
                state=CheckpointState.COMPLETE,
                metrics={"loss": loss},  # type: ignore[dict-item]
                saved=n,
            )
            for n, loss in enumerate(losses)
        ),
    )


@pytest.mark.parametrize(
    ("mode", "losses", "place"),
    [
        ("max", (1, 3, 2), 1),
        ("min", (1, 3, 2), 0),
        ("max", (3, 1, 3.0), 2),  # the later of equals
        ("min", (1, 1, 2), 1),
        ("max", (math.nan, 1, math.inf, -math.inf), 1),
        ("max", (True, "7", None, 0.5), 3),
        ("max", (HUGE, 1, 2), 2),  # no float holds it
        ("min", (-HUGE, HUGE, 2), 2),
    ],
)
def test_the_best_of_a_trial(mode: str, losses: tuple[object, ...], place: int) -> None:
    best = best_by(trial(*losses).saves, "loss", mode)
    assert best is not None
    assert (best.name, best.value) == (f"checkpoint_{place:06d}", losses[place])


def test_the_value_is_that_of_the_checkpoint() -> None:
    best = best_by(trial(0.0, -0.0).saves, "loss", "max")
    assert best is not None
    assert (best.name, math.copysign(1, best.value)) == ("checkpoint_000001", -1)


def test_nothing_ranks_what_has_no_score() -> None:
    assert best_by(trial(math.nan, HUGE, "x").saves, "loss", "max") is None
    assert best_by(trial(1).saves, None, "max") is None
    assert best_by((), "loss", "max") is None


def test_finite_numbers() -> None:
    found = [finite_number(v) for v in (1, 0.5, True, "1", None, math.nan, math.inf, HUGE, -HUGE)]
    assert found == [1, 0.5, *[None] * 7]
