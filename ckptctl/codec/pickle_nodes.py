"""What a decoded pickle is made of, besides Python's own plain values.

Numbers, texts, bytes, lists, tuples and dicts are themselves. Everything that a real
unpickler would import or call is an Opaque: its name and arguments, never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ckptctl.codec.errors import LimitExceeded

__all__ = [
    "Key",
    "Opaque",
    "attr",
    "attr_dict",
    "attr_int",
    "attr_list",
    "attr_str",
    "attrs",
    "walk",
]

_INT_KEYS = 1 << 60
_NAME_HOPS = 64


class Opaque(Struct, eq=False):
    """An object that was described but not made. Mutable: opcodes fill it bit by bit.

    Compared and hashed by identity, because comparing what a hostile file describes
    may never end.
    """

    kind: str
    """global, reduce, newobj, newobj_ex, obj, persid, ext, buffer, set or frozenset."""
    cls: object = None
    """What is called or instantiated: another Opaque; None for a global."""
    args: tuple[object, ...] = ()
    """Positional arguments; for a global its module and qualified name."""
    kwargs: object = None
    """Keyword arguments of newobj_ex."""
    states: Sequence[object] = ()
    """What BUILD handed over, in order; usually one dict."""
    appended: Sequence[object] = ()
    """List items or set members that were added."""
    items: Sequence[tuple[object, object]] = ()
    """Mapping items that were added."""
    setters: Sequence[Opaque] = ()
    """Calls made only to change this object, as cloudpickle does for code by value."""

    @property
    def name(self) -> str:
        """``module:qualname`` of the global, or of the class or function behind it."""
        node: object = self
        for _ in range(_NAME_HOPS):
            if not isinstance(node, Opaque):
                break
            if node.kind == "global":
                return ":".join(str(part) for part in node.args)
            if node.cls is None:
                return node.kind
            node = node.cls
        return "?"

    @property
    def last_name(self) -> str:
        """The last part of the name, which Ray keeps when it moves a class."""
        return self.name.rpartition(":")[2].rpartition(".")[2]

    def __repr__(self) -> str:
        return f"<Opaque {self.kind} {self.name}>"


class Key(Struct, eq=False):
    """A dict key that must not be hashed, such as a tuple: equal to itself only."""

    value: object

    def __repr__(self) -> str:
        return f"<Key {type(self.value).__name__}>"


def safe_key(key: object) -> object:
    """The key itself if hashing it is cheap and collisions cannot be crafted."""
    kind = type(key)
    if kind is str or key is None or kind is bool or kind is float or kind is bytes:
        return key
    if kind is int and -_INT_KEYS < key < _INT_KEYS:  # type: ignore[operator]
        return key
    return Key(key)


def attrs(node: object) -> dict[str, object]:
    """The attributes that BUILD gives an object; empty if there are none.

    A state is a dict, or a pair of a dict and the values of slots.
    """
    found: dict[str, object] = {}
    for part in state_dicts(node):
        found.update((key, value) for key, value in part.items() if isinstance(key, str))
    return found


def state_dicts(node: object) -> list[dict[object, object]]:
    """The dicts whose items become attributes, those that win last."""
    if not isinstance(node, Opaque):
        return []
    found: list[dict[object, object]] = []
    for state in node.states:
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        found.extend(part for part in parts if isinstance(part, dict))
    return found


def attr(node: object, *names: str) -> object:
    """The value of an attribute or dict key, followed name by name; None if not there."""
    for name in names:
        if isinstance(node, dict):
            node = node.get(name)
            continue
        if isinstance(node, Opaque) and len(node.states) == 1 and type(node.states[0]) is dict:
            node = node.states[0].get(name)  # as nearly all objects have it
            continue
        for part in reversed(state_dicts(node)):
            if name in part:
                node = part[name]
                break
        else:
            return None
    return node


def attr_int(node: object, *names: str) -> int | None:
    """The attribute if it is a whole number (and no bool), else None."""
    value = attr(node, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def attr_str(node: object, *names: str) -> str | None:
    """The attribute if it is text, else None."""
    value = attr(node, *names)
    return value if isinstance(value, str) else None


def attr_list(node: object, *names: str) -> list[object]:
    """The attribute if it is a list, else an empty one."""
    value = attr(node, *names)
    return value if isinstance(value, list) else []


def attr_dict(node: object, *names: str) -> dict[object, object]:
    """The attribute if it is a dict, else an empty one."""
    value = attr(node, *names)
    return value if isinstance(value, dict) else {}


def walk(root: object, max_nodes: int = 500_000) -> Iterator[object]:
    """Every value under ``root`` once, containers before what they hold.

    Raises LimitExceeded beyond ``max_nodes``.
    """
    seen: set[int] = set()
    left: list[object] = [root]
    count = 0
    while left:
        node = left.pop()
        if isinstance(node, list | tuple | dict | Opaque | Key):
            if id(node) in seen:
                continue
            seen.add(id(node))
            left.extend(reversed(children(node)))
        count += 1
        if count > max_nodes:
            raise LimitExceeded(f"more than {max_nodes} values")
        yield node


def children(node: object) -> list[object]:
    """What a container or an Opaque holds directly, keys included."""
    if isinstance(node, list | tuple):
        return list(node)
    if isinstance(node, dict):
        return [part for pair in node.items() for part in pair]
    if isinstance(node, Key):
        return [node.value]
    if not isinstance(node, Opaque) or node.kind == "global":
        return []
    pairs = [part for pair in node.items for part in pair]
    return [
        node.cls,
        *node.args,
        node.kwargs,
        *node.states,
        *node.appended,
        *pairs,
        *node.setters,
    ]
