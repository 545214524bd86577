"""The core of every rename: from new names to moves, edits and refusals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from ckptctl.model.experiment import Experiment, Mention, RecordKind, RecordRole, Unreadable
from ckptctl.model.names import portable
from ckptctl.model.plan import Edit, Refusal
from ckptctl.planner.checks import check
from ckptctl.planner.counter import counter_edit, lowest_safe, will_be_used
from ckptctl.planner.draft import Draft
from ckptctl.planner.ground import After, Ground, grounds
from ckptctl.planner.relocate import present_path
from ckptctl.planner.routing import route
from ckptctl.planner.rows import names_for_rows
from ckptctl.planner.wording import Describe, only_name

__all__ = ["Counter", "Manner", "Names", "last_used", "plan_names", "refusals_of", "unreadable"]

Names = Mapping[tuple[str, str], str]
"""New names by (trial dirname, old name)."""


class Counter(Enum):
    """What becomes of the recorded index."""

    RAISE = "raise"
    """To the highest leading number where it is lower; never lowered."""
    SET = "set"
    """Right behind the highest number, also downwards; never below a name that is there."""


class Manner(Struct, frozen=True, kw_only=True):
    """How names are given."""

    counter: Counter = Counter.RAISE
    allow_reorder: bool = False
    """Names may sort in another order than they were saved; they never collide."""
    describe: Describe = only_name
    """How refusals speak of a checkpoint."""
    gone: frozenset[str] = frozenset()
    """Paths of folders that another part of the same plan moves away."""
    trials: frozenset[str] | None = None
    """The trials whose counter may change, by dirname; None for those with new names."""


def plan_names(experiment: Experiment, names: Names, manner: Manner | None = None) -> Draft:
    """What gives the checkpoints in `names` their new names, records and all.

    Where anything is refused, the draft holds the reasons and the names, and nothing to do.
    """
    manner = manner or Manner()
    afters = [_after(ground, names) for ground in grounds(experiment, manner.gone).values()]
    renames = tuple(
        (after.ground.trial.dirname, checkpoint.name, new)
        for after in afters
        for checkpoint, new in after.folders
        if checkpoint.name in after.names
    )
    refusals = tuple(refusal for after in afters for refusal in refusals_of(after, manner))
    if renames:
        moved = {a.ground.path(name) for a in afters for name in a.names}
        refusals = (*unreadable(experiment, moved), *refusals)
    if refusals:
        return Draft(refusals=refusals, renames=renames)
    return _draft(experiment, names, manner, afters, renames)


def _draft(
    experiment: Experiment,
    names: Names,
    manner: Manner,
    afters: Sequence[After],
    renames: tuple[tuple[str, str, str], ...],
) -> Draft:
    work = _Work(experiment)
    chosen = {t for t, _, _ in renames} if manner.trials is None else manner.trials
    for after in afters:
        work.rename(after, names)
        if after.ground.trial.dirname in chosen:
            work.count(after, last_used(after, manner.counter))
    moves = [
        (after.ground.path(old), after.ground.path(new))
        for after in afters
        for old, new in after.names.items()
    ]
    return Draft(
        moves=route(moves),
        edits=work.edits(),
        notes=(*work.notes, *_portability(renames)),
        renames=renames,
    )


def _after(ground: Ground, names: Names) -> After:
    dirname = ground.trial.dirname
    own = {str(c.name): names[dirname, c.name] for c in ground.saves if (dirname, c.name) in names}
    return ground.after(own)


def last_used(after: After, counter: Counter) -> int | None:
    """The last index used as the plan leaves it; None without a counter."""
    return lowest_safe(after) if counter is Counter.SET else after.last_used


def refusals_of(after: After, manner: Manner) -> Iterator[Refusal]:
    """Every reason against one trial's new names."""
    return check(
        after,
        last_used=last_used(after, manner.counter),
        allow_reorder=manner.allow_reorder,
        describe=manner.describe,
    )


def unreadable(experiment: Experiment, folders: Collection[str]) -> tuple[Refusal, ...]:
    """A refusal for all that could not follow, or not be checked, if these folders moved."""
    read = {record.path for record in experiment.records if record.sha256}
    dirnames = {_folder_of(path) for path in folders}
    refusals: list[Refusal] = []
    for problem in (*experiment.problems, *(p for t in experiment.trials for p in t.problems)):
        if problem.role is None and any(problem.file.startswith(f"{f}/") for f in folders):
            cannot = "so nobody could tell whether its checkpoint arrives whole"
        elif (
            problem.role is RecordRole.STATE
            or problem.file == experiment.state_file
            or (_is_unknown_log(problem, read) and _folder_of(problem.file) in dirnames)
        ):
            cannot = "so its records cannot follow"
        else:
            continue
        refusals.append(
            Refusal(
                code="unreadable",
                message=f"{problem.file} cannot be read, {cannot}: {problem.reason}",
                help=("scan says what to do about it",),
            )
        )
    return tuple(refusals)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _is_unknown_log(problem: Unreadable, read: Collection[str]) -> bool:
    """Of a result log some lines may be bad; whatever the others name was found."""
    if problem.truncated or problem.role not in (RecordRole.RESULT_LOG, RecordRole.PROGRESS):
        return False
    return problem.role is RecordRole.PROGRESS or problem.file not in read


class _Work:
    """Collects edits by place, so that no place is edited twice."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._csv = {r.path for r in experiment.records if r.kind is RecordKind.CSV}
        self._edits: dict[str, dict[str, Edit]] = {}
        self.notes: list[str] = []

    def rename(self, after: After, names: Names) -> None:
        """Every record follows; a row of a checkpoint that is gone names no live one."""
        if not after.names:
            return
        for old, new in after.names.items():
            for mention in after.ground.mentions.get(old, ()):
                present = present_path(self._experiment, mention, new)
                self._set(mention, present or mention.renamed(new))
            for mention in after.ground.clearable.get(new, ()):
                self._clear(mention)
        trial = after.ground.trial
        for edit in names_for_rows(self._experiment, trial, names):
            self._file(trial.result_log or "")[edit.pointer] = edit

    def count(self, after: After, target: int | None) -> None:
        """The recorded index, and rows whose name a later save would take."""
        changed = counter_edit(after, target)
        slot = after.ground.trial.index_slot
        if changed is not None and slot is not None:
            edit, note = changed
            self._file(slot.file)[edit.pointer] = edit
            self.notes.append(note)
        if target is not None:
            for mention in will_be_used(after, target):
                self._clear(mention)

    def edits(self) -> dict[str, tuple[Edit, ...]]:
        """By file, in the order in which they were found."""
        return {file: tuple(own.values()) for file, own in self._edits.items() if own}

    def _clear(self, mention: Mention) -> None:
        self._set(mention, "" if mention.provenance.file in self._csv else None)

    def _set(self, mention: Mention, after: str | None) -> None:
        pointer = mention.provenance.pointer
        edit = Edit(op="set", pointer=pointer, before=mention.text, after=after)
        self._file(mention.provenance.file).setdefault(pointer, edit)

    def _file(self, path: str) -> dict[str, Edit]:
        return self._edits.setdefault(path, {})


def _portability(renames: tuple[tuple[str, str, str], ...]) -> Iterator[str]:
    """Notes on new names that a scan would find (CKP006); of many like it, one."""
    problems: dict[tuple[str, ...], str] = {}
    for _, _, new in renames:
        if found := portable(new):
            problems.setdefault(found, new)
    return (f"unsafe-name (CKP006): {new} {'; it '.join(found)}" for found, new in problems.items())
