"""A checkpoint as it lies on storage and as its records tell it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NewType

from msgspec import Struct, field

from ckptctl.model.bookkeeping import Claim, Witness

TrialDir = NewType("TrialDir", str)
"""A trial's folder relative to its experiment; ``"."`` where the experiment is the parent."""

CheckpointName = NewType("CheckpointName", str)
"""The name of a checkpoint folder, without its parents."""

MetricValue = int | float | str | bool | None
Metrics = Mapping[str, MetricValue]
"""Reported metrics, flat: nested keys are joined by ``/``."""


class CheckpointState(StrEnum):
    """How whole a checkpoint is."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Files that all siblings have are missing, empty where the siblings' are not, or torn."""
    EMPTY = "empty"
    """A folder without files."""
    TEMPORARY = "temporary"
    """Left behind by an interrupted save."""
    MISSING = "missing"
    """Recorded, but not on storage."""


# An enum takes its time to give a member.
_MISSING = CheckpointState.MISSING


class Stray(Struct, frozen=True, kw_only=True):
    """A file of a checkpoint whose like no sibling has in its place."""

    path: str
    """Relative to the checkpoint's folder."""
    modified: float | None = None
    """Seconds since the epoch."""
    twin: str | None = None
    """A second file in the same part, where each sibling has one: both `ckpt-loss=…`."""


class Checkpoint(Struct, frozen=True, kw_only=True, gc=False):
    """One checkpoint of a trial: the folder, or a record of a folder that is gone."""

    trial: TrialDir
    """The trial whose folder holds it."""
    name: CheckpointName
    index: int | None
    """The leading number of ``checkpoint_<digits>`` or ``checkpoint_<digits>-…``."""
    state: CheckpointState
    training_iteration: int | None = None
    metrics: Metrics = field(default_factory=dict)
    files: int = 0
    size_bytes: int = 0
    modified: float | None = None
    """Seconds since the epoch: the newest change of any of its files."""
    recorded_by: tuple[Witness, ...] = ()
    saved: int = 0
    """Its place in the order in which the trial saved, from 0."""
    left: Claim[int] | None = None
    """The iteration that the trainable left inside it (Ray 2.6 and before)."""
    left_result: Mapping[str, object] | None = None
    """The result that the trainable left inside it, kept whole where no record knows the save."""
    lacks: tuple[str, ...] = ()
    """Files that all siblings have, or that are required, and this one has not."""
    hollow: tuple[str, ...] = ()
    """Files of zero bytes that are not empty in the siblings."""
    torn: tuple[tuple[str, str], ...] = ()
    """Files whose headers say that they are not whole, with why; only in a deep scan."""
    strays: tuple[Stray, ...] = ()
    """Files that no sibling has."""
    begun: float | None = None
    """Seconds since the epoch: the oldest change of a file that siblings have too."""

    @property
    def path(self) -> str:
        """The folder's path relative to the experiment."""
        return self.name if self.trial == "." else f"{self.trial}/{self.name}"

    @property
    def on_storage(self) -> bool:
        """Whether the folder is there at all."""
        return self.state is not _MISSING
