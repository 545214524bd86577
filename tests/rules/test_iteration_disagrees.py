from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.bookkeeping import Claim, Provenance, Witness
from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import ESTIMATED, TrainableKind, Trial
from ckptctl.model.finding import Finding
from tests.rules.builders import a_trial, claims, commands, experiment, folder, record
from tests.rules.builders import run as run_rule

CLASS, FUNCTION = TrainableKind.CLASS, TrainableKind.FUNCTION


def left(name: int | str, iteration: int) -> Checkpoint:
    pointer = Provenance(file=f"t1/{name}/.tune_metadata", pointer="#iteration")
    claim = Claim(value=iteration, witness=Witness.TRAINABLE, provenance=pointer)
    return replace(folder(name), left=claim)


def run(trial: Trial) -> list[Finding]:
    return run_rule("CKP113", experiment(trial, layout="ray-legacy"))


def test_a_copy_under_a_higher_number_is_told() -> None:
    trial = a_trial(left(5, 6), left(6, 7), left(7, 8), left(10, 8), kind=FUNCTION)
    (finding,) = run(trial)
    assert finding.message == (
        "checkpoint_000010 is of iteration 8 by what the trainable left inside, but of 11 by its "
        "name"
    )
    assert claims(finding) == [
        ("trainable", "iteration 8"),
        ("storage", "iteration 11 by its name"),
    ]
    assert commands([finding]) == [None]
    assert finding.remedy is not None
    assert "none of it is safe" in finding.remedy.note


def test_a_class_trainable_numbers_by_iteration() -> None:
    (finding,) = run(a_trial(left(5, 5), left(10, 10), left(12, 15), kind=CLASS))
    assert "but of 12 by its name" in finding.message


def test_a_record_that_says_otherwise_is_told() -> None:
    trial = a_trial(
        left(5, 5), left(10, 10), left(15, 15), kind=CLASS, records=[record(5, 5), record(10, 9)]
    )
    (finding,) = run(trial)
    assert finding.message.endswith("but of 9 by its record")
    assert claims(finding)[1] == ("trial", "iteration 9")


def test_several_are_one_finding() -> None:
    trial = a_trial(
        *(left(n, n) for n in range(1, 6)), left(8, 1), left(9, 1), kind=CLASS, records=[]
    )
    (finding,) = run(trial)
    assert finding.message.endswith("by its name (and 1 more checkpoint like it)")
    assert finding.checkpoints == ("checkpoint_000008", "checkpoint_000009")


def test_names_that_do_not_follow_the_iterations_are_no_witness() -> None:
    assert run(a_trial(left(0, 5), left(1, 10), left(2, 12), kind=CLASS)) == []
    tagged = a_trial(left(5, 5), left(10, 10), left("checkpoint_000012-0.5", 11), kind=CLASS)
    assert run(tagged) == []
    assert run(a_trial(left(5, 5), left(6, 6), left(9, 7), kind=None)) == []


def test_a_trainer_counts_its_saves() -> None:
    saves = (left(0, 1), left(1, 2), left(2, 3), left(3, 5))
    assert run(a_trial(*saves, kind=FUNCTION)) == []
    trainer = a_trial(*saves, left(4, 4), kind=FUNCTION, dirname="TorchTrainer_id_0_x")
    assert run(replace(trainer, trial_id="id_0")) == []


def test_one_of_two_records_that_agrees_is_enough() -> None:
    trial = a_trial(left(5, 5), kind=CLASS, records=[record(5, 4), record(5, 5)])
    assert run(trial) == []


def test_estimated_foreign_and_silent_records_prove_nothing() -> None:
    guess = record(5, 4, metrics={ESTIMATED: True})
    trial = a_trial(left(5, 5), kind=CLASS, records=[guess, record(5, 4, trial="t2"), 5])
    assert run(trial) == []
    assert run(a_trial(5, 6, kind=CLASS, records=[record(5, 9)])) == []
