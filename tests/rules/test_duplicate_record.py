from __future__ import annotations

from tests.rules.builders import a_trial, claims, commands, one, record, run


def test_a_folder_that_is_recorded_twice_is_told() -> None:
    finding = one("CKP109", a_trial(3, 4, records=[record(3, 4), record(3, 5), 4]))
    assert finding.message == (
        "checkpoint_000003 is recorded twice: evicting one record would delete the other's "
        "checkpoint"
    )
    assert claims(finding) == [
        ("trial", "checkpoint_000003 at iteration 4"),
        ("trial", "checkpoint_000003 at iteration 5"),
    ]
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_three_times_and_several_folders() -> None:
    assert "is recorded three times" in one("CKP109", a_trial(3, records=[3, 3, 3])).message
    finding = one("CKP109", a_trial(3, 4, records=[3, 4, 3, 4]))
    assert finding.message.startswith(
        "2 folders are recorded more than once: checkpoint_000003 and checkpoint_000004: "
    )


def test_the_latest_may_be_one_of_the_list_and_names_repeat_across_trials() -> None:
    assert run("CKP109", a_trial(3, records=[3], latest=3)) == []
    assert run("CKP109", a_trial(3, records=[3], latest=record(3))) == []
    assert run("CKP109", a_trial(3, records=[3, record(3, trial="t2")])) == []
