"""`make kills`: hundreds of `kill -9` of the real command line, on a disk and on S3.

    python -m tests.kills [--kills N] [--seed N] [--only disk|s3] [--counts FILE]

Prints what was counted, and ends with 1 where a checkpoint was lost or a state was one that
nothing leads out of. The seed is printed too, and gives the same choices again; the moments
depend on the machine.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.backends.conftest import Bucket
from tests.backends.servers import Weed, running
from tests.counts import keep
from tests.kills.places import S3, Disk, Place
from tests.kills.walk import COURSES, Count, Walk


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("--kills", type=int, default=320, help="at least so many, on all places")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", choices=("disk", "s3"))
    parser.add_argument("--course", type=int, help="only this one of the courses")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    places = [asked.only] if asked.only else ["disk", "s3"]
    each = -(-asked.kills // (len(places) * len(COURSES)))
    every = Count()
    with tempfile.TemporaryDirectory(prefix="ckptctl-kills-") as folder:
        for name in places:
            with _OPEN[name](Path(folder)) as place:
                count = _walk(place, asked.seed, each, asked.course)
            _tell(name, count)
            keep(f"kills, {name}", count.row())
            every.add(count)
    _tell("together", every)
    for line in (*every.lost, *every.unrecoverable):
        print(line)
    return 1 if every.lost or every.unrecoverable else 0


def _walk(place: Place, seed: int, each: int, only: int | None) -> Count:
    count = Count()
    for number, course in enumerate(COURSES):
        if only not in (None, number):
            continue
        count.add(Walk(place, course, seed + number).go(each))
        print(f"  {course.name}: {count.total} kills so far", flush=True)
    return count


@contextmanager
def _disk(folder: Path) -> Iterator[Place]:
    yield Disk(folder / "exp")


@contextmanager
def _s3(folder: Path) -> Iterator[Place]:
    (folder / "weed").mkdir()
    with running(server := Weed(folder / "weed")), pytest.MonkeyPatch.context() as patch:
        assert isinstance(server, Weed)
        yield S3(Bucket(server, "kills", folder, patch, []))


_OPEN: dict[str, Callable[[Path], AbstractContextManager[Place]]] = {"disk": _disk, "s3": _s3}


def _tell(name: str, count: Count) -> None:
    print(f"{name}: {count.row()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
