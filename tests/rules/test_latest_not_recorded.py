from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.bookkeeping import Claim, Provenance, Witness
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Applicability
from tests.rules.builders import a_trial, claims, commands, experiment, one, record, run

_SNAPSHOT = Provenance(file="checkpoint_manager_snapshot.json", pointer="current_report_index")
NEXT = Claim(value=6, witness=Witness.TRIAL, provenance=_SNAPSHOT)


def run_of(trial: Trial) -> Experiment:
    latest = trial.latest_record
    if latest is not None and latest.ref is not None:
        trial = replace(trial, latest_record=replace(latest, path=latest.ref.name))
    return experiment(replace(trial, next_report=NEXT), layout="ray-train-v2")


def test_a_latest_outside_the_list_is_told() -> None:
    finding = one("CKP115", run_of(a_trial(3, 4, 5, records=[3, 4], latest=record(5))))
    assert finding.message == (
        "the latest checkpoint, checkpoint_000005, is not among the recorded ones: the run cannot "
        "be loaded"
    )
    assert claims(finding) == [("trial", "latest is checkpoint_000005")]
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_where_its_folder_is_gone_another_one_takes_its_place() -> None:
    finding = one("CKP115", run_of(a_trial(3, 4, records=[3, 4], latest=record(5))))
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.SAFE
    assert "newest recorded" in finding.remedy.note
    nothing = one("CKP115", run_of(a_trial(records=[], latest=record(5))))
    assert commands([nothing]) == ["ckptctl reindex runs/exp --unsafe"]


def test_a_latest_in_the_list_or_none_is_fine() -> None:
    assert run("CKP115", run_of(a_trial(3, 4, records=[3, 4], latest=4))) == []
    assert run("CKP115", run_of(a_trial(3, 4, records=[3, 4]))) == []


def test_other_states_keep_the_latest_beside_the_list() -> None:
    trial = a_trial(3, 4, 5, records=[3, 4], latest=record(5))
    assert run("CKP115", replace(run_of(trial), layout="ray-tune")) == []
    old = replace(run_of(trial), trials=(replace(trial, next_report=None),))
    assert run("CKP115", old) == []  # Ray 2.53 and before look nothing up
