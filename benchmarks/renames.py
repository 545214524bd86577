"""What 10,000 local renames cost: ``python -m benchmarks.renames FOLDER``, printed as JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from benchmarks.generate import generate
from ckptctl import api
from ckptctl.executor import apply
from ckptctl.storage.local_store import LocalStore

T = TypeVar("T")


class Timed(LocalStore):
    """A local store that adds up what its calls take, in seconds of CPU."""

    spent: Counter[str]

    def move_tree(self, source: str, target: str) -> None:
        """Move, and count it as a move."""
        self._timed("moves", lambda: super(Timed, self).move_tree(source, target))

    def flush(self, parents: Iterable[str]) -> None:
        """Make moves durable, and count it as a part of them."""
        self._timed("moves", lambda: super(Timed, self).flush(parents))

    def create(self, path: str, data: bytes) -> bool:
        """Write into the journal: the plan and marks belong to moves, old contents to records."""
        what = "records" if "/blobs/" in path else "moves"
        return self._timed(what, lambda: super(Timed, self).create(path, data))

    def replace(self, path: str, data: bytes) -> None:
        """Replace a record, and count that by itself."""
        self._timed("records", lambda: super(Timed, self).replace(path, data))

    def _timed(self, what: str, call: Callable[[], T]) -> T:
        began = time.process_time()
        try:
            return call()
        finally:
            self.spent[what] += time.process_time() - began  # type: ignore[assignment]


def main() -> None:
    """Rename once through a plan, and back by hand with as many fsyncs of folders."""
    place = Path(sys.argv[1])
    gc.disable()
    generate(place, trials=100, checkpoints=100, files=1, size=1, state=True)
    [found] = api.scan(str(place))
    began = time.process_time()
    plan = api.plan_rename(found, template="checkpoint_{index:06d}-{training_iteration}")
    planned = time.process_time() - began
    store = Timed.open(str(place))
    assert isinstance(store, Timed)  # noqa: S101 - for the type checker
    store.spent = Counter()
    began = time.process_time()
    outcome = apply(store, plan)
    whole = time.process_time() - began
    if not outcome.verified:
        raise RuntimeError("not verified")
    bare = _by_hand([(place / m.target, place / m.source) for m in plan.moves])
    print(
        json.dumps(
            {
                "renames": len(plan.moves),
                "bare": bare,
                "moves": store.spent["moves"],
                "records": store.spent["records"],
                "apply": whole,
                "plan": planned,
            }
        )
    )


def _by_hand(pairs: list[tuple[Path, Path]]) -> float:
    names = [(str(old), str(new)) for old, new in pairs]
    folders = {os.path.dirname(new) for _, new in names}
    began = time.process_time()
    for old, new in names:
        os.rename(old, new)
    for folder in {*folders, *map(os.path.dirname, folders)}:
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    return time.process_time() - began


if __name__ == "__main__":
    main()
