"""Turn decoded values into plain Python values that can be shown and compared."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath

from ckptctl.codec.errors import LimitExceeded
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Key, Opaque, attr, safe_key
from ckptctl.codec.pickle_numbers import MISSING, number, raw_bytes

__all__ = ["Converter", "plain"]

_MAX_KEY_PARTS = 16
_MAX_KEY_TEXT = 200
_SCALARS = frozenset({int, float, str, bool, type(None)})


def plain(
    value: object,
    on_opaque: Callable[[Opaque], object] | None = None,
    limits: Limits | None = None,
) -> object:
    """A copy made of plain values only.

    Numpy scalars become numbers and arrays nested lists; OrderedDict and defaultdict
    become dict, deque becomes list; UUID, paths, Decimal, date and datetime become
    text (ISO 8601), timedelta seconds. Keys that cannot be hashed safely become text.
    What remains opaque goes through ``on_opaque``, by default to ``"<module:name>"``.

    Raises LimitExceeded for more nodes or levels than the limits allow.
    """
    try:
        return Converter(limits or Limits(), on_opaque)(value, 0)
    except (RecursionError, MemoryError):
        raise LimitExceeded("too deep or too large") from None


class Converter:
    """One conversion; counts what it makes."""

    def __init__(self, limits: Limits, on_opaque: Callable[[Opaque], object] | None) -> None:
        self._left = limits.max_nodes
        self._depth = limits.max_depth
        self._on_opaque = on_opaque

    def opaque(self, node: Opaque, depth: int) -> object:
        """What stands for an object that has no plain form, ``depth`` levels down."""
        return self._on_opaque(node) if self._on_opaque else f"<{node.name}>"

    def __call__(self, node: object, depth: int) -> object:
        """Convert one value that lies ``depth`` levels below the root."""
        self._left -= 1
        if self._left < 0 or depth > self._depth:
            raise LimitExceeded("more values, or nested deeper, than the limits allow")
        kind = type(node)
        if kind is list:
            return [self(item, depth + 1) for item in node]  # type: ignore[attr-defined]
        if kind is dict:
            return self.mapping(list(node.items()), depth)  # type: ignore[attr-defined]
        if kind is tuple:
            return tuple(self(item, depth + 1) for item in node)  # type: ignore[attr-defined]
        if isinstance(node, Opaque):
            return self._known(node, depth)
        return bytes(node) if isinstance(node, bytearray) else node

    def mapping(self, pairs: list[tuple[object, object]], depth: int) -> dict[object, object]:
        """A dict of pairs."""
        if depth >= self._depth:
            return {self.key(key, depth): self(value, depth + 1) for key, value in pairs}
        made: dict[object, object] = {}
        for key, value in pairs:
            # Nearly all are metrics: texts with numbers, which need no call of their own.
            own = key if type(key) is str else self.key(key, depth)
            if type(value) in _SCALARS:
                self._left -= 1
                made[own] = value
            else:
                made[own] = self(value, depth + 1)
        if self._left < 0:
            raise LimitExceeded("more values, or nested deeper, than the limits allow")
        return made

    def key(self, key: object, depth: int) -> object:
        """The key, or a text for it."""
        key = key.value if isinstance(key, Key) else key
        if isinstance(key, Opaque):
            found = number(key)
            key = self.opaque(key, depth) if found is MISSING else found
        return key if safe_key(key) is key else _key_text(key)

    def _known(self, node: Opaque, depth: int) -> object:
        if node.kind in ("set", "frozenset"):
            return self._members(node, depth)
        found = number(node)
        if found is not MISSING:
            return found
        if isinstance(node.cls, Opaque) and node.cls.kind == "global":
            handler = _KNOWN.get(node.cls.name)
            if handler is not None:
                found = handler(self, node, depth)
                if found is not MISSING:
                    return found
        return self.opaque(node, depth)

    def _members(self, node: Opaque, depth: int) -> object:
        """A set if its members hash safely, else a list."""
        values = [self(item, depth + 1) for item in node.appended]
        if any(safe_key(value) is not value for value in values):
            return values
        return set(values) if node.kind == "set" else frozenset(values)


def _key_text(key: object) -> str:
    """A short text for a key; never the repr of something unbounded."""
    if isinstance(key, int):
        return str(key) if key.bit_length() < 4096 else "<int>"
    if isinstance(key, tuple) and len(key) <= _MAX_KEY_PARTS:
        return f"({', '.join(_part_text(part) for part in key)})"
    return f"<{type(key).__name__}>"


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return repr(part[:_MAX_KEY_TEXT])
    if isinstance(part, int):
        return _key_text(part) if not isinstance(part, bool) else str(part)
    return repr(part) if part is None or isinstance(part, float) else f"<{type(part).__name__}>"


def _mapping(convert: Converter, node: Opaque, depth: int) -> object:
    """OrderedDict, defaultdict, Counter: pairs in the arguments, then items."""
    pairs: list[tuple[object, object]] = []
    for arg in node.args:
        if isinstance(arg, dict):
            pairs.extend(arg.items())
        elif isinstance(arg, list):
            pairs.extend(tuple(pair) for pair in arg if isinstance(pair, list) and len(pair) == 2)
    return convert.mapping([*pairs, *node.items], depth)


def _sequence(convert: Converter, node: Opaque, depth: int) -> object:
    first = node.args[0] if node.args else []
    head = list(first) if isinstance(first, list | tuple) else []
    return [convert(item, depth + 1) for item in (*head, *node.appended)]


def _old_set(convert: Converter, node: Opaque, depth: int) -> object:
    """A set of protocols below 4: called with a list."""
    kind = node.name.rpartition(":")[2]
    if len(node.args) > 1:
        return MISSING
    first = node.args[0] if node.args else []
    if not isinstance(first, list):
        return MISSING
    return convert(Opaque(kind, appended=first), depth)


def _uuid(_convert: Converter, node: Opaque, _depth: int) -> object:
    value = attr(node, "int")
    if isinstance(value, int) and 0 <= value < 1 << 128:
        return str(uuid.UUID(int=value))
    return MISSING


def _path(_convert: Converter, node: Opaque, _depth: int) -> object:
    parts = [part for part in node.args if isinstance(part, str)]
    if len(parts) != len(node.args):
        return MISSING
    flavour = PureWindowsPath if "Windows" in node.name else PurePosixPath
    return str(flavour(*parts))


def _text(_convert: Converter, node: Opaque, _depth: int) -> object:
    return node.args[0] if len(node.args) == 1 and isinstance(node.args[0], str) else MISSING


def _date(_convert: Converter, node: Opaque, _depth: int) -> object:
    raw = raw_bytes(node.args[0]) if len(node.args) == 1 else None
    if raw is None or len(raw) != 4:
        return MISSING
    try:
        return dt.date(*struct.unpack(">HBB", raw)).isoformat()
    except ValueError:
        return MISSING


def _datetime(convert: Converter, node: Opaque, depth: int) -> object:
    raw = raw_bytes(node.args[0]) if 1 <= len(node.args) <= 2 else None
    if raw is None or len(raw) != 10:
        return MISSING
    zone = _zone(convert, node.args[1], depth) if len(node.args) == 2 else None
    if len(node.args) == 2 and zone is None:
        return MISSING
    year, month, day, hour, minute, second = struct.unpack(">H5B", raw[:7])
    fold, month = month >> 7, month & 0x7F  # the fold is the top bit of the month
    micro = int.from_bytes(raw[7:], "big")
    try:
        made = dt.datetime(
            year,
            month,
            day,
            hour,
            minute,
            second,
            micro,
            zone,
            fold=fold,
        )
    except ValueError:
        return MISSING
    return made.isoformat()


def _zone(convert: Converter, node: object, depth: int) -> dt.tzinfo | None:
    if not isinstance(node, Opaque) or node.name != "datetime:timezone" or not node.args:
        return None
    offset = convert(node.args[0], depth + 1)
    if not isinstance(offset, float):
        return None
    try:
        return dt.timezone(dt.timedelta(seconds=offset))
    except (ValueError, OverflowError):
        return None


def _timedelta(_convert: Converter, node: Opaque, _depth: int) -> object:
    parts = [part for part in node.args if type(part) is int]
    if len(parts) != len(node.args) or len(parts) > 3:
        return MISSING
    try:
        return dt.timedelta(*parts).total_seconds()
    except OverflowError:
        return MISSING


def _complex(_convert: Converter, node: Opaque, _depth: int) -> object:
    if len(node.args) != 2 or not all(isinstance(part, float) for part in node.args):
        return MISSING
    return complex(*node.args)  # type: ignore[call-overload]


def _bytearray(_convert: Converter, node: Opaque, _depth: int) -> object:
    if not node.args:
        return b""
    raw = raw_bytes(node.args[0])
    if raw is None and len(node.args) == 2:
        raw = raw_bytes(Opaque("reduce", Opaque("global", args=("_codecs", "encode")), node.args))
    return MISSING if raw is None else raw


def _bytes(_convert: Converter, node: Opaque, _depth: int) -> object:
    raw = raw_bytes(node)
    return MISSING if raw is None else raw


_KNOWN: dict[str, Callable[[Converter, Opaque, int], object]] = {
    "collections:OrderedDict": _mapping,
    "collections:defaultdict": _mapping,
    "collections:Counter": _mapping,
    "collections:deque": _sequence,
    "uuid:UUID": _uuid,
    "decimal:Decimal": _text,
    "datetime:date": _date,
    "datetime:datetime": _datetime,
    "datetime:timedelta": _timedelta,
    "_codecs:encode": _bytes,
    **{f"{module}:bytes": _bytes for module in ("builtins", "__builtin__")},
    **{f"{module}:bytearray": _bytearray for module in ("builtins", "__builtin__")},
    **{f"{module}:complex": _complex for module in ("builtins", "__builtin__")},
    **{
        f"{module}:{kind}": _old_set
        for module in ("builtins", "__builtin__")
        for kind in ("set", "frozenset")
    },
    **{
        f"{module}:{kind}{flavour}Path": _path
        for module in ("pathlib", "pathlib._local")
        for kind in ("", "Pure")
        for flavour in ("Posix", "Windows")
    },
}
