"""The checkpoint folders of one trial, and how whole each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.layouts.strays import Parts, count_parts, find_strays
from ckptctl.layouts.tree import Demands, FolderFile, Tree
from ckptctl.model.checkpoint import CheckpointState, Stray
from ckptctl.model.names import NameKind, kind_of
from ckptctl.storage.folders import Folder as Files

MARKERS = frozenset(
    {
        ".is_checkpoint",
        ".lazy_checkpoint_marker",
        ".metadata.json",
        ".metadata.pkl",
        ".null_marker",
        ".temp_marker",
        ".tune_metadata",
    }
)
"""Files that Ray adds to a checkpoint; the trainable's own files are the rest."""

# An enum takes its time to give a member.
_COMPLETE = CheckpointState.COMPLETE
_ENOUGH_SIBLINGS = 2
"""With one sibling only, two names made of a step or a loss would each lack the other's file."""


class Folder(Struct, frozen=True, kw_only=True, gc=False):
    """One checkpoint folder as it lies on storage."""

    name: str
    held: Files
    """All files in it, however deep."""
    state: CheckpointState
    size: int
    """Bytes of all files."""
    modified: float | None
    """The newest change of a file, in seconds since the epoch."""
    lacks: tuple[str, ...] = ()
    hollow: tuple[str, ...] = ()
    torn: tuple[tuple[str, str], ...] = ()
    strays: tuple[Stray, ...] = ()
    begun: float | None = None
    """The oldest change of a file that siblings have too, in seconds since the epoch."""

    @property
    def files(self) -> tuple[FolderFile, ...]:
        """All files in it, in order of path."""
        return tuple(self.held.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """What lies in it by name: its files, and the links that nobody follows."""
        return self.held.names + self.held.odd

    @property
    def count(self) -> int:
        """How many files it has."""
        return len(self.held.names)

    @property
    def own_files(self) -> list[FolderFile]:
        """What the trainable saved, without Ray's markers."""
        return [f for f in self.files if f.path not in MARKERS]


def checkpoint_folders(tree: Tree, parent: str, named: Iterable[str] = ()) -> tuple[Folder, ...]:
    """The folders directly below `parent` that are checkpoints by name, or that `named` lists."""
    also = set(named)
    deeper = (n for n in sorted(also) if "/" in n)
    path = f"{parent}/" if parent else ""
    near = tree.below(parent)
    folders = [
        _folder(name, held.flat())
        for name, held in near.each()
        if name.startswith("checkpoint") or name in also
    ]
    folders += [_folder(name, near.flat(name)) for name in deeper if near.has_folder(name)]
    if tree.demands == Demands():
        return tuple(folders)
    return tuple(_as_demanded(f, f"{path}{f.name}", tree.demands) for f in folders)


def _as_demanded(folder: Folder, path: str, demands: Demands) -> Folder:
    """The folder with what it falls short of; whether that makes it partial is judged later."""
    if folder.state is not CheckpointState.COMPLETE:
        return folder
    own = folder.own_files
    paths = [path for path in folder.paths if path not in MARKERS]
    lacks = (d for d in demands.required if not any(fnmatchcase(path, d) for path in paths))
    torn: list[tuple[str, str]] = []
    if look := demands.why_torn:
        torn = [(f.path, why) for f in own if (why := look(f"{path}/{f.path}", f.size))]
    return replace(folder, lacks=tuple(lacks), torn=tuple(torn))


def _folder(name: str, held: Files) -> Folder:
    state = _state(name, held.names + held.odd)  # the content may lie behind links
    times = held.times
    if None in times:
        times = tuple([time for time in times if time is not None])
    return Folder(
        name=name,
        held=held,
        state=state,
        size=sum(held.sizes),
        modified=max(times) if times else None,  # type: ignore[type-var]
        begun=min(times) if times and state is _COMPLETE else None,  # type: ignore[type-var]
    )


@lru_cache(1 << 14)
def _state(name: str, files: tuple[str, ...]) -> CheckpointState:
    """By the names alone, which trials repeat."""
    marks = MARKERS.intersection(files)
    if kind_of(name) is NameKind.TEMPORARY or ".temp_marker" in marks:
        return CheckpointState.TEMPORARY
    return CheckpointState.EMPTY if len(marks) == len(files) else CheckpointState.COMPLETE


def lacking(folders: Mapping[str, tuple[Folder, ...]], name: str) -> dict[str, tuple[Folder, ...]]:
    """The same, with whole folders that lack the file `name` as partial, where others have it."""
    everyone = [f for own in folders.values() for f in own]
    if not any(_holds(folder, name) for folder in everyone):
        return dict(folders)
    return {
        trial: tuple(
            folder
            if folder.state is not CheckpointState.COMPLETE or _holds(folder, name)
            else replace(folder, state=CheckpointState.PARTIAL, lacks=(name,))
            for folder in own
        )
        for trial, own in folders.items()
    }


def _holds(folder: Folder, name: str) -> bool:
    return name in folder.paths


class _Census(Struct, frozen=True):
    """How many of some folders hold a file, and how many hold it with bytes in it."""

    folders: int
    present: Counter[str]
    full: Counter[str]
    in_all_but_one: tuple[str, ...]
    parts: Parts | None
    """Only where some file is in one folder alone."""


def _census(folders: Iterable[Folder]) -> _Census:
    whole = [f.own_files for f in folders if f.state is CheckpointState.COMPLETE]
    present = Counter(f.path for own in whole for f in own)
    full = Counter(f.path for own in whole for f in own if f.size)
    parts = None
    if any(number == 1 for number in present.values()):
        parts = count_parts([f.path for f in own] for own in whole)
    but_one = tuple(sorted(p for p, number in present.items() if number == len(whole) - 1))
    return _Census(len(whole), present, full, but_one, parts)


def compare_siblings(folders: Mapping[str, tuple[Folder, ...]]) -> dict[str, tuple[Folder, ...]]:
    """Mark the folders that lack what all their siblings have, or have what none has, by trial.

    Siblings are the trial's other checkpoints; where those are too few to tell, all of the
    experiment's. Linear in the number of files.
    """
    everyone: _Census | None = None
    judged: dict[str, tuple[Folder, ...]] = {}
    for trial, own in folders.items():
        alike = _all_alike(own)
        if alike is not None:
            judged[trial] = alike
            continue
        census = _census(own)
        if census.folders <= _ENOUGH_SIBLINGS:
            everyone = everyone or _census(f for all_of in folders.values() for f in all_of)
            census = everyone
        judged[trial] = tuple([_judged(folder, census) for folder in own])
    return judged


def _all_alike(folders: tuple[Folder, ...]) -> tuple[Folder, ...] | None:
    """The folders of a trial, judged, where all hold the same files with bytes in them.

    It is what nearly all trials are like, and takes a fraction of a census. None for others.
    """
    if len(folders) <= _ENOUGH_SIBLINGS:
        return None
    names = folders[0].held.names
    if not MARKERS.isdisjoint(names):
        return None
    for folder in folders:
        if folder.state is not _COMPLETE or folder.lacks or folder.torn:
            return None
        if folder.held.names != names or 0 in folder.held.sizes:
            return None
    return folders


def _judged(folder: Folder, census: _Census) -> Folder:
    if folder.state is not CheckpointState.COMPLETE:
        return folder
    folder = _with_strays(folder, census)
    siblings = census.folders - 1
    mine = dict(zip(folder.held.names, folder.held.sizes, strict=True))
    lacks = folder.lacks
    if siblings >= _ENOUGH_SIBLINGS:
        missing = (p for p in census.in_all_but_one if p not in folder.paths)
        lacks = tuple(dict.fromkeys((*lacks, *missing)))
    hollow = tuple(
        sorted(
            path
            for path, size in mine.items()
            if size == 0 and path not in MARKERS and _full_elsewhere(path, census)
        )
    )
    torn = tuple((path, why) for path, why in folder.torn if path not in hollow)
    if not lacks and not hollow and not torn:
        return folder
    return replace(folder, state=CheckpointState.PARTIAL, lacks=lacks, hollow=hollow, torn=torn)


def _with_strays(folder: Folder, census: _Census) -> Folder:
    siblings = census.folders - 1
    if siblings < _ENOUGH_SIBLINGS:
        return replace(folder, begun=None)
    own = folder.own_files
    times = [f.modified for f in own if f.modified is not None and census.present[f.path] > 1]
    strays = find_strays(own, census.present, census.parts, siblings) if census.parts else ()
    return replace(folder, strays=tuple(strays), begun=min(times, default=None))


def _full_elsewhere(path: str, census: _Census) -> bool:
    others = census.present[path] - 1
    return others > 0 and census.full[path] == others
