"""What is seen while something goes on: at a terminal, on stderr, and nowhere else."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from ckptctl.cli._progress import Bar, Counter
from ckptctl.report.lines import ASCII_MARKS, Page
from tests.cli.conftest import Call, Copy, at_terminal

CLEAN = "ray-2.54.1-function_topk"
TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"

SLOW_MOVES = """
import time
from ckptctl.storage.local_store import LocalStore
real = LocalStore.move_tree
def move_tree(self, source, target):
    time.sleep(0.5)
    real(self, source, target)
LocalStore.move_tree = move_tree
"""

SLOW_READS = """
import time
from ckptctl.storage.local_store import LocalStore
real = LocalStore.read_bytes
def read_bytes(self, path, limit=None):
    time.sleep(0.3)
    return real(self, path, limit)
LocalStore.read_bytes = read_bytes
"""


def test_an_apply_shows_steps_bytes_rate_and_what_is_left(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_MOVES)
    place = copy(CLEAN)
    more = {"PYTHONPATH": str(tmp_path)}
    answer = at_terminal(["rename", place, "--to", TEMPLATE, "--yes"], columns=120, more=more)
    assert answer.code == 0
    pictures = answer.out.split("\r")
    seen = re.compile(r"[━╌]{24} 5/\d+ · \d\.\d kB · \d+ B/s · 0:\d\d · 0:\d\d left")
    assert any(seen.search(picture) for picture in pictures)
    (last,) = [p for p in pictures if "11/11" in p and "\n" in p]
    assert last.split("\n")[1].startswith("done and verified.")


def test_a_slow_scan_counts_what_it_reads_and_leaves_nothing_behind(
    copy: Copy, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_READS)
    answer = at_terminal(["scan", copy(CLEAN)], columns=120, more={"PYTHONPATH": str(tmp_path)})
    assert answer.code == 0
    pictures = answer.out.split("\r")
    assert any(
        re.fullmatch(r"  reading · 0 of 1 experiment · \d files? · 0:0\d *", p) for p in pictures
    )
    assert re.search(r"\r +\r", answer.out)
    assert "reading" not in pictures[-1]


def test_pipes_and_quiet_calls_see_no_progress(process: Call, copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_READS)
    place = copy(CLEAN)
    answer = process("scan", place, PYTHONPATH=str(tmp_path))
    assert answer.err == ""
    for flag in ("-q", "--json"):
        seen = at_terminal(["scan", place, flag], more={"PYTHONPATH": str(tmp_path)})
        assert "reading" not in seen.out
        assert "\r" not in seen.out
    dumb = at_terminal(["scan", place], more={"PYTHONPATH": str(tmp_path), "TERM": "dumb"})
    assert "reading" not in dumb.out


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("ckptctl.cli._progress.time.monotonic", lambda: now[0])
    return now


def test_the_rest_is_told_by_bytes_where_any_move(clock: list[float]) -> None:
    bar = Bar(io.StringIO(), Page(width=100), [900, 100, 0])
    bar.begin("applying", 3)
    clock[0] = 9.0
    bar.advance(1)
    assert bar.text().endswith(" 1/3 · 900 B · 100 B/s · 0:09 · 0:01 left")
    bar.finish(keep=False)
    bar = Bar(io.StringIO(), Page(width=100), [0, 0])
    bar.begin("applying", 2)
    clock[0] += 3700
    bar.advance(1)
    assert bar.text().endswith(" 1/2 · 1:01:40 · 1:01:40 left")
    bar.finish(keep=False)


def test_a_bar_in_ascii_is_cut_to_the_terminal() -> None:
    stream = io.StringIO()
    bar = Bar(stream, Page(width=24, marks=ASCII_MARKS), [5])
    bar.begin("applying", 1)
    bar.advance(1)
    bar.finish(keep=True)
    text = stream.getvalue()
    assert text.isascii()
    assert max(len(part) for part in text.split("\r")) <= 24
    assert text.endswith("\n")


def test_a_terminal_that_is_gone_stops_no_work() -> None:
    stream = io.StringIO()
    counter = Counter(stream, Page(width=80))
    counter.start()
    stream.close()
    counter.found(1)
    counter.finish(keep=True)


def test_nothing_begun_leaves_no_line() -> None:
    stream = io.StringIO()
    Bar(stream, Page(width=80), []).finish(keep=True)
    assert stream.getvalue() == ""


def test_a_terminal_draws_how_the_metric_went_and_a_pipe_does_not(
    ckptctl: Call, copy: Copy
) -> None:
    place = copy(CLEAN)
    assert re.search(r"0\.2857 +[▁-█]{3}\n", at_terminal(["scan", place], columns=160).out)
    narrow = at_terminal(["scan", place], columns=60).out
    assert not re.search(r"[▁-█]", narrow)
    assert not re.search(
        r"[▁-█]", at_terminal(["scan", place], columns=160, more={"LC_ALL": "C"}).out
    )
    assert not re.search(r"[▁-█]", ckptctl("scan", place).out)
