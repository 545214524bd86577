"""Settings of stages, hand-built: what Lightning left, what Ray goes by, what was asked for."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, RecordShape, Retention, Trial
from ckptctl.model.stages import Lightning, Requested, RunSettings, Saver, Tuned
from tests.rules.builders import experiment

TUNER = Provenance(file="tuner.pkl", pointer="#_run_config/checkpoint_config")
PAYLOAD = "t1/checkpoint_000003/checkpoint.ckpt"
SHAPE = RecordShape(
    list_pointer="trial_data/0/1#checkpoint_manager#_checkpoint_results",
    latest_pointer="",
    filesystem_pointer="",
    result_class="",
    checkpoint_class="",
)


def saver(monitor: str | None = "val_loss", mode: str = "min", keeps: int | None = 1) -> Saver:
    place = Provenance(file=PAYLOAD, pointer="callbacks/ModelCheckpoint{}")
    return Saver(
        name="ModelCheckpoint",
        provenance=place,
        monitor=monitor,
        mode=mode,
        keeps=keeps,
        every_n_epochs=1,
    )


def with_lightning(trial: Trial, *savers: Saver, epoch: int = 5) -> Trial:
    return replace(trial, lightning=Lightning(file=PAYLOAD, epoch=epoch, savers=savers))


def ranked(
    trial: Trial, keep: int | None = None, monitor: str | None = None, mode: str = "max"
) -> Trial:
    """The trial with a record of its own of how its checkpoints are ranked."""
    kept = Retention(num_to_keep=keep, monitor=monitor, mode=mode)
    return replace(trial, retention=kept, shape=SHAPE)


def set_up(*trials: Trial, layout: str = "ray-tune", **settings: Any) -> Experiment:
    return replace(experiment(*trials, layout=layout), settings=RunSettings(**settings))


def requested(**values: Any) -> Requested:
    return Requested(provenance=TUNER, **values)


def tuned(metric: str, mode: str) -> Tuned:
    return Tuned(provenance=TUNER, metric=metric, mode=mode)
