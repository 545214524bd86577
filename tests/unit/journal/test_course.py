"""What must hold between the steps of a plan, and where marks are needed."""

from __future__ import annotations

import pytest

from ckptctl.errors import RefusedError
from ckptctl.journal.course import Course, course_of
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import MoveTree, Plan, ReplaceFile, Step, TreeFile


def move(source: str, target: str) -> MoveTree:
    return MoveTree(source=source, target=target, files=(TreeFile(path="w", size=1),))


def rewrite(file: str, before: str = "a", after: str = "b") -> ReplaceFile:
    return ReplaceFile(
        file=file, kind=RecordKind.JSON, before=before * 64, after=after * 64, edits=()
    )


def course(*steps: Step, atomic: bool = True) -> Course:
    plan = Plan(
        plan_id="", command="c", location="l", layout="x", fingerprint="f", steps=tuple(steps)
    )
    return course_of(plan, atomic=atomic)


def held(found: Course, strand: int, position: int) -> dict[str, str]:
    return {
        span.path: span.tree.origin if span.tree else (span.digest or "-")[0]
        for span in found.strands[strand].at(position)
    }


SWAP = (move("A", ".ckptctl/tmp/x"), move("B", "A"), move(".ckptctl/tmp/x", "B"))


def test_a_swap_is_one_strand_and_its_paths_are_followed() -> None:
    found = course(*SWAP)
    assert [s.steps for s in found.strands] == [(0, 1, 2)]
    assert [held(found, 0, p) for p in range(4)] == [
        {"A": "A", "B": "B", ".ckptctl/tmp/x": "-"},
        {"A": "-", "B": "B", ".ckptctl/tmp/x": "A"},
        {"A": "B", "B": "-", ".ckptctl/tmp/x": "A"},
        {"A": "B", "B": "A", ".ckptctl/tmp/x": "-"},
    ]
    assert [found.start_of(n) for n in range(3)] == ["A", "B", "A"]


def test_a_record_inside_a_moved_folder_is_followed() -> None:
    found = course(
        rewrite("A/r"), move("A", "B"), rewrite("B/s", "c", "d"), move("B", "C"), rewrite("o")
    )
    assert [s.steps for s in found.strands] == [(0, 1, 2, 3), (4,)]
    assert held(found, 0, 0) == {"A": "A", "A/r": "a", "A/s": "c", "B": "-", "C": "-"}
    assert held(found, 0, 2) == {"A": "-", "B": "A", "B/r": "b", "B/s": "c", "C": "-"}
    assert held(found, 0, 4) == {"A": "-", "B": "-", "C": "A", "C/r": "b", "C/s": "d"}
    assert [found.start_of(n) for n in range(5)] == ["A/r", "A", "A/s", "A", "o"]
    tree = next(s.tree for s in found.strands[0].spans if s.tree)
    assert tree.rewritten == {"r", "s"}


def test_a_moved_file_may_be_rewritten() -> None:
    found = course(move("A", "B"), rewrite("B"))
    spans = {(s.path, s.digest[0]) for s in found.strands[0].at(0) if s.digest}
    assert spans == {("A", "a")}


def test_steps_that_share_nothing_are_strands_of_their_own() -> None:
    found = course(move("A", "B"), rewrite("r"), move("C", "D"), move("E", "C"))
    assert [s.steps for s in found.strands] == [(0,), (1,), (2, 3)]
    assert found.places == ((0, 0), (1, 0), (2, 0), (2, 1))
    assert found.marks == frozenset()


def test_a_chain_needs_marks_only_where_half_moves_look_alike() -> None:
    steps = (move("C", "D"), move("B", "C"), move("A", "B"), rewrite("r"))
    assert course(*steps).marks == frozenset()
    assert course(*steps, atomic=False).marks == {0, 1}


@pytest.mark.parametrize("atomic", [True, False])
def test_new_names_need_no_mark(atomic: bool) -> None:
    steps = (move("A", "A2"), move("B", "B2"), rewrite("r"))
    assert course(*steps, atomic=atomic).marks == frozenset()


def test_a_swap_needs_one_mark() -> None:
    assert course(*SWAP).marks == {1}


def test_two_swaps_one_after_the_other_need_two_marks() -> None:
    other = (move("C", ".ckptctl/tmp/y"), move("D", "C"), move(".ckptctl/tmp/y", "D"))
    assert course(*SWAP, *other).marks == {1, 4}


def test_two_swaps_hand_in_hand_need_one_mark() -> None:
    other = (move("C", ".ckptctl/tmp/y"), move("D", "C"), move(".ckptctl/tmp/y", "D"))
    steps = [step for pair in zip(SWAP, other, strict=True) for step in pair]
    assert len(course(*steps).marks) == 1


def test_without_single_acts_a_swap_needs_marks_between_its_moves() -> None:
    assert course(*SWAP, atomic=False).marks == {0, 1}


def test_a_move_there_and_back_needs_a_mark_where_half_of_either_looks_alike() -> None:
    assert course(move("A", "B"), move("B", "A"), atomic=False).marks == {0}
    assert course(move("A", "B"), move("B", "A")).marks == {0}


def test_a_rewrite_that_changes_nothing_needs_no_mark() -> None:
    assert course(rewrite("r", "a", "a")).marks == frozenset()


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((move("A", "B"), move("A", "C")), "nothing is there when it is to move"),
        ((move("A", "C"), move("B", "C")), "taken when B is to move there"),
        ((move("A", "B"), move("A/x", "C")), "moves, and so does A"),
        ((move("A", "B"), move("C", "B/x/y")), "moves, and so does B"),
        ((move("A", "B"), rewrite("A/r")), "not there when it is to be rewritten"),
        ((rewrite("B/r"), move("A", "B")), "taken when A is to move there"),
        ((rewrite("r"), rewrite("r", "b", "c")), "rewritten twice"),
        ((rewrite("A/r"), move("A", "B"), rewrite("B/r", "b", "c")), "rewritten twice"),
        ((move("A", "A"),), "taken when A is to move there"),
    ],
)
def test_steps_that_cannot_be_done_in_their_order_are_refused(
    steps: tuple[Step, ...], message: str
) -> None:
    with pytest.raises(RefusedError, match=message):
        course(*steps)
