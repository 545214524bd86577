from __future__ import annotations

from tests.rules.builders import PARTIAL, a_trial, claims, commands, folder, one, run


def test_what_is_lacking_is_told() -> None:
    finding = one("CKP302", a_trial(6, folder(7, PARTIAL, lacks=("weights.bin",)), latest=6))
    assert finding.message == "checkpoint_000007 is not whole: it lacks weights.bin"
    assert claims(finding) == [("storage", "it lacks weights.bin")]
    assert commands([finding]) == ["ckptctl reindex runs/exp --quarantine"]


def test_what_is_empty_is_told() -> None:
    partial = folder(7, PARTIAL, lacks=("a",), hollow=("state.json", "weights.bin"))
    assert one("CKP302", a_trial(partial, latest=7)).message == (
        "checkpoint_000007 is not whole: it lacks a; state.json and weights.bin are empty; "
        "it is the latest, which a restore goes on from"
    )
    single = one("CKP302", a_trial(folder(7, PARTIAL, hollow=("state.json",))))
    assert single.message == "checkpoint_000007 is not whole: state.json is empty"


def test_each_has_its_own_finding() -> None:
    partial = [folder(n, PARTIAL, lacks=("x",)) for n in (1, 2)]
    assert [f.checkpoint for f in run("CKP302", a_trial(*partial))] == [
        "checkpoint_000001",
        "checkpoint_000002",
    ]


def test_whole_checkpoints_are_quiet() -> None:
    assert run("CKP302", a_trial(6, 7)) == []
