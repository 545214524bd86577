"""The value language and its JSON form."""

from __future__ import annotations

import math

import pytest

from ckptctl.codec.errors import RecordError
from ckptctl.codec.values import Copy, CopyFrom, New, Ref, Sealed, Tuple, from_json, same, to_json

FORMS: list[tuple[object, object]] = [
    (None, None),
    ([1, "a", 0.5, True], [1, "a", 0.5, True]),
    (math.inf, {"$float": "inf"}),
    (-math.inf, {"$float": "-inf"}),
    (b"\x00\xff", {"$bytes": "00ff"}),
    ({"a": {"$b": 1}}, {"a": {"$dict": [["$b", 1]]}}),
    (New(global_="m:C"), {"$new": "m:C", "state": {}}),
    (
        New(global_="m:C", state={"x": Copy(("a", 0)), "$": None}),
        {"$new": "m:C", "state": {"$dict": [["x", {"$copy": ["a", 0]}], ["$", None]]}},
    ),
    (
        New(global_="m:C", args=(1, Tuple((2,)))),
        {"$new": "m:C", "state": {}, "args": [1, {"$tuple": [2]}]},
    ),
    (Tuple(()), {"$tuple": []}),
    (CopyFrom("a/0#b"), {"$copy_from": "a/0#b"}),
    (Ref(("a",)), {"$ref": ["a"]}),
    (Sealed("m:f"), {"$sealed": "m:f"}),
]


@pytest.mark.parametrize(("value", "form"), FORMS)
def test_forms(value: object, form: object) -> None:
    assert to_json(value) == form  # type: ignore[arg-type]
    assert from_json(form) == value


@pytest.mark.parametrize(
    "value", [New(global_="m:C", state={"x": 1}), [Copy(("a",))], b"x", Ref(())]
)
def test_a_value_is_its_own_form(value: object) -> None:
    assert from_json(value) == value


def test_nan() -> None:
    assert to_json(math.nan) == {"$float": "nan"}
    assert same(from_json({"$float": "nan"}), math.nan)


@pytest.mark.parametrize(
    "form",
    [
        {"$float": "1.0"},
        {"$float": "nan", "more": 1},
        {"$bytes": "xyz"},
        {"$dict": [["a"]]},
        {"$dict": [[1, 2]]},
        {"$new": "m:C"},
        {"$new": "m:C", "state": 1},
        {"$copy": "a"},
        {"$copy": [1.5]},
        {"$copy": [True]},
        {"$ref": [None]},
        {"$unknown": 1},
        {1: 2},
        {1, 2},
        object(),
    ],
)
def test_what_is_no_form(form: object) -> None:
    with pytest.raises(RecordError):
        from_json(form)


@pytest.mark.parametrize("value", [object(), {1: 2}, [print], 1j])
def test_what_is_no_value(value: object) -> None:
    with pytest.raises(RecordError):
        to_json(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0.0, -0.0, True),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        ("1", 1, False),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        (
            New(global_="a:b", state={"x": math.nan}),
            New(global_="a:b", state={"x": math.nan}),
            True,
        ),
        (New(global_="a:b"), New(global_="a:c"), False),
        (Sealed("x"), Sealed("x"), True),
        (b"1", "1", False),
        (Tuple((1, 2)), [1, 2], True),
        ([1], Tuple((2,)), False),
        (New(global_="a:b", args=(1,)), New(global_="a:b"), False),
    ],
)
def test_same(left: object, right: object, expected: bool) -> None:
    assert same(left, right) is expected
