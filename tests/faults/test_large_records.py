"""Records without measure: each ends in an answer, in a process that has 1 GiB and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.run import PYTHON
from tests.security.verbs import TEMPLATE
from tests.support import copy_of

MIB = 1 << 20
LIMIT = 1024 * MIB
LINE = int(os.environ.get("CKPTCTL_TEST_LINE_MIB", "50")) * MIB
"""How long the long lines are; `make faults` has them at 1 GiB."""
NAME = "ray-2.54.1-function_topk"

RUN = """
import re, sys
from ckptctl.cli.main import main
code = main(sys.argv[1:])
# What getrusage tells begins with the memory of the process that started this one.
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1], file=sys.stderr)
sys.exit(code)
"""


def run(*words: object) -> tuple[int, str, int]:
    """A verb in a process of its own: exit code, what it said, and its peak of memory in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )
    said, _, peak = done.stderr.rstrip().rpartition("\n")
    assert peak.isdecimal(), done.stderr[-500:]
    return done.returncode, done.stdout + said, int(peak) << 10


def log_of(place: Path) -> Path:
    return next(place.glob("*00000*/result.json"))


def state_of(place: Path) -> Path:
    return next(place.glob("experiment_state-*.json"))


def long_line(place: Path) -> None:
    with log_of(place).open("ab") as file:
        file.write(b'{"training_iteration": 9, "text": "')
        for _ in range(LINE // MIB):
            file.write(b"x" * MIB)
        file.write(b'"}\n')


def line_of_zeros(place: Path) -> None:
    """A hole at the end, as file systems leave it after a crash: it takes no room."""
    os.truncate(log_of(place), LINE)


def long_csv_line(place: Path) -> None:
    with log_of(place).with_name("progress.csv").open("ab") as file:
        file.write(b'1,"' + b"y" * (LINE // 4) + b'"\n')


def deep_state(place: Path) -> None:
    state_of(place).write_bytes(b"[" * 100_000)


def deep_and_closed_state(place: Path) -> None:
    state_of(place).write_bytes(b'{"a":' * 100_000 + b"1" + b"}" * 100_000)


def deep_log(place: Path) -> None:
    with log_of(place).open("ab") as file:
        file.write(b"[" * 100_000 + b"]" * 100_000 + b"\n")


def giant_integers(place: Path) -> None:
    log = log_of(place)
    rows = log.read_bytes().splitlines()
    text = rows[-1].replace(b'"training_iteration": 8', b'"training_iteration": ' + b"9" * 10_000)
    assert text != rows[-1]
    last = rows[-1][:-1] + b', "big": ' + b"7" * MIB + b"}"
    log.write_bytes(b"\n".join([*rows[:-1], text, last]))


def giant_integer_in_state(place: Path) -> None:
    state = state_of(place)
    text = state.read_bytes()
    changed = text.replace(b'"stats": {', b'"stats": {"big": ' + b"8" * 200_000 + b",", 1)
    assert changed != text
    state.write_bytes(changed)


def duplicate_keys(place: Path) -> None:
    log = log_of(place)
    log.write_bytes(log.read_bytes().replace(b'{"', b'{"training_iteration": 77, "', 8))


def many_keys(place: Path) -> None:
    with log_of(place).open("ab") as file:
        file.write(b"{" + b",".join(b'"k%d": %d' % (n, n) for n in range(200_000)) + b"}\n")


def many_lists(place: Path) -> None:
    state_of(place).write_bytes(b'{"trial_data": [' + b"[]," * (4 * MIB) + b"[]]}")


def wide_pickle(place: Path) -> None:
    state = state_of(place)
    text = state.read_text()
    at = text.index("80059")
    state.write_text(text[:at] + "8005" + "4e30" * 2 * MIB + text[at + 4 :])


def own_plan_is_huge(place: Path) -> None:
    entry = place / ".ckptctl" / "journal" / "0001-0123456789ab"
    entry.mkdir(parents=True)
    (entry / "plan.json").write_bytes(b"[" * 100_000)
    (entry / "commit.json").write_bytes(b"9" * MIB)


def own_lock_is_huge(place: Path) -> None:
    (place / ".ckptctl").mkdir()
    with (place / ".ckptctl" / "lock.json").open("wb") as file:
        file.truncate(LINE)


CASES: list[Callable[[Path], None]] = [
    long_line,
    line_of_zeros,
    long_csv_line,
    deep_state,
    deep_and_closed_state,
    deep_log,
    giant_integers,
    giant_integer_in_state,
    duplicate_keys,
    many_keys,
    many_lists,
    wide_pickle,
    own_plan_is_huge,
    own_lock_is_huge,
]


@pytest.mark.parametrize("case", CASES)
def test_a_record_without_measure_ends_in_an_answer(
    tmp_path: Path, case: Callable[[Path], None]
) -> None:
    place = copy_of(NAME, tmp_path)
    case(place)
    for words in (("scan", place, "--json"), ("rename", place, "--to", TEMPLATE, "-n")):
        code, said, peak = run(*words)
        assert code in (0, 1, 10, 11, 14), said[-500:]
        assert PYTHON.search(said) is None, said[-500:]
        assert peak < LIMIT, f"{peak >> 20} MiB"
