"""What a phase of the matrix has to say."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass

from tests.judge.judge import JudgeError


class Broken(Exception):
    """Something that must hold does not."""


def must(holds: object, otherwise: str) -> None:
    if not holds:
        raise Broken(otherwise)


@dataclass
class Told:
    """One phase: what was seen, or why it failed."""

    phase: str
    state: str
    """`ok` or `failed`."""
    text: str


def told(phase: str, run: Callable[[], str]) -> Told:
    """Run one phase; others go on whatever becomes of it."""
    try:
        return Told(phase, "ok", run())
    except (Broken, JudgeError) as error:
        return Told(phase, "failed", str(error))
    except Exception as error:  # noqa: BLE001 - every failure is a row
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}".strip(": ")
        return Told(phase, "failed", f"{what} ({where.name}: {where.line})")
