"""Pickles made to do harm: nothing is run, and each ends in a value or a PickleError."""

from __future__ import annotations

import contextlib
import copyreg
import gc
import os
import pickle
import struct
import time
import tracemalloc
from collections.abc import Iterator, Sized
from pathlib import Path

import pytest

from ckptctl.codec.contents import contents_of
from ckptctl.codec.errors import (
    LimitExceeded,
    Malformed,
    PickleError,
    Truncated,
    Unsupported,
)
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_plain import plain
from ckptctl.codec.pickle_reader import Doc, Limits, decode, walk
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.pointer import Pointer

OS = os.system.__module__


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes((len(raw),)) + raw


def stack_global(module: str, name: str) -> bytes:
    return text(module) + text(name) + b"\x93"


def p4(body: bytes) -> bytes:
    return b"\x80\x04" + body + b"."


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[str]:
    """A command that makes a file, which must not exist afterwards."""
    path = tmp_path / "canary"
    yield f"touch {path}"
    assert not path.exists()


class Nasty:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


def read_all(data: bytes) -> Doc:
    """Everything a reader may do with bytes."""
    doc = decode(data)
    tracked = decode(data, track=True)
    assert type(tracked.root) is type(doc.root)
    for _ in walk(doc.root):
        pass
    plain(doc.root)
    to_value(doc.root)
    contents_of(doc, Pointer.of((), ()))
    repr(doc.root)
    return doc


def test_what_is_nested_deep_is_looked_into_without_a_pointer() -> None:
    deep = b"]" * 200_000 + stack_global("ray", "Thing") + b")\x81}" + text("a") + b"Nsb"
    doc = decode(p4(deep + b"a" * 200_000))
    began = time.process_time()
    (found,) = contents_of(doc, Pointer.of((), ())).objects
    assert found.pointer is None
    assert time.process_time() - began < 5


RUNNERS = {
    "global": lambda c: f"c{OS}\nsystem\n(S'{c}'\ntR.".encode(),
    "stack_global": lambda c: p4(stack_global(OS, "system") + text(c) + b"\x85R"),
    "inst": lambda c: f"(S'{c}'\ni{OS}\nsystem\n.".encode(),
    "obj": lambda c: b"(" + f"c{OS}\nsystem\nS'{c}'\no.".encode(),
    "newobj": lambda c: p4(stack_global(OS, "system") + text(c) + b"\x85\x81"),
    "newobj_ex": lambda c: p4(stack_global(OS, "system") + text(c) + b"\x85}\x92"),
    "eval": lambda c: p4(
        stack_global("builtins", "eval") + text(f"__import__('os').system({c!r})") + b"\x85R"
    ),
    "exec": lambda c: p4(
        stack_global("builtins", "exec") + text(f"import os; os.system({c!r})") + b"\x85R"
    ),
    # The names come out of the memo in another order than they were pushed.
    "memo_order": lambda c: p4(
        text("system") + b"\x94" + text(OS) + b"\x9400" + b"h\x01h\x00\x93" + text(c) + b"\x85R"
    ),
    "dotted": lambda c: p4(stack_global("os", "path.os.system") + text(c) + b"\x85R"),
    "getattr": lambda c: p4(
        stack_global("builtins", "getattr")
        + stack_global("builtins", "__import__")
        + text("os")
        + b"\x85R"
        + text("system")
        + b"\x86R"
        + text(c)
        + b"\x85R"
    ),
    "nested_loads": lambda c: p4(
        stack_global("pickle", "loads") + _bytes(pickle.dumps(Nasty(c))) + b"\x85R"
    ),
    "reduce_protocol": lambda c: pickle.dumps(Nasty(c)),
    "in_a_key": lambda c: pickle.dumps({(1, 2): Nasty(c)}),
    "build_setstate": lambda c: p4(
        stack_global("ckptctl.codec.pickle_nodes", "Opaque")
        + b")\x81N}"
        + text("__setstate__")
        + stack_global(OS, "system")
        + b"s\x86b"
        + text(c)
        + b"b"
    ),
    "build_call": lambda c: p4(
        stack_global("builtins", "object")
        + b")\x81}"
        + text("__call__")
        + stack_global(OS, "system")
        + b"sb"
        + text(c)
        + b"\x85R"
    ),
    "setter": lambda c: p4(b"]" + stack_global(OS, "system") + text(c) + b"\x85R0"),
    "timeit": lambda c: p4(
        stack_global("timeit", "main") + b"](" + text("-s") + text(f"{c}") + b"e\x85R"
    ),
    "runpy": lambda c: p4(stack_global("runpy", "run_path") + text(c) + b"\x85R"),
}


def _bytes(raw: bytes) -> bytes:
    return b"B" + struct.pack("<I", len(raw)) + raw


@pytest.mark.parametrize("case", RUNNERS)
def test_code_is_described_and_never_run(case: str, canary: str) -> None:
    doc = read_all(RUNNERS[case](canary))
    assert doc.globals


HARMLESS = {
    "persid": b"Pmy-file\n.",
    "binpersid": p4(text("storage") + b"Q"),
    "ext2": p4(b"\x83\x01\x02"),
    "ext4_negative": p4(b"\x84\xff\xff\xff\xff"),
    "next_buffer": b"\x80\x05\x97.",
    "readonly_buffer": b"\x80\x05\x97\x98.",
    "surrogate": p4(b"\x8c\x03\xed\xa0\x80"),
    "nan_keys": p4(b"}(" + (b"G\x7f\xf8\0\0\0\0\0\0" + b"N") * 5 + b"u"),
    "list_as_key": p4(b"}]Ns"),
    "dict_as_key": p4(b"}}Ns"),
    "set_of_lists": p4(b"\x8f(]]\x90"),
    "extra_values": p4(b"NNN"),
    "stop_in_mark": p4(b"(N"),
    "own_list": b"\x80\x04]\x94h\x00a.",
}


@pytest.mark.parametrize("case", HARMLESS)
def test_odd_things_are_values(case: str) -> None:
    if case == "own_list":
        doc = decode(HARMLESS[case])
        assert isinstance(doc.root, list)
        assert doc.root[0] is doc.root
        assert len(list(walk(doc.root))) == 1
        with pytest.raises(LimitExceeded):
            plain(doc.root)
    else:
        read_all(HARMLESS[case])


def test_registered_extension_codes_are_not_looked_up() -> None:
    copyreg.add_extension(OS, "system", 240)
    copyreg._extension_cache[240] = os.system  # type: ignore[attr-defined]
    try:
        root = decode(b"\x80\x02\x82\xf0.").root
    finally:
        copyreg.remove_extension(OS, "system", 240)
    assert root is not os.system
    assert getattr(root, "kind", "") == "ext"


MALFORMED = {
    "global_of_numbers": p4(b"K\x01K\x02\x93"),
    "global_of_tuples": p4(b"))\x93"),
    "global_not_utf8": b"c\xff\xfe\nx\n.",
    "build_on_int": p4(b"K\x01}b"),
    "build_on_list": p4(b"]}b"),
    "reduce_on_text": p4(text("os") + b")R"),
    "newobj_on_dict": p4(b"})\x81"),
    "append_to_int": p4(b"K\x01Na"),
    "append_to_tuple": p4(b")Na"),
    "appends_to_dict": p4(b"}(Ne"),
    "setitem_on_int": p4(b"K\x01NNs"),
    "setitem_on_list": p4(b"]NNs"),
    "additems_to_list": p4(b"](N\x90"),
    "args_not_tuple": p4(stack_global("a", "b") + b"]R"),
    "kwargs_not_dict": p4(stack_global("a", "b") + b")]\x92"),
    "nested_frame": b"\x80\x04\x95"
    + struct.pack("<Q", 15)
    + b"\x95"
    + struct.pack("<Q", 2)
    + b"NN........",
    "negative_long4": p4(b"\x8b\xff\xff\xff\xff"),
    "negative_binstring": b"T\xff\xff\xff\xff.",
    "hex_int": b"I0x10\n.",
    "underscored_int": b"I1_0\n.",
    "bad_float": b"Fabc\n.",
    "unquoted_string": b"Sabc\n.",
    "half_quoted_string": b"S'abc\n.",
    "bad_escape": b"S'\\q'\n.",
    "odd_setitems": p4(b"}(Nu"),
    "odd_dict": p4(b"(Nd"),
    "bad_utf8": p4(b"\x8c\x02\xff\xfe"),
    "unset_memo": p4(b"h\x07"),
    "unset_text_memo": b"g7\n.",
    "negative_put": b"Np-1\n.",
    "pop_on_empty": p4(b"0"),
    "pop_mark_without_mark": p4(b"1"),
    "tuple_without_mark": p4(b"t"),
    "tuple2_of_one": p4(b"N\x86"),
    "memoize_on_empty": p4(b"\x94"),
    "dup_on_empty": p4(b"2"),
    "obj_without_class": p4(b"(o"),
    "unknown_opcode": p4(b"\xff"),
    "text_file": b"hello, world\n",
    "json": b'{"a": 1}',
    "stop_on_empty": b"\x80\x04.",
    "stop_behind_mark": p4(b"N("),
    "garbage": bytes(range(255, 0, -1)),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case: str) -> None:
    for track in (False, True):
        with pytest.raises(Malformed) as caught:
            decode(MALFORMED[case], track=track)
        assert caught.value.offset >= 0


TRUNCATED = {
    "empty": b"",
    "frame_2_60": b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"N.",
    "binbytes8_2_62": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"x.",
    "bytearray8_2_40": b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"x.",
    "binunicode8_2_64": b"\x80\x04\x8d" + struct.pack("<Q", (1 << 64) - 1) + b"x.",
    "binunicode_4g": b"X\xff\xff\xff\xffx.",
    "binbytes_4g": b"B\xff\xff\xff\xffx.",
    "long1": b"\x8a\xff\x01.",
    "binstring": b"T\xff\xff\xff\x7fx.",
    "no_newline": b"I12",
    "no_second_name": b"cos\n",
    "no_stop": b"\x80\x04N",
    "half_float": b"G\x00\x00",
    "half_int": b"J\x00",
}


@pytest.mark.parametrize("case", TRUNCATED)
def test_truncated_without_allocating(case: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Truncated):
            decode(TRUNCATED[case])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("protocol", range(6))
def test_every_prefix_of_a_pickle_is_an_error(protocol: int) -> None:
    value = {"a": [1, 2.5, None, "x" * 300], "b": {1, 2}, "c": (b"y" * 20, 1 << 70)}
    data = pickle.dumps(value, protocol)
    for size in range(len(data)):
        for track in (False, True):
            with pytest.raises(PickleError):
                decode(data[:size], track=track)
    for size in range(len(data)):
        # A flipped byte may give another value; it may not give another exception.
        broken = data[:size] + bytes((data[size] ^ 0x15,)) + data[size + 1 :]
        with contextlib.suppress(PickleError):
            read_all(broken)


LIMITED = {
    "wide_long4": b"\x80\x04\x8b" + struct.pack("<i", 1 << 20) + b"\x01" * (1 << 20) + b".",
    "million_digits": b"L" + b"9" * 1_000_000 + b"L\n.",
    "digits": b"I" + b"9" * 5_000 + b"\n.",
    "long_line": b"V" + b"x" * (2 << 20) + b"\n.",
    "too_many_ops": b"\x80\x04" + b"N0" * 60_000 + b"N.",
}


@pytest.mark.parametrize("case", LIMITED)
def test_limits(case: str) -> None:
    with pytest.raises(LimitExceeded):
        decode(LIMITED[case], Limits(max_ops=100_000))


def test_more_bytes_than_allowed() -> None:
    with pytest.raises(LimitExceeded):
        decode(b"N." + b" " * 100, Limits(max_bytes=50))


def test_ten_million_opcodes_stop_in_time() -> None:
    begin = time.process_time()
    with pytest.raises(LimitExceeded):
        decode(b"N0" * 5_000_000 + b"N.")
    assert time.process_time() - begin < 10


def doubled(times: int) -> bytes:
    """``t = (t, t)``, over and over."""
    steps = (b"0h" + bytes((n,)) + b"h" + bytes((n,)) + b"\x86\x94" for n in range(times))
    return b"N\x94" + b"".join(steps)


DEEP = {
    "tuples": b"\x80\x04)" + b"\x85" * 1_000_000 + b".",
    "lists": b"\x80\x04" + b"]" * 300_000 + b"a" * 299_999 + b".",
    "reduced": p4(b"]" * 1_000 + stack_global("a", "b") + b")R" + b"a" * 1_000),
    "doubled": p4(doubled(200)),
}


@pytest.mark.parametrize("case", DEEP)
def test_deep_nesting(case: str) -> None:
    doc = decode(DEEP[case], Limits(max_ops=2_000_000))
    assert sum(1 for _ in walk(doc.root, 2_000_000)) > 1
    for convert in (plain, to_value):
        with pytest.raises(LimitExceeded):
            convert(doc.root)


def test_deep_persistent_ids() -> None:
    assert plain(decode(b"\x80\x04N" + b"Q" * 300_000 + b".").root) == "<persid>"


QUICK = {
    "deep_reduce": p4(stack_global("a", "b") + b")R" * 500_000),
    "deep_tuple_key": p4(b"})" + b"\x85" * 300_000 + b"Ns"),
    "colliding_keys": p4(
        b"}("
        + b"".join(
            b"\x8a\x0c" + (n * ((1 << 61) - 1)).to_bytes(12, "little") + b"N"
            for n in range(1, 60_001)
        )
        + b"u"
    ),
    "huge_binput": b"Nr\xff\xff\xff\x7f.",
    "huge_put": b"Np" + b"1" + b"0" * 18 + b"\n.",
    "many_puts": b"N" + b"".join(b"p%d\n" % (n * 7919) for n in range(200_000)) + b".",
    "many_marks": b"\x80\x04" + b"(" * 1_000_000 + b"N.",
    "many_builds": p4(stack_global("a", "b") + b"}b" * 200_000),
    "many_setters": p4(stack_global("a", "b") + b"\x94" + (b"h\x00h\x00N\x86R0") * 100_000),
    "many_frames": b"\x80\x04" + (b"\x95" + b"\0" * 8) * 200_000 + b"N.",
    "one_key_again": p4(b"}(" + b"K\x01N" * 200_000 + b"u"),
    "doubling_key": p4(b"}" + doubled(60) + b"Ns"),
    "doubling_member": p4(b"\x8f(" + doubled(60) + b"\x90"),
}


@pytest.mark.parametrize("case", QUICK)
def test_slow_for_a_real_unpickler_is_quick(case: str) -> None:
    data = QUICK[case]
    begin = time.process_time()
    doc = decode(data)
    assert time.process_time() - begin < 5
    assert doc.end == len(data)


def test_plain_of_colliding_keys_is_quick() -> None:
    doc = decode(QUICK["colliding_keys"])
    begin = time.process_time()
    made = plain(doc.root)
    assert time.process_time() - begin < 5
    assert isinstance(made, dict)
    assert len(made) == 60_000


def test_unsupported_protocol() -> None:
    with pytest.raises(Unsupported):
        decode(b"\x80\xc8N.")


def test_unsupported_dup_in_an_edit() -> None:
    with pytest.raises(Unsupported):
        PickleEditor(b"\x80\x04](K\x012e.")


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with pytest.raises(PickleError):
        decode(b"garbage")
    assert gc.isenabled()
    gc.disable()
    try:
        decode(b"N.")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_edit_runs_nothing(canary: str) -> None:
    data = pickle.dumps({"nasty": Nasty(canary), "a": 1, "l": [Nasty(canary), 2]})
    editor = PickleEditor(data)
    editor.set(("a",), 2)
    editor.set(("nasty",), None)
    editor.remove(("l",), 0)
    assert decode(editor.tobytes()).end


TABLES: dict[str, Sized] = {
    "described, never run": RUNNERS,
    "odd, and values": HARMLESS,
    "malformed": MALFORMED,
    "truncated": TRUNCATED,
    "over a limit": LIMITED,
    "nested without end": DEEP,
    "slow elsewhere": QUICK,
}
ALONE = 12
"""Cases with a test of their own: registered extensions, prefixes of six protocols, more bytes
or opcodes than allowed, persistent ids, an unknown protocol, DUP in an edit, an edit beside."""


def test_there_are_as_many_cases_as_are_promised(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {name: len(table) for name, table in TABLES.items()}
    total = sum(counts.values()) + ALONE
    with capsys.disabled():
        print(f"\n  {total} hostile pickles: {counts}, and {ALONE} more")
    assert total >= 71
    assert all(counts.values())
    assert len({data for t in (MALFORMED, TRUNCATED, LIMITED) for data in t.values()}) == sum(
        len(t) for t in (MALFORMED, TRUNCATED, LIMITED)
    )
