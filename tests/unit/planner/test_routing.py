from __future__ import annotations

import pytest

from ckptctl.errors import InternalError
from ckptctl.model.experiment import RecordKind, RecordRole
from ckptctl.model.plan import MoveTree, ReplaceFile
from ckptctl.planner.ordering import order_steps
from ckptctl.planner.routing import order_moves, route


def test_a_swap_of_two_names_uses_a_temporary_name() -> None:
    assert route([("t/a", "t/b"), ("t/b", "t/a")]) == (
        ("t/a", ".ckptctl/tmp/1-a"),
        ("t/b", "t/a"),
        (".ckptctl/tmp/1-a", "t/b"),
    )


def test_a_chain_runs_from_its_free_end() -> None:
    assert route([("t/1", "t/2"), ("t/2", "t/3"), ("t/3", "t/4")]) == (
        ("t/3", "t/4"),
        ("t/2", "t/3"),
        ("t/1", "t/2"),
    )


def test_a_change_of_case_alone_goes_over_a_temporary_name() -> None:
    assert route([("t/a", "t/A")]) == (("t/a", ".ckptctl/tmp/1-a"), (".ckptctl/tmp/1-a", "t/A"))


def test_a_folder_that_keeps_its_name_does_not_move() -> None:
    assert route([("t/a", "t/a"), ("t/b", "t/c")]) == (("t/b", "t/c"),)
    assert route([]) == ()


def test_cycles_of_several_trials_have_temporary_names_of_their_own() -> None:
    moves = route([("t/a", "t/b"), ("t/b", "t/a"), ("u/a", "u/b"), ("u/b", "u/a")])
    assert [t for _, t in moves if "tmp" in t] == [".ckptctl/tmp/1-a", ".ckptctl/tmp/2-a"]


def test_a_folder_moved_aside_goes_before_the_one_that_takes_its_name() -> None:
    aside = ("t/3", ".ckptctl/quarantine/t/3")
    assert order_moves([("t/5", "t/3"), aside]) == (aside, ("t/5", "t/3"))


def test_moves_that_wait_for_each_other_are_a_bug() -> None:
    with pytest.raises(InternalError, match="wait for each other"):
        order_moves([("t/a", "t/b"), ("t/b", "t/a")])


def test_folders_move_first_and_the_state_is_the_first_record() -> None:
    roles = {
        "t/progress.csv": RecordRole.PROGRESS,
        "t/result.json": RecordRole.RESULT_LOG,
        "state.json": RecordRole.STATE,
    }
    rewrites = [
        ReplaceFile(file=file, kind=RecordKind.JSON, before="1", after="2", edits=())
        for file in ("other", *roles)
    ]
    move = MoveTree(source="t/a", target="t/b", files=())
    steps = order_steps([move], rewrites, roles)
    assert steps[0] == move
    assert [s.file for s in steps if isinstance(s, ReplaceFile)] == [
        "state.json", "t/result.json", "t/progress.csv", "other",
    ]  # fmt: skip
