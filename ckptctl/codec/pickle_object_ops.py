"""Handlers of the opcodes that make containers and objects of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ckptctl.codec.errors import Malformed
from ckptctl.codec.pickle_machine import Machine, handles, marked, push_global
from ckptctl.codec.pickle_nodes import Opaque, safe_key

__all__: list[str] = []

T = TypeVar("T")


@handles(b"\x85")
def _tuple1(m: Machine, pos: int) -> int:
    m.stack[-1] = (m.stack[-1],)
    return pos


@handles(b"\x86")
def _tuple2(m: Machine, pos: int) -> int:
    last = m.stack.pop()
    m.stack[-1] = (m.stack[-1], last)
    return pos


@handles(b"\x87")
def _tuple3(m: Machine, pos: int) -> int:
    last, middle = m.stack.pop(), m.stack.pop()
    m.stack[-1] = (m.stack[-1], middle, last)
    return pos


@handles(b"t")
def _tuple(m: Machine, pos: int) -> int:
    values = tuple(marked(m))
    m.stack.append(values)
    return pos


@handles(b"]")
def _empty_list(m: Machine, pos: int) -> int:
    m.stack.append([])
    return pos


@handles(b"l")
def _list(m: Machine, pos: int) -> int:
    values = marked(m)
    m.stack.append(values)
    return pos


@handles(b"}")
def _empty_dict(m: Machine, pos: int) -> int:
    m.stack.append({})
    return pos


@handles(b"d")
def _dict(m: Machine, pos: int) -> int:
    values = marked(m)
    made: dict[object, object] = {}
    _fill(made, values)
    m.stack.append(made)
    return pos


@handles(b"\x8f")
def _empty_set(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("set"))
    return pos


@handles(b"\x91")
def _frozenset(m: Machine, pos: int) -> int:
    values = marked(m)
    m.stack.append(Opaque("frozenset", appended=values))
    return pos


@handles(b"a")
def _append(m: Machine, pos: int) -> int:
    value = m.stack.pop()
    _extend(m.stack[-1], [value])
    return pos


@handles(b"e")
def _appends(m: Machine, pos: int) -> int:
    values = marked(m)
    _extend(m.stack[-1], values)
    return pos


def _extend(target: object, values: list[object]) -> None:
    if isinstance(target, list):
        target.extend(values)
    elif isinstance(target, Opaque):
        if not isinstance(target.appended, list):
            target.appended = list(target.appended)
        target.appended.extend(values)
    else:
        raise Malformed("items added to what holds none")


@handles(b"\x90")
def _additems(m: Machine, pos: int) -> int:
    values = marked(m)
    if not isinstance(m.stack[-1], Opaque):
        raise Malformed("members added to what is no set")
    _extend(m.stack[-1], values)
    return pos


@handles(b"s")
def _setitem(m: Machine, pos: int) -> int:
    value, key = m.stack.pop(), m.stack.pop()
    _fill(m.stack[-1], [key, value])
    return pos


@handles(b"u")
def _setitems(m: Machine, pos: int) -> int:
    values = marked(m)
    _fill(m.stack[-1], values)
    return pos


def _fill(target: object, values: list[object]) -> None:
    if len(values) % 2:
        raise Malformed("a key without a value")
    pairs = zip(values[::2], values[1::2], strict=True)
    if isinstance(target, dict):
        for key, value in pairs:
            target[key if type(key) is str else safe_key(key)] = value
    elif isinstance(target, Opaque):
        if not isinstance(target.items, list):
            target.items = list(target.items)
        target.items.extend(pairs)
    else:
        raise Malformed("items set on what holds none")


@handles(b"\x93")
def _stack_global(m: Machine, pos: int) -> int:
    name, module = m.stack.pop(), m.stack.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise Malformed("a global whose name is not text")
    push_global(m, module, name)
    return pos


@handles(b"R")
def _reduce(m: Machine, pos: int) -> int:
    args = m.stack.pop()
    m.stack[-1] = Opaque("reduce", *_call(m.stack[-1], args))
    return pos


@handles(b"\x81")
def _newobj(m: Machine, pos: int) -> int:
    args = m.stack.pop()
    m.stack[-1] = Opaque("newobj", *_call(m.stack[-1], args))
    return pos


@handles(b"\x92")
def _newobj_ex(m: Machine, pos: int) -> int:
    kwargs, args = m.stack.pop(), m.stack.pop()
    if not isinstance(kwargs, dict):
        raise Malformed("keyword arguments that are no dict")
    m.stack[-1] = Opaque("newobj_ex", *_call(m.stack[-1], args), kwargs)
    return pos


def _call(target: object, args: object) -> tuple[Opaque, tuple[object, ...]]:
    if not isinstance(target, Opaque):
        raise Malformed("a call of what cannot be called")
    if not isinstance(args, tuple):
        raise Malformed("arguments that are no tuple")
    return target, args


@handles(b"b")
def _build(m: Machine, pos: int) -> int:
    state = m.stack.pop()
    target = m.stack[-1]
    if not isinstance(target, Opaque):
        raise Malformed("a state for what has none")
    target.states = _grown(target.states, state)
    return pos


@handles(b"o")
def _obj(m: Machine, pos: int) -> int:
    values = marked(m)
    if not values:
        raise Malformed("an object without a class")
    m.stack.append(Opaque("obj", *_call(values[0], tuple(values[1:]))))
    return pos


@handles(b"0")
def _pop(m: Machine, pos: int) -> int:
    if not m.stack:
        m.stack = m.meta.pop()
        return pos
    value = m.stack.pop()
    if (
        isinstance(value, Opaque)
        and value.kind == "reduce"
        and len(value.args) == 2
        and m.stack
        and m.stack[-1] is value.args[0]
        and m.data[pos - 2] == ord("R")
        and isinstance(m.stack[-1], Opaque)
    ):
        # A call whose result is dropped and whose first argument stays: a state setter.
        m.stack[-1].setters = _grown(m.stack[-1].setters, value)
    return pos


def _grown(values: Sequence[T], value: T) -> Sequence[T]:
    """One more value; a tuple while there is one, as there is nearly always."""
    if isinstance(values, list):
        values.append(value)
        return values
    return [*values, value] if values else (value,)
