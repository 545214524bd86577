"""What a plan was made from, in one hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from ckptctl.model.plan import MoveTree

__all__ = ["fingerprint_of"]


def fingerprint_of(reads: Iterable[tuple[str, str]], moves: Iterable[MoveTree]) -> str:
    """SHA-256, in hex, over the records that were read and the folders that are moved.

    `reads` are (path, SHA-256). Of a folder the paths and sizes of its files count, and not their
    content, which may be gigabytes.
    """
    folders = [
        (move.source, [(file.path, file.size) for file in move.files])
        for move in sorted(moves, key=lambda m: m.source)
    ]
    content = {"reads": sorted(reads), "folders": folders}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
