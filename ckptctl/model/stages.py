"""Who saves, reports, keeps and deletes checkpoints: the settings of each stage, as found.

A run with Lightning has two: a `ModelCheckpoint` callback inside, and Ray's `CheckpointConfig`
outside. What is reported between them is in the records of the saves.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ckptctl.model.bookkeeping import Provenance


class Saver(Struct, frozen=True, kw_only=True):
    """A `ModelCheckpoint` callback of Lightning."""

    name: str
    """Its class, without the module."""
    provenance: Provenance
    monitor: str | None = None
    mode: str | None = None
    """``min`` or ``max``."""
    keeps: int | None = None
    """How many of its own files it keeps; None where that is not known, -1 for all."""
    keeps_exactly: bool = False
    """Whether `keeps` is what was set, and not what its state happens to hold."""
    every_n_epochs: int | None = None
    every_n_train_steps: int | None = None
    interval: str | None = None
    """``train_time_interval``, as written."""
    best: float | None = None
    """The score of its best file, where the payload tells it."""


class Stopper(Struct, frozen=True, kw_only=True):
    """An `EarlyStopping` callback of Lightning."""

    provenance: Provenance
    monitor: str | None = None
    mode: str | None = None
    patience: int | None = None


class Lightning(Struct, frozen=True, kw_only=True):
    """What Lightning left in a checkpoint, or was configured with."""

    file: str
    """Relative to the experiment."""
    version: str | None = None
    epoch: int | None = None
    global_step: int | None = None
    savers: tuple[Saver, ...] = ()
    stoppers: tuple[Stopper, ...] = ()


class Requested(Struct, frozen=True, kw_only=True):
    """A `CheckpointConfig` as a user wrote it; Ray changes some of it before it is used."""

    provenance: Provenance
    num_to_keep: int | None = None
    monitor: str | None = None
    mode: str | None = None
    frequency: int | None = None
    at_end: bool | None = None

    @property
    def is_default(self) -> bool:
        """Whether nothing in it was set."""
        told = (self.num_to_keep, self.monitor, self.at_end)
        return told == (None, None, None) and not self.frequency and self.mode in (None, "max")


class Tuned(Struct, frozen=True, kw_only=True):
    """What `TuneConfig` ranks trials by; `ResultGrid.get_best_result` goes by it."""

    provenance: Provenance
    metric: str | None = None
    mode: str | None = None


class RunSettings(Struct, frozen=True, kw_only=True):
    """What the files of a run say about how it was set up."""

    trainer: str | None = None
    """``module:Class`` of a trainer of Ray Train, from ``trainer.pkl``."""
    own_loop: bool | None = None
    """Whether the trainer was given a ``train_loop_per_worker``; None where nothing says so."""
    trainable: str | None = None
    """The registered name of the trainable, from ``tuner.pkl``."""
    requested: Requested | None = None
    tuned: Tuned | None = None
    recorded: Mapping[str, object] | None = None
    """What ckptctl's own integration wrote down about a run of Train V2."""
    configured: Lightning | None = None
    """What ``LightningTrainer`` (Ray 2.6) was configured with."""


NO_SETTINGS = RunSettings()
