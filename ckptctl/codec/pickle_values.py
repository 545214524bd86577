"""Decoded pickles in the value language, so that they can be shown and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ckptctl.codec.errors import LimitExceeded
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_plain import Converter
from ckptctl.codec.values import New, Sealed, Value

__all__ = ["to_value"]


def to_value(node: object, limits: Limits | None = None) -> Value:
    """A decoded value; objects with a plain state become New, others Sealed.

    Tuples and sets become lists, keys text; an object inside itself is Sealed. Raises
    LimitExceeded.
    """
    try:
        return cast(Value, _Values(limits or Limits(), None)(node, 0))
    except (RecursionError, MemoryError):
        raise LimitExceeded("too deep or too large") from None


class _Values(Converter):
    def __init__(self, limits: Limits, on_opaque: Callable[[Opaque], object] | None) -> None:
        super().__init__(limits, on_opaque)
        self._open: set[int] = set()

    def __call__(self, node: object, depth: int) -> object:
        made = super().__call__(node, depth)
        if isinstance(made, tuple | set | frozenset):
            return list(made)
        return str(made) if isinstance(made, complex) else made

    def mapping(self, pairs: list[tuple[object, object]], depth: int) -> dict[object, object]:
        made = super().mapping(pairs, depth)
        return {key if isinstance(key, str) else str(key): value for key, value in made.items()}

    def opaque(self, node: Opaque, depth: int) -> object:
        state = node.states[0] if len(node.states) == 1 else {} if not node.states else None
        extra = node.args or node.kwargs or node.appended or node.items or node.setters
        plain_state = isinstance(state, dict) and all(isinstance(key, str) for key in state)
        known = node.kind == "newobj" and not extra and plain_state
        if not known or not isinstance(state, dict) or id(node) in self._open:
            return Sealed(node.name)
        self._open.add(id(node))
        made = self.mapping(list(state.items()), depth)
        self._open.discard(id(node))
        return New(global_=node.name, state=cast("dict[str, Value]", made))
