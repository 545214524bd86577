from __future__ import annotations

from msgspec.structs import replace

from tests.rules.builders import a_trial, claims, commands, experiment, one, run


def test_who_holds_the_lock_is_told() -> None:
    held = replace(experiment(a_trial(1)), lock_holder="process 4711 on node-7")
    finding = one("CKP902", held)
    assert finding.message == (
        "process 4711 on node-7 holds the lock: what was read may be changing"
    )
    assert claims(finding) == [("lock", "process 4711 on node-7")]
    assert commands([finding]) == [None]
    assert finding.remedy is not None
    assert "wait" in finding.remedy.note


def test_without_a_lock_it_is_quiet() -> None:
    assert run("CKP902", experiment(a_trial(1))) == []
