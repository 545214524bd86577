"""What new names of a trial have to fit: its folders, other names, records and counter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct, field

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import (
    Experiment,
    Mention,
    MentionForm,
    RecordRole,
    TrainableKind,
    Trial,
    TrialStatus,
)
from ckptctl.model.names import NameKind, index_of, kind_of

__all__ = ["After", "Ground", "grounds", "is_chosen"]

_NO_COUNTER = ("ray-train-v2", "plain")


class Ground(Struct, frozen=True, kw_only=True):
    """One trial as renaming sees it."""

    experiment: Experiment
    trial: Trial
    saves: tuple[Checkpoint, ...]
    """Its folders in save order, temporary ones aside."""
    others: frozenset[str] = frozenset()
    """All other names that are taken in the same place."""
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    """Every place that names one of its folders, by name, in the records of all trials."""
    clearable: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    """Places that name a folder that is gone, and may be made to name nothing."""
    held: frozenset[str] = frozenset()
    """Names of folders that are gone, and whose records need a name."""

    @property
    def label(self) -> str:
        """How messages call the trial."""
        own = self.experiment.name if self.trial.dirname == "." else self.trial.dirname
        return self.trial.trial_id or own

    @property
    def goes_on(self) -> bool:
        """Whether a restore may save more checkpoints under ``checkpoint_%06d``."""
        layout = self.experiment.layout
        counts = layout.startswith("ray-") and layout not in _NO_COUNTER
        return counts and self.trial.in_state and self.trial.status is not TrialStatus.TERMINATED

    def path(self, name: str) -> str:
        """A folder's path relative to the experiment."""
        return name if self.trial.dirname == "." else f"{self.trial.dirname}/{name}"

    def after(self, names: Mapping[str, str]) -> After:
        """The trial once the folders in `names` (old to new) are renamed."""
        here = {c.name for c in self.saves}
        changed = {old: new for old, new in names.items() if old in here and old != new}
        return After(
            ground=self,
            names=changed,
            folders=tuple((c, changed.get(c.name, c.name)) for c in self.saves),
        )


class After(Struct, frozen=True, kw_only=True):
    """One trial with its new names."""

    ground: Ground
    names: Mapping[str, str]
    """Old to new, of the folders whose name changes."""
    folders: tuple[tuple[Checkpoint, str], ...]
    """Every save and the name it then has, in save order."""

    @property
    def highest(self) -> int | None:
        """The highest leading number of a name in the trial's folder."""
        names = (*(name for _, name in self.folders), *self.ground.others)
        return max((i for i in map(index_of, names) if i is not None), default=None)

    @property
    def last_used(self) -> int | None:
        """The last index used once the counter is raised to `highest`; None without a counter."""
        if self.ground.trial.index_slot is None:
            return None
        counted, highest = self.ground.trial.counted_index, self.highest
        return max((i for i in (counted, highest) if i is not None), default=None)

    def next_number(self, last_used: int | None) -> int | None:
        """The number of the next save's folder, where a restore goes on.

        Ray 2.6 and before keep no counter: a class trainable's next folder is at least the
        iteration behind the last one's, and a function trainable's at least the last iteration.
        """
        if self.ground.trial.index_slot is not None:
            return None if last_used is None else last_used + 1
        return self._next_iteration()

    def _next_iteration(self) -> int | None:
        trial = self.ground.trial
        own = trial.checkpoint(trial.latest.name) if trial.latest else None
        last = own or (self.ground.saves[-1] if self.ground.saves else None)
        if last is None:
            return None
        by_name = None
        if last.index is not None and kind_of(last.name) is NameKind.RAY_INDEX:
            by_name = last.index + 1
        iteration = last.training_iteration
        if iteration is None:
            return by_name
        if trial.kind is TrainableKind.CLASS:
            return iteration + 1
        return iteration if by_name is None else min(iteration, by_name)


def is_chosen(experiment: Experiment, trial: Trial, glob: str | None) -> bool:
    """Whether a call that names LOCATION and ``--trial GLOB`` speaks of this trial."""
    if experiment.focus is not None and trial.dirname != experiment.focus:
        return False
    names = (trial.dirname, trial.trial_id or "")
    return glob is None or any(fnmatchcase(name, glob) for name in names)


def grounds(experiment: Experiment, gone: Collection[str] = ()) -> dict[str, Ground]:
    """The ground of every trial, by dirname.

    `gone` are paths of folders that another part of the same plan moves away.
    """
    left = frozenset(gone)
    taken = _other_names(experiment)
    mentions = _by_trial(experiment)
    return {
        trial.dirname: _ground(
            experiment, trial, left, taken[trial.dirname], mentions[trial.dirname]
        )
        for trial in experiment.trials
    }


def _ground(
    experiment: Experiment,
    trial: Trial,
    gone: frozenset[str],
    taken: Iterable[str],
    mentions: Iterable[Mention],
) -> Ground:
    saves = tuple(c for c in trial.saves if c.path not in gone)
    there = {c.name for c in saves}
    others = {c.name for c in trial.checkpoints if c.on_storage and c.path not in gone} | set(taken)
    by_name: defaultdict[str, list[Mention]] = defaultdict(list)
    clearable: defaultdict[str, list[Mention]] = defaultdict(list)
    held: set[str] = set()
    for mention in mentions:
        name = mention.ref.name
        if name in there:
            by_name[name].append(mention)
        elif name not in others and _may_be_cleared(experiment, mention):
            clearable[name].append(mention)
        else:
            held.add(name)
    return Ground(
        experiment=experiment,
        trial=trial,
        saves=saves,
        others=frozenset(others - there),
        mentions={name: tuple(own) for name, own in by_name.items()},
        clearable={name: tuple(own) for name, own in clearable.items()},
        held=frozenset(held),
    )


def _may_be_cleared(experiment: Experiment, mention: Mention) -> bool:
    """A bare name says what a row was saved as; a path, or a Train V2 name, is the record."""
    return mention.form is MentionForm.NAME and experiment.layout != "ray-train-v2"


def _by_trial(experiment: Experiment) -> defaultdict[str, list[Mention]]:
    superseded = {r.path for r in experiment.records if r.role is RecordRole.SUPERSEDED_STATE}
    found: defaultdict[str, list[Mention]] = defaultdict(list)
    for mention in experiment.mentions:
        if mention.provenance.file not in superseded:
            found[mention.ref.trial].append(mention)
    return found


def _other_names(experiment: Experiment) -> defaultdict[str, set[str]]:
    """Names in the place of each trial's folders that are no checkpoints."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    paths = (*(r.path for r in experiment.records), *experiment.unparsed, *experiment.odd)
    trials = {t.dirname for t in experiment.trials} - {"."}
    for path in (*paths, *trials):
        parent, _, _ = path.rpartition("/")
        found[parent or "."].add(path.removeprefix(f"{parent}/") if parent else path)
    found["."].add(".ckptctl")
    return found
