"""Pickles that are alike, as those of an experiment's trials are: only what differs is decoded.

Two such pickles run through the same opcodes and differ in operands: in numbers, names and times.
Decoding takes a step for each opcode; what fits into a mold that was made of others takes a few
for each thing that differs. What fits nowhere is decoded as ever.
"""

from __future__ import annotations

import struct

from ckptctl.codec.errors import PickleError
from ckptctl.codec.pickle_mold import Mold, OddError, Ops
from ckptctl.codec.pickle_reader import decode

__all__ = ["Alike"]

_MOLDS = 8
"""Kinds of pickles that are told apart."""
_LESSONS = 32
"""How often it is learned from a pickle that fits nowhere, before they count as all different."""
_MOST_OPS, _MOST_BYTES = 10_000, 1 << 20
"""Of a pickle from which it is learned."""
_PART = 4
"""Of so many opcodes one may differ, at most: else it takes as long to compare as to decode."""


class Alike:
    """Decodes pickles of one sort, and learns from each what they have in common.

    Values that are the same in several of them are one object, so none may be changed.
    """

    def __init__(self) -> None:
        self._molds: list[Mold] = []
        self._single: list[Ops] = []
        """Pickles of which no second was seen."""
        self._lessons = 0

    def decode(self, data: bytes) -> object:
        """What the pickle at the beginning holds, as `decode(data).root` has it.

        Raises:
            PickleError: it cannot be read.
        """
        for place, mold in enumerate(self._molds):
            try:
                made = mold.cast(data)
            except (LookupError, ValueError, struct.error):
                continue
            if place:
                self._molds.insert(0, self._molds.pop(place))
            return made
        found = decode(data)
        if (
            self._lessons < _LESSONS
            and found.nops <= _MOST_OPS
            and found.end - found.start <= _MOST_BYTES
        ):
            self._lessons += 1
            self._learn(Ops.of(data[: found.end]))
        return found.root

    def _learn(self, ops: Ops) -> None:
        for place, mold in enumerate(self._molds):
            differing = mold.ops.differing(ops)
            if differing is not None:
                self._molds.pop(place)
                self._keep(mold.ops, mold.holes | differing)
                return
        for place, other in enumerate(self._single):
            differing = other.differing(ops)
            if differing is not None:
                self._single.pop(place)
                self._keep(other, differing | other.floats())
                return
        self._single = [ops, *self._single][:_MOLDS]

    def _keep(self, ops: Ops, holes: frozenset[int]) -> None:
        if len(holes) * _PART > len(ops.spans):
            return
        try:
            mold = Mold(ops, holes)
        except (OddError, PickleError):
            return
        self._molds = [mold, *self._molds][:_MOLDS]
