"""One file per on-disk convention; layouts only read.

Registration is the visible tuple below, most specific first.
"""

from __future__ import annotations

from ckptctl.errors import LayoutError
from ckptctl.layouts.base import ALONE, Layout, Match, Source
from ckptctl.layouts.plain import Plain, plain_roots
from ckptctl.layouts.ray_train_v2 import RayTrainV2
from ckptctl.layouts.ray_tune import RayTune
from ckptctl.layouts.tree import OWN_FOLDER, Tree
from ckptctl.layouts.tune_folders import is_experiment

LAYOUTS: tuple[Layout, ...] = (RayTrainV2(), RayTune(), Plain())

__all__ = [
    "ALONE",
    "LAYOUTS",
    "OWN_FOLDER",
    "Layout",
    "Match",
    "Plain",
    "Source",
    "Tree",
    "by_name",
    "detect",
    "is_experiment",
    "plain_roots",
]


def by_name(name: str) -> Layout:
    """The layout that `--layout` names; the dialects of Tune share one.

    Raises:
        LayoutError: there is none of that name.
    """
    for layout in LAYOUTS:
        if name in layout.names:
            return layout
    known = ", ".join(name for layout in LAYOUTS for name in layout.names)
    raise LayoutError(f"no layout is called {name}", hint=f"take one of: {known}")


def detect(tree: Tree) -> tuple[Layout, Match] | None:
    """The layout that fits a listing best, or None.

    Raises:
        LayoutError: two fit equally well.
    """
    matches = [(layout, match) for layout in LAYOUTS if (match := layout.match(tree))]
    if not matches:
        return None
    best = max(match.confidence for _, match in matches)
    winners = [(layout, match) for layout, match in matches if match.confidence == best]
    if len(winners) > 1:
        names = " and ".join(layout.names[-1] for layout, _ in winners)
        raise LayoutError(f"{names} fit equally well", hint="name one with --layout")
    return winners[0]
