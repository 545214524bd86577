from __future__ import annotations

from msgspec.structs import replace

from tests.rules.builders import a_trial, claims, commands, experiment, one, run

EXPERIMENT = experiment(a_trial(1))


def test_a_plan_that_is_not_closed_is_told() -> None:
    finding = one("CKP901", replace(EXPERIMENT, pending="3f2a91c4d07b"))
    assert finding.message == (
        "the apply of plan 3f2a91c4d07b is not finished: names and records may disagree until it is"
    )
    assert finding.trial is None
    assert claims(finding) == [("journal", "3f2a91c4d07b is open")]
    assert commands([finding]) == ["ckptctl resume runs/exp"]
    assert finding.remedy is not None
    assert "ckptctl undo runs/exp" in finding.remedy.note


def test_it_may_be_at_work_just_now() -> None:
    held = replace(EXPERIMENT, pending="3f2a91c4d07b", lock_holder="process 4711 on node-7")
    assert one("CKP901", held).message.endswith(
        "; process 4711 on node-7 holds the lock and may still be at work on it"
    )


def test_without_one_it_is_quiet() -> None:
    assert run("CKP901", replace(EXPERIMENT, lock_holder="process 4711 on node-7")) == []
