from __future__ import annotations

from tests.rules.builders import MISSING, a_trial, commands, experiment, folder, one, run


def test_unpadded_numbers_sort_wrongly() -> None:
    trial = a_trial("checkpoint_9", "checkpoint_10")
    finding = one("CKP003", trial)
    assert finding.message == (
        "checkpoint_9 sorts last, but checkpoint_10 was saved last: readers that sort names take "
        "checkpoint_9 for the latest"
    )
    assert finding.checkpoints == ("checkpoint_9", "checkpoint_10")
    assert commands([finding]) == ["ckptctl rename runs/exp --to 'checkpoint_{index:06d}'"]


def test_numbers_against_the_order_of_saves_want_new_numbers() -> None:
    trial = a_trial(folder(3, saved=0), folder(4, saved=2), folder(5, saved=1))
    assert commands(run("CKP003", trial)) == ["ckptctl reindex runs/exp --by sequential"]


def test_a_wrong_middle_is_told_though_the_latest_is_right() -> None:
    finding = one("CKP003", a_trial(folder(1, saved=1), folder(2, saved=0), folder(3, saved=2)))
    assert finding.message == (
        "the names do not sort in the order of the saves: checkpoint_000002 and checkpoint_000001 "
        "stand in other places, though checkpoint_000003 is the latest in both orders"
    )


def test_padded_numbers_are_quiet() -> None:
    assert run("CKP003", a_trial(9, 10, 11)) == []


def test_a_folder_whose_place_nobody_knows_is_left_out() -> None:
    lost = folder("checkpoint_best", saved=0, recorded_by=())
    assert run("CKP003", a_trial(folder(5, saved=1), lost)) == []


def test_missing_folders_and_names_without_the_prefix_are_not_listed_by_readers() -> None:
    trial = a_trial(folder("checkpoint_9", MISSING), "checkpoint_10", folder("epoch=9", saved=1))
    assert run("CKP003", trial) == []
    named = a_trial(folder("step=9", saved=0), folder("step=10", saved=1))
    assert len(run("CKP003", experiment(named, layout="ray-train-v2"))) == 1
