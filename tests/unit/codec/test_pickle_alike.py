"""Pickles that are alike, told as each is by itself."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from ckptctl.codec.errors import PickleError
from ckptctl.codec.json_records import fallback_bytes
from ckptctl.codec.pickle_alike import Alike
from ckptctl.codec.pickle_nodes import Key, Opaque
from ckptctl.codec.pickle_reader import decode
from tests.support import CORPUS


class Result:
    """Stands for a class of Ray: a state, and something shared."""

    def __init__(self, path: str, metrics: Mapping[str, object]) -> None:
        self.path, self.metrics = path, metrics


def described(node: object, seen: dict[int, int]) -> object:
    """A value with all that is in it, and with what in it is one object."""
    if isinstance(node, dict | list | Opaque | Key) or (isinstance(node, tuple) and node):
        if id(node) in seen:
            return ("the same as", seen[id(node)])
        seen[id(node)] = len(seen)
    if isinstance(node, dict):
        return [(described(k, seen), described(v, seen)) for k, v in node.items()]
    if isinstance(node, Key):
        return ("key", described(node.value, seen))
    if isinstance(node, Opaque):
        return [described(part, seen) for part in astuple(node)]
    if isinstance(node, list | tuple):
        return (type(node).__name__, [described(part, seen) for part in node])
    return (type(node).__name__, repr(node))


def by_itself(data: bytes) -> object:
    try:
        return described(decode(data).root, {})
    except PickleError as error:
        return type(error), str(error), error.offset


def among_others(alike: Alike, data: bytes) -> object:
    try:
        return described(alike.decode(data), {})
    except PickleError as error:
        return type(error), str(error), error.offset


def trial(name: str, *losses: float, note: object = None) -> bytes:
    """A list of results, of which the last is the latest too, by identity."""
    results = [
        Result(f"/{name}/{n}", {"loss": x, "n": n, "id": name}) for n, x in enumerate(losses)
    ]
    return pickle.dumps({"results": results, "latest": results[-1:], "note": note}, protocol=4)


def pickles_of(state: Path) -> Iterator[tuple[str, bytes]]:
    """Those of each trial in a state file, by what they are."""
    document = json.loads(state.read_text())
    for pair in document.get("trial_data", ()):
        for text in pair:
            for key, value in json.loads(text).items():
                data = fallback_bytes(value)
                if data:
                    yield key, data


def test_what_is_alike_is_learned_once() -> None:
    alike = Alike()
    datas = [trial(f"trial_{n}", n / 7, n / 3, note=n) for n in range(300)]
    assert [among_others(alike, d) for d in datas] == [by_itself(d) for d in datas]
    assert alike._lessons < 6
    (mold,) = alike._molds
    assert len(mold.holes) < 12


def test_several_kinds_are_told_apart() -> None:
    alike = Alike()
    datas = [trial(f"t{n}", *([n / 2] * (1 + n % 3))) for n in range(60)]
    assert [among_others(alike, d) for d in datas] == [by_itself(d) for d in datas]
    assert len(alike._molds) == 3
    assert alike._lessons < 12


def test_scalars_of_any_kind_may_take_the_place_of_each_other() -> None:
    alike = Alike()
    notes = [
        None,
        True,
        1,
        300,
        70_000,
        -1,
        1 << 40,
        -(1 << 70),
        0.5,
        float("inf"),
    ] * 2
    datas = [trial("t", 0.5, note=note) for note in notes]
    assert [among_others(alike, d) for d in datas] == [by_itself(d) for d in datas]
    assert len(alike._molds) == 1


def test_bytes_as_numbers_of_numpy_have_them_may_differ() -> None:
    alike = Alike()
    datas = [trial("t", 0.5, note=[bytes([n]) * (n * 50)]) for n in range(1, 9)]
    assert [among_others(alike, d) for d in datas] == [by_itself(d) for d in datas]
    (mold,) = alike._molds
    assert mold.holes


@pytest.mark.parametrize(
    "make",
    [
        lambda n: {f"key_{n}": 1},  # the key differs
        lambda n: {(n, "of a tuple"): 1},
        lambda n: [Result, Path, int, str][n % 4],  # the name of a global
        lambda n: ["x" * n, "y" * (n + 300)],
        lambda n: list(range(n)),
        lambda n: {"raw": bytearray([n])},
        lambda n: {1: {2: [n, (n, [n])]}, "frozen": frozenset({n, "a"})},
        lambda n: "z" * 70_000 * n,  # more frames than one
    ],
)
def test_what_differs_otherwise_is_decoded_as_ever(make: Any) -> None:
    alike = Alike()
    datas = [pickle.dumps(make(n), protocol=p) for n in range(6) for p in (4, 5, 2, 0)]
    assert [among_others(alike, d) for d in datas * 2] == [by_itself(d) for d in datas * 2]


def test_a_frame_around_the_rest_of_what_has_no_protocol_is_no_mold() -> None:
    def framed(body: bytes) -> bytes:
        return b"\x95" + len(body).to_bytes(8, "little") + body

    alike = Alike()
    for first in (b"K\x01", b"K\x02", b"K\x03"):
        assert among_others(alike, first + framed(b"K\x05\x86.")) == (
            "tuple",
            [("int", str(first[1])), ("int", "5")],
        )
    inside = b"K\x01" + framed(b"K\x09" + framed(b"K\x05\x86."))
    assert among_others(alike, inside) == by_itself(inside)
    assert not alike._molds


def test_where_most_differs_nothing_is_learned() -> None:
    alike = Alike()
    datas = [pickle.dumps([n + k for k in range(500)], protocol=4) for n in range(0, 9000, 300)]
    assert [among_others(alike, d) for d in datas] == [by_itself(d) for d in datas]
    assert not alike._molds


def test_one_that_holds_itself_is_decoded_as_ever() -> None:
    alike = Alike()
    for n in range(5):
        ring: list[object] = [n]
        ring.append(ring)
        data = pickle.dumps(ring, protocol=4)
        assert among_others(alike, data) == by_itself(data)
    assert not alike._molds


def test_trials_of_real_states_are_told_as_each_by_itself() -> None:
    seen = 0
    for state in sorted(CORPUS.rglob("experiment_state-*.json")):
        alikes: dict[str, Alike] = {}
        try:
            datas = list(pickles_of(state))
        except ValueError:  # a damaged one
            continue
        for key, data in datas * 3:
            alike = alikes.setdefault(key, Alike())
            assert among_others(alike, data) == by_itself(data), state
            seen += 1
    assert seen > 200


SCALARS = st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats() | st.text()


@given(
    st.lists(st.tuples(SCALARS, SCALARS, st.floats(), st.text(max_size=3)), min_size=3, max_size=6)
)
def test_any_scalars(rows: list[tuple[object, object, float, str]]) -> None:
    alike = Alike()
    for first, second, loss, name in rows * 2:
        data = trial(name, loss, note={"a": first, "b": [second, (first,)]})
        assert among_others(alike, data) == by_itself(data)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255), st.booleans()), max_size=3),
        max_size=8,
    )
)
def test_damage_is_told_as_it_is_by_itself(damages: list[list[tuple[int, int, bool]]]) -> None:
    alike = Alike()
    whole = [trial(f"t{n}", n / 3, n / 2, note=n) for n in range(4)]
    for data in whole:
        alike.decode(data)
    for damage in damages:
        data = whole[0]
        for place, byte, cut in damage:
            at = place % len(data)
            data = data[:at] + (b"." if cut else bytes([byte]) + data[at + 1 :])
        assert among_others(alike, data) == by_itself(data)
