"""CKP117: more records than the retention setting keeps."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, listing


class RetentionOverrun(TrialRule):
    """The records hold more checkpoints than are to be kept.

    ## What it checks
    The length of the driver's list against `num_to_keep` of the trial's own record. The latest is
    kept in addition where it is not among the best (`Ray 2.54
    train/_internal/checkpoint_manager.py`).

    ## Why it matters
    Ray cuts the list down at every save, so a longer one was added to, or the setting was lowered
    by hand. The next save of a restored run deletes all that is too much, the folders too: also
    checkpoints that somebody has just put back.

    ## Example
    `num_to_keep` is 3 and five checkpoints are recorded: the next save deletes at least two.

    ## Remedy
    Before the run goes on, copy what is to stay, or move it out of the trial's folder and let
    `ckptctl reindex LOCATION` take it off the records. A run that is over needs nothing.

    ## Remedy safety
    Manual: `reindex` neither deletes a checkpoint nor changes a setting, and only a person knows
    which of the two is wrong.
    """

    code = "CKP117"
    name = "retention-overrun"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the recorded list with what is to be kept."""
        retention = trial.retention
        if retention is None or retention.num_to_keep is None or retention.num_to_keep < 1:
            return
        extra = len(trial.records) - _allowed(trial, retention.num_to_keep, experiment)
        if extra <= 0:
            return
        too_many = trial.records[: len(trial.records) - retention.num_to_keep]
        names = [r.ref.name if r.ref else r.path for r in too_many]
        # Ray 2.6 keeps a heap, which is in no order, and drops one checkpoint a save.
        ordered = experiment.layout != facts.LEGACY
        harm = f": the next save deletes {listing(names)}" if ordered else ""
        yield self.finding(
            experiment,
            f"{count(len(trial.records), 'checkpoint')} are recorded, but num_to_keep is "
            f"{retention.num_to_keep}{harm}",
            trial=trial,
            checkpoints=names if ordered else (),
            evidence=(facts.recorded(r) for r in trial.records),
            remedy=remedies.by_hand(
                "copy what is to stay before the run goes on; nothing is safe to do by itself, "
                "since either the records or the setting may be wrong"
            ),
        )


def _allowed(trial: Trial, keep: int, experiment: Experiment) -> int:
    """One more where the latest is none of the best, which are at the end of the list."""
    latest = trial.latest_record
    if experiment.layout == facts.LEGACY or latest is None:
        return keep  # the latest of Ray 2.6 has a slot beside its heap
    ranked = latest.position is not None and latest.position >= len(trial.records) - keep
    return keep if ranked else keep + 1
