"""CKP109: one folder is in the list twice."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, in_words, listing


class DuplicateRecord(TrialRule):
    """One folder is recorded twice.

    ## What it checks
    Whether two records in the driver's list of a trial are of the same folder. The latest
    checkpoint has a slot of its own beside the list, which does not count.

    ## Why it matters
    When `num_to_keep` evicts one of the two records, Ray deletes the folder that the other one
    still needs (seen in Ray 2.54: three records, one folder left). Until then the best list shows
    one checkpoint twice, once with the metrics of a save that was overwritten.

    ## Example
    The list holds `checkpoint_000003` for iteration 4 and again for iteration 5.

    ## Remedy
    `ckptctl reindex LOCATION` keeps the record of the later save.

    ## Remedy safety
    Safe: the folder holds the later save, and no folder is touched.
    """

    code = "CKP109"
    name = "duplicate-record"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's folders with more than one record."""
        by_folder: dict[str, list[Record]] = {}
        for record in trial.records:
            by_folder.setdefault(record.ref.path if record.ref else record.path, []).append(record)
        twice = [records for records in by_folder.values() if len(records) > 1]
        if not twice:
            return
        names = [_name(records[0]) for records in twice]
        if len(names) == 1:
            times = "twice" if len(twice[0]) == 2 else f"{in_words(len(twice[0]))} times"
            message = f"{names[0]} is recorded {times}"
        else:
            message = f"{count(len(names), 'folder')} are recorded more than once: {listing(names)}"
        yield self.finding(
            experiment,
            f"{message}: evicting one record would delete the other's checkpoint",
            trial=trial,
            checkpoints=names,
            evidence=(facts.recorded(r, _claim(r)) for records in twice for r in records),
            remedy=remedies.safe(experiment, "it keeps the record of the later save"),
        )


def _name(record: Record) -> str:
    return record.ref.name if record.ref else record.path.rstrip("/").rpartition("/")[2]


def _claim(record: Record) -> str:
    if record.training_iteration is None:
        return _name(record)
    return f"{_name(record)} at iteration {record.training_iteration}"
