"""One file per on-disk convention; layouts only read.

Registration is the visible tuple below, most specific first. A layout of somebody else's is an
entry point of the group ``ckptctl.layouts``, and is only loaded when it is named, so that a broken
one breaks nothing else.
"""

from __future__ import annotations

from typing import cast

from ckptctl.errors import LayoutError, UsageError
from ckptctl.layouts.base import ALONE, Layout, Match, Source
from ckptctl.layouts.plain import Plain, plain_roots
from ckptctl.layouts.ray_train_v2 import RayTrainV2
from ckptctl.layouts.ray_tune import RayTune
from ckptctl.layouts.tree import OWN_FOLDER, Tree
from ckptctl.layouts.tune_folders import is_experiment

LAYOUTS: tuple[Layout, ...] = (RayTrainV2(), RayTune(), Plain())

GROUP = "ckptctl.layouts"

__all__ = [
    "ALONE",
    "GROUP",
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
    from importlib.metadata import entry_points  # it takes as long as all of our own

    for point in entry_points(group=GROUP, name=name):
        try:
            loaded = point.load()
            return cast(Layout, loaded() if isinstance(loaded, type) else loaded)
        except Exception as error:  # whatever it does when it is imported
            raise LayoutError(
                f"the layout {name} cannot be loaded: {type(error).__name__}: {error}",
                hint=f"it is {point.value}, of another package",
            ) from error
    known = ", ".join(name for layout in LAYOUTS for name in layout.names)
    raise UsageError(f"no layout is called {name}", hint=f"take one of: {known}")


def detect(tree: Tree) -> tuple[Layout, Match] | None:
    """The layout that fits a listing best, or None.

    Raises:
        LayoutError: two fit equally well.
    """
    matches: list[tuple[Layout, Match]] = []
    for layout in LAYOUTS:
        if matches and isinstance(layout, Plain):
            continue  # it is for what nothing else fits, and looks at the names of all folders
        if match := layout.match(tree):
            matches.append((layout, match))
    if not matches:
        return None
    best = max(match.confidence for _, match in matches)
    winners = [(layout, match) for layout, match in matches if match.confidence == best]
    if len(winners) > 1:
        names = " and ".join(layout.names[-1] for layout, _ in winners)
        raise LayoutError(f"{names} fit equally well", hint="name one with --layout")
    return winners[0]
