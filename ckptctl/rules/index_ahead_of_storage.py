"""CKP102: the index is above everything that is known of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import index_of
from ckptctl.model.rows import columns
from ckptctl.rules import facts
from ckptctl.rules.base import TrialRule
from ckptctl.rules.index_behind_storage import counter


class IndexAheadOfStorage(TrialRule):
    """The trial's index is above every folder and every record.

    ## What it checks
    The driver's counter of a trial against the numbers of its own folders, its records and the
    names in its result log. An index that only the log still knows is no finding: the checkpoint
    was evicted by the retention settings.

    ## Why it matters
    It costs nothing: the next save leaves a gap in the numbers. But something set the counter by
    hand, or removed checkpoints together with their records.

    ## Example
    The index is 41, while folders, records and log know nothing above 7.

    ## Remedy
    None is needed. Lowering an index is what makes saves overwrite each other.

    ## Remedy safety
    Nothing is changed.
    """

    code = "CKP102"
    name = "index-ahead-of-storage"
    severity = Severity.INFO

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the driver's counter with all numbers that are known."""
        index = facts.trial_index(trial)
        if index is None or index.value < 0:
            return
        names = facts.own_names(trial, facts.all_records(trial))
        logged = columns(trial.rows).names
        numbers = map(index_of, filter(None, chain(names, logged)))
        there = (n for n, _ in facts.indexed(trial))
        highest = max((n for n in chain(numbers, there) if n is not None), default=None)
        if highest is not None and highest >= index.value:
            return
        known = "none is known" if highest is None else f"the highest is {highest}"
        yield self.finding(
            experiment,
            f"the trial's index is {index.value}, above every folder, record and result row "
            f"({known}): the next save leaves a gap",
            trial=trial,
            evidence=(counter(index, experiment),),
        )
