"""CKP404: the ranking mode looks wrong for the metric."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import evidence_of
from ckptctl.stages.modes import suspects


class ModeSuspect(Rule):
    """The ranking mode looks wrong for the metric.

    ## What it checks
    Whether checkpoints are ranked by the highest of a metric whose name says that low is good
    (loss, error, perplexity, …), or by the lowest of one whose name says that high is good
    (accuracy, F1, reward, …). Nothing but the name is looked at.

    ## Why it matters
    `CheckpointConfig` ranks by the highest unless `checkpoint_score_order="min"` is said, while
    Lightning's `ModelCheckpoint` ranks by the lowest unless `mode="max"` is said. With the wrong
    end the best checkpoints are deleted and the worst are kept.

    ## Example
    `CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="loss")`: the two checkpoints with
    the highest loss stay.

    ## Remedy
    Set the mode that is meant. If the name misleads, leave the finding out with
    `--ignore CKP404`.

    ## Remedy safety
    Manual: only a person knows what the metric means.
    """

    code = "CKP404"
    name = "mode-suspect"
    severity = Severity.INFO

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Each metric once, with the first trial that is ranked so."""
        told: set[tuple[str, str]] = set()
        for trial in experiment.trials:
            for found in suspects(experiment, trial):
                key = (found.said.stage, found.metric)
                if key in told:
                    continue
                told.add(key)
                kept = "highest" if found.mode == "max" else "lowest"
                yield self.finding(
                    experiment,
                    f"{found.said.claim}: the {kept} {found.metric} counts as the best",
                    trial=trial,
                    evidence=(evidence_of(found.said),),
                    remedy=remedies.by_hand(
                        "set the mode that is meant", remedies.command("policy", experiment)
                    ),
                )
