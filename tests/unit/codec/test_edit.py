"""Edits of whole files, by pointer."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from ckptctl.codec.edit import apply_edits, read_many, read_pointer
from ckptctl.codec.errors import CodecError, EditError, PointerError
from ckptctl.codec.values import CopyFrom, New, Sealed, to_json
from ckptctl.model.experiment import RecordKind

JSON, LINES, CSV, PICKLE = RecordKind


@dataclass(frozen=True)
class Change:
    op: str
    pointer: str
    before: Any = None
    after: Any = None


class Thing:
    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


THING = f"{Thing.__module__}:{Thing.__qualname__}"


def fallback(value: object) -> dict[str, str]:
    return {"_type": "CLOUDPICKLE_FALLBACK", "value": pickle.dumps(value, 5).hex()}


def held(value: dict[str, str]) -> Any:
    return pickle.loads(bytes.fromhex(value["value"]))


def state() -> bytes:
    """A file of the shape that Ray Tune writes."""
    trials = []
    for number in range(3):
        records = [Thing(path=f"/t{number}/{n}", metrics={"loss": n / 2}) for n in range(3)]
        storage = Thing(index=number, filesystem=range(5), root="/t")
        manager = Thing(records=records, latest=records[-1])
        first = {"trial_id": str(number), "storage": fallback(storage), "results": "80054e2e"}
        second = {"last_result": {"name": "ck"}, "manager": fallback(manager)}
        trials.append([json.dumps(first, indent=2), json.dumps(second, indent=2)])
    return json.dumps({"trial_data": trials, "stats": {"start_time": 1.5}}).encode()


def test_values_are_read_at_any_depth() -> None:
    data = state()
    assert read_pointer(data, JSON, "stats/start_time") == 1.5
    assert read_pointer(data, JSON, "trial_data/1/0#trial_id") == "1"
    assert read_pointer(data, JSON, "trial_data/1/0#storage#index") == 1
    assert read_pointer(data, JSON, "trial_data/1/0#results#") is None
    assert read_pointer(data, JSON, "trial_data/1/0#storage#filesystem") == Sealed("builtins:range")
    assert read_pointer(data, JSON, "trial_data/2/1#manager#records/0") == New(
        global_=THING, state={"path": "/t2/0", "metrics": {"loss": 0.0}}
    )
    pointers = [f"trial_data/{n}/{m}" for n in (2, 0) for m in ("0#storage#index", "1#last_result")]
    assert read_many(data, JSON, pointers) == (2, {"name": "ck"}, 0, {"name": "ck"})


@pytest.mark.parametrize(
    "pointer",
    [
        "nope",
        "trial_data/9",
        "trial_data/1/0#storage#nope",
        "trial_data/1/0#nope#x",
        "trial_data/1#x",
        "stats/start_time#",
        "trial_data/1/0#storage#root#x",
    ],
)
def test_nothing_there(pointer: str) -> None:
    with pytest.raises(PointerError):
        read_pointer(state(), JSON, pointer)
    with pytest.raises(EditError):
        apply_edits(state(), JSON, [Change("set", pointer, "old", "new")])
    with pytest.raises(EditError):
        apply_edits(state(), JSON, [Change("remove", pointer)])


def test_one_pass_over_all_documents() -> None:
    data = state()
    record = New(
        global_=THING,
        state={"path": "/new", "fs": CopyFrom("trial_data/0/0#storage#filesystem")},
    )
    plain = CopyFrom("trial_data/0/1#last_result/name")
    edits = [
        Change("set", "trial_data/0/0#storage#index", 0, 41),
        Change("set", "trial_data/2/1#last_result/name", "ck", "best"),
        Change("set", "trial_data/2/1#last_result/more", None, [1]),
        Change("insert", "trial_data/2/1#manager#records/3", None, to_json(record)),
        Change("insert", "trial_data/2/1#manager#records/3", None, {"$copy_from": plain.pointer}),
        Change("remove", "trial_data/2/1#manager#records/0"),
        Change("set", "trial_data/2/1#manager#latest/path", "/t2/2", "/moved"),
        Change("set", "trial_data/2/1#manager#added", None, 1),
        Change("set", "stats/start_time", 1.5, 2.5),
    ]
    made = json.loads(apply_edits(data, JSON, edits))
    old = json.loads(data)
    assert made["stats"] == {"start_time": 2.5}
    assert made["trial_data"][1] == old["trial_data"][1]
    assert held(json.loads(made["trial_data"][0][0])["storage"]).index == 41
    second = json.loads(made["trial_data"][2][1])
    assert second["last_result"] == {"name": "best", "more": [1]}
    manager = held(second["manager"])
    assert [getattr(r, "path", r) for r in manager.records] == ["/t2/1", "/moved", "/new", "ck"]
    assert manager.records[2].fs == range(5)
    assert manager.latest is manager.records[1]
    assert manager.added == 1
    assert made["trial_data"][2][1] == json.dumps(second, indent=2)


def test_no_edits_are_no_change() -> None:
    assert apply_edits(b"whatever", JSON, []) == b"whatever"


def test_a_mismatch_names_place_expected_and_found() -> None:
    edit = Change("set", "trial_data/1/0#storage#index", 7, 8)
    with pytest.raises(EditError, match=r"trial_data/1/0#storage#index: expected 7, found 1"):
        apply_edits(state(), JSON, [edit])
    record = {"$new": THING, "state": {"path": "/other", "metrics": {"loss": 0}}}
    with pytest.raises(EditError, match="found"):
        apply_edits(state(), JSON, [Change("remove", "trial_data/0/1#manager#records/0", record)])
    record["state"] = {"path": "/t0/0", "metrics": {"loss": 0}}
    apply_edits(state(), JSON, [Change("remove", "trial_data/0/1#manager#records/0", record)])


@pytest.mark.parametrize(
    "edit",
    [
        Change("replace", "stats", None, 1),
        Change("remove", ""),
        Change("remove", "trial_data/0/0#storage#"),
        Change("insert", "trial_data/x", None, 1),
        Change("insert", "", None, 1),
        Change("insert", "trial_data/9", None, 1),
        Change("insert", "trial_data/0/1#manager#records/x", None, 1),
        Change("insert", "trial_data/0/1#manager#records/9", None, 1),
        Change("set", "stats", None, {"$new": "a:b", "state": {}}),
        Change("set", "trial_data/0/1#manager#records", None, {"$sealed": "x"}),
        Change("set", "trial_data/0/1#manager#records", None, {"$copy_from": "nope"}),
        Change("set", "trial_data/0/1#manager#records", None, {"$copy": ["nope"]}),
        Change("set", "a//b", None, 1),
    ],
)
def test_edits_that_are_refused(edit: Change) -> None:
    with pytest.raises(CodecError):
        apply_edits(state(), JSON, [edit])


def test_values_that_are_nested_too_deep() -> None:
    for depth in (250, 100_000):
        value: list[Any] = []
        for _ in range(depth):
            value = [value]
        for pointer in ("stats", "trial_data/0/0#storage#index"):
            edit = Change("set", pointer, None, value)
            if depth > 250 or "#" in pointer:
                with pytest.raises(EditError, match="too deep"):
                    apply_edits(state(), JSON, [edit])


def test_json_lines() -> None:
    data = b'{"a": 1, "b": NaN}\n\nbroken\n{"a": 2}\r\n{"a": 3}\n{"a'
    edits = [
        Change("set", "0/a", 1, 10),
        Change("set", "3/c", None, "new"),
        Change("set", "4", None, {"z": 1}),
        Change("insert", "4", None, {"y": 2}),
        Change("remove", "2"),
        Change("remove", "5"),
    ]
    assert apply_edits(data, LINES, edits) == (
        b'{"a": 10, "b": NaN}\n\n{"a": 2, "c": "new"}\r\n{"y": 2}\n{"z": 1}\n'
    )
    assert apply_edits(b'{"a": 1}\n', LINES, [Change("insert", "1", None, {"b": 2})]) == (
        b'{"a": 1}\n{"b": 2}\n'
    )
    assert apply_edits(b'{"a": 1}', LINES, [Change("insert", "1", None, [2])]) == b'{"a": 1}\n[2]'
    assert read_pointer(data, LINES, "3/a") == 2
    assert read_many(data, LINES, ["4/a", "0"])[0] == 3
    for bad in ("", "9/a", "x/a", "2/a"):
        with pytest.raises(CodecError):
            read_pointer(data, LINES, bad)
        with pytest.raises(CodecError):
            apply_edits(data, LINES, [Change("set", bad, None, 1)])
    with pytest.raises(EditError):
        apply_edits(data, LINES, [Change("remove", "0"), Change("set", "0/a", None, 1)])
    with pytest.raises(EditError):
        apply_edits(data, LINES, [Change("insert", "0", None, {"$sealed": "x"})])


def test_documents_in_json_lines() -> None:
    data = json.dumps({"p": fallback({"a": 1})}).encode() + b"\n"
    edited = apply_edits(data, LINES, [Change("set", "0/p#a", 1, 2)])
    assert read_pointer(edited, LINES, "0/p#a") == 2
    copied = apply_edits(data, LINES, [Change("set", "0/p#b", None, {"$copy_from": "0/p#a"})])
    assert read_pointer(copied, LINES, "0/p#") == {"a": 1, "b": 1}


def test_csv() -> None:
    data = b"n,name\r\n1,a\r\n2,b\r\n3,c\r\n"
    edits = [
        Change("set", "0/name", "a", "x,y"),
        Change("set", "2/n", 3, 30),
        Change("remove", "1"),
    ]
    assert apply_edits(data, CSV, edits) == b'n,name\r\n1,"x,y"\r\n30,c\r\n'
    assert read_pointer(data, CSV, "1/name") == "b"
    for change in (
        Change("set", "0/name", "z", "q"),
        Change("set", "0/n", 2, 1),
        Change("set", "0/name", 2, 1),
        Change("set", "0/nope", None, 1),
        Change("set", "9/n", None, 1),
        Change("set", "0", None, 1),
        Change("remove", "0/n"),
        Change("insert", "0", None, {"n": 1}),
        Change("set", "0/n#a", None, 1),
        Change("set", "x", None, 1),
    ):
        with pytest.raises(EditError):
            apply_edits(data, CSV, [change])
    with pytest.raises(EditError):
        apply_edits(data, CSV, [Change("set", "0/n", None, 1), Change("set", "0/n", None, 2)])
    for pointer in ("0", "x/n", "0/n#a", "0/n/x"):
        with pytest.raises(PointerError):
            read_pointer(data, CSV, pointer)


def test_a_pickle() -> None:
    data = pickle.dumps({"a": Thing(b=[1, 2])}, 5)
    edited = apply_edits(
        data, PICKLE, [Change("set", "#a/b/1", 2, "x"), Change("insert", "#a/b/0", None, 0)]
    )
    assert pickle.loads(edited)["a"].b == [0, 1, "x"]
    assert read_pointer(edited, PICKLE, "#a/b/2") == "x"
    for pointer in ("a", "", "a#b", "##a"):
        with pytest.raises(CodecError):
            read_pointer(data, PICKLE, pointer)
        with pytest.raises(CodecError):
            apply_edits(data, PICKLE, [Change("set", pointer, None, 1)])


def test_hexadecimal_keeps_its_case() -> None:
    value = pickle.dumps("abc").hex().upper()
    data = json.dumps({"v": value}).encode()
    made = json.loads(apply_edits(data, JSON, [Change("set", "v#", "abc", "xyz")]))["v"]
    assert made.isupper()
    assert pickle.loads(bytes.fromhex(made)) == "xyz"


def test_many_documents_stay_within_memory() -> None:
    texts = [json.dumps({"p": fallback({"n": n, "big": ["x"] * 50})}) for n in range(200)]
    data = json.dumps({"rows": texts}).encode()
    pointers = [f"rows/{n}#p#n" for n in range(200)]
    assert read_many(data, JSON, pointers) == tuple(range(200))
    edits = [Change("set", pointer, n, -n) for n, pointer in enumerate(pointers)]
    assert read_many(apply_edits(data, JSON, edits), JSON, pointers) == tuple(
        -n for n in range(200)
    )


TRICKY = [
    '{"name": "a", "x": 1}',
    '{"name":"a"}',
    '{"name" : "a"}',
    '{"x": {"name": "a"}}',
    '{"x": {"name": "a"}, "na\\u006de": "a"}',
    '{"x": ["name", "a"], "na\\u006de": "a"}',
    '{"x": "\\"name\\": \\"a\\"", "na\\u006de": "a"}',
    '{"name": "a", "name": "b"}',
    '{"name": "a", "na\\u006de": "b"}',
    '{"na\\u006de": "b", "name": "a"}',
    '{"name": "\\u0061"}',
    '{"name": "a", "x": NaN}',
    '{"name": "a", "x": }',
    '{"name": "a"} {"name": "a"}',
    '{"name": "a"',
    '{"name": "a", "x": "\\ud800"}',
    '["name", "a"]',
    '{"name": "ab"}',
    '{"name": "a\\n"}',
]


@pytest.mark.parametrize("text", TRICKY)
@pytest.mark.parametrize("after", ["b", "a", 'with "quotes"', "\u00e9", ""])
def test_a_text_that_is_replaced_quickly_is_replaced_as_slowly(text: str, after: str) -> None:
    change = Change("set", "0/name", "a", after)
    twice = [change, Change("set", "0/name", "a", after)]  # which is no quick case
    line = text.encode()
    for data in (line, line + b"\n", line + b"\r\n"):
        assert edited_or_why(data, [change]) == edited_or_why(data, twice)


def edited_or_why(data: bytes, edits: list[Change]) -> bytes | str:
    try:
        return apply_edits(data, LINES, edits)
    except CodecError as error:
        return str(error)


def test_a_usual_line_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckptctl.codec.edit.JsonText", None)
    data = b'{"loss": 1.0, "name": "a", "x": NaN}\n{"name": "a"}\n'
    edits = [Change("set", "0/name", "a", "b"), Change("set", "1/name", "a", "c")]
    made = b'{"loss": 1.0, "name": "b", "x": NaN}\n{"name": "c"}\n'
    assert apply_edits(data, LINES, edits) == made
