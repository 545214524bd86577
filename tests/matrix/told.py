"""What a phase of the matrix has to say."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.judge.judge import JudgeError


class Broken(Exception):
    """Something that must hold does not."""


class RayCannot(Exception):
    """What Ray itself cannot do, in Ray's words."""


def must(holds: object, otherwise: str) -> None:
    if not holds:
        raise Broken(otherwise)


@dataclass
class Told:
    """One phase: what was seen, or why it failed."""

    phase: str
    state: str
    """`ok`, `failed`, or `ray`: what Ray itself cannot do."""
    text: str
    notes: list[str] = field(default_factory=list)


def told(phase: str, run: Callable[[], str]) -> Told:
    """Run one phase; others go on whatever becomes of it."""
    try:
        return Told(phase, "ok", run())
    except RayCannot as limit:
        return Told(phase, "ray", str(limit))
    except (Broken, JudgeError) as error:
        return Told(phase, "failed", str(error))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}".strip(": ")
        return Told(phase, "failed", f"{what} ({where.name}: {where.line})")
