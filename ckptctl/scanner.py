"""Finds every experiment under a location and reads it: one listing, each record once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ckptctl.errors import LocationError
from ckptctl.layouts import OWN_FOLDER, Layout, Match, Source, Tree, by_name, detect
from ckptctl.model.checkpoint import TrialDir
from ckptctl.model.experiment import Experiment
from ckptctl.storage.location import open_reader, parent_of
from ckptctl.storage.store import Entry, Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where one experiment lies below the location that was listed."""

    prefix: str
    tree: Tree
    layout: Layout
    match: Match


def scan(location: str, *, layout: str | None = None) -> tuple[Experiment, ...]:
    """Every experiment at or below `location`, in order of path.

    A trial's folder stands for its experiment, with `Experiment.focus` on the trial.

    Raises:
        LocationError: it cannot be read, or no experiment is in it.
        LayoutError: `layout` is unknown, or two layouts fit equally well.
    """
    reader = open_reader(location)
    entries = reader.list_tree()
    places = list(_places(entries, layout))
    if _looks_like_trial(entries) and not any(p.prefix == "" for p in places):
        around = _experiment_around(reader, layout)
        if around is not None:
            return (around,)
    if not places:
        raise LocationError(
            f"cannot scan {reader.location}: no experiment in it",
            hint=_near(entries),
            location=reader.location,
        )
    return tuple(_read(reader, place, entries) for place in places)


def _looks_like_trial(entries: Sequence[Entry]) -> bool:
    return any(
        e.path == "result.json" or (e.is_dir and e.path.startswith("checkpoint_"))
        for e in entries
        if "/" not in e.path
    )


def _places(entries: Sequence[Entry], layout: str | None) -> Iterator[_Place]:
    """Experiments do not overlap, but one may lie inside another's folder."""
    paths = [e.path for e in entries]
    taken: list[str] = []
    whole = Tree(entries)
    for folder in whole.all_folders():
        if OWN_FOLDER in folder.split("/") or _is_trial_of(folder, taken):
            continue
        if not _could_be_experiment(whole, folder):
            continue
        tree = Tree(_below(entries, paths, folder))
        found = (by_name(layout), Match(confidence=100, why="named")) if layout else detect(tree)
        if found is not None and found[0].match(tree) is not None:
            taken.append(folder)
            yield _Place(prefix=folder, tree=tree, layout=found[0], match=found[1])


def _could_be_experiment(tree: Tree, folder: str) -> bool:
    """By the names directly in it, so that a deep tree is not arranged once a folder."""
    files = tree.file_names(folder)
    if any(name.endswith(".json") for name in files):
        return True
    path = f"{folder}/" if folder else ""
    return any(tree.file(f"{path}{child}/result.json") for child in tree.folders(folder))


def _is_trial_of(folder: str, taken: Sequence[str]) -> bool:
    parent = folder.rpartition("/")[0]
    return bool(folder) and parent in taken and not folder.startswith(f"{OWN_FOLDER}/")


def _below(entries: Sequence[Entry], paths: Sequence[str], folder: str) -> Iterator[Entry]:
    if not folder:
        yield from entries
        return
    prefix = f"{folder}/"
    for position in range(bisect_left(paths, prefix), len(entries)):
        entry = entries[position]
        if not entry.path.startswith(prefix):
            return
        yield replace(entry, path=entry.path[len(prefix) :])


def _read(reader: Reader, place: _Place, entries: Sequence[Entry]) -> Experiment:
    source = Source(
        reader,
        place.tree,
        prefix=place.prefix,
        location=_join(reader.location, place.prefix),
        root=_join(reader.root, place.prefix),
    )
    experiment = place.layout.read(place.tree, source)
    return replace(experiment, why=place.match.why, pending=_pending(entries, place.prefix))


def _experiment_around(reader: Reader, layout: str | None) -> Experiment | None:
    """The experiment whose trial the location is, if its parent is one that knows it."""
    above = parent_of(reader.location)
    if above is None:
        return None
    parent, name = above
    try:
        outer = open_reader(parent)
        entries = outer.list_tree()
    except LocationError:
        return None
    for place in _places(entries, layout):
        if place.prefix == "":
            experiment = _read(outer, place, entries)
            if experiment.trial(name) is not None:
                return replace(experiment, focus=TrialDir(name))
    return None


def _pending(entries: Sequence[Entry], prefix: str) -> str | None:
    """The id of a plan whose journal was not closed, by names alone."""
    base = f"{prefix}/{OWN_FOLDER}/journal/" if prefix else f"{OWN_FOLDER}/journal/"
    opened: dict[str, str] = {}
    closed: set[str] = set()
    for entry in entries:
        if not entry.path.startswith(base):
            continue
        folder, _, name = entry.path[len(base) :].partition("/")
        if name == "plan.json":
            opened[folder] = folder.partition("-")[2] or folder
        elif name == "commit.json":
            closed.add(folder)
    return next((opened[f] for f in sorted(opened, reverse=True) if f not in closed), None)


def _join(base: str, prefix: str) -> str:
    return f"{base.rstrip('/')}/{prefix}" if prefix else base


def _near(entries: Sequence[Entry]) -> str:
    names = sorted({e.path.split("/", 1)[0] for e in entries})[:5]
    if not names:
        return "the folder is empty"
    return f"it has {', '.join(names)}; name the folder that holds experiment_state-*.json"
