"""JSON documents and lines, and the pickles inside them."""

from __future__ import annotations

import json
import math
import pickle

import pytest

from ckptctl.codec.errors import EditError, Malformed, PointerError, RecordError, Truncated
from ckptctl.codec.json_editor import JsonEditor, dump_json, splice
from ckptctl.codec.json_records import (
    decode_fallback,
    fallback_bytes,
    find_span,
    load_json,
)
from ckptctl.codec.json_text import JsonText
from ckptctl.codec.values import New, Sealed, Value


def test_non_finite_numbers_are_read() -> None:
    value = load_json(b'{"a": NaN, "b": [Infinity, -Infinity], "c": 1e999}')
    assert isinstance(value, dict)
    assert math.isnan(value["a"])
    assert (value["b"], value["c"]) == ([math.inf, -math.inf], math.inf)


def test_odd_but_valid() -> None:
    assert load_json(b' {"a":1,"a":2}\n') == {"a": 2}
    assert load_json('"\\ud800"') == "\ud800"
    assert load_json(b"123456789012345678901234567890") == 123456789012345678901234567890


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a": 1',
        b'{"a" 1}',
        b"{1: 2}",
        b"[1 2]",
        b"[1,]",
        b"1 2",
        b"nul",
        b'"\xff"',
        b'"\x01"',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"9" * 5_000,
        b"\xef\xbb\xbf{}",
    ],
    ids=range(15),
)
def test_what_is_no_json(data: bytes) -> None:
    with pytest.raises(RecordError):
        load_json(data)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", '{"a": ' + "9" * 5_000 + "}"],
    ids=range(3),
)
def test_deep_or_gigantic_json_is_refused_while_searching(text: str) -> None:
    with pytest.raises(RecordError):
        find_span(text, ("b",))


def test_spans() -> None:
    text = ' { "a" : [ 1, {"b": "x"} , 3 ], "a/b":null, "a": [ [], "last" ] } '
    for path in ((), ("a",), ("a", "1"), ("a/b",), ("a", "0")):
        start, end = find_span(text, path)
        expected = json.loads(text)
        for step in path:
            expected = expected[int(step) if isinstance(expected, list) else step]
        assert json.loads(text[start:end]) == expected
    for missing in (("c",), ("a", "2"), ("a", "x"), ("a", "-1"), ("a", "01"), ("a/b", "c")):
        with pytest.raises(PointerError):
            find_span(text, missing)


@pytest.mark.parametrize(
    "text", ['{"a" 1}', '{"a": 1 "b": 2}', "{1: 2}", '{"a": 1', "[1 2]", "[1", '{"a": }']
)
def test_searching_broken_json(text: str) -> None:
    with pytest.raises(RecordError):
        find_span(text, ("x",))


def test_pickles_in_json() -> None:
    data = pickle.dumps({"a": 1}, 5)
    held = {"_type": "CLOUDPICKLE_FALLBACK", "value": data.hex()}
    assert fallback_bytes(held) == data
    assert fallback_bytes(data.hex()) == data
    assert fallback_bytes("80054e2e") == b"\x80\x05N."
    doc = decode_fallback(held)
    assert doc is not None
    assert doc.root == {"a": 1}
    for other in ("8005", "80054e", "checkpoint", "80064e2e", None, 8, {"value": "80054e2e"}, {}):
        assert fallback_bytes(other) is None
        assert decode_fallback(other) is None
    for broken in ("xyz", None, 5):
        with pytest.raises(Malformed):
            fallback_bytes({"_type": "CLOUDPICKLE_FALLBACK", "value": broken})
    with pytest.raises(Truncated):
        decode_fallback({"_type": "CLOUDPICKLE_FALLBACK", "value": "8005"})


# -- splicing

STYLED = """{
  "a": 1.50,
  "list": [
    {"x" :1},
    2E1
  ],
  "none": [],
  "text": "caf\\u00E9 \\/ \\n"
}"""


def edited(text: str, *edits: tuple[object, ...]) -> str:
    editor = JsonEditor(text)
    for name, *args in edits:
        getattr(editor, str(name))(*args)
    made = editor.apply()
    JsonText(made).check()
    return made


def test_only_what_is_named_changes() -> None:
    assert edited(STYLED, ("set", ("a",), 2)) == STYLED.replace("1.50", "2")
    assert edited(STYLED, ("set", ("list", "0", "x"), "y")) == STYLED.replace(":1}", ':"y"}')
    assert edited(STYLED) == STYLED
    assert edited(STYLED, ("set", ("a",), 1.5)) == STYLED


def test_structure_takes_the_style_of_the_file() -> None:
    made = edited(
        STYLED,
        ("set", ("new",), {"k": [1]}),
        ("insert", ("list",), 1, None),
        ("insert", ("list",), 2, "end"),
        ("insert", ("none",), 0, 7),
        ("remove", ("a",)),
    )
    assert (
        made
        == """{
  "list": [
    {"x" :1},
    null,
    2E1,
    "end"
  ],
  "none": [
    7
  ],
  "text": "caf\\u00E9 \\/ \\n",
  "new": {
    "k": [
      1
    ]
  }
}"""
    )


def test_all_go_and_one_comes() -> None:
    assert edited("[1, 2]", ("remove", ("0",)), ("remove", ("1",))) == "[]"
    assert (
        edited("[ 1, 2 ]", ("remove", ("0",)), ("remove", ("1",)), ("insert", (), 2, 3)) == "[ 3 ]"
    )
    assert (
        edited('{"a":1,"b":2}', ("remove", ("b",)), ("set", ("c",), [1, 2])) == '{"a":1,"c":[1,2]}'
    )
    assert edited("[]", ("insert", (), 0, 1), ("insert", (), 0, 2)) == "[1, 2]"
    assert edited("{}", ("set", ("a",), 1)) == '{"a": 1}'


def test_of_equal_keys_the_last_counts_and_all_go() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    assert edited(text, ("set", ("a",), 4)) == '{"a": 1, "b": 2, "a": 4}'
    assert edited(text, ("remove", ("a",))) == '{"b": 2}'


def test_text_in_text_keeps_its_escapes() -> None:
    inner = '{"a": "é/", "b": "\U0001f600", "c": 1}'
    for raw in (
        json.dumps(inner),
        json.dumps(inner, ensure_ascii=False),
        json.dumps(inner).replace("/", "\\/").replace("\\u00e9", "\\u00E9"),
    ):
        text = f'{{"t": {raw}}}'
        start = inner.index("1}")
        editor = JsonEditor(text)
        editor.splice_text(("t",), [(0, 0, " "), (start, start + 1, '"ü"')])
        made = editor.apply()
        assert json.loads(json.loads(made)["t"]) == {"a": "é/", "b": "\U0001f600", "c": "ü"}
        new = json.dumps('"ü"', ensure_ascii=text.isascii())[1:-1]
        assert made == text.replace('"{', '" {').replace("1}", new + "}")


def test_json_edits_that_are_refused() -> None:
    with pytest.raises(EditError, match="two different"):
        edited("[1]", ("set", ("0",), 2), ("set", ("0",), 3))
    with pytest.raises(EditError, match="two different"):
        edited("{}", ("set", ("a",), 2), ("set", ("a",), 3))
    with pytest.raises(EditError, match="two edits"):
        edited("[[1]]", ("set", ("0",), 2), ("set", ("0", "0"), 3))
    with pytest.raises(EditError, match="two edits"):
        edited("[[1]]", ("remove", ("0",)), ("set", ("0", "0"), 3))
    values: list[Value] = [b"raw", New(global_="a:b"), [Sealed("x")], {"a": Sealed("x")}]
    for value in values:
        with pytest.raises(EditError):
            edited("[1]", ("set", ("0",), value))
        with pytest.raises(EditError):
            dump_json(value)
    with pytest.raises(EditError):
        edited('{"a": 1}', ("insert", (), 0, 3))
    with pytest.raises(EditError):
        edited("[1]", ("insert", (), 2, 3))
    with pytest.raises(EditError):
        edited("[1]", ("insert", ("0",), 0, 3))
    with pytest.raises(PointerError):
        edited("[1]", ("set", ("1",), 3))
    with pytest.raises(PointerError):
        edited('{"a": {}}', ("set", ("b", "c"), 3))
    with pytest.raises(EditError):
        splice("abc", [(0, 2, ""), (1, 3, "")])


def test_a_long_list_is_read_in_linear_time() -> None:
    text = json.dumps({"rows": [[n, str(n)] for n in range(20_000)]}, indent=1)
    editor = JsonEditor(text)
    for n in range(0, 20_000, 2):
        editor.set(("rows", str(n), "0"), -n)
    rows = json.loads(editor.apply())["rows"]
    assert rows[4] == [-4, "4"]
    assert rows[5] == [5, "5"]
