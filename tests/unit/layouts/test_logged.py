"""Rows that are decoded as far as they are compared tell what rows decoded whole tell."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptctl.codec.json_records import read_lines
from ckptctl.layouts.logged import read_rows
from ckptctl.layouts.result_log import read_result_log
from ckptctl.model.experiment import Row
from ckptctl.model.metrics import flatten
from tests.support import CORPUS

LOGS = sorted(CORPUS.rglob("result.json"))


def whole(data: bytes) -> list[tuple[object, ...]]:
    """What the slow way tells of each row: every line decoded whole."""
    told: list[tuple[object, ...]] = []
    for line in read_lines(data).rows:
        if isinstance(line.value, dict):
            value = line.value
            name = value.get("checkpoint_dir_name")
            named = name if isinstance(name, str) and name else None
            told.append((line.line, "checkpoint_dir_name" in value, named, flatten(value)))
    return told


def quick(rows: tuple[Row, ...]) -> list[tuple[object, ...]]:
    return [(r.line, r.has_name, r.name, dict(r.metrics)) for r in rows]


@pytest.mark.parametrize("path", LOGS, ids=lambda p: f"{p.parents[1].name}/{p.parent.name[-9:]}")
def test_both_ways_tell_the_same_of_real_logs(path: object) -> None:
    data = path.read_bytes()  # type: ignore[attr-defined]
    rows = read_result_log("result.json", data).rows
    assert quick(rows) == whole(data)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
NAMES = "checkpoint_dir_name training_iteration timestamp time_total_s trial_id should_checkpoint"
KEYS = st.sampled_from([*NAMES.split(), "line", "metrics", "result", "log", "loss", ""])


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=4), st.booleans())
def test_both_ways_tell_the_same_of_any_log(results: list[dict[str, object]], ended: bool) -> None:
    data = "\n".join(json.dumps(r) for r in results).encode() + b"\n" * ended
    rows = read_result_log("result.json", data).rows
    # A text compares NaN, which equals nothing.
    assert repr(quick(rows)) == repr(whole(data))


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}\n\n{"a": 2}\n',  # a blank line, which counts
        b'\n{"a": 1}\n',
        b'{"a": 1}\n{"a"',  # cut off
        b'{"a": NaN}\n',
        b"[1]\n",
        b'{"training_iteration": 1.0}\n',
        b'{"other": "\xff"}\n',  # no text, in a value that is not looked at
    ],
)
def test_what_is_unusual_is_left_to_the_slow_way(data: bytes) -> None:
    assert read_rows(data) is None


def test_a_row_of_a_result_that_names_our_own_fields() -> None:
    row = read_result_log("r", b'{"line": 7, "log": "x", "result": 2, "metrics": 3}\n').rows[0]
    assert row.line == 0 and row.result is None
    assert row.metrics == {"line": 7, "log": "x", "result": 2, "metrics": 3}


def test_a_row_keeps_its_metrics_when_it_is_copied() -> None:
    from msgspec.structs import replace

    row = read_result_log("r", b'{"loss": 1.5}\n').rows[0]
    assert replace(row, result={"loss": 1.5}).metrics == {"loss": 1.5}
