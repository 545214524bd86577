"""Index policies: from the saves of a trial to the index each one gets.

The numbering of Ray 2.6 was seen in runs of Ray 2.6.3: a class trainable names a folder after its
training iteration, a function trainable after the iteration before the report, and a trainer of
Ray Train by a counter of its own that begins at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, assert_never

from msgspec import Struct

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import Checkpoint, Metrics, MetricValue
from ckptctl.model.experiment import TrainableKind, Trial

__all__ = [
    "BadIndex",
    "ByFunction",
    "ByMetric",
    "IndexFunction",
    "Policy",
    "Ray26",
    "Sequential",
    "Trouble",
    "indexes",
    "metric_of",
    "next_index",
    "parse_policy",
    "runs_trainer",
]

IndexFunction: TypeAlias = Callable[[Mapping[str, MetricValue], int], object]
"""``(metrics, previous_index) -> index``; the previous index of the first save is -1."""

_NONE_YET = -1


class Sequential(Struct, frozen=True):
    """0, 1, 2, … in save order."""

    def __str__(self) -> str:
        return "sequential"


class ByMetric(Struct, frozen=True):
    """A metric of the save; where a save lacks it, the previous index + 1."""

    metric: str

    def __str__(self) -> str:
        return self.metric


class Ray26(Struct, frozen=True):
    """The numbering of Ray 2.6."""

    def __str__(self) -> str:
        return "ray-2.6"


class ByFunction(Struct, frozen=True):
    """A function of the caller's own."""

    name: str
    """As the caller wrote it: ``module:function``."""
    function: IndexFunction

    def __str__(self) -> str:
        return self.name


Policy: TypeAlias = Sequential | ByMetric | Ray26 | ByFunction


class Trouble(StrEnum):
    """Why an index cannot be used."""

    NOT_AN_INTEGER = "is not a whole number"
    NEGATIVE = "is negative"
    DUPLICATE = "is taken by an earlier save"
    NOT_RISING = "is not above that of the save before it"
    FAILED = "could not be computed"


class BadIndex(Struct, frozen=True, kw_only=True):
    """A save whose index cannot be used, and why."""

    checkpoint: Checkpoint
    value: object
    """What the policy gave."""
    trouble: Trouble
    other: Checkpoint | None = None
    """The earlier save that it clashes with, where it does."""

    def __str__(self) -> str:
        behind = "" if self.other is None else f" ({self.other.name})"
        shown = f"'{self.value}'" if self.trouble is Trouble.FAILED else repr(self.value)
        return f"{self.checkpoint.name}  {shown} {self.trouble}{behind}"


def parse_policy(text: str) -> Policy:
    """The policy of this name; `UsageError` for ``module:function``, which only a caller loads."""
    match text:
        case "sequential":
            return Sequential()
        case "ray-2.6":
            return Ray26()
        case "":
            raise UsageError("an index policy without a name", hint=_POLICIES)
        case _ if ":" in text:
            raise UsageError(
                f"the index policy {text!r} is a function, which has to be loaded first",
                hint="give it with --by on the command line",
            )
        case _:
            return ByMetric(text)


_POLICIES = "use sequential, training_iteration, ray-2.6, the name of a metric, or module:function"


def runs_trainer(trial: Trial, layout: str) -> bool:
    """Whether a trainer of Ray Train ran this trial.

    Records do not say so. Ray names a trial's folder after its trainable, and trainers keep the
    name of their class, ``TorchTrainer_c08b9_00000_…`` (Ray 2.6 to 2.60, Train V1).
    """
    if layout == "ray-train-v2":
        return True
    if trial.kind is TrainableKind.CLASS:
        return False
    trainable = trial.dirname.partition(f"_{trial.trial_id}")[0] if trial.trial_id else ""
    return trainable.endswith("Trainer")


def indexes(
    policy: Policy, trial: Trial, saves: Sequence[Checkpoint], *, layout: str = ""
) -> tuple[int, ...] | tuple[BadIndex, ...]:
    """The index of each of `saves`, which are in save order; or every save that has none.

    Indexes must be whole, not negative and strictly rising in save order: a name that counts
    down, or twice the same, would let readers take another checkpoint for the latest.
    """
    rule = Sequential() if isinstance(policy, Ray26) and runs_trainer(trial, layout) else policy
    found: dict[int, Checkpoint] = {}
    bad: list[BadIndex] = []
    previous = _NONE_YET
    for place, checkpoint in enumerate(saves):
        index = _judged(checkpoint, _value(rule, trial, place, checkpoint, previous), found)
        if isinstance(index, BadIndex):
            bad.append(index)
        else:
            found[index] = checkpoint
            previous = index
    return tuple(bad) if bad else tuple(found)


def next_index(
    policy: Policy, trial: Trial, save: Checkpoint, previous: int, *, layout: str = ""
) -> tuple[int, BadIndex | None]:
    """The index of a save that is being made, behind `previous` (-1 where there is none).

    What the policy gives counts where it is a whole number above `previous`. Where it is not, the
    index is `previous` + 1, and why comes with it: a run does not end for a number.
    """
    rule = Sequential() if isinstance(policy, Ray26) and runs_trainer(trial, layout) else policy
    index = _judged(save, _value(rule, trial, previous + 1, save, previous), {})
    if isinstance(index, BadIndex):
        return previous + 1, index
    if index <= previous:
        return previous + 1, BadIndex(checkpoint=save, value=index, trouble=Trouble.NOT_RISING)
    return index, None


class _Failed(Struct, frozen=True):
    text: str


def _judged(checkpoint: Checkpoint, value: object, before: dict[int, Checkpoint]) -> int | BadIndex:
    if isinstance(value, _Failed):
        return BadIndex(checkpoint=checkpoint, value=value.text, trouble=Trouble.FAILED)
    number = _whole(value)
    if number is None:
        return BadIndex(checkpoint=checkpoint, value=value, trouble=Trouble.NOT_AN_INTEGER)
    if number < 0:
        return BadIndex(checkpoint=checkpoint, value=number, trouble=Trouble.NEGATIVE)
    if number in before:
        return BadIndex(
            checkpoint=checkpoint, value=number, trouble=Trouble.DUPLICATE, other=before[number]
        )
    # Only rising numbers get in, so the last one is the highest.
    if before and number < (highest := next(reversed(before))):
        return BadIndex(
            checkpoint=checkpoint, value=number, trouble=Trouble.NOT_RISING, other=before[highest]
        )
    return number


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _value(
    policy: Policy, trial: Trial, place: int, checkpoint: Checkpoint, previous: int
) -> object:
    match policy:
        case Sequential():
            return place
        case ByMetric():
            return _metric(checkpoint, policy.metric, previous + 1)
        case Ray26():
            return _ray26(trial, checkpoint, previous + 1)
        case ByFunction():
            return _called(policy.function, checkpoint, previous)
        case _:
            assert_never(policy)


def metric_of(checkpoint: Checkpoint, metric: str) -> MetricValue:
    """A metric of a save, ``.`` and ``/`` read both ways; None where it has none."""
    if metric == "training_iteration" and checkpoint.training_iteration is not None:
        return checkpoint.training_iteration
    for key in (metric, metric.replace(".", "/"), metric.replace("/", ".")):
        value = checkpoint.metrics.get(key)
        if value is not None:
            return value
    return None


def _metric(checkpoint: Checkpoint, metric: str, otherwise: int) -> MetricValue:
    value = metric_of(checkpoint, metric)
    return otherwise if value is None else value


def _ray26(trial: Trial, checkpoint: Checkpoint, otherwise: int) -> MetricValue:
    value = metric_of(checkpoint, "training_iteration")
    iteration = _whole(value)
    if iteration is None:
        return otherwise if value is None else value
    return iteration if trial.kind is TrainableKind.CLASS else iteration - 1


def _called(function: IndexFunction, checkpoint: Checkpoint, previous: int) -> object:
    metrics: dict[str, MetricValue] = dict(checkpoint.metrics)
    if checkpoint.training_iteration is not None:
        metrics.setdefault("training_iteration", checkpoint.training_iteration)
    frozen: Metrics = MappingProxyType(metrics)
    try:
        return function(frozen, previous)
    except Exception as error:  # noqa: BLE001  it is the caller's own code
        return _Failed(f"{type(error).__name__}: {error}")
