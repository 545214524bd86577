"""Rows that are decoded as far as they are compared tell what rows decoded whole tell."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from ckptctl.errors import LocationError
from ckptctl.layouts import log_columns, log_metrics
from ckptctl.layouts.log_metrics import LogMetrics
from ckptctl.layouts.log_text import times_of
from ckptctl.layouts.logged import LoggedRow, LogReader, LogRows
from ckptctl.layouts.result_log import read_result_log, result_log
from ckptctl.model.experiment import Row
from ckptctl.model.metrics import Packed, flatten, read_all, values_of
from ckptctl.model.rows import columns
from tests.support import CORPUS
from tests.unit.layouts.slow_log import read_lines

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


def quick(rows: Sequence[Row]) -> list[tuple[object, ...]]:
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
        b'{"checkpoint_dir_name": "a, NaN", "loss": Infinity}\n',
        b'{"checkpoint_dir_name": "a: null", "loss": NaN}\n',
        b'{"checkpoint_dir_name": NaN, "training_iteration": NaN, "x": "a: NaN"}\n',
        b'{"a": NaNs}\n{"a": NaN}\n',
        b'{"a": -NaN}\n',
        b"[1]\n",
        b'{"training_iteration": 1.0}\n',
        b'{"other": "\xff"}\n',  # no text, in a value that is not looked at
    ],
)
def test_what_is_unusual_is_told_as_the_slow_way_tells_it(data: bytes) -> None:
    read, slow = read_result_log("result.json", data), read_lines(data)
    assert repr(quick(read.rows)) == repr(whole(data))
    told = [p.reason for p in read.problems]
    bad = [f"line {number + 1}: {reason}" for number, reason in slow.bad]
    assert told == bad + ([slow.torn] if slow.torn else [])


@pytest.mark.parametrize(
    ("data", "count", "torn"),
    [
        (b"", 0, None),
        (b"\n\n", 0, None),
        (b"{}", 1, None),
        (b"{}\n", 1, None),
        (b"{}\n{", 1, "line 2 is cut off"),
        (b"{}\n{\n", 1, "line 2 is cut off"),
        (b"{}\n{\n\n", 1, "line 2 is cut off"),
        (b'{"a": "\xc3', 0, "line 1 is cut off"),
    ],
)
def test_torn_logs(data: bytes, count: int, torn: str | None) -> None:
    read = read_result_log("result.json", data)
    assert (len(read.rows), [p.reason for p in read.problems]) == (count, [torn] if torn else [])
    assert all(p.truncated for p in read.problems)


@pytest.mark.parametrize(
    "text",
    [
        "{0}{1}\n\n{2}\n",  # as many results as lines
        "{0}{1}\n{2}\n\n",
        "{0} {1}\n \n{2}\n",
        " {0}\n{1}\n{2}\n",
        "{0}\n\n{1}\n{2}\n",
        "{0}\r\n{1}\r\n{2}\r\n",
    ],
)
def test_every_row_has_the_metrics_of_its_own_line(text: str) -> None:
    results = [json.dumps({"training_iteration": n, "loss": n / 2}) for n in range(3)]
    data = text.format(*results).encode()
    metrics = LogMetrics()
    for _ in range(70):
        metrics.of(results[0].encode())
    reader = LogReader(metrics=metrics)
    reader.take(data)
    rows = reader.done().rows
    assert repr(quick(rows)) == repr(whole(data))
    chosen = [rows.metrics(place) for place in range(len(rows))]
    losses = [n / 2 for n in rows.iterations if n is not None]
    assert len(losses) == len(rows) > 0
    assert [m["loss"] for m in read_all(chosen)] == values_of("loss", chosen) == losses


def test_metrics_that_are_no_number_do_not_make_a_log_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = '{"training_iteration": %d, "r": NaN, "n": {"a": Infinity, "b": -Infinity}, '
    row += '"checkpoint_dir_name": "checkpoint_%06d"}\n'
    data = "".join(row % (n + 1, n) for n in range(3)).encode()
    slow = repr(whole(data))
    monkeypatch.setattr(log_columns, "load_json", None)
    rows = read_result_log("result.json", data).rows
    assert list(rows.iterations) == [1, 2, 3]
    assert repr(quick(rows)) == slow


LINES = st.one_of(
    st.builds(lambda n: json.dumps({"checkpoint_dir_name": n}), st.none() | st.text(max_size=3)),
    st.builds(
        lambda n: json.dumps({"checkpoint_dir_name": f"checkpoint_{n:06d}", "loss": n}),
        st.integers(0, 10**7),
    ),
    st.builds(
        lambda i: json.dumps({"training_iteration": i, "loss": 0.5}),
        st.none() | st.integers() | st.floats(allow_nan=False),
    ),
    st.sampled_from(["", " ", "{", "[1]", "{}", '{"a": NaN}', '{"checkpoint_dir_name": 7}']),
)


@given(st.lists(st.lists(LINES, min_size=1, max_size=4), min_size=1, max_size=5), st.booleans())
def test_a_log_in_pieces_tells_what_it_tells_as_a_whole(
    pieces: list[list[str]], ended: bool
) -> None:
    texts = ["".join(f"{line}\n" for line in piece).encode() for piece in pieces]
    texts[-1] = texts[-1] if ended else texts[-1][:-1]
    data = b"".join(texts)
    reader = LogReader(lambda offset, size: data[offset : offset + size])
    for piece in filter(None, texts):
        reader.take(piece)
    read, known = result_log("r", reader.done()), read_result_log("r", data)
    assert quick(read.rows) == quick(known.rows) and read.problems == known.problems
    assert list(columns(read.rows).pairs) == [(r.line, r.name) for r in known.rows]
    assert columns(read.rows).keyed == columns(known.rows).keyed


@given(st.lists(st.lists(LINES, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_last_row_of_each_name_is_found_in_a_log_of_any_length(pieces: list[list[str]]) -> None:
    data = ["".join(f"{line}\n" for line in piece).encode() for piece in pieces]
    whole = b"".join(data)
    reader = LogReader(lambda offset, size: whole[offset : offset + size])
    for piece in data:
        reader.take(piece)
    rows = reader.done().rows
    known = {name: place for place, name in enumerate(rows.names) if name is not None}
    places = rows.last_of_each()
    assert list(places) == sorted(known.values())
    assert list(rows.names_at(places)) == sorted(known, key=known.__getitem__)
    assert [*rows.names_at(places)[1:3]] == sorted(known, key=known.__getitem__)[1:3]


def test_a_log_that_changed_meanwhile_tells_no_metrics_of_other_results() -> None:
    data = b'{"loss": 1.5}\n{"loss": 2.5}\n'
    now = data
    reader = LogReader(lambda offset, size: now[offset : offset + size])
    reader.take(data)
    rows = reader.done().rows
    rows.text.release()
    assert rows[1].metrics == {"loss": 2.5}
    rows.text.release()
    now += b'{"loss": 3.5}\n'
    assert rows[1].metrics == {"loss": 2.5}
    rows.text.release()
    now = data.replace(b"2", b"4")
    assert rows[1].metrics == {}
    with pytest.raises(LocationError, match="changed while it was read"):
        dict(rows.with_results([1])[1].result or {})


def test_a_log_that_is_held_in_little_room_tells_the_same() -> None:
    data = b'{"loss": 1.5}\n{"loss": 2.5}\n' * 100
    rows, same = (read_result_log("r", data).rows for _ in range(2))
    assert isinstance(rows, LogRows)
    rows.text.deflate()
    assert rows == same and quick(rows) == quick(same)
    assert [dict(m) for m in read_all([rows.metrics(n) for n in range(200)])][-1] == {"loss": 2.5}
    rows.text.deflate()
    assert rows == same


def test_a_row_of_a_result_that_names_our_own_fields() -> None:
    row = read_result_log("r", b'{"line": 7, "log": "x", "result": 2, "metrics": 3}\n').rows[0]
    assert row.line == 0 and row.result is None
    assert row.metrics == {"line": 7, "log": "x", "result": 2, "metrics": 3}


def test_a_row_keeps_its_metrics_when_it_is_copied() -> None:
    from msgspec.structs import replace

    row = read_result_log("r", b'{"loss": 1.5}\n').rows[0]
    assert replace(row, result={"loss": 1.5}).metrics == {"loss": 1.5}


METRICS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400)])
    | st.floats()
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "a/b", "_type", ""]), inner, max_size=3)
    ),
    max_leaves=4,
)
RESULTS = st.dictionaries(
    st.sampled_from(["a", "a/b", "b", "loss", "config", "date", "é"]), METRICS, max_size=5
)


@given(RESULTS, st.lists(RESULTS, max_size=4), st.booleans())
def test_metrics_are_cut_out_of_results_as_they_are_taken_apart(
    usual: dict[str, object], others: list[dict[str, object]], plain: bool
) -> None:
    reader = LogMetrics()
    for result in [*[usual] * 70, *others, usual]:
        text = json.dumps(result, ensure_ascii=plain)
        known = flatten(json.loads(text))
        assert repr(dict(reader.of(text.encode()).items())) == repr(known)


@given(
    RESULTS,
    st.lists(st.tuples(st.integers(0, 80), RESULTS), max_size=3),
    st.sampled_from(["a", "a/b", "loss", "é", "date", "config"]),
    st.data(),
)
def test_metrics_of_many_rows_are_those_of_each(
    usual: dict[str, object],
    others: list[tuple[int, dict[str, object]]],
    metric: str,
    data: st.DataObject,
) -> None:
    results = [usual] * 80
    for place, other in others:
        results.insert(place, other)
    results = [{**result, "nth": place} for place, result in enumerate(results)]
    text = "".join(json.dumps(r) + "\n" for r in results).encode()
    metrics = LogMetrics()
    for _ in range(64):
        metrics.of(json.dumps({**usual, "nth": 0}).encode())
    reader = LogReader(metrics=metrics)
    reader.take(text)
    rows = reader.done().rows
    every = st.permutations(range(len(rows)))
    places = data.draw(every | every.map(lambda p: p[:50]) | every.map(lambda p: p[:3]))
    chosen = [rows.metrics(place) for place in places]
    known = [flatten(json.loads(json.dumps(results[place]))) for place in places]
    mixed = [*chosen, {"loss": 1}, *chosen]
    assert repr([dict(m.items()) for m in read_all(mixed)]) == repr([*known, {"loss": 1}, *known])
    values = [own.get(metric, UNSET) for own in known]
    assert repr(values_of(metric, chosen)) == repr(values)
    assert values_of("nth", chosen) == places
    assert not list(rows.without("nth"))


@pytest.mark.parametrize("line", [b"{}", b'{"timestamp": 3, "time_total_s": 2}', b"[]", b"null"])
def test_times_of_a_row_are_those_of_its_result(line: bytes) -> None:
    reader = LogReader()
    reader.take(b'{"timestamp": NaN, "time_total_s": "x", "trial_id": 7}\n' + line + b"\n")
    for row in reader.done().rows:
        assert isinstance(row, LoggedRow)
        result = row.text.result(row.line)
        assert repr((row.timestamp, row.time_total_s)) == repr(times_of(result))
        assert row.trial_id is None


def test_results_that_are_alike_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = LogMetrics()
    line = b'{"loss": 1e-05, "eval": {"acc": 1.0, "of": [1]}, "config": {"lr": NaN}, "step": 7}'
    line = line.replace(b"NaN", b"2")
    for _ in range(80):
        told = reader.of(line)
    monkeypatch.setattr(log_metrics, "load_json", None)
    told = reader.of(line.replace(b"7", b"8"))
    assert isinstance(told, Packed) and told.text == b'{"loss":1e-05,"eval/acc":1.0,"step":8}'


@pytest.mark.parametrize(
    ("number", "told"),
    [(b"1e400", float("inf")), (b"-1e400", -float("inf")), (b"1" + b"0" * 400, 10**400)],
)
def test_a_number_beyond_any_float_is_told_however_many_results_are_alike(
    number: bytes, told: float
) -> None:
    text = b"".join(b'{"loss": %d, "step": %d}\n' % (n, n) for n in range(80))
    reader = LogReader()
    reader.take(text + b'{"loss": %b, "step": 80}\n' % number)
    rows = reader.done().rows
    for _ in range(2):  # by then their kind is known
        each = [rows.metrics(place).get("loss") for place in range(81)]
        assert each == [*range(80), told]
    found = read_all([rows.metrics(place) for place in range(81)])
    assert [metrics["loss"] for metrics in found] == each
    assert values_of("loss", [rows.metrics(place) for place in range(81)]) == each
