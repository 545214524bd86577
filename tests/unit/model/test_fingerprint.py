from __future__ import annotations

from ckptctl.model.fingerprint import fingerprint_of
from ckptctl.model.plan import MoveTree, TreeFile


def _move(size: int = 1, target: str = "t/b") -> MoveTree:
    return MoveTree(source="t/a", target=target, files=(TreeFile(path="weights.bin", size=size),))


def test_a_fingerprint_tells_records_and_folders_apart_and_nothing_else() -> None:
    reads = [("b", "2"), ("a", "1")]
    first = fingerprint_of(reads, [_move()])
    assert first == fingerprint_of(reversed(reads), [_move(target="t/c")])
    assert first != fingerprint_of([("b", "2"), ("a", "3")], [_move()])
    assert first != fingerprint_of(reads, [_move(size=2)])
    assert first != fingerprint_of(reads, [])


def test_a_name_that_is_not_utf_8_has_a_fingerprint() -> None:
    assert fingerprint_of([("\udcff", "1")], [])
