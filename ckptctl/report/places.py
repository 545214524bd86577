"""The place of a claim, as a person would look it up."""

from __future__ import annotations

from ckptctl.codec.errors import PointerError
from ckptctl.codec.pointer import NAMES, Pointer
from ckptctl.report.lines import Page


def place(file: str, pointer: str, page: Page) -> str:
    """``experiment_state-….json › trial_data[1][0] › storage.current_checkpoint_index``."""
    return f" {page.marks.step} ".join(part for part in (file, *_inside(file, pointer)) if part)


def inside(file: str, pointer: str, page: Page) -> str:
    """Name the place within the file alone."""
    return f" {page.marks.step} ".join(part for part in _inside(file, pointer) if part)


def _inside(file: str, pointer: str) -> list[str]:
    try:
        levels = Pointer.parse(pointer).levels
    except PointerError:
        return [pointer]
    parts = []
    for number, level in enumerate(levels):
        steps = list(level)
        if number == 0 and steps and steps[0].isdecimal():  # a row of JSON lines or CSV, from 0
            parts.append(f"{'row' if file.endswith('.csv') else 'line'} {int(steps.pop(0)) + 1}")
        if steps and steps[0] == NAMES:
            parts.append(" ".join(("name", *steps[1:])))
            continue
        parts.append("".join(_step(s) for s in steps).removeprefix("."))
    return parts


def _step(step: str) -> str:
    return f"[{step}]" if step.isdecimal() else f".{step}"
