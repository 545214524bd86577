"""A pickled value asked by path, and narrowed; nothing of it is ever run."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.codec.json_records import fallback_bytes
from ckptctl.codec.pickle_alike import Alike
from ckptctl.codec.pickle_nodes import Opaque, attr, attrs
from ckptctl.codec.pickle_reader import decode, plain
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.values import Value


class Pickled:
    """One decoded value, or nothing: a path that leads nowhere gives an absent one."""

    __slots__ = ("_value", "present")

    def __init__(self, value: object, *, present: bool = True) -> None:
        self._value = value
        self.present = present
        """Whether there is a value, None counting as none."""

    def at(self, *names: str) -> Pickled:
        """The value of an attribute or key, name by name."""
        value = attr(self._value, *names)
        return Pickled(value, present=value is not None)

    def text(self, *names: str) -> str | None:
        """The value there, where it is a non-empty text."""
        value = attr(self._value, *names)
        return value if isinstance(value, str) and value else None

    def whole(self, *names: str) -> int | None:
        """The value there, where it is a whole number."""
        value = plain(attr(self._value, *names))
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def fields(self) -> frozenset[str]:
        """The names of an object's attributes."""
        return frozenset(attrs(self._value))

    @property
    def is_list(self) -> bool:
        """Whether it is a list, also an empty one."""
        return isinstance(self._value, list)

    def items(self) -> Iterator[Pickled]:
        """The items of a list or set; of anything else none."""
        value = self._value
        if isinstance(value, Opaque) and value.kind == "set":
            value = value.appended
        if isinstance(value, list):
            for item in value:
                yield Pickled(item)

    def plain(self) -> object:
        """The value with numbers, texts and containers as Python's own."""
        return plain(self._value)

    def value(self) -> Value:
        """The value in the value language of `codec.values`."""
        return to_value(self._value)

    def pair(self) -> tuple[object, object] | None:
        """Both parts of a tuple of two, as they were decoded; None where it is none."""
        value = self._value
        return value if isinstance(value, tuple) and len(value) == 2 else None

    def is_same(self, other: Pickled) -> bool:
        """Whether both are one object in the pickle, not merely equal."""
        return self._value is other._value

    @property
    def called(self) -> str | None:
        """``module:name`` of the class or function that makes the object, without making it."""
        return self._value.name if isinstance(self._value, Opaque) else None


def open_fallback(value: object, alike: Alike | None = None) -> Pickled:
    """What a JSON value holds as a pickle; absent where it holds none.

    With `alike` it is read as others before it that it may be alike.

    Raises:
        PickleError: it is marked as a pickle and cannot be read.
    """
    data = fallback_bytes(value)
    if data is None:
        return Pickled(None, present=False)
    root = decode(data).root if alike is None else alike.decode(data)
    return Pickled(root, present=root is not None)
