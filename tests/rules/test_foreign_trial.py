from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.experiment import RecordRole, Unreadable
from tests.rules.builders import STATE, a_trial, experiment, one, run

LEFT = a_trial(1, dirname="t0", in_state=False)


def test_a_folder_that_the_state_does_not_know_is_told() -> None:
    finding = one("CKP205", experiment(LEFT, a_trial(1)))
    assert finding.message == "the state does not know this trial (1 checkpoint)"
    assert finding.trial == "t0"
    assert finding.remedy is None


def test_known_trials_are_quiet() -> None:
    assert run("CKP205", experiment(a_trial(1))) == []


def test_a_trial_whose_folder_is_gone_is_not_here() -> None:
    assert run("CKP205", experiment(replace(LEFT, on_storage=False))) == []


def test_without_a_state_no_trial_is_foreign() -> None:
    broken = Unreadable(file=STATE, reason="torn", role=RecordRole.STATE)
    assert run("CKP205", experiment(LEFT, state_file=None)) == []
    assert run("CKP205", replace(experiment(LEFT), problems=(broken,))) == []
    assert run("CKP205", experiment(LEFT, layout="ray-train-v2")) == []
