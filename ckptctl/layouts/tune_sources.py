"""What was read of one Tune trial, before it is put together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from ckptctl.layouts.folders import Folder
from ckptctl.layouts.references import References
from ckptctl.layouts.result_log import ResultLog
from ckptctl.layouts.tune_metadata import TrainableNote
from ckptctl.layouts.tune_state import StateTrial
from ckptctl.model.checkpoint import TrialDir


class Dialect(StrEnum):
    """What the files of a Tune experiment mean, by the Ray that wrote them."""

    LEGACY = "ray-legacy"
    """2.6 and before: no counter, folders numbered by iteration."""
    TUNE_2_7 = "ray-tune-2.7"
    """The counter is the next index; rows of class trainables name the wrong folder."""
    TUNE = "ray-tune"
    """2.8 and newer: the counter is the last index used."""


class TrialSources(Struct, frozen=True, kw_only=True):
    """All that was read of one trial."""

    dirname: TrialDir
    state: StateTrial | None
    state_file: str | None
    state_read: bool
    on_storage: bool
    folders: tuple[Folder, ...]
    log: ResultLog
    log_path: str | None
    dialect: Dialect
    references: References
    notes: Mapping[str, TrainableNote] = field(default_factory=dict)
    """What the trainable left inside each folder (Ray 2.6 and before)."""
