"""Checkpoint folders without any records: all that is known are their names and files.

It fits where nothing else does. A folder that holds checkpoints is one trial, ``.``; a folder of
such folders has a trial for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar

from msgspec.structs import replace

from ckptctl.layouts.base import Match, Source
from ckptctl.layouts.folders import Folder, checkpoint_folders, compare_siblings
from ckptctl.layouts.order import save_order
from ckptctl.layouts.tree import OWN_FOLDER, Tree
from ckptctl.layouts.tune_books import storage_book
from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import CheckpointRef, Experiment, Trial
from ckptctl.model.names import PREFIX, NameKind, index_of, kind_of, natural_key

_ALONE = TrialDir(".")


class Plain:
    """Bare checkpoint folders."""

    names: ClassVar[tuple[str, ...]] = ("plain",)

    def match(self, tree: Tree) -> Match | None:
        """By folders that are named like checkpoints."""
        if not _trial_dirs(tree):
            return None
        return Match(confidence=10, why="folders named like checkpoints, and no records of them")

    def read(self, tree: Tree, source: Source) -> Experiment:
        """The names and files of the checkpoints; there is nothing to open."""
        folders = compare_siblings(
            {
                name: checkpoint_folders(tree, "" if name == _ALONE else name)
                for name in _trial_dirs(tree)
            }
        )
        trials = tuple(_trial(TrialDir(name), own) for name, own in folders.items())
        return Experiment(
            location=source.location,
            name=source.root.rstrip("/").rpartition("/")[2] or source.location,
            layout=self.names[0],
            trials=trials,
            actual_root=source.root,
            odd=tree.odd_paths(),
            unparsed=tuple(
                c.path for t in trials for c in t.checkpoints if kind_of(c.name) is NameKind.OTHER
            ),
        )


def plain_roots(tree: Tree, taken: Collection[str]) -> tuple[str, ...]:
    """The folders that are plain experiments, given those that other layouts have taken.

    None lies in a taken one or in a checkpoint. Folders beside each other are trials of the folder
    around them, unless that holds checkpoints or experiments of its own.
    """
    holders = _holders(tree, taken)
    around = {folder: _parent(folder) for folder in holders}
    busy = {p for folder in taken for p in _ancestors(folder)} | {*holders, *taken}
    roots = {
        folder if parent is None or parent in busy else parent for folder, parent in around.items()
    }
    return tuple(sorted(roots))


def _holders(tree: Tree, taken: Collection[str]) -> tuple[str, ...]:
    found: list[str] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        name = folder.rpartition("/")[2]
        if folder in taken or name == OWN_FOLDER or name.startswith(PREFIX):
            continue
        if _holds_checkpoints(tree, folder):
            found.append(folder)
        else:
            waiting += [f"{folder}/{n}" if folder else n for n in tree.folders(folder)]
    return tuple(found)


def _holds_checkpoints(tree: Tree, folder: str) -> bool:
    named = (NameKind.RAY_INDEX, NameKind.TAGGED, NameKind.DATE)
    return any(kind_of(name) in named for name in tree.folders(folder))


def _parent(folder: str) -> str | None:
    return folder.rpartition("/")[0] if folder else None


def _ancestors(folder: str) -> Iterable[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _trial_dirs(tree: Tree) -> tuple[str, ...]:
    if _holds_checkpoints(tree, ""):
        return (_ALONE,)
    return tuple(n for n in tree.folders() if n != OWN_FOLDER and _holds_checkpoints(tree, n))


def _trial(dirname: TrialDir, folders: tuple[Folder, ...]) -> Trial:
    places = save_order(sorted((f.name for f in folders), key=natural_key), {})
    checkpoints = tuple(
        _checkpoint(dirname, folder, places[folder.name])
        for folder in sorted(folders, key=lambda f: places[f.name])
    )
    trial = Trial(
        trial_id=None,
        dirname=dirname,
        status=None,
        in_state=False,
        on_storage=True,
        checkpoints=checkpoints,
    )
    whole = [c for c in trial.saves if c.state is CheckpointState.COMPLETE]
    return replace(
        trial,
        books={Witness.STORAGE: storage_book(trial)},
        latest=CheckpointRef(trial=dirname, name=whole[-1].name) if whole else None,
    )


def _checkpoint(dirname: TrialDir, folder: Folder, place: int) -> Checkpoint:
    return Checkpoint(
        trial=dirname,
        name=CheckpointName(folder.name),
        index=index_of(folder.name),
        state=folder.state,
        files=folder.count,
        size_bytes=folder.size,
        modified=folder.modified,
        saved=place,
        lacks=folder.lacks,
        hollow=folder.hollow,
        torn=folder.torn,
        strays=folder.strays,
        begun=folder.begun,
    )
