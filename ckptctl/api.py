"""What ckptctl can do, as functions: each verb of the command line is one of these.

Functions take and return frozen values; nothing here prints, asks, or exits. Modules are imported
on first use, so that `import ckptctl` stays cheap.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from ckptctl._version import __version__
from ckptctl.errors import JournalError, LayoutError, RefusedError, UsageError
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Best, CheckpointRef, Experiment, Trial
from ckptctl.model.finding import Finding
from ckptctl.model.plan import Outcome, Plan, TreeFile

if TYPE_CHECKING:
    from ckptctl.executor import Progress
    from ckptctl.journal.records import JournalEntry
    from ckptctl.model.policies import Policy
    from ckptctl.planner.draft import Draft
    from ckptctl.rules.base import Rule
    from ckptctl.storage.listing import Listing
    from ckptctl.storage.store import Store

QUIET_PERIOD = 60.0
"""Seconds without a change after which a running trial counts as dead."""


def scan(
    location: str, *, layout: str | None = None, trial: str | None = None
) -> tuple[Experiment, ...]:
    """Read every experiment under `location`, with all that its witnesses say."""
    return tuple(narrow(e, trial) for e in experiments(location, layout=layout, trial=trial))


def experiments(
    location: str, *, layout: str | None = None, trial: str | None = None
) -> tuple[Experiment, ...]:
    """Read every experiment under `location` that has a matching trial, with all its trials."""
    from ckptctl import scanner

    found = scanner.scan(location, layout=layout)
    matching = tuple(e for e in found if trial is None or narrow(e, trial).trials)
    if not matching:
        names = [t.trial_id or t.dirname for e in found for t in narrow(e).trials]
        raise UsageError(
            f"no trial under {location} matches {trial}",
            hint=f"there are {', '.join(names[:8])}" if names else "there are none",
            location=location,
        )
    return matching


def check(
    experiment: Experiment, *, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Compare the witnesses of an experiment, and say where they disagree."""
    from ckptctl import checker

    return checker.check(experiment, select=tuple(select), ignore=tuple(ignore))


def audit(
    location: str,
    *,
    layout: str | None = None,
    trial: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> tuple[tuple[Experiment, tuple[Finding, ...]], ...]:
    """Scan and check; what is left out by `trial` was read all the same."""
    pairs = []
    for whole in experiments(location, layout=layout, trial=trial):
        view = narrow(whole, trial)
        kept = {t.dirname for t in view.trials} | {None}
        found = check(whole, select=select, ignore=ignore)
        pairs.append((view, tuple(f for f in found if f.trial in kept)))
    return tuple(pairs)


def narrow(experiment: Experiment, trial: str | None = None) -> Experiment:
    """Keep the trials that a location or a glob names; the rest of the experiment is as it was."""
    trials = tuple(t for t in experiment.trials if experiment.focus in (None, t.dirname))
    if trial is not None:
        trials = tuple(t for t in trials if _matches(t, trial))
    return experiment if trials == experiment.trials else replace(experiment, trials=trials)


def _matches(trial: Trial, glob: str) -> bool:
    return any(fnmatchcase(name, glob) for name in (trial.dirname, trial.trial_id) if name)


def plan_rename(
    experiment: Experiment,
    *,
    template: str,
    trial: str | None = None,
    on_missing: Literal["error", "skip"] = "error",
    allow_reorder: bool = False,
) -> Plan:
    """Plan names made from metrics; a plan that would be unsafe carries its refusals."""
    from ckptctl.model.template import Template
    from ckptctl.planner.rename import plan_rename as draft_rename

    draft = draft_rename(
        experiment,
        Template.parse(template),
        on_missing=on_missing,
        allow_reorder=allow_reorder,
        trial_glob=trial,
    )
    return _plan(experiment, draft, "rename")


def plan_reindex(
    experiment: Experiment,
    *,
    by: str | Policy | None = None,
    trial: str | None = None,
    allow_reorder: bool = False,
    unsafe: bool = False,
    relocate: bool = False,
    quarantine: bool = False,
) -> Plan:
    """Plan what makes the records agree with the folders, or with `by` new indices for both."""
    from ckptctl.model.policies import parse_policy
    from ckptctl.planner.reindex_by import plan_reindex_by
    from ckptctl.planner.repair import plan_repair

    if by is None:
        draft = plan_repair(
            experiment,
            unsafe=unsafe,
            relocate=relocate,
            quarantine=quarantine,
            trial_glob=trial,
        )
    elif quarantine:
        raise UsageError(
            "folders are not moved aside and renumbered in one go",
            hint="reindex --quarantine first, then reindex --by",
        )
    else:
        policy = parse_policy(by) if isinstance(by, str) else by
        draft = plan_reindex_by(experiment, policy, allow_reorder=allow_reorder, trial_glob=trial)
    return _plan(experiment, draft, "reindex")


def _plan(experiment: Experiment, draft: Draft, command: str) -> Plan:
    """Bind a draft to the bytes and folders as they are now."""
    from ckptctl.codec.edit import apply_edits
    from ckptctl.journal.format import with_id
    from ckptctl.planner.assemble import assemble
    from ckptctl.storage.listing import Listing
    from ckptctl.storage.location import open_reader

    reader = open_reader(experiment.location)
    listing = Listing(reader.list_tree()) if draft.moves else Listing(())
    sources = [source for source, _ in draft.moves]
    trees = {path: _tree(listing, path) for path in sources}
    entries = {path: listing.get(path) for path in sources}
    plan = assemble(
        experiment,
        draft,
        {file: reader.read_bytes(file) for file, edits in draft.edits.items() if edits},
        trees,
        {path: entry.file_id for path, entry in entries.items() if entry and entry.file_id},
        command=command,
        apply_edits=apply_edits,
    )
    return with_id(replace(plan, created_by=f"ckptctl {__version__}"))


def _tree(listing: Listing, path: str) -> tuple[TreeFile, ...]:
    files = listing.files(path) or {}
    return tuple(TreeFile(path=name, size=files[name]) for name in sorted(files))


def plan_to_json(plan: Plan) -> bytes:
    """Write a plan down, for `plan_from_json` and for people to read."""
    from ckptctl.journal.format import plan_to_json as to_value

    return (json.dumps(to_value(plan), indent=2, allow_nan=False) + "\n").encode()


def plan_from_json(data: bytes, *, source: str = "the plan") -> Plan:
    """Read a plan; UsageError where it is none, RefusedError where it was edited by hand."""
    from ckptctl.journal.format import plan_from_json as from_value

    try:
        value = json.loads(data)
    except ValueError as error:
        raise UsageError(
            f"{source} is no saved plan: {error}",
            hint="--plan-out FILE saves one",
            location=source,
        ) from error
    return from_value(value)


def apply(
    plan: Plan,
    *,
    allow_live: bool = False,
    quiet_period: float = QUIET_PERIOD,
    progress: Progress | None = None,
) -> Outcome:
    """Do what a plan says, with a journal; refuses a plan whose experiment has changed."""
    from ckptctl import executor

    return executor.apply(
        _writable(plan.location, allow_live=allow_live, quiet_period=quiet_period),
        plan,
        progress=progress,
    )


def plan_undo(location: str, *, plan_id: str | None = None) -> Plan | None:
    """Plan the way back from the last apply or the one that is named; None where there is none."""
    from ckptctl import executor
    from ckptctl.storage.location import open_reader

    reader = open_reader(home(location))
    entry = executor.entry_to_undo(reader, plan_id)
    return None if entry is None else executor.inverse_plan(reader, entry)


def undo(
    location: str,
    *,
    plan_id: str | None = None,
    allow_live: bool = False,
    quiet_period: float = QUIET_PERIOD,
    progress: Progress | None = None,
) -> Outcome:
    """Take back the last apply, or the one that is named."""
    from ckptctl import executor

    store = _writable(home(location), allow_live=allow_live, quiet_period=quiet_period)
    return executor.undo(store, plan_id, progress=progress)


def plan_resume(location: str) -> Plan | None:
    """Read the plan of the apply that was interrupted; None where nothing is pending."""
    from ckptctl.journal.store import Journal
    from ckptctl.storage.location import open_reader

    journal = Journal(open_reader(home(location)))
    entry = journal.pending()
    return None if entry is None else journal.intent(entry.name).plan


def resume(location: str, *, progress: Progress | None = None) -> Outcome:
    """Finish an interrupted apply."""
    from ckptctl import executor
    from ckptctl.storage.location import open_store

    return executor.resume(open_store(home(location)), progress=progress)


def history(location: str) -> tuple[JournalEntry, ...]:
    """List every apply of the experiment at `location`, the oldest first."""
    from ckptctl.journal.store import history as of
    from ckptctl.storage.location import open_reader

    return of(open_reader(home(location)))


def home(location: str) -> str:
    """Find the one experiment that a location names; its journal lies there."""
    from ckptctl import scanner
    from ckptctl.journal.paths import OWN
    from ckptctl.storage.location import open_reader

    if open_reader(location).stat(OWN) is not None:
        return location
    found = tuple(e.location for e in scanner.scan(location))
    if len(found) != 1:
        raise UsageError(
            f"{location} holds {len(found)} experiments, and each has a journal of its own",
            hint=f"name one of {', '.join(found[:8])}",
            location=location,
        )
    return found[0]


def looks_alive(
    location: str,
    *,
    experiment: Experiment | None = None,
    quiet_period: float = QUIET_PERIOD,
    clock: Callable[[], float] = time.time,
) -> RefusedError | None:
    """Say why a run may still be writing at `location`; None where nothing looks like it."""
    from ckptctl import liveness, scanner
    from ckptctl.journal.store import own_digests
    from ckptctl.storage.location import open_reader

    try:
        found = (experiment,) if experiment else scanner.scan(location)
        own = own_digests(open_reader(location))
    except (LayoutError, JournalError):  # no run writes what cannot be told apart
        return None
    reasons = tuple(r for e in found for r in liveness.alive(e, clock(), quiet_period, own))
    if not reasons:
        return None
    return RefusedError(
        f"refused: a run may still be writing to {location}: {reasons[0]}",
        reasons=reasons[1:],
        hint="wait until it has ended, or add --allow-live",
        location=location,
    )


def _writable(location: str, *, allow_live: bool, quiet_period: float) -> Store:
    """Open an experiment for writing, unless a run may be writing there too."""
    from ckptctl.storage.location import open_store

    refusal = None if allow_live else looks_alive(location, quiet_period=quiet_period)
    if refusal is not None:
        raise refusal
    return open_store(location)


def latest(
    experiment: Experiment, *, trial: str | None = None
) -> tuple[tuple[Trial, CheckpointRef | None], ...]:
    """For each trial the newest complete checkpoint, or None."""
    return tuple((t, _complete(experiment, t.latest)) for t in narrow(experiment, trial).trials)


def _complete(experiment: Experiment, ref: CheckpointRef | None) -> CheckpointRef | None:
    if ref is None:
        return None
    home = experiment.trial(ref.trial)
    found = home.checkpoint(ref.name) if home else None
    return ref if found and found.state is CheckpointState.COMPLETE else None


def best(
    experiment: Experiment,
    *,
    trial: str | None = None,
    metric: str | None = None,
    mode: str | None = None,
) -> tuple[tuple[Trial, Best | None], ...]:
    """For each trial the best complete checkpoint by its own metric and mode, or by these."""
    return tuple((t, _best(t, metric, mode)) for t in narrow(experiment, trial).trials)


def _best(trial: Trial, metric: str | None, mode: str | None) -> Best | None:
    if metric is None and mode is None:
        return trial.best
    own = trial.retention
    metric = metric or (own.monitor if own else None)
    mode = mode or (own.mode if own and own.monitor == metric else None)
    if metric is None:
        return None
    if mode is None:
        raise UsageError(
            f"which end of {metric} is best? the records of {trial.trial_id or trial.dirname} "
            "do not rank by it",
            hint="add --mode min or --mode max",
        )
    scored = [(score, c) for c in trial.saves if (score := _score(c, metric)) is not None]
    if not scored:
        return None
    # Of equals the newest, as Ray has it.
    value, chosen = max(scored, key=lambda s: (s[0] if mode == "max" else -s[0], s[1].saved))
    return Best(name=chosen.name, metric=metric, mode=mode, value=value)


def metric_names(experiment: Experiment) -> tuple[str, ...]:
    """List every metric that can rank checkpoints: a finite number of some save."""
    found = {name for t in experiment.trials for c in t.saves for name in c.metrics}
    saves = [c for t in experiment.trials for c in t.saves]
    return tuple(sorted(n for n in found if any(_score(c, n) is not None for c in saves)))


def _score(checkpoint: Checkpoint, metric: str) -> float | None:
    value = checkpoint.metrics.get(metric)
    if checkpoint.state is not CheckpointState.COMPLETE or isinstance(value, bool | str | None):
        return None
    return value if math.isfinite(value) else None


def rules(*, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Every rule that is selected (all, where nothing is) and not ignored, in order of code."""
    from ckptctl.rules import selected

    return tuple(sorted(selected(select, ignore), key=lambda rule: rule.code))


def rule(word: str) -> Rule:
    """Find the rule of this code or name."""
    from ckptctl.rules import by_code

    return by_code(word)
