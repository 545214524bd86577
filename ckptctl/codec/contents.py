"""Look into a decoded pickle for what another Ray, pyarrow or Python may not take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import cast

from ckptctl.codec.errors import CodecError
from ckptctl.codec.pickle_code import code_of
from ckptctl.codec.pickle_nodes import Key, Opaque, attrs, state_dicts
from ckptctl.codec.pickle_reader import Doc, plain
from ckptctl.codec.pointer import Pointer
from ckptctl.codec.values import Value, to_json
from ckptctl.model.pickles import Pickle, StoredCall, StoredCode, StoredObject

__all__ = ["contents_of"]

_DEEPEST = 200
"""Steps of the longest pointer that is told: a text of its own for each level adds up."""
_Step = tuple[object, Pointer | None]


def contents_of(doc: Doc, root: Pointer) -> Pickle:
    """What the pickle at a pointer is made of; `file` is left empty."""
    objects: list[StoredObject] = []
    calls: list[StoredCall] = []
    code: list[StoredCode] = []
    for node, pointer in _opaques(doc.root, root):
        home = node.name.partition(".")[0].partition(":")[0]
        found = code_of(node)
        if found is not None:
            code.append(found)
        elif node.kind == "reduce" and home == "pyarrow":
            calls.append(_call(node, pointer))
        elif home == "ray" and state_dicts(node):
            objects.append(_object(node, pointer))
    return Pickle(
        file="",
        pointer=str(root),
        names=doc.globals,
        objects=tuple(objects),
        calls=tuple(calls),
        code=tuple(code),
    )


def _object(node: Opaque, pointer: Pointer | None) -> StoredObject:
    held = attrs(node)
    return StoredObject(
        name=node.name,
        fields=frozenset(held),
        pointer=None if pointer is None else str(pointer),
        plain={
            key: value
            for key, value in held.items()
            if value is None or isinstance(value, str | int | float)
        },
    )


def _call(node: Opaque, pointer: Pointer | None) -> StoredCall:
    changed = node.states or node.appended or node.items or node.setters
    return StoredCall(
        name=node.name,
        args=None if changed else _plain_args(node),
        pointer=None if pointer is None else str(pointer),
    )


def _plain_args(node: Opaque) -> tuple[object, ...] | None:
    try:
        values = [plain(arg, on_opaque=_refuse) for arg in node.args]
        return tuple(to_json(cast(Value, value)) for value in values)
    except (CodecError, TypeError):
        return None


def _refuse(_: Opaque) -> object:
    raise TypeError("more than a plain value")


def _opaques(root: object, pointer: Pointer) -> Iterator[tuple[Opaque, Pointer | None]]:
    """Every Opaque once, by the shortest way that a pointer can go, where there is one."""
    seen: set[int] = set()
    waiting: deque[_Step] = deque([(root, pointer)])
    aside: deque[_Step] = deque()
    while waiting or aside:
        node, at = waiting.popleft() if waiting else aside.popleft()
        if not isinstance(node, list | tuple | dict | Opaque) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Opaque):
            yield node, at
        aside += [(part, None) for part in _unreachable(node)]
        if at is None or len(at.levels[-1]) >= _DEEPEST:
            aside.extend((value, None) for _, value in _reachable(node))
        else:
            waiting.extend((value, at / key) for key, value in _reachable(node))


def _reachable(node: object) -> Iterator[tuple[str | int, object]]:
    """What a step of a pointer leads to (`codec.pickle_paths`)."""
    if isinstance(node, list | tuple):
        yield from enumerate(node)
    elif isinstance(node, dict):
        yield from _steps(node.items())
    elif isinstance(node, Opaque):
        for part in state_dicts(node):
            yield from _steps(part.items())
        if node.kind not in ("set", "frozenset"):
            yield from enumerate(node.appended)
            yield from _steps(node.items)


def _steps(items: Iterable[tuple[object, object]]) -> Iterator[tuple[str | int, object]]:
    for key, value in items:
        if isinstance(key, str | int) and _is_step(key):
            yield key, value


def _unreachable(node: object) -> Iterator[object]:
    """Everything else that is part of it."""
    if isinstance(node, dict):
        for key, value in node.items():
            if not _is_step(key):
                yield key.value if isinstance(key, Key) else key
                yield value
    if not isinstance(node, Opaque):
        return
    yield node.cls
    yield from node.args
    yield node.kwargs
    yield from node.states
    yield from node.setters
    if node.kind in ("set", "frozenset"):
        yield from node.appended
    for key, value in node.items:
        yield key
        if not _is_step(key):
            yield value


def _is_step(key: object) -> bool:
    return isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool) and key >= 0)
