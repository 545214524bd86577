from __future__ import annotations

import pytest

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.finding import Applicability
from tests.rules.builders import (
    MISSING,
    PARTIAL,
    TEMPORARY,
    a_trial,
    claims,
    commands,
    experiment,
    folder,
    one,
    run,
)


def test_the_next_saves_would_overwrite_what_is_there() -> None:
    finding = one("CKP101", a_trial(76, 77, 78, 79, index=77))
    assert finding.message == (
        "the trial's index is 77, but checkpoint_000079 exists: the next two saves would "
        "overwrite checkpoint_000078 and checkpoint_000079"
    )
    assert finding.checkpoints == ("checkpoint_000078", "checkpoint_000079")
    assert claims(finding) == [("trial", "77"), ("storage", "79")]
    assert commands([finding]) == ["ckptctl reindex runs/exp"]
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.SAFE


@pytest.mark.parametrize(
    ("folders", "index", "message"),
    [
        ((7, 8), 7, "is 7, but checkpoint_000008 exists: the next save would overwrite "),
        ((7, 10), 7, "one of the next three saves would overwrite checkpoint_000010"),
        ((100, 101), 7, "two of the next 94 saves would overwrite checkpoint_000100 and "),
        ((0,), -1, "index has counted no save, but checkpoint_000000 exists: the next save "),
        (
            ("checkpoint_000008-0.25",),
            7,
            "the next save, checkpoint_000008, would sort before checkpoint_000008-0.25",
        ),
        (("checkpoint_9",), 7, "the next save, checkpoint_000008, would sort before checkpoint_9"),
        ((folder(8, PARTIAL),), 7, "the next save would overwrite checkpoint_000008"),
    ],
)
def test_the_message_says_what_would_happen(
    folders: tuple[int | str | Checkpoint, ...], index: int, message: str
) -> None:
    assert message in one("CKP101", a_trial(*folders, index=index)).message


def test_a_tagged_folder_behind_bare_ones_is_not_overwritten() -> None:
    finding = one("CKP101", a_trial(8, "checkpoint_000009-0.25", index=7))
    assert "checkpoint_000009-0.25 exists: the next save would overwrite" in finding.message
    assert finding.checkpoints == ("checkpoint_000008",)


def test_ray_2_7_counts_the_next_one() -> None:
    finding = one("CKP101", experiment(a_trial(7, 8, index=7), layout="ray-tune-2.7"))
    assert claims(finding)[0] == ("trial", "7 (written as 8, the next one)")


def test_an_index_that_is_level_or_ahead_is_quiet() -> None:
    assert run("CKP101", a_trial(5, 6, 7, index=7)) == []
    assert run("CKP101", a_trial(5, 6, index=7)) == []


def test_an_index_that_nobody_knows_is_quiet() -> None:
    assert run("CKP101", a_trial(5, 6, 7)) == []


def test_temporary_missing_and_unnumbered_folders_do_not_count() -> None:
    names = (folder("checkpoint_tmp000009", TEMPORARY), folder(9, MISSING), "checkpoint_best")
    assert run("CKP101", a_trial(7, *names, index=7)) == []
