"""Comparing two places: what `diff` is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptctl.diff import Comparison


def diff(a: str, b: str) -> Comparison:
    """Compare two places of one experiment by names, sizes and contents."""
    from ckptctl.diff import compare
    from ckptctl.storage.location import open_reader

    return compare(open_reader(a), open_reader(b))
