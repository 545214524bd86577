"""What a template makes of the checkpoints of a trial."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Trial
from ckptctl.model.template import Field, RenderFailure, Template, Values
from ckptctl.planner.ground import Ground
from ckptctl.planner.wording import Describe, with_values

__all__ = ["Failure", "Given", "describe_by", "give"]

_NAMED = (CheckpointState.COMPLETE, CheckpointState.PARTIAL)
"""Only these get names: the others are no checkpoints yet, or no more."""


class Failure(Struct, frozen=True, kw_only=True):
    """A checkpoint that a template makes no name for."""

    ground: Ground
    checkpoint: Checkpoint
    why: RenderFailure


class Given(Struct, frozen=True):
    """What a template makes of the checkpoints of one trial."""

    ground: Ground
    names: dict[str, str]
    failures: tuple[Failure, ...]


def give(ground: Ground, template: Template) -> Given:
    """The name of every whole or partial checkpoint of a trial, or why it has none."""
    names: dict[str, str] = {}
    failures: list[Failure] = []
    for checkpoint in ground.saves:
        if checkpoint.state not in _NAMED:
            continue
        name = _name(template, ground.trial, checkpoint)
        if isinstance(name, str):
            names[checkpoint.name] = name
        else:
            failures.append(Failure(ground=ground, checkpoint=checkpoint, why=name))
    return Given(ground, names, tuple(failures))


def _name(template: Template, trial: Trial, checkpoint: Checkpoint) -> str | RenderFailure:
    values = Values(
        index=checkpoint.index,
        training_iteration=checkpoint.training_iteration,
        trial_id=trial.trial_id,
        metrics=checkpoint.metrics,
    )
    if _is_settled(template, values, checkpoint.name):
        return checkpoint.name
    return template.render(values)


def _is_settled(template: Template, values: Values, name: str) -> bool:
    """Whether `template` made this name before.

    Where the template writes the index further behind, the name's index has changed with it, or
    is gone: a second run must not look for it.
    """
    parts = template.parts
    if not any(isinstance(part, Field) and part.name == "index" for part in parts):
        return False
    pattern = ""
    for part in parts:
        if isinstance(part, Field) and part.name == "index":
            pattern += "([0-9]+)"
            continue
        text = part if isinstance(part, str) else Template((part,)).render(values)
        if not isinstance(text, str):
            return False
        pattern += re.escape(text)
    found = re.fullmatch(pattern, name)
    return found is not None and template.render(replace(values, index=int(found[1]))) == name


def describe_by(template: Template) -> Describe:
    """Describes checkpoints by the values that `template` makes their names of."""
    fields = tuple(dict.fromkeys(f.name for f in template.fields if f.name != "trial_id"))

    def describe(checkpoint: Checkpoint) -> str:
        values = Values(
            index=checkpoint.index,
            training_iteration=checkpoint.training_iteration,
            trial_id=None,
            metrics=checkpoint.metrics,
        )
        found = ((name, values.get(name)) for name in fields)
        return with_values(checkpoint, [(name, v[0]) for name, v in found if v is not None])

    return describe
