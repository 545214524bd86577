"""A listing of one experiment, asked by path, so that nothing is listed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from ckptctl.storage.folders import Census, Folder, FolderFile, arrange
from ckptctl.storage.store import Entry

__all__ = ["OWN_FOLDER", "SNAPSHOT", "Demands", "FolderFile", "Tree"]

SNAPSHOT = "checkpoint_manager_snapshot.json"
"""What Ray Train V2 keeps its books in."""
OWN_FOLDER = ".ckptctl"
"""Where ckptctl keeps its journal inside an experiment; never part of the experiment."""


class Demands(Struct, frozen=True, kw_only=True):
    """What a checkpoint's folder has to be like, beside what its siblings tell."""

    required: tuple[str, ...] = ()
    """Patterns of paths, each of which a file of every checkpoint has to match."""
    why_torn: Callable[[str, int], str | None] | None = None
    """Looks into a file, by path and size, and says why it is not whole."""


class Tree:
    """What lies below one folder, with paths relative to it."""

    releases = False
    """Whether what was let go is nobody's: the listing holds one experiment, and no more of it is
    looked at."""
    demands = Demands()
    """What is asked of checkpoints here; a listing alone asks nothing."""

    def __init__(self, listed: Folder | Iterable[Entry], census: Census | None = None) -> None:
        self._root = listed if isinstance(listed, Folder) else arrange(listed)
        self._census = census or self._root.census
        """Of this or of what is around it."""

    def below(self, folder: str) -> Tree:
        """The same for one folder, with paths relative to that folder."""
        return Tree(self._folder(folder) or Folder(), self._census)

    def folders(self, parent: str = "") -> tuple[str, ...]:
        """The names of the folders directly below `parent`, sorted."""
        here = self._folder(parent)
        if here is None:
            return ()
        own = here is self._root
        return tuple(
            sorted(
                [
                    name
                    for name, folder in here.folders.items()
                    if folder.unreadable is None and not (own and name == OWN_FOLDER)
                ]
            )
        )

    def all_begin(self, parent: str, prefix: str) -> bool:
        """Whether the name of every folder directly below `parent` begins in one way."""
        here = self._folder(parent)
        if here is None or here is self._root:
            return all(name.startswith(prefix) for name in self.folders(parent))
        return all(name.startswith(prefix) for name in here.folders)

    def each(self) -> Iterator[tuple[str, Folder]]:
        """The folders directly in it, with their names, in order of these."""
        return ((name, self._root.folders[name]) for name in self.folders())

    def file_names(self, parent: str = "") -> tuple[str, ...]:
        """The names of the files directly below `parent`, sorted."""
        here = self._folder(parent)
        return () if here is None else here.names

    def file(self, path: str) -> FolderFile | None:
        """The file at `path`, or None; links and special files count as none."""
        parent, _, name = path.rpartition("/")
        here = self._folder(parent)
        return None if here is None else here.file(name)

    def has_folder(self, path: str) -> bool:
        """Whether a folder is at `path`."""
        return self._folder(path) is not None

    def odd_paths(self) -> tuple[str, ...]:
        """What is never looked into: links, special files, folders that may not be read."""
        return self._odd[0]

    @property
    def unreadable(self) -> Mapping[str, str]:
        """Folders that could not be listed, by path, and why."""
        return self._odd[1]

    @cached_property
    def _odd(self) -> tuple[tuple[str, ...], Mapping[str, str]]:
        paths: set[str] = set()
        unreadable: dict[str, str] = {}
        if self._census is not None and not self._census.odd:
            return (), {}
        for path, folder in self._every(lambda f: bool(f.folders or f.odd or f.unreadable)):
            if folder.unreadable is not None:
                unreadable[path] = folder.unreadable
            elif folder.odd:
                paths.update(f"{path}/{name}" if path else name for name in folder.odd)
        return tuple(sorted({*paths, *unreadable})), unreadable

    def all_folders(
        self, wanted: Callable[[Folder], bool] | None = None
    ) -> Iterator[tuple[str, Folder]]:
        """Every folder that could be read, by path; each comes before what is in it.

        With `wanted` those that are, and lie in others that are.
        """
        found = self._every(wanted)
        return ((path, folder) for path, folder in found if folder.unreadable is None)

    def holds(self, name: str) -> bool:
        """Whether a file of this name lies anywhere."""
        return self.has_names(lambda names: name in names)

    def has_names(self, wanted: Callable[[tuple[str, ...]], bool]) -> bool:
        """Whether the names of the files directly in some folder are wanted."""
        if self._census is not None and not any(map(wanted, self._census.shapes)):
            return False
        waiting = [self._root]
        while waiting:
            here = waiting.pop()
            if wanted(here.names):
                return True
            for name, inner in here.folders.items():
                if inner.unreadable is None and not (here is self._root and name == OWN_FOLDER):
                    waiting.append(inner)
        return False

    def let_go(self, folder: str) -> None:
        """Forget what lies in the folders of a folder, which is the most of a listing."""
        here = self._folder(folder)
        if self.releases and here is not None and here is not self._root:
            here.folders = {}

    def flat(self, folder: str) -> Folder:
        """Every file below `folder`, however deep, as if it lay directly in it."""
        here = self._folder(folder)
        return Folder() if here is None else here.flat()

    def _folder(self, path: str) -> Folder | None:
        if not path:
            return self._root
        here = self._root.folders.get(path) or self._root.at(path)
        if here is None or here.unreadable is not None:
            return None
        return None if path.partition("/")[0] == OWN_FOLDER else here

    def _every(
        self, wanted: Callable[[Folder], bool] | None = None
    ) -> Iterator[tuple[str, Folder]]:
        """Every folder, or those that are wanted and lie below others that are.

        Nearly all are checkpoints that nobody wants, for which no path is made.
        """
        waiting = [("", self._root)]
        while waiting:
            here = waiting.pop()
            yield here
            path, folder = here
            prefix = f"{path}/" if path else ""
            for name, inner in folder.folders.items():
                if (wanted is None or wanted(inner)) and (path or name != OWN_FOLDER):
                    waiting.append((f"{prefix}{name}", inner))
