"""CKP110: the latest checkpoint is another trial's."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts
from ckptctl.rules.base import TrialRule


class ForeignLatest(TrialRule):
    """The trial's latest checkpoint belongs to another trial.

    ## What it checks
    Whether the folder that the driver recorded as the latest lies outside the trial's own folder.

    ## Why it matters
    This is how population-based training hands a good trial's weights to a bad one, and it is
    legal. But the trial depends on a folder that it does not own: the donor's `num_to_keep` may
    delete it, and Ray does not let the path follow when the experiment is moved.

    ## Example
    The latest of trial `c8218_00001` is `checkpoint_000003` of trial `c8218_00002`.

    ## Remedy
    None is needed. `ckptctl rename` and `ckptctl reindex --relocate` let such paths follow too.

    ## Remedy safety
    Nothing is changed.
    """

    code = "CKP110"
    name = "foreign-latest"
    severity = Severity.INFO

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the owner of the latest checkpoint with the trial."""
        latest = trial.latest_record
        if latest is None or not facts.is_foreign(trial, latest):
            return
        ref = latest.ref
        if ref is None:
            message = f"the latest checkpoint lies outside the experiment: {latest.path}"
        else:
            message = (
                f"the latest checkpoint, {ref.name}, belongs to {facts.owner(ref, experiment)}"
            )
        yield self.finding(
            experiment,
            message,
            trial=trial,
            checkpoints=(ref.name,) if ref else (),
            evidence=(facts.recorded(latest, latest.path),),
        )
