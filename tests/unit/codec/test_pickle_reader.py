"""What a decoded pickle looks like."""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import pytest

from ckptctl.codec.errors import LimitExceeded, Malformed
from ckptctl.codec.pickle_nodes import Key, attr_dict, attr_list, children
from ckptctl.codec.pickle_plain import plain
from ckptctl.codec.pickle_reader import (
    Limits,
    Opaque,
    attr,
    attr_int,
    attr_str,
    attrs,
    decode,
    walk,
)
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.values import New, Sealed

SAMPLES = Path(__file__).parent / "samples"


class Plain:
    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


class Slotted:
    __slots__ = ("__dict__", "one")

    def __init__(self) -> None:
        self.one = 1
        self.two = 2


class Called:
    def __reduce__(self) -> tuple[object, ...]:
        return Plain, (), {"state": 3}


def opaque(data: bytes) -> Opaque:
    root = decode(data).root
    assert isinstance(root, Opaque)
    return root


def name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@pytest.mark.parametrize("protocol", range(2, 6))
def test_an_object_is_its_name_and_attributes(protocol: int) -> None:
    node = opaque(pickle.dumps(Plain(path="/a", inner=Plain(index=3), tags=["x"]), protocol))
    assert node.name == name_of(Plain)
    assert node.last_name == "Plain"
    assert repr(node) == f"<Opaque newobj {node.name}>"
    assert list(attrs(node)) == ["path", "inner", "tags"]
    assert attr_str(node, "path") == "/a"
    assert attr_int(node, "inner", "index") == 3
    assert attr_list(node, "tags") == ["x"]
    assert attr(node, "inner", "nothing", "more") is None
    assert attr_int(node, "path") is None
    assert attr_str(node, "tags") is None
    assert attr_dict(node, "tags") == {}


def test_bools_are_no_integers() -> None:
    assert attr_int(decode(pickle.dumps({"a": True})).root, "a") is None


def test_slots_and_dict_are_both_attributes() -> None:
    assert attrs(decode(pickle.dumps(Slotted(), 4)).root) == {"one": 1, "two": 2}


def test_a_call_keeps_its_arguments_and_state() -> None:
    node = opaque(pickle.dumps(Called(), 4))
    assert (node.kind, node.name, node.args) == ("reduce", name_of(Plain), ())
    assert attr(node, "state") == 3


def test_globals_are_listed() -> None:
    doc = decode(pickle.dumps([Plain(), print], 4))
    assert doc.globals == {name_of(Plain), "builtins:print"}


def test_shared_objects_stay_shared() -> None:
    shared = Plain()
    root: Any = decode(pickle.dumps([shared, shared], 4)).root
    assert root[0] is root[1]


def test_facts_about_the_bytes() -> None:
    data = pickle.dumps(["x" * 70_000, "y"], 5)
    doc = decode(data + b"trailing")
    assert (doc.proto, doc.end, doc.has_dup, doc.start) == (5, len(data), False, 0)
    assert doc.frames == ((70_019, 70_026),)
    assert decode(data + pickle.dumps(7), start=doc.end).root == 7
    assert decode(b"K\x012.").has_dup
    with pytest.raises(Malformed):
        decode(data, start=-1)


def test_python_2_strings_are_text_or_bytes() -> None:
    assert decode(b"S'a\\'b\\n'\n.").root == "a'b\n"
    assert decode(b"S'\\xff'\n.").root == b"\xff"
    assert decode(b"U\x02hi.").root == "hi"
    assert decode(b"T\x02\0\0\0hi.").root == "hi"
    assert decode(b"Vh\\u00e9\n.").root == "hé"
    assert decode(b"I01\n.").root is True
    assert decode(b"L12L\n.").root == 12
    assert decode(b"F1.5\n.").root == 1.5


def test_keys_that_cannot_be_hashed_safely_are_wrapped() -> None:
    root: Any = decode(pickle.dumps({(1, "a"): 2, 1 << 61: 3, None: 4})).root
    wrapped = [key for key in root if isinstance(key, Key)]
    assert [key.value for key in wrapped] == [(1, "a"), 1 << 61]
    assert repr(wrapped[0]) == "<Key tuple>"
    assert plain(root) == {"(1, 'a')": 2, str(1 << 61): 3, None: 4}


def test_walk_meets_every_value_once() -> None:
    shared = ["s"]
    nodes = list(walk(decode(pickle.dumps({"a": shared, "b": shared, (1,): Plain(x=2.5)})).root))
    assert nodes.count(["s"]) == 1
    assert 2.5 in nodes
    assert children("text") == []
    with pytest.raises(LimitExceeded):
        list(walk([0] * 10, max_nodes=5))


def test_code_by_value_stays_with_its_function() -> None:
    root: Any = decode(bytes.fromhex((SAMPLES / "code_by_value.hex").read_text())).root
    config = root["recs"][0]["config"]
    assert config["f"].last_name == "_make_function"
    assert [setter.last_name for setter in config["f"].setters] == ["_function_setstate"]
    assert [setter.last_name for setter in config["cls"].setters] == ["_class_setstate"]
    assert attr(config["inst"], "q") == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (OrderedDict(a=1), {"a": 1}),
        (deque([1, 2], maxlen=5), [1, 2]),
        ({1, 2}, {1, 2}),
        (frozenset(["x"]), frozenset(["x"])),
        ({(1, 2)}, [(1, 2)]),
        (bytearray(b"ab"), b"ab"),
        (1 + 2j, 1 + 2j),
        ((1, [2]), (1, [2])),
    ],
)
def test_plain(value: object, expected: object) -> None:
    for protocol in range(6):
        made = plain(decode(pickle.dumps(value, protocol)).root)
        assert made == expected
        assert type(made) is type(expected)


def test_plain_names_what_stays_opaque() -> None:
    assert plain(decode(pickle.dumps([print], 4)).root) == ["<builtins:print>"]


def test_plain_asks_what_to_make_of_objects() -> None:
    root = decode(pickle.dumps([Plain(), {"a": Plain(x=1)}])).root
    assert plain(root, attrs) == [{}, {"a": {"x": 1}}]


def test_plain_has_limits() -> None:
    root = decode(pickle.dumps([[[1]]])).root
    with pytest.raises(LimitExceeded):
        plain(root, limits=Limits(max_depth=2))
    with pytest.raises(LimitExceeded):
        plain(root, limits=Limits(max_nodes=3))


@pytest.mark.parametrize(
    "case",
    json.loads((SAMPLES / "pickled_values.json").read_text()),
    ids=lambda case: f"{case['numpy']}-{case['repr']}-{case['protocol']}",
)
def test_numbers_and_times_of_real_libraries(case: dict[str, Any]) -> None:
    made = plain(decode(bytes.fromhex(case["pickle"])).root)
    expected = case["plain"]
    if expected == "OPAQUE":
        assert isinstance(made, str)
        assert made.startswith("<")
    elif isinstance(made, bytes):
        assert f"BYTES{made.hex()}" == expected
    elif isinstance(made, set | frozenset):
        assert sorted(made) == expected
    elif isinstance(expected, str):
        assert str(made) == expected
    else:
        assert made == expected
        assert type(made) in (bool, int, float, list, dict)


def _scalar(dtype_state: bytes, raw: bytes) -> bytes:
    dtype = b"cnumpy\ndtype\n(X\x02\0\0\0f8K\0K\x01tR(K\x03" + dtype_state + b"tb"
    return b"cnumpy.core.multiarray\nscalar\n(" + dtype + b"C" + bytes((len(raw),)) + raw + b"tR."


def test_a_number_of_the_wrong_length_stays_opaque() -> None:
    state = b"X\x01\0\0\0<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0"
    assert plain(decode(_scalar(state, b"\0" * 6 + b"\xf0\x3f")).root) == 1.0
    for raw in (b"", b"\0" * 7, b"\0" * 9):
        made = plain(decode(_scalar(state, raw)).root)
        assert made == "<numpy.core.multiarray:scalar>"
    assert plain(decode(_scalar(b"N", b"\0" * 8)).root) == "<numpy.core.multiarray:scalar>"


def test_objects_in_the_value_language() -> None:
    root = decode(pickle.dumps(Plain(a=(1, {2}), b=print, c=Plain()), 4)).root
    assert to_value(root) == New(
        global_=name_of(Plain),
        state={
            "a": [1, [2]],
            "b": Sealed("builtins:print"),
            "c": New(global_=name_of(Plain)),
        },
    )
    assert to_value(decode(pickle.dumps({1: 2j})).root) == {"1": "2j"}


def test_an_object_inside_itself_is_sealed() -> None:
    thing = Plain()
    thing.__dict__["me"] = [thing]
    made = to_value(decode(pickle.dumps(thing, 4)).root)
    assert made == New(global_=name_of(Plain), state={"me": [Sealed(name_of(Plain))]})


def _call(module: str, name: str, args: bytes, state: bytes = b"") -> bytes:
    return f"c{module}\n{name}\n".encode() + b"(" + args + b"tR" + state + b"."


MALFORMED_CALLS = {
    "uuid": _call("uuid", "UUID", b"", b"}X\x03\0\0\0int\x8a\x11" + b"\x7f" * 17 + b"sb"),
    "path": _call("pathlib", "PosixPath", b"K\x01"),
    "decimal": _call("decimal", "Decimal", b"K\x01"),
    "date of three bytes": _call("datetime", "date", b"C\x03\x07\xe4\x01"),
    "date in month 13": _call("datetime", "date", b"C\x04\x07\xe4\x0d\x01"),
    "datetime of nothing": _call("datetime", "datetime", b""),
    "datetime of nine bytes": _call("datetime", "datetime", b"C\x09" + b"\x01" * 9),
    "datetime at hour 99": _call("datetime", "datetime", b"C\x0a\x07\xe4\x01\x01c\0\0\0\0\0"),
    "zone": _call("datetime", "datetime", b"C\x0a\x07\xe4\x01\x01\0\0\0\0\0\0N"),
    "zone of text": _call(
        "datetime",
        "datetime",
        b"C\x0a\x07\xe4\x01\x01\0\0\0\0\0\0cdatetime\ntimezone\n(X\x01\0\0\0xtR",
    ),
    "zone of years": _call(
        "datetime",
        "datetime",
        b"C\x0a\x07\xe4\x01\x01\0\0\0\0\0\0cdatetime\ntimezone\n(cdatetime\ntimedelta\n(K\x63tRtR",
    ),
    "timedelta of text": _call("datetime", "timedelta", b"X\x01\0\0\0x"),
    "timedelta of ages": _call("datetime", "timedelta", b"\x8a\x08" + b"\x7f" * 8),
    "complex": _call("builtins", "complex", b"X\x02\0\0\0" + b"1j"),
    "set of a number": _call("builtins", "set", b"K\x01"),
    "set of two": _call("builtins", "set", b"]]"),
    "bytes": _call("builtins", "bytes", b"K\x63"),
    "bytearray": _call("builtins", "bytearray", b"J\xff\xff\xff\x7f"),
    "encode": _call("_codecs", "encode", b"X\x01\0\0\0aX\x05\0\0\0rot13"),
    "encode beyond latin": _call("_codecs", "encode", b"X\x03\0\0\0\xe2\x82\xacX\x06\0\0\0latin1"),
    "scalar of nothing": _call("numpy.core.multiarray", "scalar", b""),
    "buffer in Fortran order": _call("numpy.core.numeric", "_frombuffer", b"C\0N)X\x01\0\0\0F"),
    "array without state": _call("numpy.core.multiarray", "_reconstruct", b"NNN"),
}


@pytest.mark.parametrize("case", MALFORMED_CALLS)
def test_calls_that_make_no_sense_stay_opaque(case: str) -> None:
    made = plain(decode(MALFORMED_CALLS[case]).root)
    assert isinstance(made, str)
    assert made.startswith("<")


def test_lengths_of_eight_bytes() -> None:
    length = (3).to_bytes(8, "little")
    assert decode(b"\x8d" + length + b"abc.").root == "abc"
    assert decode(b"\x8e" + length + b"abc.").root == b"abc"
    assert decode(b"\x96" + length + b"abc.").root == bytearray(b"abc")
    assert decode(b"B\x03\0\0\0abc.").root == b"abc"
    assert decode(b"\x8b\x02\0\0\0\xff\xff.").root == -1
    assert decode(b"Nr\x05\0\0\x000j\x05\0\0\0.").root is None
