"""What a pickle is made of, as far as another Ray, pyarrow or Python may not take it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class StoredObject(Struct, frozen=True, kw_only=True):
    """An object of a class of Ray's, with its attributes."""

    name: str
    """``module:qualname`` of its class."""
    fields: frozenset[str]
    pointer: str | None
    """None where no pointer leads to it: inside the arguments of a call."""
    plain: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """Those of its attributes that are texts, numbers, truth values or None."""


class StoredCall(Struct, frozen=True, kw_only=True):
    """A call that makes an object of pyarrow's."""

    name: str
    args: tuple[object, ...] | None
    """In the JSON form of `codec.values`; None where they are more than plain values."""
    pointer: str | None


class StoredCode(Struct, frozen=True, kw_only=True):
    """A function that is kept by value: its bytecode is for one Python."""

    name: str
    file: str
    """The source file that it was compiled from."""
    pythons: frozenset[str]
    """The versions of Python that the bytecode may be for, such as ``3.11``."""


class Pickle(Struct, frozen=True, kw_only=True):
    """One pickle: a file, or a value inside a state file."""

    file: str
    pointer: str
    """The root of the pickle in its file."""
    names: frozenset[str] = frozenset()
    """``module:qualname`` of all that a reader imports."""
    objects: tuple[StoredObject, ...] = ()
    calls: tuple[StoredCall, ...] = ()
    code: tuple[StoredCode, ...] = ()


class StateKeys(Struct, frozen=True, kw_only=True):
    """The keys of one JSON object of a state file whose keys differ between the Rays."""

    file: str
    pointer: str
    part: str
    """``trial`` or ``runner``."""
    keys: frozenset[str]
