"""Reading, checking and choosing: what `scan`, `latest`, `best` and `rules` are made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ckptctl.api._executor import LOCAL, Executor, workers_of
from ckptctl.errors import CkptctlError, LayoutError, LocationError, UsageError
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Best, CheckpointRef, Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.metrics import finite_number
from ckptctl.model.ranking import best_by, newest_whole

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule
    from ckptctl.scanner import Watch


def scan(
    location: str,
    *,
    layout: str | None = None,
    trial: str | None = None,
    deep: bool = False,
    required: Sequence[str] = (),
    watch: Watch | None = None,
    executor: Executor = LOCAL,
) -> tuple[Experiment, ...]:
    """Read every experiment under `location`, with all that its witnesses say.

    `deep` looks into the headers of the files of checkpoints; `required` are patterns of files
    that each checkpoint has to have; `watch` is told how the reading goes on. `executor` is who
    lists and reads: ``local``, ``ray``, ``dask``, or workers of your own.
    """
    whole = experiments(
        location,
        layout=layout,
        trial=trial,
        deep=deep,
        required=required,
        watch=watch,
        executor=executor,
    )
    return tuple(narrow(e, trial) for e in whole)


def experiments(
    location: str,
    *,
    layout: str | None = None,
    trial: str | None = None,
    collect_globals: bool = False,
    digests: bool = True,
    deep: bool = False,
    stages: bool = False,
    required: Sequence[str] = (),
    watch: Watch | None = None,
    executor: Executor = LOCAL,
) -> tuple[Experiment, ...]:
    """Read every experiment under `location` that has a matching trial, with all its trials."""
    from ckptctl import scanner

    found = scanner.scan(
        location,
        layout=layout,
        collect_globals=collect_globals,
        digests=digests,
        deep=deep,
        stages=stages,
        required=required,
        watch=watch,
        workers=workers_of(executor),
    )
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
    experiment: Experiment,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severities: Mapping[str, Severity] | None = None,
    for_ray: str | None = None,
    for_pyarrow: str | None = None,
) -> tuple[Finding, ...]:
    """Compare the witnesses of an experiment, and say where they disagree.

    What a run that goes on leaves and clears by itself is a note. `for_ray` and `for_pyarrow`
    also ask whether those versions can load it; `audit` reads what that takes.
    """
    from ckptctl import checker, liveness

    found = checker.check(
        experiment,
        select=tuple(select),
        ignore=tuple(ignore),
        severities=severities or {},
        for_ray=for_ray,
        for_pyarrow=for_pyarrow,
    )
    if not any(f.code in liveness.IN_FLIGHT and f.severity is not Severity.INFO for f in found):
        return found
    return liveness.settle(found, _alive(experiment))


def _alive(experiment: Experiment, clock: Callable[[], float] = time.time) -> Mapping[str, str]:
    """Why trials seem to be running, by their folders; a copy of an old run is none."""
    from ckptctl import liveness
    from ckptctl.api._alive import why_alive

    now, quiet = clock(), liveness.QUIET_PERIOD
    if liveness.looks_copied(experiment, now, quiet):
        return {}
    try:
        return why_alive(experiment, now, quiet, unknown=True)
    except CkptctlError:
        return liveness.why_alive(experiment, now, quiet, unknown=True)


def audit(
    location: str,
    *,
    layout: str | None = None,
    trial: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severities: Mapping[str, Severity] | None = None,
    for_ray: str | None = None,
    for_pyarrow: str | None = None,
    digests: bool = True,
    deep: bool = False,
    required: Sequence[str] = (),
    watch: Watch | None = None,
    executor: Executor = LOCAL,
) -> tuple[tuple[Experiment, tuple[Finding, ...]], ...]:
    """Scan and check; what is left out by `trial` was read all the same.

    Without `digests` no plan can be made of what comes back.
    """
    pairs = []
    for whole in experiments(
        location,
        layout=layout,
        trial=trial,
        collect_globals=for_ray is not None or for_pyarrow is not None,
        digests=digests,
        deep=deep,
        required=required,
        watch=watch,
        executor=executor,
    ):
        view = narrow(whole, trial)
        kept = {t.dirname for t in view.trials} | {None}
        found = check(
            whole,
            select=select,
            ignore=ignore,
            severities=severities,
            for_ray=for_ray,
            for_pyarrow=for_pyarrow,
        )
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


def experiment_at(location: str, *, executor: Executor = LOCAL) -> Experiment | None:
    """Read the one experiment that lies right at a location; None where that cannot be told."""
    from ckptctl import scanner

    try:
        found = scanner.scan(location, workers=workers_of(executor))
    except (LayoutError, LocationError):
        return None
    return next((e for e in found if e.location == location), None)


def latest(
    experiment: Experiment, *, trial: str | None = None
) -> tuple[tuple[Trial, CheckpointRef | None], ...]:
    """For each trial the newest complete checkpoint, or None.

    That is what a restore would go on from; where it is not whole, the newest before it that is,
    of those on record if there are any.
    """
    found = []
    for own in narrow(experiment, trial).trials:
        newest = newest_whole(own)
        instead = CheckpointRef(trial=own.dirname, name=newest.name) if newest else None
        found.append((own, _complete(experiment, own.latest) or instead))
    return tuple(found)


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
    whole = [c for c in trial.saves if c.state is CheckpointState.COMPLETE]
    return best_by(whole, metric, mode)


def metric_names(experiment: Experiment) -> tuple[str, ...]:
    """List every metric that can rank checkpoints: a finite number of some save."""
    found = {name for t in experiment.trials for c in t.saves for name in c.metrics}
    saves = [c for t in experiment.trials for c in t.saves]
    return tuple(sorted(n for n in found if any(_score(c, n) is not None for c in saves)))


def _score(checkpoint: Checkpoint, metric: str) -> float | None:
    if checkpoint.state is not CheckpointState.COMPLETE:
        return None
    return finite_number(checkpoint.metrics.get(metric))


def rules(*, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Every rule that is selected (all, where nothing is) and not ignored, in order of code."""
    from ckptctl.rules import selected

    return tuple(sorted(selected(select, ignore), key=lambda rule: rule.code))


def rule(word: str) -> Rule:
    """Find the rule of this code or name."""
    from ckptctl.rules import by_code

    return by_code(word)
