"""CKP103: the checkpoint that a restore goes on from is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ckptctl.model.experiment import CheckpointRef, Experiment, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule

_HARM: Mapping[str, str] = {
    facts.LEGACY: "a restore falls back to the folder whose name sorts last",
    facts.TRAIN_V2: "the run cannot be loaded",
}


class LatestMissing(TrialRule):
    """The trial's latest checkpoint is not on storage.

    ## What it checks
    Whether the folder that the driver recorded as the latest is there, in this trial or in the
    one it was taken over from (population-based training).

    ## Why it matters
    `Tuner.restore` goes on from this folder and from no other: the trial ends in ERROR with
    "Could not recover from checkpoint as it does not exist on storage anymore" (Ray 2.7 to 2.60).
    Train V2 cannot load the run at all. Ray 2.6 falls back to the folder that sorts last.

    ## Example
    The state records `checkpoint_000007` as the latest; only `checkpoint_000005` and
    `checkpoint_000006` are there.

    ## Remedy
    If the folder was moved or renamed by hand, put it back. Otherwise `ckptctl reindex LOCATION`
    makes the newest whole checkpoint that is left the latest.

    ## Remedy safety
    Safe where another checkpoint with known metrics is left. Unsafe where none is: the trial
    would start from scratch, which only `--unsafe` allows.
    """

    code = "CKP103"
    name = "latest-missing"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Look for the latest checkpoint's folder."""
        latest = trial.latest_record
        if latest is None or latest.ref is None:
            return
        if facts.is_there(latest.ref, trial, experiment):
            return
        harm = _HARM.get(experiment.layout, "a restore fails")
        yield self.finding(
            experiment,
            f"the latest checkpoint, {_name(latest.ref, trial, experiment)}, is not on storage: "
            f"{harm}",
            trial=trial,
            checkpoints=(latest.ref.name,),
            evidence=(facts.recorded(latest), facts.absent(latest.ref)),
            remedy=_remedy(latest.ref, trial, experiment),
        )


def _name(ref: CheckpointRef, trial: Trial, experiment: Experiment) -> str:
    if ref.trial == trial.dirname:
        return ref.name
    return f"{ref.name} of {facts.owner(ref, experiment)}"


def _remedy(ref: CheckpointRef, trial: Trial, experiment: Experiment) -> Remedy:
    if facts.can_go_on(trial, experiment):
        return remedies.safe(
            experiment,
            "it makes the newest whole checkpoint that is left the latest"
            f"{facts.may_be_renamed(trial, experiment, (ref.name,))}",
        )
    return remedies.unsafe(
        experiment,
        "no checkpoint with known metrics is left, so the trial would start from scratch; "
        "if the folder was only renamed or moved, put it back instead",
    )
