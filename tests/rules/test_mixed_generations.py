from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.checkpoint import Checkpoint, Stray
from ckptctl.model.experiment import Row
from tests.rules.builders import a_trial, claims, commands, folder, one, record, rows, run

START = 1_700_000_000.0


def saved(number: int, at: float, *strays: Stray, took: float = 1.0) -> Checkpoint:
    return replace(folder(number), begun=at, modified=at + took, strays=strays)


def stray(at: float | None, name: str = "stale.bin") -> Stray:
    return Stray(path=name, modified=at)


def timed(*minutes: float) -> tuple[Row, ...]:
    """Rows of the folders 0, 1, 2, … that were reported at these minutes."""
    numbered = rows(*range(len(minutes)))
    return tuple(
        replace(r, timestamp=int(START + 60 * m)) for r, m in zip(numbered, minutes, strict=True)
    )


def test_a_file_from_long_before_the_rest_is_told() -> None:
    late = START + 86_400
    finding = one("CKP303", a_trial(1, saved(2, late, stray(START))))
    assert finding.message == (
        "checkpoint_000002 holds files of two saves: no other checkpoint has stale.bin"
    )
    assert claims(finding) == [
        ("storage", "no sibling has stale.bin, and it is 86,400 s older than the rest")
    ]
    assert finding.evidence[0].file == "t1/checkpoint_000002/stale.bin"
    assert commands([finding]) == [None]
    assert finding.remedy is not None
    assert "nothing is safe" in finding.remedy.note


def test_a_second_file_in_one_part_is_told_without_times() -> None:
    twins = Stray(path="ckpt-loss=0.31.pt", modified=None, twin="ckpt-loss=0.25.pt")
    finding = one("CKP303", a_trial(1, replace(folder(2), strays=(twins,))))
    assert finding.message.endswith("has ckpt-loss=0.31.pt beside ckpt-loss=0.25.pt")
    assert "of which each sibling has one" in claims(finding)[0][1]


def test_a_file_from_before_the_last_result_is_of_another_save() -> None:
    at = START + 600
    log = timed(0, 5, 11)
    assert run("CKP303", a_trial(0, 1, saved(2, at, stray(START + 60)), log=log)) != []
    assert run("CKP303", a_trial(0, 1, saved(2, at, stray(START + 299)), log=log)) == []
    unnamed = tuple(replace(r, name=None, has_name=False) for r in log)
    known = [record(2, 3, row=2)]
    trial = a_trial(0, 1, saved(2, at, stray(START + 60)), log=unnamed, records=known)
    assert run("CKP303", trial) != []


def test_an_extra_file_of_the_same_save_is_fine() -> None:
    at = START + 600
    assert run("CKP303", a_trial(0, 1, saved(2, at, stray(at - 120)), log=timed(0, 5, 11))) == []
    assert run("CKP303", a_trial(0, saved(1, at, stray(at + 5)))) == []


def test_a_copy_that_kept_no_times_is_quiet() -> None:
    copied = START + 9_000_000
    folders = [saved(n, copied + n) for n in range(3)]
    folders += [saved(3, copied + 90, stray(copied + 3))]
    assert run("CKP303", a_trial(*folders, log=timed(0, 5, 10, 15))) == []


def test_a_save_that_takes_hours_is_no_mix() -> None:
    slow = saved(1, START, took=20_000.0)
    assert run("CKP303", a_trial(slow, saved(2, START, stray(START - 15_000)))) == []
    assert run("CKP303", a_trial(slow, saved(2, START, stray(START - 21_000)))) != []


def test_what_tells_no_time_is_no_proof() -> None:
    assert run("CKP303", a_trial(1, saved(2, START, stray(None)))) == []
    alone = replace(folder(2), strays=(stray(START - 1e6),))
    assert run("CKP303", a_trial(1, alone)) == []
