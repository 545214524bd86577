"""A listing that answers what lies at a path, without asking the store again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ckptctl.storage.store import Entry


class Listing:
    """The entries of one `list_tree`, looked up by path."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = sorted(entries, key=lambda entry: entry.path)
        self._paths = [entry.path for entry in self._entries]
        self._by_path = {entry.path: entry for entry in self._entries}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, path: str) -> Entry | None:
        """The entry at `path`, or None."""
        return self._by_path.get(path)

    def below(self, folder: str) -> Iterator[Entry]:
        """Every entry below `folder` (``""`` for all), in order of path."""
        prefix = f"{folder}/" if folder else ""
        for position in range(bisect_left(self._paths, prefix), len(self._paths)):
            if not self._paths[position].startswith(prefix):
                return
            yield self._entries[position]

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`: an entry, or entries below it."""
        return path in self._by_path or next(self.below(path), None) is not None

    def files(self, path: str) -> dict[str, int] | None:
        """The sizes of the regular files at or below `path`; None where nothing is there.

        Keys are relative to `path`: ``""`` where it is a file itself. Links and special
        files move with a folder, but do not make it another one.
        """
        entry = self._by_path.get(path)
        if entry is not None and not entry.is_dir:
            return {} if entry.is_link or entry.is_special else {"": entry.size}
        found = list(self.below(path))
        if entry is None and not found:
            return None
        start = len(path) + 1 if path else 0
        return {
            e.path[start:]: e.size for e in found if not (e.is_dir or e.is_link or e.is_special)
        }
