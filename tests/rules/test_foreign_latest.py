from __future__ import annotations

from tests.rules.builders import a_trial, experiment, one, record, run


def test_a_latest_of_another_trial_is_told() -> None:
    taker = a_trial(1, latest=record(9, trial="t2"))
    finding = one("CKP110", experiment(taker, a_trial(9, dirname="t2")))
    assert finding.message == "the latest checkpoint, checkpoint_000009, belongs to trial id_t2"
    assert (finding.trial, finding.checkpoint) == ("t1", "checkpoint_000009")
    assert "belongs to trial t2" in one("CKP110", taker).message


def test_a_latest_outside_the_experiment_is_told_with_its_path() -> None:
    finding = one("CKP110", a_trial(1, latest=record(9, trial=None)))
    assert finding.message == (
        "the latest checkpoint lies outside the experiment: /old/exp/../checkpoint_000009"
    )
    assert finding.checkpoint is None


def test_an_own_latest_is_quiet() -> None:
    assert run("CKP110", a_trial(1, latest=1)) == []
    assert run("CKP110", a_trial(1)) == []
