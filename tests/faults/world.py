"""Small experiments on every kind of store, plans for them, and stores that crash."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from fsspec.implementations.memory import MemoryFileSystem
from msgspec.structs import replace

from ckptctl.executor import process
from ckptctl.journal.format import with_id
from ckptctl.journal.lock import Holder
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import Edit, MoveTree, Plan, ReplaceFile, Step, TreeFile
from ckptctl.storage.folders import Folder
from ckptctl.storage.fsspec_store import FsspecStore
from ckptctl.storage.local_store import LocalStore
from ckptctl.storage.store import Capabilities, Entry, Store

T = TypeVar("T")

Snapshot = Mapping[str, tuple[bytes, int]]
"""Content and mode by path; folders without files end in ``/``."""


class Crash(BaseException):
    """The process is gone: nothing that follows in it happens."""


class Faults:
    """Counts changes, and crashes at one of them, before or after its effect."""

    def __init__(self) -> None:
        self.count = 0
        self.at: int | None = None
        self.after = False
        self.dead = False
        self.error: Callable[[], BaseException] | None = None
        self.watch: Callable[[], None] | None = None

    def arm(self, at: int | None, *, after: bool = False) -> None:
        """Crash at change number `at` from now on, counted from 0."""
        self.count, self.at, self.after, self.dead = 0, at, after, False

    def around(self, change: Callable[[], Any]) -> Any:
        """Make a change, or crash."""
        if self.dead:
            raise Crash
        mine, self.count = self.count == self.at, self.count + 1
        if mine and not self.after:
            self.strike()
        result = change()
        if self.watch is not None:
            self.watch()
        if mine and self.after:
            self.strike()
        return result

    def strike(self) -> None:
        """Crash, or fail once."""
        if self.error is not None:
            raise self.error()
        self.dead = True
        raise Crash


class FaultyStore:
    """A store whose changing calls go through `Faults`."""

    def __init__(self, store: Store, faults: Faults) -> None:
        self.inner = store
        self.faults = faults

    @property
    def location(self) -> str:
        return self.inner.location

    @property
    def root(self) -> str:
        return self.inner.root

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        return self._alive(lambda: self.inner.list_tree(prefix))

    def list_folders(self) -> Folder:
        return self._alive(self.inner.list_folders)

    def list_names(self) -> tuple[str, ...]:
        return self._alive(self.inner.list_names)

    def stat(self, path: str) -> Entry | None:
        return self._alive(lambda: self.inner.stat(path))

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        return self._alive(lambda: self.inner.read_bytes(path, limit))

    def open_read(self, path: str) -> BinaryIO:
        return self._alive(lambda: self.inner.open_read(path))

    def create(self, path: str, data: bytes) -> bool:
        made: bool = self.faults.around(lambda: self.inner.create(path, data))
        return made

    def replace(self, path: str, data: bytes) -> None:
        self.faults.around(lambda: self.inner.replace(path, data))

    def move_tree(self, source: str, target: str) -> None:
        self.faults.around(lambda: self.inner.move_tree(source, target))

    def remove(self, paths: Iterable[str]) -> None:
        self.faults.around(lambda: self.inner.remove(paths))

    def flush(self, parents: Iterable[str]) -> None:
        self.faults.around(lambda: self.inner.flush(parents))

    def sweep(self, paths: Iterable[str]) -> None:
        self.faults.around(lambda: self.inner.sweep(paths))

    def _alive(self, call: Callable[[], T]) -> T:
        if self.faults.dead:
            raise Crash
        return call()


class FaultyMemory(MemoryFileSystem):  # type: ignore[misc]
    """A memory file system of its own, whose single acts go through `Faults`."""

    protocol = "memory"
    cachable = False

    def __init__(self, faults: Faults) -> None:
        super().__init__(global_store=False)
        self.faults = faults

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kw: Any) -> None:
        self.faults.around(lambda: MemoryFileSystem.pipe_file(self, path, value, mode, **kw))

    def cp_file(self, path1: str, path2: str, **kw: Any) -> None:
        self.faults.around(lambda: MemoryFileSystem.cp_file(self, path1, path2, **kw))

    def rm_file(self, path: str) -> None:
        self.faults.around(lambda: MemoryFileSystem.rm_file(self, path))

    def rmdir(self, path: str) -> None:
        self.faults.around(lambda: MemoryFileSystem.rmdir(self, path))

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not self.isdir(path):
            self.faults.around(lambda: MemoryFileSystem.makedirs(self, path, exist_ok))


class BucketStore(FsspecStore):
    """A store without folders, and with a conditional create."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, conditional_create=True)


@dataclass
class World:
    """An experiment on one kind of store."""

    kind: str
    folder: Path
    faults: Faults = field(default_factory=Faults)
    fs: Any = None

    def __post_init__(self) -> None:
        if self.kind != "local":
            self.fs = FaultyMemory(self.faults)
        else:
            self.folder.mkdir(exist_ok=True)

    @property
    def clean(self) -> Store:
        """The store, which never crashes."""
        self.faults.arm(None)
        if self.kind == "local":
            return LocalStore(str(self.folder))
        return self._fsspec()

    def _fsspec(self) -> FsspecStore:
        if self.kind == "bucket":
            return BucketStore(self.fs, "/exp", scheme="az", location="az://exp")
        return FsspecStore(self.fs, "/exp", scheme="memory", location="memory://exp")

    @property
    def store(self) -> Store:
        """The store through `faults`; ``acts`` and ``bucket`` crash inside its calls."""
        inner: Store = LocalStore(str(self.folder)) if self.kind == "local" else self._fsspec()
        if self.kind in ("acts", "bucket"):
            return inner
        self.fs_faults_off()
        return FaultyStore(inner, self.faults)

    def fs_faults_off(self) -> None:
        """Crash between the calls of the store, not inside them."""
        if self.fs is not None:
            self.fs.faults = Faults()

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Put a file there, past the store."""
        if self.kind == "local":
            full = self.folder / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(data)
            full.chmod(mode)
        else:
            MemoryFileSystem.pipe_file(self.fs, f"/exp/{path}", data)

    def snapshot(self, *, own: bool = False) -> Snapshot:
        """Everything there, past the store; ckptctl's own folder only with `own`."""
        found = self._local() if self.kind == "local" else self._memory()
        return {p: v for p, v in found.items() if own or not p.startswith(".ckptctl")}

    def _local(self) -> dict[str, tuple[bytes, int]]:
        found: dict[str, tuple[bytes, int]] = {}
        for here, folders, files in os.walk(self.folder):
            inner = os.path.relpath(here, self.folder)
            start = "" if inner == "." else f"{inner}/"
            for name in files:
                full = os.path.join(here, name)
                found[start + name] = (
                    Path(full).read_bytes(),
                    stat.S_IMODE(os.lstat(full).st_mode),
                )
            if not folders and not files and start:
                found[start] = (b"", 0)
        return found

    def _memory(self) -> dict[str, tuple[bytes, int]]:
        cut = len("/exp/")
        found = {p[cut:]: (bytes(f.getvalue()), 0) for p, f in self.fs.store.items()}
        for folder in self.fs.pseudo_dirs:
            path = f"{folder[cut:]}/"
            if path != "/" and not any(p.startswith(path) for p in found):
                found[path] = (b"", 0)
        for path in [p for p in found if p.endswith("/")]:
            if any(p != path and p.startswith(path) for p in found):
                del found[path]
        return found


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def replace_text(data: bytes, kind: RecordKind, edits: Iterable[Edit]) -> bytes:
    """Stands in for the codec: `pointer` is the text to replace."""
    for edit in edits:
        data = data.replace(edit.pointer.encode(), str(edit.after).encode())
    return data


class Planner:
    """Makes plans by following its own steps over a snapshot."""

    def __init__(self, world: World) -> None:
        self.now = {path: data for path, (data, _) in world.snapshot().items()}
        self.ids = {e.path: e.file_id for e in world.clean.list_tree()}
        self.steps: list[Step] = []
        self.reads: list[tuple[str, str]] = []

    def move(self, source: str, target: str) -> None:
        inside = {
            p[len(source) + 1 :]: data for p, data in self.now.items() if p.startswith(f"{source}/")
        }
        files = tuple(TreeFile(path=p, size=len(data)) for p, data in sorted(inside.items()) if p)
        identity = self.ids.pop(source, None)
        self.ids[target] = identity
        self.steps.append(MoveTree(source=source, target=target, files=files, file_id=identity))
        for inner in inside:
            self.now[f"{target}/{inner}"] = self.now.pop(f"{source}/{inner}")

    def rewrite(self, file: str, old: str, new: str) -> None:
        before = self.now[file]
        after = before.replace(old.encode(), new.encode())
        self.now[file] = after
        self.steps.append(
            ReplaceFile(
                file=file,
                kind=RecordKind.JSON,
                before=sha(before),
                after=sha(after),
                edits=(Edit(op="set", pointer=old, before=old, after=new),),
            )
        )

    def read(self, file: str) -> None:
        self.reads.append((file, sha(self.now[file])))

    def plan(self, *, ids: bool = True) -> Plan:
        steps = [
            s if ids or isinstance(s, ReplaceFile) else replace(s, file_id=None) for s in self.steps
        ]
        return with_id(
            Plan(
                plan_id="",
                command="rename",
                location="exp",
                layout="ray-tune",
                fingerprint="f",
                reads=tuple(self.reads),
                steps=tuple(steps),
            )
        )


def a_process(number: int) -> Holder:
    """A process of this machine that has ended, whatever its number."""
    return replace(process.this_process(), pid=10_000_000 + number, started="1")


def checkpoint(world: World, path: str, content: str) -> None:
    """A checkpoint of two files; those of equally long contents look alike but for the bytes."""
    world.write(f"{path}/weights.bin", f"weights of {content}".encode(), mode=0o640)
    world.write(f"{path}/sub/meta.json", f'{{"name": "{content}"}}'.encode(), mode=0o600)


def build(world: World) -> None:
    """Two trials: checkpoints that look alike, records, and an empty folder."""
    for number in range(1, 6):
        checkpoint(world, f"t1/checkpoint_{number}", f"one {number}")
    checkpoint(world, "t2/checkpoint_7", "two 7")
    checkpoint(world, "t2/checkpoint_8.tmp", "partial")
    world.write("t1/result.json", b'{"dir": "checkpoint_1"}\n{"dir": "checkpoint_2"}\n', 0o640)
    world.write("t2/result.json", b'{"dir": "checkpoint_7"}\n')
    world.write("experiment_state-1.json", b'{"latest": "checkpoint_2"}', 0o600)
    if world.kind == "local":
        (world.folder / "t2" / "empty").mkdir()
    elif world.kind != "bucket":
        MemoryFileSystem.makedirs(world.fs, "/exp/t2/empty")


def make_plan(world: World, *, ids: bool = False) -> Plan:
    """A swap, a cycle of three, a plain move, a quarantine, and rewrites in between."""
    p = Planner(world)
    p.read("t2/result.json")
    p.rewrite("t1/checkpoint_1/sub/meta.json", "one 1", "one number one")
    p.move("t1/checkpoint_1", ".ckptctl/tmp/x/0")
    p.move("t1/checkpoint_2", "t1/checkpoint_1")
    p.move(".ckptctl/tmp/x/0", "t1/checkpoint_2")
    p.rewrite("t1/checkpoint_2/weights.bin", "weights", "heavy weights")
    p.rewrite("t1/result.json", "checkpoint", "ck")
    p.move("t1/checkpoint_3", ".ckptctl/tmp/x/1")
    p.move("t1/checkpoint_4", "t1/checkpoint_3")
    p.move("t1/checkpoint_5", "t1/checkpoint_4")
    p.move(".ckptctl/tmp/x/1", "t1/checkpoint_5")
    p.move("t2/checkpoint_7", "t3/new/checkpoint_70")
    p.move("t2/checkpoint_8.tmp", ".ckptctl/quarantine/t2/checkpoint_8.tmp")
    if world.kind != "bucket":  # which has no empty folders
        p.move("t2/empty", "t2/void")
    p.rewrite("experiment_state-1.json", "checkpoint_2", "checkpoint_0002")
    return p.plan(ids=ids)


KEPT = ("one 1", "one 2", "one 3", "one 4", "one 5", "two 7")
"""What the checkpoints of `build` hold that must never be lost."""


def all_complete(world: World) -> None:
    """Each checkpoint is whole in at least one place."""
    found = world.snapshot(own=True)
    for content in KEPT:
        assert any(_whole(found, p, content) for p in found), content


def _whole(found: Snapshot, path: str, content: str) -> bool:
    if not path.endswith("/weights.bin"):
        return False
    if not found[path][0].endswith(f"weights of {content}".encode()):
        return False
    other = found.get(path.replace("weights.bin", "sub/meta.json"))
    names = (content, content.replace("one 1", "one number one"))
    return other is not None and any(n.encode() in other[0] for n in names)
