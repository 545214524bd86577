"""Laws of the codecs, for any input."""

from __future__ import annotations

import contextlib
import csv
import enum
import io
import json
import math
import pickle
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptctl.codec.csv_records import CsvText, read_column
from ckptctl.codec.edit import apply_edits, read_many, read_pointer
from ckptctl.codec.errors import CodecError, PickleError
from ckptctl.codec.json_records import fallback_bytes, load_json
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_plain import plain
from ckptctl.codec.pickle_reader import decode
from ckptctl.codec.pointer import Pointer
from ckptctl.codec.values import (
    Copy,
    CopyFrom,
    New,
    Ref,
    Sealed,
    Tuple,
    Value,
    from_json,
    same,
    to_json,
)
from ckptctl.model.experiment import RecordKind

unhurried = settings(deadline=None)
"""A busy machine is no failure."""

texts = st.text(max_size=12)
keys = texts | st.sampled_from(["$new", "$", "$float", "a/b", "a#b", "~", "3", "", "é"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.integers(-300, 300)
    | st.floats()
    | texts
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)
picklable = st.recursive(
    scalars | st.binary(max_size=300) | st.text(min_size=250, max_size=300),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(texts | st.integers(-9, 9) | st.none(), inner, max_size=5)
        | st.tuples(inner)
        | st.tuples(inner, inner, inner, inner)
    ),
    max_leaves=30,
)
values = st.recursive(
    scalars
    | st.binary(max_size=9)
    | st.builds(Copy, st.tuples(texts, st.integers(0, 9)))
    | st.builds(Ref, st.tuples(texts))
    | st.builds(CopyFrom, texts)
    | st.builds(Sealed, texts),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.builds(Tuple, st.lists(inner, max_size=5).map(tuple))
        | st.builds(
            lambda name, state, args: New(global_=name, state=state, args=args),
            texts,
            st.dictionaries(keys, inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
        )
    ),
    max_leaves=15,
)


def alike(left: object, right: object) -> bool:
    """Equal, of the same types, nan included."""
    return pickle.dumps(_bare(left), 4) == pickle.dumps(_bare(right), 4)


def _bare(value: object) -> object:
    """Without sharing, which would show in the bytes."""
    match value:
        case dict():
            return ["dict", [[_bare(k), _bare(v)] for k, v in value.items()]]
        case list() | tuple():
            return [type(value).__name__, [_bare(item) for item in value]]
        case float():
            return ["float", "nan" if math.isnan(value) else value.hex()]
        case int() | str() | bytes() | None:
            return [type(value).__name__, repr(value)]
    raise AssertionError(value)


def paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path that addresses a value."""
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str) and not (key.isdecimal() and int(key) in value):
                found += paths(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            found += paths(item, (*path, index))
    return found


def replaced(value: Any, path: tuple[str | int, ...], new: object) -> Any:
    """The value with another one at a path."""
    if not path:
        return new
    if isinstance(value, dict):
        return {k: replaced(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    items = [replaced(v, path[1:], new) if k == path[0] else v for k, v in enumerate(value)]
    return items if isinstance(value, list) else tuple(items)


# -- pickles


@unhurried
@given(picklable, st.integers(0, 5))
def test_decoding_is_what_pickle_loads(value: object, protocol: int) -> None:
    data = pickle.dumps(value, protocol)
    expected = pickle.loads(data)
    doc = decode(data)
    assert alike(plain(doc.root), expected)
    assert alike(plain(decode(data, track=True).root), expected)
    assert doc.end == len(data)


@unhurried
@given(st.binary(max_size=60))
def test_decoding_ends_in_a_value_or_a_pickle_error(data: bytes) -> None:
    try:
        doc = decode(data, track=True)
        plain(doc.root)
    except PickleError:
        pass


@unhurried
@given(picklable, st.integers(0, 5), st.data())
def test_an_edit_changes_exactly_one_value(value: Any, protocol: int, data: st.DataObject) -> None:
    pickled = pickle.dumps(value, protocol)
    path = data.draw(st.sampled_from(paths(value)))
    new = data.draw(documents)
    editor = PickleEditor(pickled)
    assert editor.tobytes() == pickled
    editor.set(path, new)
    edited = editor.tobytes()
    assert alike(pickle.loads(edited), replaced(value, path, new))
    assert alike(pickle._loads(edited), replaced(value, path, new))  # type: ignore[attr-defined]


tupled = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5).map(tuple)
        | st.lists(inner, max_size=3)
        | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=15,
)


@unhurried
@given(tupled, st.integers(0, 5))
def test_tuples_are_written_as_tuples(value: Any, protocol: int) -> None:
    editor = PickleEditor(pickle.dumps({"old": 0, "list": [1]}, protocol))
    editor.set(("old",), _as_written(value))
    editor.insert(("list",), 1, _as_written([value]))
    assert alike(pickle.loads(editor.tobytes()), {"old": value, "list": [1, [value]]})


def _as_written(value: Any) -> Value:
    match value:
        case tuple():
            return Tuple(tuple(_as_written(item) for item in value))
        case list():
            return [_as_written(item) for item in value]
        case dict():
            return {key: _as_written(item) for key, item in value.items()}
    return value  # type: ignore[no-any-return]


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


@unhurried
@given(st.integers(0, 5), st.sampled_from(Colour))
def test_a_member_of_an_enum_is_made_by_its_value(protocol: int, colour: Colour) -> None:
    editor = PickleEditor(pickle.dumps([0], protocol))
    name = f"{Colour.__module__}:{Colour.__qualname__}"
    editor.set((0,), from_json(to_json(New(global_=name, args=(colour.value,)))))
    assert pickle.loads(editor.tobytes()) == [colour]


@unhurried
@given(st.binary(max_size=40), documents)
def test_a_file_that_is_no_json_is_replaced_whole(data: bytes, new: Any) -> None:
    edited = apply_edits(data, RecordKind.JSON, [Change("set", "", None, to_json(new))])
    assert alike(json.loads(edited), new)


@unhurried
@given(
    st.lists(picklable, max_size=8),
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 8), documents), max_size=4),
    st.sets(st.integers(0, 7), max_size=4),
)
def test_list_edits(
    value: list[Any], protocol: int, inserts: list[tuple[int, Any]], removed: set[int]
) -> None:
    inserts = [(index, new) for index, new in inserts if index <= len(value)]
    removed = {index for index in removed if index < len(value)}
    pickled = pickle.dumps({"before": value, "list": list(value), "after": [value]}, protocol)
    editor = PickleEditor(pickled)
    expected: list[Any] = []
    for index in range(len(value) + 1):
        expected += [new for at, new in inserts if at == index]
        if index < len(value) and index not in removed:
            expected.append(value[index])
    for index, new in inserts:
        editor.insert(("list",), index, new)
    for index in removed:
        editor.remove(("list",), index)
    loaded = pickle.loads(editor.tobytes())
    assert alike(loaded, {"before": value, "list": expected, "after": [value]})
    assert loaded["before"] is loaded["after"][0]


# -- values and pointers


@unhurried
@given(values)
def test_values_survive_json(value: Any) -> None:
    text = json.dumps(to_json(value), allow_nan=False)
    back = from_json(json.loads(text))
    assert same(back, value)
    assert json.dumps(to_json(back)) == text


@unhurried
@given(documents)
def test_same_is_reflexive(value: Any) -> None:
    assert same(value, value)
    assert not same(value, [value])


@unhurried
@given(st.lists(st.lists(keys, max_size=4), min_size=1, max_size=4))
def test_pointers_survive_their_text(levels: list[list[str]]) -> None:
    pointer = Pointer(tuple(tuple(level) for level in levels))
    assert Pointer.parse(str(pointer)) == pointer


@unhurried
@given(st.text(alphabet="ab/#~0123", max_size=12))
def test_any_text_is_a_pointer_or_an_error(text: str) -> None:
    with contextlib.suppress(CodecError):
        assert str(Pointer.parse(text)) == text


# -- JSON


@dataclass(frozen=True)
class Change:
    op: str
    pointer: str
    before: Any = None
    after: Any = None


styles = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": 4, "ensure_ascii": False},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" ,", " : ")},
    ]
)


def json_paths(value: object) -> list[tuple[str | int, ...]]:
    return paths(value)


@unhurried
@given(documents, styles, st.data())
def test_json_edits_are_edits_of_the_value(value: Any, style: Any, data: st.DataObject) -> None:
    text = json.dumps(value, **style)
    path = data.draw(st.sampled_from(json_paths(value)))
    new = data.draw(documents)
    pointer = str(Pointer.of(path))
    edited = apply_edits(
        text.encode(),
        RecordKind.JSON,
        [Change("set", pointer, to_json(_at(value, path)), to_json(new))],
    )
    assert alike(json.loads(edited), replaced(value, path, new))
    assert same(read_pointer(edited, RecordKind.JSON, pointer), new)
    # Setting the old value back gives the old bytes, as long as no container is involved.
    old = _at(value, path)
    if not isinstance(old, dict | list) and style.get("ensure_ascii", True):
        back = apply_edits(edited, RecordKind.JSON, [Change("set", pointer, None, to_json(old))])
        assert back == text.encode()


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@unhurried
@given(
    st.lists(documents, max_size=6),
    styles,
    st.lists(st.tuples(st.integers(0, 6), documents), max_size=3),
    st.sets(st.integers(0, 5), max_size=3),
)
def test_json_list_edits(
    value: list[Any], style: Any, inserts: list[tuple[int, Any]], removed: set[int]
) -> None:
    inserts = [(index, new) for index, new in inserts if index <= len(value)]
    removed = {index for index in removed if index < len(value)}
    expected: list[Any] = []
    for index in range(len(value) + 1):
        expected += [new for at, new in inserts if at == index]
        if index < len(value) and index not in removed:
            expected.append(value[index])
    edits = [Change("insert", f"x/{at}", None, to_json(new)) for at, new in inserts]
    edits += [Change("remove", f"x/{at}", to_json(value[at])) for at in removed]
    text = json.dumps({"x": value, "y": value}, **style)
    edited = apply_edits(text.encode(), RecordKind.JSON, edits)
    assert alike(json.loads(edited), {"x": expected, "y": value})
    if style == {"indent": 2}:
        assert edited.decode() == json.dumps({"x": expected, "y": value}, **style)


@unhurried
@given(st.dictionaries(keys, documents, max_size=4), keys, documents, styles)
def test_a_key_that_is_not_there_is_added(value: Any, key: str, new: Any, style: Any) -> None:
    value.pop(key, None)
    text = json.dumps(value, **style)
    edit = Change("set", str(Pointer.of((key,))), None, to_json(new))
    edited = apply_edits(text.encode(), RecordKind.JSON, [edit])
    assert alike(json.loads(edited), {**value, key: new})
    gone = apply_edits(edited, RecordKind.JSON, [Change("remove", edit.pointer)])
    assert gone == text.encode()


@unhurried
@given(documents, documents, styles)
def test_documents_in_documents(value: Any, new: Any, style: Any) -> None:
    inner = json.dumps({"a": value, "p": {"_type": "CLOUDPICKLE_FALLBACK", "value": _hex(value)}})
    text = json.dumps({"rows": [[inner, _hex(value)]], "x": value}, **style)
    pointers = ["rows/0/0#a", "rows/0/0#p#k", "rows/0/1#k"]
    edits = [Change("set", pointer, to_json(value), to_json(new)) for pointer in pointers]
    edited = apply_edits(text.encode(), RecordKind.JSON, edits)
    found = read_many(edited, RecordKind.JSON, [*pointers, "x"])
    assert all(same(item, new) for item in found[:3])
    assert same(found[3], value)
    row = json.loads(edited)["rows"][0]
    assert alike(json.loads(row[0])["a"], new)
    data = fallback_bytes(row[1])
    assert data is not None
    assert alike(pickle.loads(data), {"k": new})


def _hex(value: object) -> str:
    return pickle.dumps({"k": value}, 5).hex()


@unhurried
@given(documents)
def test_loading_json_is_what_json_loads(value: Any) -> None:
    assert alike(load_json(json.dumps(value).encode()), value)


@unhurried
@given(st.binary(max_size=40) | st.text(alphabet='[]{}",:\\u0e1-9aN ', max_size=30).map(str.encode))
def test_json_is_read_or_refused(data: bytes) -> None:
    try:
        expected = json.loads(data.decode())
    except ValueError:
        with pytest.raises(CodecError):
            load_json(data)
    else:
        assert alike(load_json(data), expected)


# -- CSV

cells = st.text(alphabet="ab,\"\r\n 'é1", max_size=6)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=5), st.data())
@settings(max_examples=60, deadline=None)
def test_csv_cells(rows: list[list[str]], data: st.DataObject) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(
        text, quoting=data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    )
    writer.writerow(["n", "a", "b,c"])
    writer.writerows([[number, *row] for number, row in enumerate(rows)])
    raw = text.getvalue().encode()
    assert read_column(raw, "a") == tuple((n, row[0]) for n, row in enumerate(rows))
    assert [cell for _, cell in read_column(raw, "b,c")] == [row[1] for row in rows]
    at, new = data.draw(st.integers(0, len(rows) - 1)), data.draw(cells)
    edit = Change("set", str(Pointer.of((at, "b,c"))), rows[at][1] or None, new)
    edited = apply_edits(raw, RecordKind.CSV, [edit])
    rows[at][1] = new
    table = list(csv.reader(io.StringIO(edited.decode(), newline="")))
    assert [row[1:] for row in table[1:]] == rows
    assert len(CsvText(edited.decode())) == len(rows)
