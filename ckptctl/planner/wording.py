"""How refusals and notes of renames speak of checkpoints."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import TypeAlias

from ckptctl.model.checkpoint import Checkpoint, MetricValue
from ckptctl.model.format_spec import shown

__all__ = ["Describe", "command", "described", "only_name", "with_values"]

Describe: TypeAlias = Callable[[Checkpoint], str]
"""A checkpoint in one line: its name, and the values that its new name is made of."""


def only_name(checkpoint: Checkpoint) -> str:
    """The name, and the iteration where it is known."""
    values = (("training_iteration", checkpoint.training_iteration),)
    return with_values(checkpoint, [v for v in values if v[1] is not None])


def with_values(checkpoint: Checkpoint, values: Iterable[tuple[str, MetricValue]]) -> str:
    """The name and these values: ``checkpoint_000006  loss 0.285714``."""
    listed = ", ".join(f"{field} {shown(value)}" for field, value in values)
    return f"{checkpoint.name}  {listed}" if listed else checkpoint.name


def described(describe: Describe, renamed: Iterable[tuple[Checkpoint, str]]) -> tuple[str, ...]:
    """One line a checkpoint, with the name it would get."""
    return tuple(
        describe(checkpoint) if checkpoint.name == new else f"{describe(checkpoint)}  →  {new}"
        for checkpoint, new in renamed
    )


def command(verb: str, location: str, *options: str) -> str:
    """A command line that can be pasted into a shell."""
    return shlex.join(("ckptctl", verb, location, *options))
