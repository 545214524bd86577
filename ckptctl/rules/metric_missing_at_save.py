"""CKP403: the ranking metric was not reported with some checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, is_are, listing
from ckptctl.stages.ranking import ranking_of
from ckptctl.stages.scores import unscored


class MetricMissingAtSave(TrialRule):
    """The ranking metric was not reported with some checkpoint.

    ## What it checks
    Whether the metric that `checkpoint_score_attribute` names is among the metrics of every save,
    those of the result log included. A value that is there but is no number is not this finding.

    ## Why it matters
    Ray ranks such a save all the same. Up to 2.53 its score is minus infinity, so that it is the
    worst with mode max and the best with mode min; since 2.54 it is put at the end of the list,
    where the best stands. Either way what is kept and what is deleted is not what the metric says.

    ## Example
    `checkpoint_score_attribute="val_loss"`, and the first checkpoint was reported before any
    validation: with mode min it counts as the best and is never deleted.

    ## Remedy
    Report the metric with every checkpoint, or rank by one that is always there. A metric of
    Lightning has to be logged before the callback that reports runs.

    ## Remedy safety
    Manual: a metric that was never reported cannot be had afterwards.
    """

    code = "CKP403"
    name = "metric-missing-at-save"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Look for the metric at every save."""
        found, ranking = unscored(experiment, trial), ranking_of(experiment, trial)
        if found is None or ranking is None:
            return
        metric, names = found
        place: Provenance = ranking.provenance
        yield self.finding(
            experiment,
            f"checkpoints are ranked by {metric}, which was not reported with {listing(names)}",
            trial=trial,
            checkpoints=names,
            evidence=(
                Evidence(
                    witness="settings",
                    claim=f"ranked by {metric} ({ranking.mode})",
                    file=place.file,
                    pointer=place.pointer,
                ),
            ),
            remedy=remedies.by_hand(
                f"{count(len(names), 'checkpoint')} {is_are(len(names))} ranked without a score; "
                "report the metric with every save"
            ),
        )
