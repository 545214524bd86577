"""Which save becomes the latest where a trial took over another's (population-based training)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.bookkeeping import Claim, Provenance, Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import CheckpointRef, Experiment, Record, Row, Trial
from ckptctl.planner.latest import choose_latest
from ckptctl.planner.saves import NewSave

OWN, DONOR = TrialDir("own"), TrialDir("donor")


def _checkpoint(trial: TrialDir, number: int) -> Checkpoint:
    return Checkpoint(
        trial=trial,
        name=CheckpointName(f"checkpoint_{number:06d}"),
        index=number,
        state=CheckpointState.COMPLETE,
        saved=number,
    )


def _trial(dirname: TrialDir) -> Trial:
    return Trial(
        trial_id=dirname,
        dirname=dirname,
        status=None,
        in_state=True,
        on_storage=True,
        checkpoints=tuple(_checkpoint(dirname, n) for n in range(3)),
        rows=tuple(
            Row(
                line=n,
                has_name=True,
                name=f"checkpoint_{n:06d}",
                training_iteration=n + 1,
                metrics={},
            )
            for n in range(3)
        ),
    )


def _taken_over(state_iteration: int) -> tuple[Experiment, Trial, NewSave]:
    record = Record(
        ref=CheckpointRef(trial=DONOR, name=CheckpointName("checkpoint_000001")),
        path="/runs/exp/donor/checkpoint_000001",
        metrics={},
        training_iteration=2,
        provenance=Provenance(file="experiment_state-1.json"),
        path_pointer="",
        position=None,
    )
    claim = Claim(value=state_iteration, witness=Witness.TRIAL, provenance=record.provenance)
    own = replace(_trial(OWN), latest_record=record, state_iteration=claim)
    experiment = Experiment(
        location="exp", name="exp", layout="ray-tune", trials=(_trial(DONOR), own)
    )
    return experiment, own, NewSave(checkpoint=own.checkpoints[2], metrics={})


@pytest.mark.parametrize(("state_iteration", "moves"), [(2, True), (3, False), (9, False)])
def test_only_a_save_behind_the_end_of_the_state_is_newer(
    state_iteration: int,
    moves: bool,
) -> None:
    experiment, own, save = _taken_over(state_iteration)
    assert (choose_latest(experiment, own, (), (save,)) is save) is moves
