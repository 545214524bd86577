"""An experiment, its trials, and every record that mentions a checkpoint."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType

from msgspec import Struct, field

from ckptctl.model.bookkeeping import Bookkeeping, Claim, Provenance, Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, Metrics, TrialDir
from ckptctl.model.heap import Heap, Priority
from ckptctl.model.names import natural_key
from ckptctl.model.pickles import Pickle, StateKeys
from ckptctl.model.stages import NO_SETTINGS, Lightning, RunSettings


class TrialStatus(StrEnum):
    """The statuses that Ray writes (``Ray 2.54 tune/experiment/trial.py``)."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    TERMINATED = "TERMINATED"
    ERROR = "ERROR"

    @property
    def may_be_alive(self) -> bool:
        """Whether a process may still be writing for a trial of this status."""
        return self in (TrialStatus.PENDING, TrialStatus.RUNNING)


class RecordKind(StrEnum):
    """How the bytes of a record file are made up."""

    JSON = "json"
    JSON_LINES = "json-lines"
    CSV = "csv"
    PICKLE = "pickle"


class RecordRole(StrEnum):
    """What a record file is for."""

    STATE = "state"
    """The experiment state that a restore reads."""
    SUPERSEDED_STATE = "superseded-state"
    """An older state file, which no reader opens."""
    RESULT_LOG = "result-log"
    PROGRESS = "progress"
    TUNER = "tuner"
    SEARCHER = "searcher"
    """What the searcher and the callbacks left for a restore."""
    CHECKPOINT_METADATA = "checkpoint-metadata"
    """What the trainable left inside a checkpoint (Ray 2.6 and before)."""


class RecordFile(Struct, frozen=True, kw_only=True):
    """A file that was read as a record, as it was when it was read."""

    path: str
    """Relative to the experiment."""
    kind: RecordKind
    role: RecordRole
    sha256: str
    """Of the bytes read, in hex; empty where the file was only listed, or no plan is made of it."""
    size: int
    modified: float | None = None
    """Seconds since the epoch."""


class CheckpointRef(Struct, frozen=True, kw_only=True):
    """Names one checkpoint folder of the experiment."""

    trial: TrialDir
    name: CheckpointName

    @property
    def path(self) -> str:
        """The folder's path relative to the experiment."""
        return self.name if self.trial == "." else f"{self.trial}/{self.name}"


class MentionForm(StrEnum):
    """How a record writes the checkpoint down."""

    NAME = "name"
    """The bare folder name."""
    PATH = "path"
    """A path that ends in the folder's name."""


class Mention(Struct, frozen=True, kw_only=True):
    """One place in a record that names a checkpoint folder."""

    ref: CheckpointRef
    provenance: Provenance
    text: str
    """The text exactly as it is written there."""
    form: MentionForm
    owner: TrialDir | None = None
    """The trial whose record it is, where that may be another than the folder's."""

    def renamed(self, name: str) -> str:
        """The text that this place has to hold once the folder is called `name`."""
        if self.form is MentionForm.NAME:
            return name
        return self.text[: len(self.text.rstrip("/")) - len(self.ref.name)] + name


ESTIMATED = "training_iteration_estimated"
"""The mark in the metrics of a record that ckptctl made without knowing the iteration."""


class Record(Struct, frozen=True, kw_only=True):
    """The driver's record of one save: a checkpoint and the metrics reported with it."""

    ref: CheckpointRef | None
    """The folder, or None where the path lies outside the experiment."""
    path: str
    """As recorded: absolute, without scheme."""
    metrics: Metrics
    training_iteration: int | None
    provenance: Provenance
    """The record as a whole: the item of the list, or the latest's own slot."""
    path_pointer: str
    """Where in the same file the path (or name) is written."""
    position: int | None
    """Its place in the recorded list; None for a latest that is not in it."""
    row: int | None = None
    """The line (from 0) of the result log that tells of the same save, where one does."""
    claimed_name: str | None = None
    """The folder name inside the record's own metrics, where there is one."""
    written: Mapping[str, object] | None = None
    """The record as it is written, where it is plain JSON (Train V2)."""
    serial: int | None = None
    """The number of its registration, where the driver keeps one (Ray 2.6 and before)."""
    priority: Priority | None = None
    """How the driver ranks it, as written (Ray 2.6 and before)."""

    @property
    def estimated(self) -> bool:
        """Whether no witness knows its iteration, so that it proves nothing."""
        return self.metrics.get(ESTIMATED) is True


_NO_METRICS: Metrics = MappingProxyType({})


class Row(Struct, frozen=True, kw_only=True):
    """One line of the result log that was read whole."""

    line: int
    """From 0, counting every line of the file."""
    has_name: bool
    """Whether the key ``checkpoint_dir_name`` is there at all."""
    name: str | None
    training_iteration: int | None
    metrics: Metrics = _NO_METRICS
    trial_id: str | None = None
    timestamp: int | float | None = None
    time_total_s: float | None = None
    checkpointed: bool = False
    """Whether the row says that a checkpoint was reported with it."""
    result: Mapping[str, object] | None = None
    """The result as logged, kept only where a repair may need all of it: the row of a folder
    that the driver has no record of, and the last row where it is ahead of the state."""


class Retention(Struct, frozen=True, kw_only=True):
    """Which checkpoints are kept, as the trial's own record says."""

    num_to_keep: int | None = None
    monitor: str | None = None
    mode: str = "max"
    """``min`` or ``max``."""
    frequency: int | None = None
    at_end: bool | None = None


class RecordShape(Struct, frozen=True, kw_only=True):
    """What a new record of a trial has to be made of, taken from the trial's own state."""

    list_pointer: str
    """Where the list of records is."""
    latest_pointer: str
    filesystem_pointer: str
    """Where the pickled filesystem is that a checkpoint's record repeats."""
    result_class: str
    """``module:name`` of the class of a record (moves between Ray versions)."""
    checkpoint_class: str
    roots: tuple[tuple[str, str], ...] = ()
    """Every place that holds the recorded root of the trial, as (pointer, text)."""
    last_result_pointer: str = ""


class TrainableKind(StrEnum):
    """What sort of trainable wrote a trial's checkpoints."""

    FUNCTION = "function"
    CLASS = "class"


class Unreadable(Struct, frozen=True, kw_only=True):
    """A record that could not be read, and why."""

    file: str
    reason: str
    truncated: bool = False
    """The end is cut off; what stands before it was read."""
    empty: bool = False
    """The file has zero bytes."""
    role: RecordRole | None = None


class Best(Struct, frozen=True, kw_only=True):
    """The best checkpoint by the trial's own metric and mode."""

    name: CheckpointName
    metric: str
    mode: str
    value: float


class Trial(Struct, frozen=True, kw_only=True, dict=True):
    """One trial: its folder, its records, and what each witness says."""

    trial_id: str | None
    dirname: TrialDir
    status: TrialStatus | None
    in_state: bool
    """Whether the experiment state that counts knows this trial."""
    on_storage: bool
    """Whether the trial's folder is there."""
    kind: TrainableKind | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    """In natural order of their names: folders, and records of folders that are gone."""
    books: Mapping[Witness, Bookkeeping] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    """The driver's list of saves, in recorded order."""
    latest_record: Record | None = None
    """The driver's latest save (may be one of `records`, or another trial's)."""
    best_record: Record | None = None
    """The best save, where it is recorded by itself (Ray 2.6 and before)."""
    heap: Heap | None = None
    rows: Sequence[Row] = ()
    """Those of a log come as `model.rows.Rows`, which tells them column by column."""
    retention: Retention | None = None
    """None where nothing is known of it."""
    best: Best | None = None
    latest: CheckpointRef | None = None
    """The newest complete checkpoint that a restore would go on from; else the newest folder."""
    state_position: int | None = None
    """The trial's place in the state's list of trials."""
    report_numbers: tuple[int, ...] | None = None
    """The report number of each record, where the layout keeps them (Train V2 of Ray 2.54+)."""
    next_report: Claim[int] | None = None
    """The number of the next report, where the layout keeps one."""
    state_iteration: Claim[int] | None = None
    """The iteration of the last result in the state."""
    index_slot: Provenance | None = None
    """Where the driver's counter is written."""
    shape: RecordShape | None = None
    trial_root: str | None = None
    """The trial folder's path as its records have it, without scheme."""
    result_log: str | None = None
    """The result log's path relative to the experiment."""
    lightning: Lightning | None = None
    """What Lightning left in its newest checkpoint, where that was looked into."""
    problems: tuple[Unreadable, ...] = ()

    def checkpoint(self, name: str) -> Checkpoint | None:
        """The checkpoint of this name among the trial's own, or None."""
        place = bisect_left(self.checkpoints, natural_key(name), key=_natural)
        if place < len(self.checkpoints) and self.checkpoints[place].name == name:
            return self.checkpoints[place]
        # Whoever made the trial may have another order; and what is not there is rarely asked for.
        return next((c for c in self.checkpoints if c.name == name), None)

    @property
    def counted_index(self) -> int | None:
        """The last index used, by the driver's counter."""
        book = self.books.get(Witness.TRIAL)
        return book.latest_index.value if book and book.latest_index else None

    @cached_property
    def folders(self) -> tuple[Checkpoint, ...]:
        """The checkpoints on storage that a save has finished or begun, temporary ones aside."""
        if not self.incomplete:
            return self.checkpoints
        gone, left = CheckpointState.MISSING, CheckpointState.TEMPORARY
        return tuple([c for c in self.checkpoints if c.state is not gone and c.state is not left])

    @cached_property
    def incomplete(self) -> tuple[Checkpoint, ...]:
        """The checkpoints that are not complete, which in nearly all trials are none."""
        complete = CheckpointState.COMPLETE
        return tuple([c for c in self.checkpoints if c.state is not complete])

    @cached_property
    def saves(self) -> tuple[Checkpoint, ...]:
        """The folders in the order in which they were saved."""
        return tuple(sorted(self.folders, key=_place))


def _natural(checkpoint: Checkpoint) -> tuple[tuple[tuple[str, int], ...], str]:
    return natural_key(checkpoint.name)


_place = attrgetter("saved")


def _dirname(trial: Trial) -> str:
    return trial.dirname


class Experiment(Struct, frozen=True, kw_only=True):
    """All that was found at one place, with the place of every claim."""

    location: str
    """As given by the user, without credentials; commands in messages name it."""
    name: str
    layout: str
    trials: tuple[Trial, ...]
    """In order of their dirnames."""
    ray_version: str | None = None
    """Where a record says it; never guessed."""
    state_file: str | None = None
    recorded_root: str | None = None
    """The experiment folder's path as the records have it."""
    actual_root: str | None = None
    """The same for the place where it lies now."""
    counter_means_next: bool = False
    """Ray 2.7: the recorded counter is the next index, not the last one used."""
    roots_are_absolute: bool = False
    """Ray 2.7 and 2.8 go on at the recorded root even where the experiment was moved."""
    records: tuple[RecordFile, ...] = ()
    mentions: Sequence[Mention] = ()
    problems: tuple[Unreadable, ...] = ()
    """Trouble with the experiment's own files; a trial's trouble is with the trial."""
    unparsed: tuple[str, ...] = ()
    """Paths of folders that begin ``checkpoint`` and match no known name format."""
    staging: str | None = None
    """Where Ray 2.7 to 2.9 keep a copy on the driver's machine that wins over what lies here."""
    odd: tuple[str, ...] = ()
    """Paths of links, special files and unreadable folders: nobody looked into them."""
    quarantined: tuple[str, ...] = ()
    """What was moved aside before, relative to the quarantine."""
    salvaged: Mapping[str, object] | None = None
    """The whole part of a Train V2 snapshot that could be read as bytes, but not as a snapshot."""
    why: str = ""
    """Why this layout was taken, for ``scan -v``."""
    pending: str | None = None
    """The plan id of an interrupted apply."""
    focus: TrialDir | None = None
    """The one trial that LOCATION named, where it named a trial and not the experiment."""
    lock_holder: str | None = None
    """Who holds the lock, where another run does."""
    state_fields: frozenset[str] = frozenset()
    """The fields that a reader finds in the state: the top keys of a snapshot (Train V2), or
    what the `StorageContext` of every trial has (Tune 2.7 and newer)."""
    settings: RunSettings = NO_SETTINGS
    """How the run was set up, as far as its files say."""
    pickles: tuple[Pickle, ...] = ()
    """All pickles that a restore reads; only where they were asked for."""
    state_keys: tuple[StateKeys, ...] = ()
    """The keys of the state's objects, where the pickles were asked for."""

    def trial(self, dirname: str) -> Trial | None:
        """The trial with this folder, or None."""
        place = bisect_left(self.trials, dirname, key=_dirname)
        if place < len(self.trials) and self.trials[place].dirname == dirname:
            return self.trials[place]
        return next((t for t in self.trials if t.dirname == dirname), None)
