"""The values that an edit can write, and their JSON form.

Plans are saved as JSON, so what is not JSON is written as an object with one key that
begins with ``$``:

    {"$float": "nan" | "inf" | "-inf"}        a float that JSON has no literal for
    {"$bytes": "00ff"}                        bytes
    {"$dict": [[key, value], ...]}            a dict with a key that begins with $
    {"$tuple": [item, ...]}                   Tuple
    {"$new": "module:Name", "state": {...}}   New; with "args": [...] where it has some
    {"$call": "module:name", "args": [...]}   Call
    {"$copy": [step, ...]}                    Copy
    {"$copy_from": "pointer"}                 CopyFrom
    {"$ref": [step, ...]}                     Ref
    {"$sealed": "module:name"}                Sealed
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias, cast

from msgspec import Struct, field

from ckptctl.codec.errors import RecordError

__all__ = [
    "Call",
    "Copy",
    "CopyFrom",
    "New",
    "Path",
    "Ref",
    "Sealed",
    "Tuple",
    "Value",
    "from_json",
    "same",
    "to_json",
]

Path: TypeAlias = tuple[str | int, ...]
"""Steps inside one pickle: a key or an attribute (str), a list or tuple index (int)."""


class Tuple(Struct, frozen=True):
    """A tuple, where a list would be another value: Ray compares some with its own."""

    items: tuple[Value, ...]


class New(Struct, frozen=True, kw_only=True):
    """A new object of a class, made without its ``__init__``, with this state."""

    global_: str
    """``module:qualname`` of the class."""
    state: Mapping[str, Value] = field(default_factory=dict)
    args: tuple[Value, ...] = ()
    """What ``__new__`` is given: the value of a member of an enum."""


class Call(Struct, frozen=True, kw_only=True):
    """What a function or class returns for these arguments when a reader calls it."""

    global_: str
    """``module:qualname`` of what is called."""
    args: tuple[Value, ...] = ()


class Copy(Struct, frozen=True):
    """An independent copy of the value at a path of the same pickle."""

    path: Path


class CopyFrom(Struct, frozen=True):
    """An independent copy of a value elsewhere in the same file."""

    pointer: str


class Ref(Struct, frozen=True):
    """The very object at a path of the same pickle, where that is possible, else a copy."""

    path: Path


class Sealed(Struct, frozen=True):
    """An object known by name only. Read and compared, never written."""

    name: str


Value: TypeAlias = (
    "bool | int | float | str | bytes | list[Value] | dict[str, Value]"
    " | Tuple | New | Call | Copy | CopyFrom | Ref | Sealed | None"
)


def to_json(value: Value) -> object:  # noqa: C901, PLR0911 - one per kind of value
    """The JSON form of a value. Raises RecordError for what is no value."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case bytes():
            return {"$bytes": value.hex()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case dict():
            return _dict_to_json(value)
        case Tuple():
            return {"$tuple": [to_json(item) for item in value.items]}
        case New():
            return _new_to_json(value)
        case Call():
            return {"$call": value.global_, "args": [to_json(item) for item in value.args]}
        case Copy():
            return {"$copy": list(value.path)}
        case CopyFrom():
            return {"$copy_from": value.pointer}
        case Ref():
            return {"$ref": list(value.path)}
        case Sealed():
            return {"$sealed": value.name}
    raise RecordError(f"not a value that can be written: {type(value).__name__}")


def _new_to_json(value: New) -> object:
    args = {"args": [to_json(item) for item in value.args]} if value.args else {}
    return {"$new": value.global_, "state": _dict_to_json(value.state), **args}


def _dict_to_json(value: Mapping[str, Value]) -> object:
    for key in value:
        if not isinstance(key, str):
            raise RecordError(f"a key must be text, not {type(key).__name__}")
    if any(key.startswith("$") for key in value):
        return {"$dict": [[key, to_json(item)] for key, item in value.items()]}
    return {key: to_json(item) for key, item in value.items()}


def from_json(obj: object) -> Value:
    """The value of a JSON form. Raises RecordError for an unknown ``$`` form.

    What is a value already, such as a New inside a list, stays as it is.
    """
    match obj:
        case None | bool() | int() | float() | str() | bytes():
            return obj
        case Tuple() | New() | Call() | Copy() | CopyFrom() | Ref() | Sealed():
            return obj  # a value already
        case list() | tuple():
            return [from_json(item) for item in obj]
        case dict() if any(isinstance(key, str) and key.startswith("$") for key in obj):
            return _tagged(obj)
        case dict():
            return {_text(key): from_json(item) for key, item in obj.items()}
    raise RecordError(f"not the JSON form of a value: {type(obj).__name__}")


def _tagged(obj: Mapping[object, object]) -> Value:  # noqa: PLR0911 - one per kind of value
    match obj:
        case {"$float": "nan" | "inf" | "-inf" as text, **rest} if not rest:
            return float(text)
        case {"$bytes": str(text), **rest} if not rest:
            return _bytes(text)
        case {"$dict": list(pairs), **rest} if not rest:
            return dict(_pair(pair) for pair in pairs)
        case {"$tuple": list(items), **rest} if not rest:
            return Tuple(tuple(from_json(item) for item in items))
        case {"$new": str(name), "state": state, **rest} if rest.keys() <= {"args"}:
            value, args = from_json(state), rest.get("args", [])
            if isinstance(value, dict) and isinstance(args, list):
                return New(global_=name, state=value, args=tuple(map(from_json, args)))
        case {"$call": str(name), "args": list(args), **rest} if not rest:
            return Call(global_=name, args=tuple(map(from_json, args)))
        case {"$copy": list(steps), **rest} if not rest:
            return Copy(_path(steps))
        case {"$copy_from": str(pointer), **rest} if not rest:
            return CopyFrom(pointer)
        case {"$ref": list(steps), **rest} if not rest:
            return Ref(_path(steps))
        case {"$sealed": str(name), **rest} if not rest:
            return Sealed(name)
    raise RecordError(f"unknown form of a value: {sorted(map(str, obj))}")


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise RecordError("$bytes is not hexadecimal") from None


def _pair(pair: object) -> tuple[str, Value]:
    match pair:
        case [str(key), value]:
            return key, from_json(value)
    raise RecordError("$dict holds pairs of a text and a value")


def _path(steps: list[object]) -> Path:
    for step in steps:
        if not isinstance(step, str | int) or isinstance(step, bool):
            raise RecordError("a path holds texts and whole numbers")
    return cast(Path, tuple(steps))


def _text(key: object) -> str:
    if not isinstance(key, str):
        raise RecordError(f"a key must be text, not {type(key).__name__}")
    return key


def same(left: object, right: object) -> bool:  # noqa: PLR0911 - one per kind of value
    """Whether two values are equal: nan equals nan, True is not 1, 1 equals 1.0.

    An int and a float that are equal count as the same because JSON, numpy and CSV
    disagree on which of the two a metric is.
    """
    match left, right:
        case (bool(), _) | (_, bool()):
            return left is right
        case (int() | float(), int() | float()):
            return left == right or (_is_nan(left) and _is_nan(right))
        case (list() | tuple(), list() | tuple()):
            return len(left) == len(right) and all(map(same, left, right))
        case (Tuple(), _):
            return same(left.items, right)
        case (_, Tuple()):
            return same(left, right.items)
        case (dict(), dict()):
            return left.keys() == right.keys() and all(
                same(value, right[key]) for key, value in left.items()
            )
        case (New(), New()):
            parts = [(one.args, dict(one.state)) for one in (left, right)]
            return left.global_ == right.global_ and same(*parts)
        case (Call(), Call()):
            return left.global_ == right.global_ and same(left.args, right.args)
    return type(left) is type(right) and left == right


def _is_nan(number: object) -> bool:
    return isinstance(number, float) and math.isnan(number)
