from __future__ import annotations

from tests.rules.builders import MISSING, a_trial, claims, commands, folder, one, run


def test_what_others_refuse_is_told() -> None:
    finding = one("CKP006", a_trial("checkpoint_000007-loss=0.25", 8))
    assert finding.message == (
        "the name checkpoint_000007-loss=0.25 holds characters that artifact registries refuse"
    )
    assert claims(finding) == [("storage", finding.message.removeprefix("the name "))]
    assert commands([finding]) == [None]
    assert finding.remedy is not None
    assert "rename" in finding.remedy.note


def test_all_reasons_and_all_names_in_one_finding() -> None:
    finding = one("CKP006", a_trial("checkpoint_1?", "checkpoint_2 b", "checkpoint_é"))
    assert finding.message == (
        "the name checkpoint_1? holds '?', which Windows refuses; it holds characters that "
        "artifact registries refuse (and 2 more names like it)"
    )
    assert len(finding.checkpoints) == len(finding.evidence) == 3


def test_the_names_of_ray_and_names_of_what_is_gone_are_quiet() -> None:
    gone = folder("checkpoint_?", MISSING)
    date = "checkpoint_2026-11-30_10-37-15.123456"
    assert run("CKP006", a_trial(7, "checkpoint_000008-0.25", date, gone)) == []
