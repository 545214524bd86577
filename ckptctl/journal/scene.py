"""What lies on storage now, held against what a course says must lie there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ckptctl.errors import LocationError
from ckptctl.journal.course import Course, Span, Strand, Tree
from ckptctl.model.plan import MoveTree
from ckptctl.storage.listing import Listing
from ckptctl.storage.store import Reader
from ckptctl.storage.together import together

_CHUNK = 1 << 20
_REMEMBERED = 256 << 20
_NAMED = 3
_AT_ONCE = 16


class Standing(Struct, frozen=True, kw_only=True):
    """How far one strand has come."""

    position: int
    torn: bool = False
    """The next step, a move that is no single act here, was cut off in the middle."""

    @property
    def begun(self) -> int:
        """How many of its steps are done, or half done."""
        return self.position + self.torn

    def reaches(self, place: int) -> bool:
        """Whether the strand has come to the end of the step at `place`, or into it."""
        return self.position > place or (self.torn and self.position == place)


class Scene:
    """One listing of an experiment; records are read once, when asked for."""

    def __init__(self, store: Reader) -> None:
        self._store = store
        self.listing = Listing(store.list_tree())
        self._digests: dict[str, str | None] = {}
        self._contents: dict[str, bytes] = {}
        self._room = _REMEMBERED

    @property
    def location(self) -> str:
        """The experiment as messages name it."""
        return self._store.location

    def fetch(self, paths: Iterable[str]) -> None:
        """Read files that will be asked for, many at once where the store answers so many."""
        at_once = min(self._store.capabilities.max_concurrency, _AT_ONCE)
        if at_once > 1:
            wanted, room = list[str](), self._room
            for path in dict.fromkeys(paths):
                entry = self.listing.get(path)
                if entry and not entry.is_dir and path not in self._digests and entry.size <= room:
                    wanted.append(path)
                    room -= entry.size
            with together(self._read, wanted, at_once) as digests:
                self._digests.update(zip(wanted, digests, strict=True))

    def digest(self, path: str) -> str | None:
        """SHA-256 of a file's content in hex; None where there is no file to read."""
        if path not in self._digests:
            self._digests[path] = self._read(path)
        return self._digests[path]

    def _read(self, path: str) -> str | None:
        entry = self.listing.get(path)
        if entry is None or entry.is_dir or entry.is_special:
            return None
        try:
            if entry.size > self._room:
                return digest_of(self._store, path)
            return sha256(self.content(path))
        except LocationError:
            if self._store.stat(path) is None or entry.is_link:
                return None
            raise

    def content(self, path: str) -> bytes:
        """A file's bytes; those of small files are remembered."""
        if path in self._contents:
            return self._contents[path]
        data = self._store.read_bytes(path)
        if len(data) <= self._room:
            self._room -= len(data)
            self._contents[path] = data
        return data

    def complaint(self, span: Span, course: Course) -> str | None:
        """Why the path does not hold what it should, in a few words; None where it does."""
        if span.tree is not None:
            return self._tree_complaint(span.path, span.tree, course)
        if span.digest is not None:
            found = self.digest(span.path)
            if found == span.digest:
                return None
            return f"{span.path}: gone" if found is None else f"{span.path}: its content changed"
        return f"{span.path}: exists" if self._is_taken(span.path) else None

    def complaints(self, course: Course, strand: Strand, position: int) -> Iterator[str]:
        """Everything that is not as it should be at this position."""
        for span in strand.at(position):
            if complaint := self.complaint(span, course):
                yield complaint

    def complete(self, path: str, tree: Tree) -> bool:
        """Whether all of a tree's files are at `path`."""
        found = self.listing.files(path)
        if found is None and (tree.files or self._store.capabilities.directories):
            return False
        return _difference(tree, found or {}) is None

    def _is_taken(self, path: str) -> bool:
        if self._store.capabilities.directories:
            return self.listing.exists(path)
        return bool(self.listing.files(path))

    def _tree_complaint(self, path: str, tree: Tree, course: Course) -> str | None:
        found = self.listing.files(path)
        if found is None:
            if not tree.files and not self._store.capabilities.directories:
                return None
            return f"{path}: gone"
        if difference := _difference(tree, found):
            return f"{path}: {difference}"
        entry = self.listing.get(path)
        identity = entry.file_id if entry else None
        if identity in course.identities and tree.file_id not in (None, identity):
            return f"{path}: another folder of the plan is there"
        return None


def sha256(data: bytes) -> str:
    """The digest by which records and blobs are known."""
    return hashlib.sha256(data).hexdigest()


def digest_of(store: Reader, path: str) -> str:
    """SHA-256 of a file's content in hex, read piece by piece."""
    digest = hashlib.sha256()
    with store.open_read(path) as stream:
        while data := stream.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _difference(tree: Tree, found: dict[str, int]) -> str | None:
    parts = [
        ("lacks", sorted(tree.files.keys() - found.keys())),
        ("also has", sorted(found.keys() - tree.files.keys())),
        (
            "has another size of",
            sorted(
                path
                for path in tree.files.keys() & found.keys() - tree.rewritten
                if tree.files[path] != found[path]
            ),
        ),
    ]
    return "; ".join(f"{what} {_some(paths)}" for what, paths in parts if paths) or None


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(path or "itself" for path in paths[:_NAMED])
    left = len(paths) - _NAMED
    return f"{shown} and {left} more" if left > 0 else shown


def positions(scene: Scene, course: Course, strand: Strand) -> list[int]:
    """Every position that all of a strand's paths fit."""
    change = [0] * (len(strand.steps) + 2)
    for span in strand.spans:
        if scene.complaint(span, course) is not None:
            change[span.first] += 1
            change[span.last + 1] -= 1
    found: list[int] = []
    wrong = 0
    for position in range(len(strand.steps) + 1):
        wrong += change[position]
        if wrong == 0:
            found.append(position)
    return found


def torn_positions(scene: Scene, course: Course, strand: Strand) -> list[int]:
    """Every position after which a move was cut off between its copies and deletions."""
    return [
        position
        for position, number in enumerate(strand.steps)
        if isinstance(step := course.plan.steps[number], MoveTree)
        and _is_torn(scene, course, strand, position, step)
    ]


def _is_torn(scene: Scene, course: Course, strand: Strand, position: int, step: MoveTree) -> bool:
    tree = next(s.tree for s in strand.at(position) if s.path == step.source and s.tree)
    for span in strand.at(position):
        inside = any(
            span.path == path or span.path.startswith(f"{path}/")
            for path in (step.source, step.target)
        )
        if not inside and scene.complaint(span, course) is not None:
            return False
    for path in (step.source, step.target):
        if not (scene.listing.files(path) or {}).keys() <= tree.files.keys():
            return False
    return scene.complete(step.source, tree) or scene.complete(step.target, tree)
