from __future__ import annotations

from tests.rules.builders import MISSING, TEMPORARY, a_trial, claims, commands, folder, one, run


def test_two_folders_with_one_number_are_told() -> None:
    finding = one("CKP002", a_trial("checkpoint_7", "checkpoint_000007", 8))
    assert finding.message == "checkpoint_7 and checkpoint_000007 both carry the index 7"
    assert finding.checkpoints == ("checkpoint_7", "checkpoint_000007")
    assert claims(finding) == [
        ("storage", "checkpoint_7 is 7"),
        ("storage", "checkpoint_000007 is 7"),
    ]
    assert commands([finding]) == ["ckptctl reindex runs/exp --by sequential"]


def test_three_folders_and_several_numbers() -> None:
    tagged = [f"checkpoint_000007-{loss}" for loss in ("0.1", "0.2", "0.3")]
    assert one("CKP002", a_trial(*tagged)).message.endswith("all three carry the index 7")
    finding = one("CKP002", a_trial("checkpoint_7", 7, "checkpoint_8", 8, 9))
    assert finding.message == "2 indices are carried by several folders each: 7 and 8"


def test_what_is_gone_temporary_or_without_a_number_does_not_count() -> None:
    gone, half = folder("checkpoint_7", MISSING), folder("checkpoint_07", TEMPORARY)
    assert run("CKP002", a_trial(gone, half, 7, "checkpoint_best", "checkpoint_last")) == []
