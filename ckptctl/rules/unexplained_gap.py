"""CKP004: numbers that no checkpoint has and nothing accounts for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import index_of
from ckptctl.model.rows import columns
from ckptctl.rules import facts
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, listing


class UnexplainedGap(TrialRule):
    """An index is missing between two folders, and nothing explains it.

    ## What it checks
    The numbers between a trial's folders, where Ray counts its saves (2.7 and newer, Tune and
    Train V1) and no `num_to_keep` is set that evicts some. Numbers that a record or the result
    log knows are accounted for (CKP104 tells of those whose record is dead). So are numbers taken
    from a metric or evenly spaced, and trials that took a checkpoint over from another one
    (population-based training).

    ## Why it matters
    Nothing breaks. But folders were deleted together with their records, or the index was raised
    or taken from elsewhere by hand, and the checkpoints that are left may not be the ones that
    somebody believes them to be.

    ## Example
    `checkpoint_000007` is followed by `checkpoint_000010`, and no record or log tells of 8 and 9.

    ## Remedy
    None is needed. `ckptctl reindex LOCATION --by sequential` closes the gap where it disturbs.

    ## Remedy safety
    Nothing is changed: what is gone cannot be brought back, and a gap does no harm.
    """

    code = "CKP004"
    name = "unexplained-gap"
    severity = Severity.INFO

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's gaps."""
        if experiment.layout not in (facts.TUNE, facts.TUNE_2_7) or _evicts(trial):
            return
        folders = [c for _, c in sorted(facts.indexed(trial), key=lambda pair: pair[0])]
        numbers = sorted({c.index for c in folders if c.index is not None})
        if len(numbers) < 2 or _evenly_spaced(numbers) or _is_a_metric(folders):
            return
        gaps = list(_gaps(sorted({*numbers, *_accounted_for(trial)}), numbers))
        if not gaps:
            return
        missing = sum(last - first + 1 for first, last in gaps)
        shown = [str(a) if a == b else f"{a} to {b}" for a, b in gaps]
        edges = {n for first, last in gaps for n in (first - 1, last + 1)}
        beside = [c for c in folders if c.index in edges]
        yield self.finding(
            experiment,
            f"{count(missing, 'index is', 'indices are')} missing between the folders, and "
            f"neither retention nor a record explains it: {listing(shown)}",
            trial=trial,
            checkpoints=[c.name for c in beside],
            evidence=(facts.lies(c, str(c.index)) for c in beside),
        )


def _evicts(trial: Trial) -> bool:
    """Whether checkpoints may go and come in other ways than by counting; also where unknown."""
    latest = trial.latest_record
    if trial.retention is None or trial.retention.num_to_keep is not None:
        return True
    return latest is not None and facts.is_foreign(trial, latest)


def _accounted_for(trial: Trial) -> Iterator[int]:
    names = facts.own_names(trial, facts.all_records(trial))
    names.update(name for name in columns(trial.rows).names if name is not None)
    yield from (n for n in map(index_of, names) if n is not None)


def _evenly_spaced(numbers: Sequence[int]) -> bool:
    steps = {after - before for before, after in pairwise(numbers)}
    return len(numbers) > 2 and len(steps) == 1


def _is_a_metric(folders: Sequence[Checkpoint]) -> bool:
    """Whether some metric, or one less (as Ray 2.6 counts), is the index of each folder."""
    known = [c for c in folders if c.metrics]
    if len(known) < 2:
        return False
    return any(
        all(c.metrics.get(metric) == (c.index or 0) + offset for c in known)
        for offset in (0, 1)
        for metric, value in known[0].metrics.items()
        if value == (known[0].index or 0) + offset
    )


def _gaps(known: Sequence[int], folders: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last number of each gap in `known` that lies between the outermost folders."""
    for before, after in pairwise(known):
        if after - before > 1 and folders[0] <= before and after <= folders[-1]:
            yield before + 1, after - 1
