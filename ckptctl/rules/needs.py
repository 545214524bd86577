"""What a Ray and a pyarrow need of an experiment and do not find."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model import rays
from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence
from ckptctl.rules import facts
from ckptctl.rules.wording import listing

_SCRATCH = "a restore would start the experiment from scratch"


class Need(Struct, frozen=True, kw_only=True):
    """One thing that another Ray or pyarrow needs of an experiment and does not find."""

    message: str
    evidence: tuple[Evidence, ...]
    can_migrate: bool = True
    """Whether an edit of the records can give it what it needs."""


def needs(experiment: Experiment, for_ray: str | None, for_pyarrow: str | None) -> Iterator[Need]:
    """What these versions need of an experiment and do not find; None stands for its own one.

    Raises:
        UsageError: one of the two is no version.
    """
    ray = None if for_ray is None else rays.parse_version(for_ray)
    pyarrow = None if for_pyarrow is None else rays.parse_version(for_pyarrow)
    if not facts.state_was_read(experiment):
        return
    if ray is not None:
        found = tuple(_of_state(experiment, ray, f"Ray {for_ray}"))
        yield from found
        if not all(need.can_migrate for need in found):
            return
        yield from _globals(experiment, rays.RAY_HOMES, ray, f"Ray {for_ray}")
    if pyarrow is not None:
        yield from _globals(experiment, rays.PYARROW_HOMES, pyarrow, f"pyarrow {for_pyarrow}")


def _of_state(experiment: Experiment, ray: rays.Version, who: str) -> Iterator[Need]:
    if experiment.layout == facts.TRAIN_V2:
        if ray < rays.RAY_WITH_TRAIN_V2:
            yield _need(experiment, f"{who} has no Train V2", "a run of Train V2", moves=False)
            return
        yield from _fields(
            experiment,
            rays.snapshot_fields(ray),
            f"{who} does not load a snapshot without",
        )
        return
    if (experiment.layout == facts.LEGACY) != (ray < rays.RAY_WITH_TRIAL_DATA):
        written = "Ray 2.6 or before" if experiment.layout == facts.LEGACY else "Ray 2.7 or newer"
        message = f"{who} keeps trials in another form than {written} did: {_SCRATCH}"
        yield _need(experiment, message, f"written by {written}", moves=False)
        return
    if experiment.layout == facts.LEGACY:
        return
    wanted = rays.storage_fields(ray)
    yield from _fields(experiment, wanted, f"{who} does not go on with a StorageContext without")
    saved = any(t.counted_index is not None and t.counted_index >= 0 for t in experiment.trials)
    if experiment.layout == facts.TUNE and ray < rays.RAY_COUNTS_THE_LAST and saved:
        message = f"{who} takes the index for the next one: it would save over the latest folder"
        yield _need(experiment, message, "the index is the last one used")


def _fields(experiment: Experiment, wanted: frozenset[str], words: str) -> Iterator[Need]:
    lacking = sorted(wanted - experiment.state_fields)
    if lacking and experiment.state_fields:
        yield _need(experiment, f"{words} {listing(lacking)}", f"no {listing(lacking)}")


def _globals(
    experiment: Experiment, homes: tuple[rays.Home, ...], version: rays.Version, who: str
) -> Iterator[Need]:
    by_file = {
        file: lost
        for file, names in experiment.globals.items()
        if (lost := rays.missing(names, homes, version))
    }
    if by_file:
        names = sorted({name for lost in by_file.values() for name in lost})
        yield Need(
            message=f"{who} has no {listing(names)}: {_SCRATCH}",
            evidence=tuple(
                Evidence(witness="trial", claim=listing(lost), file=file)
                for file, lost in by_file.items()
            ),
        )


def _need(experiment: Experiment, message: str, claim: str, *, moves: bool = True) -> Need:
    evidence = Evidence(witness="trial", claim=claim, file=experiment.state_file or "")
    return Need(message=message, evidence=(evidence,), can_migrate=moves)
