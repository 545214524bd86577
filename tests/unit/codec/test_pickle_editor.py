"""Edits of pickles, judged by the real unpicklers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from ckptctl.codec.errors import EditError, PointerError
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_emit import Emitter
from ckptctl.codec.pickle_paths import find
from ckptctl.codec.pickle_proof import Expected, Kept, prove
from ckptctl.codec.pickle_reader import Opaque, attr, decode
from ckptctl.codec.values import Copy, New, Ref, Sealed, Tuple, Value

SAMPLES = Path(__file__).parent / "samples"
PROTOCOLS = range(6)


class Checkpoint:
    def __init__(self, path: str, filesystem: object = None) -> None:
        self.path = path
        self.filesystem = filesystem


class Result:
    def __init__(self, checkpoint: Checkpoint, metrics: dict[str, object]) -> None:
        self.checkpoint = checkpoint
        self.metrics = metrics


class Manager:
    def __init__(self, count: int) -> None:
        filesystem = ("file", ["local"])
        self.results = [
            Result(Checkpoint(f"/a/{n}", filesystem), {"loss": n / 2, "dir": f"ck_{n}"})
            for n in range(count)
        ]
        self.latest = self.results[-1] if self.results else None
        self.empty: list[object] = []
        self.nothing: dict[str, object] = {}
        self.pair = ("one", 2, [3])


class Slotted:
    __slots__ = ("__dict__", "one")

    def __init__(self) -> None:
        self.one = 1
        self.two = 2


def loads(data: bytes) -> Any:
    """Loaded by the C unpickler, and by the strict one in Python."""
    slow = pickle._loads(data)  # type: ignore[attr-defined]
    fast = pickle.loads(data)
    assert pickle.dumps(slow, 4) == pickle.dumps(fast, 4)
    return fast


def global_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def record(path: str, filesystem: Value = None) -> New:
    checkpoint = New(global_=global_of(Checkpoint), state={"path": path, "filesystem": filesystem})
    return New(
        global_=global_of(Result), state={"checkpoint": checkpoint, "metrics": {"loss": 1.5}}
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("count", [0, 1, 3, 1000, 1001, 2300])
def test_records_come_and_go(protocol: int, count: int) -> None:
    data = pickle.dumps(Manager(count), protocol)
    editor = PickleEditor(data)
    editor.insert(("results",), 0, record("/first"))
    editor.insert(("results",), count, record("/last", Copy(("pair",))))
    editor.insert(("results",), count, record("/very last"))
    paths = [f"/a/{n}" for n in range(count)]
    if count > 2:
        editor.remove(("results",), 0)
        editor.remove(("results",), count - 1)
        editor.insert(("results",), 1, record("/second"))
        paths = ["/second", *paths[1:-1]]
    made = loads(editor.tobytes())
    assert [r.checkpoint.path for r in made.results] == ["/first", *paths, "/last", "/very last"]
    assert made.results[-2].checkpoint.filesystem == ("one", 2, [3])
    assert made.results[-2].checkpoint.filesystem[2] is not made.pair[2]
    assert made.results[0].metrics == {"loss": 1.5}
    if count:
        assert made.latest.checkpoint.path == f"/a/{count - 1}"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_empty_containers_grow(protocol: int) -> None:
    editor = PickleEditor(pickle.dumps(Manager(1), protocol))
    editor.insert(("empty",), 0, 1)
    editor.insert(("empty",), 0, [2, {}])
    editor.set_key(("nothing",), "a", None)
    editor.set_key(("nothing",), "b", b"raw")
    editor.set_key((), "new", {"deep": [1.5, True]})
    editor.set_key(("results", 0, "checkpoint"), "uuid", 1 << 100)
    made = loads(editor.tobytes())
    assert made.empty == [1, [2, {}]]
    assert made.nothing == {"a": None, "b": b"raw"}
    assert made.new == {"deep": [1.5, True]}
    assert made.results[0].checkpoint.uuid == 1 << 100
    assert made.latest is made.results[0]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_of_several_readers_of_a_shared_text_changes(protocol: int) -> None:
    name = "checkpoint_1"
    data = pickle.dumps({"a": name, "b": name, "c": [name]}, protocol)
    for path, expected in [
        (("a",), {"a": "new", "b": name, "c": [name]}),
        (("b",), {"a": name, "b": "new", "c": [name]}),
        (("c", 0), {"a": name, "b": name, "c": ["new"]}),
    ]:
        editor = PickleEditor(data)
        editor.set(path, "new")
        assert loads(editor.tobytes()) == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_readers_of_a_shared_text_change(protocol: int) -> None:
    name = "checkpoint_1"
    editor = PickleEditor(pickle.dumps({"a": name, "b": name, "c": [name]}, protocol))
    for path in (("a",), ("b",), ("c", 0)):
        editor.set(path, "new")
    edited = editor.tobytes()
    assert name.encode() not in edited
    made = loads(edited)
    assert made == {"a": "new", "b": "new", "c": ["new"]}
    assert made["a"] is made["b"]


def test_readers_that_change_apart() -> None:
    name = "checkpoint_1"
    editor = PickleEditor(pickle.dumps({"a": name, "b": name, "c": name}))
    editor.set(("a",), "x")
    editor.set(("b",), "y")
    editor.set(("c",), "x")
    assert loads(editor.tobytes()) == {"a": "x", "b": "y", "c": "x"}


def test_a_text_that_a_reference_still_reads_stays() -> None:
    editor = PickleEditor(pickle.dumps({"a": "some text", "list": [1]}))
    editor.set(("a",), "new")
    editor.insert(("list",), 1, Ref(("a",)))
    editor.insert(("list",), 1, Copy(("a",)))
    assert loads(editor.tobytes()) == {"a": "new", "list": [1, "some text", "some text"]}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", [5, 255, 256, 70_000, -1, 1 << 31, -(1 << 40), 1 << 200, 0.5])
def test_numbers_change_their_width(protocol: int, value: float) -> None:
    editor = PickleEditor(pickle.dumps({"a": 5, "b": 1.5, "c": True, "d": None}, protocol))
    for key in "abcd":
        editor.set((key,), value)
    made = loads(editor.tobytes())
    assert made == dict.fromkeys("abcd", value)
    assert {type(item) for item in made.values()} == {type(value)}


def test_no_edit_and_edits_to_what_is_there_change_no_byte() -> None:
    data = pickle.dumps(Manager(3))
    assert PickleEditor(data).tobytes() is data
    editor = PickleEditor(data)
    editor.set(("pair", 0), "one")
    editor.set(("pair", 1), 2)
    assert editor.tobytes() == data


def test_only_the_slot_and_the_frame_change() -> None:
    data = pickle.dumps({"a": "before", "b": 1}, 4)
    editor = PickleEditor(data)
    editor.set(("a",), "later")
    edited = editor.tobytes()
    assert edited == data.replace(b"\x06before", b"\x05later").replace(
        len(data[11:]).to_bytes(8, "little"), len(edited[11:]).to_bytes(8, "little")
    )


@pytest.mark.parametrize("protocol", [4, 5])
def test_frames_stay_true(protocol: int) -> None:
    value = [f"text {n} " + "x" * (n % 400) for n in range(2_000)]
    value += ["y" * 100_000, "z"]
    data = pickle.dumps({"list": value, "n": 1}, protocol)
    assert len(decode(data).frames) > 3
    editor = PickleEditor(data)
    for index in range(0, len(value), 7):
        editor.set(("list", index), "new" * (index % 50))
    for index in range(1, len(value), 7):
        editor.remove(("list",), index)
    for index in range(0, len(value) + 1, 3):
        editor.insert(("list",), index, f"inserted {index}")
    editor.set(("n",), {"big": ["v" * 300] * 3})
    expected: list[str] = []
    for index in range(len(value) + 1):
        expected += [f"inserted {index}"] if index % 3 == 0 else []
        if index < len(value) and index % 7 != 1:
            expected.append("new" * (index % 50) if index % 7 == 0 else value[index])
    assert loads(editor.tobytes()) == {"list": expected, "n": {"big": ["v" * 300] * 3}}


def test_a_reference_is_the_object_itself() -> None:
    editor = PickleEditor(pickle.dumps(Manager(3)))
    editor.set(("latest",), Ref(("results", 1)))
    editor.set(("results", 1, "checkpoint", "path"), "/moved")
    editor.remove(("results",), 2)
    made = loads(editor.tobytes())
    assert made.latest is made.results[1]
    assert made.latest.checkpoint.path == "/moved"


def test_a_reference_ahead_is_a_copy() -> None:
    editor = PickleEditor(pickle.dumps({"list": [1], "later": ["x"]}))
    editor.insert(("list",), 0, Ref(("later",)))
    made = loads(editor.tobytes())
    assert made == {"list": [["x"], 1], "later": ["x"]}
    assert made["list"][0] is not made["later"]


def test_a_copy_is_of_the_value_before_the_edits() -> None:
    editor = PickleEditor(pickle.dumps(Manager(2)))
    editor.insert(("results",), 2, Copy(("results", 0)))
    editor.set(("results", 0, "checkpoint", "path"), "/moved")
    made = loads(editor.tobytes())
    assert [r.checkpoint.path for r in made.results] == ["/moved", "/a/1", "/a/0"]
    assert made.results[2].metrics == {"loss": 0.0, "dir": "ck_0"}
    assert made.results[2].checkpoint.filesystem is not made.results[1].checkpoint.filesystem


def test_the_latest_becomes_a_record_of_its_own() -> None:
    editor = PickleEditor(pickle.dumps(Manager(2)))
    editor.set(("latest",), record("/new", Copy(("results", 1, "checkpoint", "filesystem"))))
    made = loads(editor.tobytes())
    assert made.latest.checkpoint.path == "/new"
    assert made.latest.checkpoint.filesystem == ("file", ["local"])
    assert made.results[1].checkpoint.path == "/a/1"


def test_a_value_that_became_shared_is_set_by_two_paths() -> None:
    editor = PickleEditor(pickle.dumps(Manager(2)))
    editor.set(("results", 1, "checkpoint", "path"), "/moved")
    editor.set(("latest", "checkpoint", "path"), "/moved")
    made = loads(editor.tobytes())
    assert made.latest.checkpoint.path == "/moved"
    editor.set(("latest", "checkpoint", "path"), "/moved")
    with pytest.raises(EditError, match="two different values"):
        editor.set(("latest", "checkpoint", "path"), "/elsewhere")
    editor.set_key((), "added", 1)
    editor.set_key((), "added", 1)
    with pytest.raises(EditError, match="two different values"):
        editor.set_key((), "added", 2)


def test_slots_are_set_and_taken() -> None:
    editor = PickleEditor(pickle.dumps(Slotted(), 4))
    editor.set(("one",), "x")
    editor.set(("two",), "y")
    made = loads(editor.tobytes())
    assert (made.one, made.two) == ("x", "y")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_keys_are_taken_out(protocol: int) -> None:
    editor = PickleEditor(pickle.dumps({"a": 1, "b": [2], "c": {"only": 3}}, protocol))
    editor.remove((), "b")
    editor.remove(("c",), "only")
    editor.set_key((), "d", 4)
    editor.set_key(("c",), "e", 5)
    assert loads(editor.tobytes()) == {"a": 1, "c": {"e": 5}, "d": 4}


def test_the_root_is_set() -> None:
    editor = PickleEditor(pickle.dumps([1, 2]))
    editor.set((), {"a": Copy((0,))})
    assert loads(editor.tobytes()) == {"a": 1}


def test_whole_number_keys_and_texts_of_digits() -> None:
    data = pickle.dumps({3: "int", "4": "text", "list": ["a", "b"]})
    editor = PickleEditor(data)
    editor.set(("3",), "x")
    editor.set(("4",), "y")
    editor.set(("list", "1"), "z")
    assert loads(editor.tobytes()) == {3: "x", "4": "y", "list": ["a", "z"]}
    for path in (("list", "01"), ("list", "-1"), ("list", 2), ("nope",), ("4", "x")):
        with pytest.raises(PointerError):
            editor.set(path, 1)


def test_ordered_dicts_and_deques_are_edited_too() -> None:
    from collections import OrderedDict, deque

    editor = PickleEditor(pickle.dumps({"o": OrderedDict(a=1), "d": deque([1, 2])}))
    editor.set(("o", "a"), 2)
    editor.set_key(("o",), "b", 3)
    editor.set(("d", 0), "x")
    editor.insert(("d",), 2, "y")
    editor.remove(("d",), 1)
    assert loads(editor.tobytes()) == {"o": OrderedDict(a=2, b=3), "d": deque(["x", "y"])}


def test_what_lies_behind_the_pickle_stays() -> None:
    editor = PickleEditor(pickle.dumps([1]) + b"trailing")
    editor.set((0,), 70_000)
    edited = editor.tobytes()
    assert edited.endswith(b".trailing")
    assert pickle.loads(edited) == [70_000]


class Named:
    def __new__(cls, *names: object) -> Self:
        made = super().__new__(cls)
        made.names = names
        return made

    names: tuple[object, ...]


@pytest.mark.parametrize("size", range(6))
def test_tuples_and_arguments(size: int) -> None:
    items: tuple[Value, ...] = tuple(range(size))
    editor = PickleEditor(pickle.dumps({"a": 1, "b": 2}))
    editor.set(("a",), Tuple(items))
    editor.set(("b",), New(global_=global_of(Named), args=items))
    made = loads(editor.tobytes())
    assert made["a"] == made["b"].names == items


REFUSED: dict[str, Callable[[Any], object]] = {
    "tuple item removed": lambda e: e.remove(("pair",), 0),
    "insert into tuple": lambda e: e.insert(("pair",), 0, 1),
    "insert behind the end": lambda e: e.insert(("empty",), 1, 1),
    "insert before the start": lambda e: e.insert(("empty",), -1, 1),
    "insert into text": lambda e: e.insert(("pair", 0), 0, 1),
    "key into a list": lambda e: e.set_key(("empty",), "a", 1),
    "key that is there": lambda e: e.set_key((), "pair", 1),
    "sealed value": lambda e: e.set(("pair", 0), Sealed("a:b")),
    "class without a module": lambda e: e.set(("pair", 0), New(global_="Name")),
    "huge number": lambda e: e.set(("pair", 0), 1 << 3000),
    "edit inside what goes": lambda e: (
        e.remove(("results",), 0),
        e.set(("results", 0, "checkpoint", "path"), "x"),
    ),
    "edit inside what is replaced": lambda e: (
        e.set(("pair",), None),
        e.set(("pair", 0), "x"),
    ),
    "nothing to copy from": lambda e: e.set(("pair",), _copy_from()),
}


def _copy_from() -> Value:
    from ckptctl.codec.values import CopyFrom

    return CopyFrom("x#y")


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    with pytest.raises((EditError, PointerError)):
        attempt(case)


def attempt(case: str) -> bytes:
    editor = PickleEditor(pickle.dumps(Manager(3)))
    REFUSED[case](editor)
    return editor.tobytes()


def test_empty_deques_cannot_grow() -> None:
    from collections import deque

    editor = PickleEditor(pickle.dumps({"d": deque()}))
    with pytest.raises(EditError):
        editor.insert(("d",), 0, 1)


def test_copies_have_a_limit() -> None:
    data = pickle.dumps({"big": "x" * 10_000, "list": []})
    editor = PickleEditor(data, Limits(max_copy_bytes=5_000))
    editor.insert(("list",), 0, Copy(("big",)))
    with pytest.raises(EditError, match="more than 5000"):
        editor.tobytes()
    doubling: list[Any] = ["x"]
    for _ in range(40):
        doubling = [doubling, doubling]
    editor = PickleEditor(pickle.dumps({"d": doubling, "list": []}))
    editor.insert(("list",), 0, Copy(("d",)))
    with pytest.raises(EditError):
        editor.tobytes()


def test_a_value_that_holds_itself_cannot_be_copied() -> None:
    knot: list[Any] = [1]
    knot.append(knot)
    editor = PickleEditor(pickle.dumps({"list": [], "knot": knot}))
    editor.insert(("list",), 0, Copy(("knot",)))
    with pytest.raises(EditError, match="contains itself"):
        editor.tobytes()
    editor = PickleEditor(pickle.dumps({"knot": knot, "list": []}))
    editor.insert(("list",), 0, Ref(("knot",)))
    editor.set(("knot", 0), 2)
    made = loads(editor.tobytes())
    assert made["list"][0] is made["knot"] is made["knot"][1]


def test_code_by_value_is_shared_by_copies() -> None:
    data = bytes.fromhex((SAMPLES / "code_by_value.hex").read_text())
    editor = PickleEditor(data)
    editor.insert(("recs",), 3, Copy(("recs", 0)))
    editor.insert(("recs",), 3, Copy(("recs", 2)))
    editor.remove(("recs",), 0)
    editor.set(("recs", 1, "i"), 70_000)
    root: Any = decode(editor.tobytes()).root
    assert [rec["i"] for rec in root["recs"]] == [70_000, 2, 0, 2]
    functions = [rec["config"]["f"] for rec in root["recs"]]
    assert all(function is functions[0] for function in functions)
    assert root["recs"][2]["config"]["inst"] is not root["recs"][0]["config"]["inst"]


def test_a_copy_before_the_code_it_needs() -> None:
    data = bytes.fromhex((SAMPLES / "code_by_value.hex").read_text())
    editor = PickleEditor(data)
    editor.insert(("recs",), 0, Copy(("recs", 2)))
    editor.insert(("recs",), 2, {"i": "new"})
    editor.remove(("recs",), 1)
    editor.set(("recs", 0, "i"), "first")
    root: Any = decode(editor.tobytes()).root
    assert [rec["i"] for rec in root["recs"]] == [2, "first", "new", 2]
    assert root["latest"] is root["recs"][3]
    assert root["recs"][0]["config"]["f"] is root["recs"][1]["config"]["f"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("count", [0, 1, 2, 1500])
def test_a_list_is_laid_anew_where_a_copy_needs_it(protocol: int, count: int) -> None:
    knot: list[Any] = ["k"]
    knot.append(knot)
    value = [*range(count), "text", knot, ["x"], ("t",)]
    editor = PickleEditor(pickle.dumps({"list": value, "again": value[-2]}, protocol))
    editor.insert(("list",), count, Copy(("list", count + 1)))
    editor.insert(("list",), count + 4, "end")
    editor.set(("list", count), "changed")
    editor.set(("list", count + 2, 0), "y")
    editor.remove(("list",), count + 3)
    if count:
        editor.remove(("list",), 0)
    made = loads(editor.tobytes())
    head = list(range(1, count))
    assert made["list"][: len(head)] == head
    copy, text, same_knot, x, end = made["list"][len(head) :]
    assert (text, x, end) == ("changed", ["y"], "end")
    assert made["again"] is x
    assert copy[0] == "k"
    assert copy[1] is copy
    assert same_knot[1] is same_knot


# -- the proof itself


def judge(old: object, new: object, expected: Expected | None = None) -> None:
    before, after = decode(pickle.dumps(old), track=True), decode(pickle.dumps(new))
    prove(before, after, expected or Expected(), Emitter(before, Limits(), None))


SHARED = ["s"]
UNEQUAL = {
    "number": ([1], [2]),
    "type": ([1], [1.0]),
    "bool": ([1], [True]),
    "negative zero": ([0.0], [-0.0]),
    "text": (["a"], ["b"]),
    "length": ([1], [1, 1]),
    "key": ({"a": 1}, {"b": 1}),
    "more keys": ({"a": 1}, {"a": 1, "b": 1}),
    "order of keys": ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    "hidden key": ({(1, 2): 3}, {(1, 3): 3}),
    "tuple": ((1, 2), (1, 3)),
    "set": ({1}, {2}),
    "attribute": (Checkpoint("a"), Checkpoint("b")),
    "class": (Checkpoint("a"), Slotted()),
    "sharing lost": ([SHARED, SHARED], [["s"], ["s"]]),
    "sharing made": ([["s"], ["s"]], [SHARED, SHARED]),
}


@pytest.mark.parametrize("case", UNEQUAL)
def test_the_proof_sees_every_difference(case: str) -> None:
    old, new = UNEQUAL[case]
    judge(old, old)
    judge(new, new)
    with pytest.raises(EditError):
        judge(old, new)


def test_the_proof_wants_all_that_was_expected() -> None:
    old = decode(pickle.dumps([1, [2]]), track=True)
    slot = find(old, (0,))
    emitter = Emitter(old, Limits(), None)
    new = decode(pickle.dumps([5, [2]]))
    prove(old, new, Expected(values={slot.place: 5}), emitter)
    for expected in (
        Expected(values={slot.place: 6}),
        Expected(values={slot.place: 5, (1, 2): 3}),
        Expected(values={slot.place: 5}, sequences={id(old.root): [Kept(0)]}),
        Expected(values={slot.place: 5}, added={7: [("a", 1)]}),
    ):
        with pytest.raises(EditError):
            prove(old, new, expected, emitter)


def test_the_proof_checks_new_objects() -> None:
    root = find(decode(pickle.dumps(None), track=True), ()).place
    good = New(global_=global_of(Checkpoint), state={"path": "a", "filesystem": None})
    judge(None, None, Expected(values={root: None}))
    for new in (Checkpoint("b"), Checkpoint("a", 1), [1]):
        with pytest.raises(EditError):
            judge(None, new, Expected(values={root: good}))


def test_attributes_of_edited_objects_are_read_back() -> None:
    editor = PickleEditor(pickle.dumps(Manager(1)))
    assert attr(editor.doc.root, "pair") == ("one", 2, [3])
    node = editor.get(("results", 0, "checkpoint"))
    assert isinstance(node, Opaque)
    assert attr(node, "path") == "/a/0"
