"""Files of a checkpoint that no sibling has: what an interrupted save may have left in it.

A retry writes into the folder of the save that failed and clears nothing (seen in Ray 2.54).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ckptctl.layouts.tree import FolderFile
from ckptctl.model.checkpoint import Stray

_NUMBER = re.compile(r"(?:(?<==)-)?\d+(?:\.\d+)*(?:e[-+]?\d+)?", re.ASCII)


def part_of(path: str) -> str:
    """The part that a file plays in its checkpoint: its path without the numbers."""
    return _NUMBER.sub("#", path)


class Parts(Struct, frozen=True, kw_only=True):
    """In how many of some folders a part is played at all, and by one file only."""

    played: Counter[str]
    alone: Counter[str]


def count_parts(folders: Iterable[Iterable[str]]) -> Parts:
    """The parts that the files of sibling folders play."""
    played: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for paths in folders:
        own = Counter(map(part_of, paths))
        played.update(own.keys())
        alone.update(part for part, number in own.items() if number == 1)
    return Parts(played=played, alone=alone)


def find_strays(
    files: Sequence[FolderFile], present: Mapping[str, int], parts: Parts, siblings: int
) -> Iterator[Stray]:
    """The files of one folder that no sibling has, by name or by the part they play.

    A name with a number in it, such as `model-000005.pt`, is no stranger where the siblings have
    one of their own. Several are, where each sibling has one and they are not numbered as shards.
    """
    by_part: dict[str, list[FolderFile]] = {}
    for file in files:
        by_part.setdefault(part_of(file.path), []).append(file)
    for part, own in by_part.items():
        if any(present[f.path] > 1 for f in own):
            continue
        if parts.played[part] == 1:
            yield from (Stray(path=f.path, modified=f.modified) for f in own)
        elif len(own) > 1 and parts.alone[part] == siblings and not _are_shards(own):
            *older, newest = sorted(own, key=lambda f: (f.modified or 0.0, f.path))
            for file in older:
                yield Stray(path=file.path, modified=file.modified, twin=newest.path)


def _are_shards(files: Sequence[FolderFile]) -> bool:
    """Whether the names count up from 0 or 1: a save by more workers than the others."""
    columns = zip(*(_NUMBER.findall(f.path) for f in files), strict=False)
    counted = [{str(n) for n in range(first, first + len(files))} for first in (0, 1)]
    return any({n.lstrip("0") or "0" for n in column} in counted for column in columns)
