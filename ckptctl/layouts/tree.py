"""A listing of one experiment, arranged by folder, so that nothing is listed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ckptctl.storage.store import Entry

SNAPSHOT = "checkpoint_manager_snapshot.json"
"""What Ray Train V2 keeps its books in."""
OWN_FOLDER = ".ckptctl"
"""Where ckptctl keeps its journal inside an experiment; never part of the experiment."""


class FolderFile(Struct, frozen=True, kw_only=True):
    """A file anywhere below a folder."""

    path: str
    """Relative to the folder."""
    size: int
    modified: float | None


class Demands(Struct, frozen=True, kw_only=True):
    """What a checkpoint's folder has to be like, beside what its siblings tell."""

    required: tuple[str, ...] = ()
    """Patterns of paths, each of which a file of every checkpoint has to match."""
    why_torn: Callable[[str, int], str | None] | None = None
    """Looks into a file, by path and size, and says why it is not whole."""


class Tree:
    """The entries below one folder, with paths relative to it."""

    demands = Demands()
    """What is asked of checkpoints here; a listing alone asks nothing."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._files: dict[str, Entry] = {}
        self._children: dict[str, list[str]] = {"": []}
        self._odd: dict[str, Entry] = {}
        self.unreadable: dict[str, str] = {}
        """Folders that could not be listed, by path, and why."""
        for entry in entries:
            if entry.path.split("/", 1)[0] == OWN_FOLDER:
                continue
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        if entry.unreadable is not None:
            self.unreadable[entry.path] = entry.unreadable
        if entry.is_special or entry.is_link or entry.unreadable is not None:
            self._odd[entry.path] = entry
        elif entry.is_dir:
            self._ensure_folder(entry.path)
        else:
            self._files[entry.path] = entry
            parent, _, name = entry.path.rpartition("/")
            self._ensure_folder(parent)
            self._children[parent].append(name)

    def _ensure_folder(self, path: str) -> None:
        while path not in self._children:
            self._children[path] = []
            path, _, name = path.rpartition("/")
            self._ensure_folder(path)
            self._children[path].append(name)

    def folders(self, parent: str = "") -> tuple[str, ...]:
        """The names of the folders directly below `parent`, sorted."""
        names = self._children.get(parent, ())
        return tuple(sorted(n for n in names if _join(parent, n) in self._children))

    def file_names(self, parent: str = "") -> tuple[str, ...]:
        """The names of the files directly below `parent`, sorted."""
        names = self._children.get(parent, ())
        return tuple(sorted(n for n in names if _join(parent, n) in self._files))

    def file(self, path: str) -> Entry | None:
        """The file at `path`, or None; links and special files count as none."""
        return self._files.get(path)

    def has_folder(self, path: str) -> bool:
        """Whether a folder is at `path`."""
        return path in self._children

    def odd_paths(self) -> tuple[str, ...]:
        """What is never looked into: links, special files, folders that may not be read."""
        return tuple(sorted(self._odd))

    def all_folders(self) -> tuple[str, ...]:
        """Every folder, the root (``""``) first, in order of path."""
        return tuple(sorted(self._children))

    def files_below(self, folder: str) -> tuple[FolderFile, ...]:
        """Every file below `folder`, however deep, in order of path."""
        found: list[FolderFile] = []
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            for name in self._children.get(here, ()):
                path = _join(here, name)
                entry = self._files.get(path)
                if entry is None:
                    waiting.append(path)
                    continue
                relative = path[len(folder) + 1 :] if folder else path
                found.append(FolderFile(path=relative, size=entry.size, modified=entry.modified))
        return tuple(sorted(found, key=lambda f: f.path))

    def subtree(self, folder: str) -> Tree:
        """The same for one folder, with paths relative to that folder."""
        tree = Tree(())
        prefix = f"{folder}/"
        for path, entry in self._files.items():
            if path.startswith(prefix):
                tree._add(_moved(entry, path[len(prefix) :]))
        for path in self._children:
            if path.startswith(prefix):
                tree._ensure_folder(path[len(prefix) :])
        for path, entry in self._odd.items():
            if path.startswith(prefix):
                tree._odd[path[len(prefix) :]] = entry
        return tree


def _join(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name


def _moved(entry: Entry, path: str) -> Entry:
    return Entry(
        path=path,
        is_dir=entry.is_dir,
        size=entry.size,
        modified=entry.modified,
        file_id=entry.file_id,
    )
