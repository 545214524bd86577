"""The snapshot of a run of Train V2: each Ray loads it only with all the fields of its own.

Fields that are too many are not looked at; a field that is missing makes the run raise (Ray 2.46
to 2.60 ``train/v2/_internal/execution/checkpoint/checkpoint_manager.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from ckptctl.migration.need import Need, Outcome, Place
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.plan import Edit
from ckptctl.model.rays import RayRow, rays
from ckptctl.model.wording import listing

__all__ = ["needs"]

_VERSION = "ray_version"
_NUMBERS, _NEXT, _LATEST = (
    "checkpoint_report_indices",
    "current_report_index",
    "latest_checkpoint_result",
)


def needs(experiment: Experiment, ray: RayRow, who: str) -> Iterator[Need]:
    """One need for the fields that are missing, one for what another Ray left."""
    file = experiment.state_file or ""
    if ray.snapshot is None:
        place = Place(file=file, pointer="", claim="a run of Train V2", edit=None)
        message = f"{who} has no Train V2: {Outcome.REFUSES.words}"
        yield Need(message=message, outcome=Outcome.REFUSES, places=(place,))
        return
    required = {name for name, default in ray.snapshot.items() if not default.known}
    missing = sorted(required - experiment.state_fields)
    if missing and experiment.state_fields:
        yield Need(
            message=f"{who} does not load a snapshot without {listing(missing)}: "
            f"{Outcome.REFUSES.words}",
            outcome=Outcome.REFUSES,
            places=tuple(_added(experiment, file, name) for name in missing),
        )
    other = tuple(_of_another(experiment, ray.snapshot.keys(), file, who))
    if other:
        yield Need(
            message=f"the snapshot is of another Ray than {who}: {Outcome.GOES_ON.words}",
            outcome=Outcome.GOES_ON,
            places=other,
        )


def _added(experiment: Experiment, file: str, name: str) -> Place:
    (trial,) = experiment.trials
    edit = Edit(op="set", pointer=name, before=None, after=_value(trial, name))
    return Place(file=file, pointer=name, claim=f"no {name}", edit=edit)


def _value(trial: Trial, name: str) -> object:
    if name == _NUMBERS:
        return list(_report_numbers(trial))
    if name == _NEXT:
        numbers = trial.report_numbers or _report_numbers(trial)
        return max(numbers, default=-1) + 1
    return None if name == _LATEST else []


def _report_numbers(trial: Trial) -> tuple[int, ...]:
    """A number for each recorded result, higher for the later save; the latest has the highest."""
    saved = {str(c.name): c.saved for c in trial.checkpoints}
    latest = trial.latest_record.path if trial.latest_record else None
    places = [
        (record.path == latest, saved.get(record.path, -1), at)
        for at, record in enumerate(trial.records)
    ]
    ranks = {place: rank for rank, place in enumerate(sorted(places))}
    return tuple(ranks[place] for place in places)


def _of_another(
    experiment: Experiment, fields: AbstractSet[str], file: str, who: str
) -> Iterator[Place]:
    known = {name for row in rays() for name in row.snapshot or ()}
    for name in sorted((known & experiment.state_fields) - fields):
        edit = Edit(op="remove", pointer=name)
        yield Place(file=file, pointer=name, claim=name, edit=edit)
    wanted = who.removeprefix("Ray ")
    if _VERSION in fields and experiment.ray_version != wanted:
        edit = Edit(op="set", pointer=_VERSION, before=experiment.ray_version, after=wanted)
        yield Place(file=file, pointer=_VERSION, claim=f"{_VERSION} is another", edit=edit)
