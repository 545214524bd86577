"""All that a Ray and a pyarrow need of an experiment and do not find."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ckptctl.errors import UsageError
from ckptctl.migration import counter, fields, filesystems, names, snapshot
from ckptctl.migration.need import Need, Outcome, Place
from ckptctl.model import rays
from ckptctl.model.experiment import Experiment, RecordRole

__all__ = ["LEGACY", "TRAIN_V2", "needs"]

LEGACY = "ray-legacy"
TRAIN_V2 = "ray-train-v2"


def needs(experiment: Experiment, for_ray: str | None, for_pyarrow: str | None) -> tuple[Need, ...]:
    """What these versions need; None stands for the version that wrote it.

    For the pyarrow that is not named counts the one of that Ray's time.

    Raises:
        UsageError: a version is none, is unknown, or lies between two that would not do the same.
    """
    ray_rows = (None,) if for_ray is None else rays.ray_rows(for_ray)
    answers = []
    for row in ray_rows:
        arrow = for_pyarrow if for_pyarrow is not None or row is None else row.pyarrow
        arrows = (None,) if arrow is None else rays.pyarrow_rows(arrow)
        answers += [tuple(_needs(experiment, row, one, for_ray)) for one in arrows]
    if any(_meaning(answer) != _meaning(answers[0]) for answer in answers):
        raise UsageError(
            f"nothing is known of {_asked(for_ray, for_pyarrow)}: the versions before and after it "
            f"would not do the same with {experiment.location}",
            hint=f"known are Ray {rays.known(rays.rays())}, pyarrow {rays.known(rays.pyarrows())}",
        )
    return answers[0]


def _asked(for_ray: str | None, for_pyarrow: str | None) -> str:
    asked = (("Ray", for_ray), ("pyarrow", for_pyarrow))
    return " with ".join(f"{what} {version}" for what, version in asked if version is not None)


def _meaning(found: tuple[Need, ...]) -> object:
    return [(need.outcome, need.places) for need in found]


def _needs(
    experiment: Experiment,
    ray: rays.RayRow | None,
    arrow: rays.PyarrowRow | None,
    asked: str | None,
) -> Iterator[Need]:
    if not _state_was_read(experiment):
        return
    who = f"Ray {asked}"
    if experiment.layout == TRAIN_V2:
        if ray is not None:
            yield from snapshot.needs(experiment, ray, who)
        return
    if experiment.layout == LEGACY:
        if ray is not None:
            yield _other_form(experiment, who)
        return
    if ray is not None:
        parts: tuple[Callable[[Experiment, rays.RayRow, str], Iterator[Need]], ...] = (
            names.needs,
            fields.needs,
            counter.needs,
        )
        for part in parts:
            yield from part(experiment, ray, who)
    if arrow is not None:
        yield from filesystems.needs(experiment, arrow)


def _other_form(experiment: Experiment, who: str) -> Need:
    message = f"{who} keeps trials in another form than Ray 2.6 or before did"
    return Need(
        message=f"{message}: {Outcome.STARTS_OVER.words}",
        outcome=Outcome.STARTS_OVER,
        places=(
            Place(
                file=experiment.state_file or "",
                pointer="",
                claim="written by Ray 2.6 or before",
                edit=None,
            ),
        ),
    )


def _state_was_read(experiment: Experiment) -> bool:
    return experiment.state_file is not None and not any(
        p.role is RecordRole.STATE for p in experiment.problems
    )
