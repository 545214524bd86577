"""What a plan is known by: a hash of what it does, and of what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict

from ckptctl.model.plan import PLAN_FORMAT, MoveTree, Plan

__all__ = ["fingerprint_of", "plan_id_of"]

_ID_DIGITS = 16


def plan_id_of(plan: Plan) -> str:
    """A short hash of the plan's content: steps, fingerprint, location, refusals and notes.

    `plan.plan_id` and `plan.created_by` have no part in it, so the same plan made by another
    version of ckptctl is the same plan.
    """
    content = asdict(plan)
    content.pop("plan_id")
    content.pop("created_by")
    content["kinds"] = [type(step).__name__ for step in plan.steps]
    content["format"] = PLAN_FORMAT
    return _digest(content)[:_ID_DIGITS]


def fingerprint_of(reads: Iterable[tuple[str, str]], moves: Iterable[MoveTree]) -> str:
    """A hash over the records that were read and the folders that are moved.

    `reads` are (path, SHA-256). Of a folder the paths and sizes of its files count, and not their
    content, which may be gigabytes.
    """
    folders = [
        (move.source, [(file.path, file.size) for file in move.files])
        for move in sorted(moves, key=lambda m: m.source)
    ]
    return _digest({"reads": sorted(reads), "folders": folders})


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
