"""Names and calls of a pickle, changed in place; CPython's own unpickler is the judge."""

from __future__ import annotations

import io
import pickle
import sys
import types
from collections import OrderedDict, deque
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import pytest

from ckptctl.codec.contents import contents_of
from ckptctl.codec.edit import apply_edits, read_pointer
from ckptctl.codec.errors import EditError, PointerError
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_reader import decode
from ckptctl.codec.pointer import NAMES, Pointer
from ckptctl.codec.values import Call, from_json, same, to_json
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import Edit


def old_home(name: str) -> types.ModuleType:
    """A module whose classes another one has now."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


@pytest.fixture(autouse=True)
def _homes() -> Any:
    before, after = old_home("first_home"), old_home("second_home")
    for module in (before, after):
        module.Config = type("Config", (), {"__module__": module.__name__})  # type: ignore[attr-defined]
        module.Other = type("Other", (), {"__module__": module.__name__})  # type: ignore[attr-defined]
    yield
    del sys.modules["first_home"], sys.modules["second_home"]


def made(name: str, **state: object) -> Any:
    """An object of a class of the first home."""
    found = getattr(sys.modules["first_home"], name)()
    found.__dict__.update(state)
    return found


def renamed(data: bytes, old: str, new: str) -> bytes:
    editor = PickleEditor(data)
    editor.rename(old, new)
    return editor.tobytes()


class Strict(pickle._Unpickler):
    """Python's own unpickler holds frames to their lengths."""

    def find_class(self, module: str, name: str) -> Any:
        assert (module, name) != ("first_home", "Config")
        return super().find_class(module, name)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_a_name_changes_wherever_it_is_named(protocol: int) -> None:
    shared = made("Config", steps=3)
    value = [shared, made("Other"), shared, {"first_home": "first_home"}, made("Config", steps=4)]
    data = pickle.dumps(value, protocol=protocol)
    first, other, again, plain, second = Strict(
        io.BytesIO(renamed(data, "first_home:Config", "second_home:Config"))
    ).load()
    assert type(first).__module__ == type(second).__module__ == "second_home"
    assert type(other).__module__ == "first_home"
    assert first is again
    assert (first.steps, second.steps, plain) == (3, 4, {"first_home": "first_home"})


def test_all_names_of_a_module_can_change_together() -> None:
    data = pickle.dumps([made("Config"), made("Other"), "first_home"], protocol=5)
    editor = PickleEditor(data)
    editor.rename("first_home:Config", "second_home:Config")
    editor.rename("first_home:Other", "second_home:Other")
    first, other, text = pickle.loads(editor.tobytes())
    assert {type(first).__module__, type(other).__module__} == {"second_home"}
    assert text == "first_home"


def test_a_name_is_renamed_back_to_the_very_bytes_where_nothing_else_reads_it() -> None:
    data = pickle.dumps(made("Config", steps=3), protocol=5)
    there = renamed(data, "first_home:Config", "second_home:Config")
    assert renamed(there, "second_home:Config", "first_home:Config") == data


def test_a_name_that_is_not_there_cannot_be_renamed() -> None:
    with pytest.raises(PointerError, match="does not name"):
        renamed(pickle.dumps(made("Config")), "first_home:Config2", "second_home:Config")


def test_a_name_has_one_new_name() -> None:
    editor = PickleEditor(pickle.dumps(made("Config"), protocol=5))
    editor.rename("first_home:Config", "second_home:Config")
    with pytest.raises(EditError, match="two different names"):
        editor.rename("first_home:Config", "second_home:Other")


def test_a_name_inside_the_arguments_of_a_call_changes_too() -> None:
    data = pickle.dumps(deque([made("Config", steps=1)], 3), protocol=5)
    found = pickle.loads(renamed(data, "first_home:Config", "second_home:Config"))
    assert type(found[0]).__module__ == "second_home"


class Called:
    """Pickles as a call of its choice."""

    def __init__(self, *reduced: Any) -> None:
        self.reduced = reduced

    def __reduce__(self) -> Any:
        return self.reduced


OLD = Called(OrderedDict, ([("use_mmap", False)],))
NEW = Call(global_="fractions:Fraction", args=("3/4",))


def remade(data: bytes, *paths: tuple[str | int, ...]) -> Any:
    editor = PickleEditor(data)
    for path in paths:
        editor.set(path, NEW)
    return pickle.loads(editor.tobytes())


def test_another_call_makes_an_object_wherever_it_is_used() -> None:
    data = pickle.dumps({"a": OLD, "b": [OLD, 1], "c": "use_mmap"}, protocol=5)
    found = remade(data, ("a",))
    assert found == {"a": Fraction(3, 4), "b": [Fraction(3, 4), 1], "c": "use_mmap"}
    assert found["a"] is found["b"][0]


def test_a_call_that_shares_its_name_with_others_is_made_anew_alone_or_with_them() -> None:
    first, second = (Called(PurePosixPath, (name,)) for name in ("one", "two"))
    data = pickle.dumps([first, second, ["PurePosixPath", "pathlib"]], protocol=5)
    both = remade(data, (0,), (1,))
    assert both == [Fraction(3, 4), Fraction(3, 4), ["PurePosixPath", "pathlib"]]
    one = remade(data, (1,))
    assert one == [PurePosixPath("one"), Fraction(3, 4), ["PurePosixPath", "pathlib"]]
    with pytest.raises(EditError, match="used elsewhere too"):
        remade(data, (0,))


def test_numbers_of_the_memo_stay_true_behind_a_call_that_is_made_anew() -> None:
    later = ["later", "later text"]
    data = pickle.dumps([OLD, later, later, "later text"], protocol=5)
    found = remade(data, (0,))
    assert found == [Fraction(3, 4), later, later, "later text"]
    assert found[1] is found[2]


def test_a_call_across_frames_is_made_anew() -> None:
    wide = "x" * 70_000
    data = pickle.dumps([wide, Called(OrderedDict, ([(wide + "k", wide + "v")],)), 7], protocol=5)
    editor = PickleEditor(data)
    editor.set((1,), NEW)
    found = pickle._Unpickler(io.BytesIO(editor.tobytes())).load()
    assert found == [wide, Fraction(3, 4), 7]


def test_only_the_result_of_a_call_can_be_made_by_another_one() -> None:
    for value, why in (("text", "not the result"), (made("Config", a=1), "not the result")):
        with pytest.raises(EditError, match=why):
            remade(pickle.dumps([value], protocol=5), (0,))
    changed = Called(OrderedDict, (), {"state": 1})
    with pytest.raises(EditError, match="changed since"):
        remade(pickle.dumps([changed], protocol=5), (0,))


def test_edits_inside_what_is_made_anew_are_refused() -> None:
    data = pickle.dumps([Called(made, ("Config",)), made("Config")], protocol=5)
    editor = PickleEditor(data)
    editor.set((0,), NEW)
    editor.rename("first_home:Config", "second_home:Config")
    found = pickle.loads(editor.tobytes())
    assert found[0] == Fraction(3, 4)
    inside = PickleEditor(pickle.dumps([OLD, OLD], protocol=5))
    inside.set((0,), NEW)
    inside.rename("collections:OrderedDict", "collections:UserDict")
    with pytest.raises(EditError):
        inside.tobytes()


# -- as edits of a plan


def test_a_pointer_leads_to_the_names_of_a_pickle() -> None:
    pointer = Pointer.of(("a",), (NAMES, "first_home:Config"))
    assert str(pointer) == "a#~4/first_home:Config"
    assert Pointer.parse(str(pointer)) == pointer
    with pytest.raises(PointerError):
        Pointer.parse("a#x~4")


def test_names_and_calls_are_edits_of_a_plan() -> None:
    data = pickle.dumps({"config": made("Config"), "fs": Fraction(1, 2)}, protocol=5)
    name = "#~4/first_home:Config"
    call = to_json(NEW)
    edits = [
        Edit(op="set", pointer=name, before="first_home:Config", after="second_home:Config"),
        Edit(op="set", pointer="#fs", before={"$sealed": "fractions:Fraction"}, after=call),
    ]
    assert read_pointer(data, RecordKind.PICKLE, name) == "first_home:Config"
    edited = apply_edits(data, RecordKind.PICKLE, edits)
    found = pickle.loads(edited)
    assert type(found["config"]).__module__ == "second_home"
    assert found["fs"] == Fraction(3, 4)
    with pytest.raises(PointerError):
        read_pointer(edited, RecordKind.PICKLE, name)
    with pytest.raises(EditError, match="does not name"):
        apply_edits(edited, RecordKind.PICKLE, edits)


@pytest.mark.parametrize(
    "edit",
    [
        Edit(op="remove", pointer="#~4/first_home:Config"),
        Edit(op="set", pointer="#~4/first_home:Config", after=3),
        Edit(op="set", pointer="#~4/first_home:Config", before="other:Name", after="a:b"),
        Edit(op="set", pointer="#~4/first_home:Config", after="no colon"),
        Edit(op="set", pointer="#~4", after="a:b"),
    ],
)
def test_a_name_can_only_be_set_to_another_name(edit: Edit) -> None:
    data = pickle.dumps(made("Config"), protocol=5)
    with pytest.raises(EditError):
        apply_edits(data, RecordKind.PICKLE, [edit])


def test_a_call_has_a_json_form() -> None:
    call = Call(global_="m:f", args=({"use_mmap": False}, "x"))
    assert to_json(call) == {"$call": "m:f", "args": [{"use_mmap": False}, "x"]}
    assert same(from_json(to_json(call)), call)
    assert not same(call, Call(global_="m:f", args=("x",)))


# -- what a pickle is made of


def test_contents_tell_the_shortest_way_to_each_object() -> None:
    ray, arrow = old_home("ray"), old_home("pyarrow")
    ray.Thing = type("Thing", (), {"__module__": "ray"})  # type: ignore[attr-defined]
    arrow.call = lambda *_: None  # type: ignore[attr-defined]
    arrow.call.__module__, arrow.call.__qualname__ = "pyarrow", "call"
    thing = ray.Thing()
    thing.path, thing.size, thing.flag = "a", 3, True
    hidden = ray.Thing()
    hidden.only = None
    fs = Called(arrow.call, ({"use_mmap": False},))
    fs2 = Called(arrow.call, (hidden,))
    value = {"far": {"away": [thing]}, "near": thing, "fs": fs, "odd": fs2, (1, 2): fs}
    data = pickle.dumps(value, protocol=5)
    del sys.modules["ray"], sys.modules["pyarrow"]
    found = contents_of(decode(data), Pointer.of((), ()))
    assert found.pointer == "#"
    objects = {frozenset(o.fields): o for o in found.objects}
    assert objects[frozenset({"path", "size", "flag"})].pointer == "#near"
    assert objects[frozenset({"path", "size", "flag"})].plain == {
        "path": "a",
        "size": 3,
        "flag": True,
    }
    assert objects[frozenset({"only"})].pointer is None
    calls = {call.pointer: call.args for call in found.calls}
    assert calls == {"#fs": ({"use_mmap": False},), "#odd": None}
