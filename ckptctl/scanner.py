"""Finds every experiment under a location and reads it: one listing, each record once."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.errors import LocationError
from ckptctl.layouts import (
    ALONE,
    LAYOUTS,
    OWN_FOLDER,
    Layout,
    Match,
    Plain,
    Source,
    Tree,
    by_name,
    detect,
    is_experiment,
    plain_roots,
)
from ckptctl.layouts.stages import may_hold_payloads, with_stages
from ckptctl.layouts.tree import Demands
from ckptctl.model.checkpoint import TrialDir
from ckptctl.model.experiment import Experiment, RecordRole, Unreadable
from ckptctl.storage.folders import Folder
from ckptctl.storage.location import open_reader, parent_of
from ckptctl.storage.store import Reader

if TYPE_CHECKING:
    from ckptctl.cluster import Workers

_ENTRY = re.compile(r"[0-9]{4,}-[0-9a-f]{12}")
"""The name of a journal entry."""
_Own = tuple[str, bool]
"""A path, and whether it is a file."""


class _Place(Struct, frozen=True, kw_only=True):
    """Where one experiment lies below the location that was listed."""

    prefix: str
    tree: Tree
    layout: Layout
    match: Match
    own: tuple[_Own, ...] = ()
    """What lies in ckptctl's own folder, relative to that."""

    @property
    def own_folder(self) -> str:
        """The path of ckptctl's own folder."""
        return f"{self.prefix}/{OWN_FOLDER}" if self.prefix else OWN_FOLDER


_LOG = "result.json"
_STATE_PREFIX = "experiment_state-"
_MAX_LOCK_BYTES = 64 * 1024


class Watch(Protocol):
    """Told how a scan goes on."""

    def found(self, experiments: int) -> None:
        """So many experiments are going to be read."""

    def read(self, path: str) -> None:
        """A file is going to be read."""

    def done(self) -> None:
        """An experiment was read."""


class _Asked(Struct, frozen=True, kw_only=True):
    """How an experiment is read."""

    collect_globals: bool
    digests: bool
    deep: bool
    stages: bool
    required: tuple[str, ...]
    watch: Watch | None
    workers: Workers | None


def scan(  # noqa: PLR0913 - keyword-only options
    location: str,
    *,
    layout: str | None = None,
    collect_globals: bool = False,
    digests: bool = True,
    deep: bool = False,
    stages: bool = False,
    required: Sequence[str] = (),
    watch: Watch | None = None,
    workers: Workers | None = None,
) -> tuple[Experiment, ...]:
    """Every experiment at or below `location`, in order of path.

    A trial's folder stands for its experiment, with `Experiment.focus` on the trial.
    `collect_globals` also tells what a reader of the records has to import; without `digests`
    no plan can be made of what is found, if it is not in the middle of one; `deep` looks into
    the headers of the files of checkpoints, and `required` are patterns of files that each
    checkpoint has to have. What Lightning left is read of one checkpoint of an experiment, and
    with `stages` or `deep` of one checkpoint of every trial. With `workers` these list and read.

    Raises:
        LocationError: it cannot be read, or no experiment is in it.
        LayoutError: `layout` is unknown, or two layouts fit equally well.
        ClusterError: the workers do not see what is there.
    """
    asked = _Asked(
        collect_globals=collect_globals,
        digests=digests,
        deep=deep,
        stages=stages or deep,
        required=tuple(required),
        watch=watch,
        workers=workers,
    )
    reader = _open(location, workers)
    listed = reader.list_folders()
    places = _places(listed, layout)
    sure = any(p.prefix == "" and p.match.confidence > ALONE for p in places)
    if _looks_like_trial(listed) and not sure and layout not in Plain.names:
        around = _experiment_around(reader, layout, asked)
        if around is not None:
            return (around,)
    if not places:
        raise LocationError(
            f"cannot scan {reader.location}: no experiment in it",
            hint=_near(listed),
            location=reader.location,
        )
    if watch is not None:
        watch.found(len(places))
    return tuple(_read(reader, place, asked, alone=len(places) == 1) for place in places)


def _open(location: str, workers: Workers | None) -> Reader:
    """A location for reading, by workers where there are some."""
    if workers is None:
        return open_reader(location)
    from ckptctl.cluster import ClusterReader

    return ClusterReader(location, workers)


def _looks_like_trial(listed: Folder) -> bool:
    return _LOG in listed.names or any(name.startswith("checkpoint_") for name in listed.folders)


def _places(listed: Folder, layout: str | None) -> tuple[_Place, ...]:
    """The experiments, in order of path.

    Their folders do not overlap, but one may lie inside another's. What nothing else takes is
    plain where it holds folders named like checkpoints.
    """
    finder = _Finder(listed, layout)
    taken: dict[str, _Place] = {}
    if not isinstance(finder.named, Plain):
        for path, folder in finder.places():
            place = finder.experiment(path, folder, taken)
            if place is not None:
                taken[path] = place
    if finder.named is None or isinstance(finder.named, Plain):
        for path in plain_roots(finder.whole, taken):
            place = finder.plain(path)
            if place is not None:
                taken[path] = place
    return tuple(taken[path] for path in sorted(taken))


class _Finder:
    """Looks for experiments in one listing."""

    def __init__(self, listed: Folder, layout: str | None) -> None:
        self._listed = listed
        self.whole = Tree(listed)
        self.named = by_name(layout) if layout else None
        self._is_ours = self.named is None or self.named in LAYOUTS
        known = listed.census
        shapes = known.shapes if known else {f.names for _, f in self.whole.all_folders()}
        self._with_records = frozenset(names for names in shapes if _holds_json(names))

    def wanted(self, folder: Folder) -> bool:
        """Whether a folder could be an experiment; any could, of a layout of somebody else's."""
        return not self._is_ours or self._could_be_experiment(folder)

    def _could_be_experiment(self, folder: Folder) -> bool:
        """By the names directly in it, since nearly all folders are none."""
        if folder.names in self._with_records:
            return True
        return bool(folder.folders) and any(_LOG in f.names for f in folder.folders.values())

    def places(self) -> Iterator[tuple[str, Folder]]:
        """Every folder that holds others or could be an experiment, by path."""
        records = self._with_records
        if not self._is_ours:
            return self.whole.all_folders()
        return self.whole.all_folders(lambda f: bool(f.folders) or f.names in records)

    def experiment(self, path: str, folder: Folder, taken: Container[str]) -> _Place | None:
        """The experiment in a folder by its records, or None."""
        if not self.wanted(folder):
            return None
        if OWN_FOLDER in path.split("/") or _is_trial_of(path, taken, self.whole):
            return None
        tree = Tree(folder, self._listed.census)
        found = (self.named, self.named.match(tree)) if self.named else detect(tree)
        if found is None or found[1] is None or isinstance(found[0], Plain):
            return None
        if found[1].confidence <= ALONE and path:
            return None
        return self._place(path, tree, found[0], found[1])

    def plain(self, path: str) -> _Place | None:
        """A folder as one that holds bare checkpoints."""
        layout, tree = Plain(), self.whole.below(path)
        match = layout.match(tree)
        return None if match is None else self._place(path, tree, layout, match)

    def _place(self, path: str, tree: Tree, layout: Layout, match: Match) -> _Place:
        place = _Place(prefix=path, tree=tree, layout=layout, match=match)
        own = self._listed.at(place.own_folder)
        held = [(path, file is not None) for path, file in own.below()] if own is not None else []
        journal = own.at("journal") if own is not None else None
        odd = [(f"journal/{name}", True) for name in journal.odd] if journal is not None else []
        return replace(place, own=tuple(sorted(held + odd)))


def _holds_json(names: tuple[str, ...]) -> bool:
    return any(name.endswith(".json") for name in names)


def _is_trial_of(folder: str, taken: Container[str], tree: Tree) -> bool:
    parent = folder.rpartition("/")[0]
    return bool(folder) and parent in taken and not is_experiment(tree, folder)


def _read(reader: Reader, place: _Place, asked: _Asked, *, alone: bool = False) -> Experiment:
    place.tree.demands = _demands(reader, place, asked)
    place.tree.releases = alone and not may_hold_payloads(place.tree)
    with Source(
        reader,
        place.tree,
        prefix=place.prefix,
        location=_join(reader.location, place.prefix),
        root=_join(reader.root, place.prefix),
        collect_globals=asked.collect_globals,
        # What a plan wrote before is told from what a run wrote by its content.
        digests=asked.digests or bool(place.own),
        told=asked.watch.read if asked.watch else None,
        read_many=getattr(reader, "read_many", None),
    ) as source:
        experiment = place.layout.read(place.tree, source)
        own = {path for path, _ in place.own}
        experiment = with_stages(experiment, place.tree, source, every=asked.stages, own=own)
    if asked.watch is not None:
        asked.watch.done()
    return replace(
        experiment,
        why=place.match.why,
        problems=(
            *experiment.problems,
            *(Unreadable(file=p, reason=why) for p, why in place.tree.unreadable.items()),
            *_not_followed(experiment, place.tree),
        ),
        pending=_pending(place.own),
        quarantined=_quarantined(place.own),
        lock_holder=_lock_holder(reader, place),
    )


def _not_followed(experiment: Experiment, tree: Tree) -> Iterator[Unreadable]:
    """Records and trials behind a link or a special file: there, but nobody looked."""
    trials = {t.dirname for t in experiment.trials}
    roles = {"result.json": RecordRole.RESULT_LOG, "progress.csv": RecordRole.PROGRESS}
    logs = {f"{name}/{log}": role for name in trials for log, role in roles.items()}
    for path in experiment.odd:
        state = "/" not in path and path.startswith(_STATE_PREFIX) and path.endswith(".json")
        if path in tree.unreadable or not (state or path in trials or path in logs):
            continue
        yield Unreadable(
            file=path,
            reason="it is a symbolic link or a special file, which is never followed",
            role=RecordRole.STATE if state else logs.get(path),
        )


def _demands(reader: Reader, place: _Place, asked: _Asked) -> Demands:
    """What is asked of the checkpoints of one experiment."""
    by_workers = getattr(reader, "payloads", None)
    ahead = by_workers(place.tree, place.prefix) if by_workers else None

    def look(path: str, size: int) -> str | None:
        from ckptctl.layouts.payload import why_torn

        if asked.watch is not None:
            asked.watch.read(path)
        if ahead is not None and ahead.whole(path):
            return None
        full = f"{place.prefix}/{path}" if place.prefix else path
        return why_torn(path, size, lambda: reader.open_read(full))

    return Demands(required=asked.required, why_torn=look if asked.deep else None)


def _experiment_around(reader: Reader, layout: str | None, asked: _Asked) -> Experiment | None:
    """The experiment whose trial the location is, if its parent is one that knows it."""
    above = parent_of(reader.location)
    if above is None:
        return None
    parent, name = above
    try:
        outer = _open(parent, asked.workers)
        if not any(n.startswith(_STATE_PREFIX) for n in outer.list_names()):
            return None
        listed = outer.list_folders()
    except LocationError:
        return None
    for place in _places(listed, layout):
        if place.prefix == "":
            experiment = _read(outer, place, asked)
            if experiment.state_file is not None and experiment.trial(name) is not None:
                return replace(experiment, focus=TrialDir(name))
    return None


def _pending(own: Sequence[_Own]) -> str | None:
    """The id of a plan whose journal was not closed, by names alone."""
    opened: dict[str, str] = {}
    closed: set[str] = set()
    for entry, is_file in own:
        where, _, path = entry.partition("/")
        folder, _, name = path.partition("/")
        if where != "journal":
            continue
        # A link in the place of an entry tells nothing that can be relied on.
        if name == "plan.json" or (is_file and not name and _ENTRY.fullmatch(folder)):
            opened[folder] = folder.partition("-")[2] or folder
        elif name == "commit.json":
            closed.add(folder)
    return next((opened[f] for f in sorted(opened, reverse=True) if f not in closed), None)


def _quarantined(own: Sequence[_Own]) -> tuple[str, ...]:
    """The folders that were moved aside: a trial's below its name, those of a lone one directly."""
    found: set[str] = set()
    for entry, _ in own:
        where, *parts = entry.split("/")
        if where == "quarantine":
            found.update("/".join(parts[:depth]) for depth in (1, 2) if len(parts) >= depth)
    return tuple(sorted(found))


def _lock_holder(reader: Reader, place: _Place) -> str | None:
    """Who holds the lock: the last of those who took it over, one from the other."""
    names = {path for path, is_file in place.own if is_file}
    name, holder = "lock.json", None
    while name in names:
        names.remove(name)
        lock = _lock(reader, f"{place.own_folder}/{name}")
        holder = "an unknown process"
        if isinstance(lock.get("pid"), int) and isinstance(lock.get("host"), str):
            holder = f"process {lock['pid']} on {lock['host']}"
        name = f"lock-{lock.get('token')}.json"
    return holder


def _lock(reader: Reader, path: str) -> dict[str, object]:
    """What a lock says; nothing where it is gone by now or cannot be read."""
    try:
        lock = json.loads(reader.read_bytes(path, _MAX_LOCK_BYTES))
    except (LocationError, OSError, ValueError, RecursionError):
        return {}
    return lock if isinstance(lock, dict) else {}


def _join(base: str, prefix: str) -> str:
    return f"{base.rstrip('/')}/{prefix}" if prefix else base


def _near(listed: Folder) -> str:
    names = sorted({*listed.folders, *listed.odd, *listed.names})[:5]
    if not names:
        return "the folder is empty"
    return f"it has {', '.join(names)}; name the folder that holds experiment_state-*.json"
