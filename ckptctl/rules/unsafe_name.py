"""CKP006: names that make trouble on other disks, stores and registries."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.model.names import portable
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count


class UnsafeName(TrialRule):
    """A name that other disks, stores or registries refuse.

    ## What it checks
    The folder names of a trial against what Windows refuses, what object stores and URLs treat
    specially, what artifact registries (Weights & Biases, MLflow) take, and how long a name may
    be. Names that Ray itself gives are fine everywhere.

    ## Why it matters
    The experiment works where it lies. Copied to a Windows disk, synced to a bucket or uploaded
    as an artifact, such a checkpoint is left out, renamed or refused, and records that name it
    then lead nowhere.

    ## Example
    `checkpoint_000007-loss=0.25`: artifact registries refuse the `=`.

    ## Remedy
    Where it matters, `ckptctl rename LOCATION --to 'checkpoint_{index:06d}-{loss:.4f}'`, or any
    other template of letters, digits, dots, dashes and underscores.

    ## Remedy safety
    Manual: the names work where they are, and nothing is wrong with the checkpoints.
    """

    code = "CKP006"
    name = "unsafe-name"
    severity = Severity.INFO

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's names that do not work everywhere."""
        found = [(c, reasons) for c in trial.folders if (reasons := portable(c.name))]
        if not found:
            return
        (first, reasons), *others = found
        more = f" (and {count(len(others), 'more name')} like it)" if others else ""
        yield self.finding(
            experiment,
            f"the name {first.name} {'; it '.join(reasons)}{more}",
            trial=trial,
            checkpoints=[c.name for c, _ in found],
            evidence=(_evidence(c, reasons) for c, reasons in found),
            remedy=remedies.by_hand(
                "where the experiment is to go elsewhere, rename with a template of letters, "
                "digits, dots, dashes and underscores"
            ),
        )


def _evidence(checkpoint: Checkpoint, reasons: tuple[str, ...]) -> Evidence:
    return facts.lies(checkpoint, f"{checkpoint.name} {'; it '.join(reasons)}")
