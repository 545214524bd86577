"""CKP302: checkpoints that lack what their siblings have."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import is_are, listing


class PartialCheckpoint(TrialRule):
    """A checkpoint lacks files that all its siblings have.

    ## What it checks
    Each folder's files against those of the trial's other checkpoints, or of the experiment's
    where the trial has too few: files that all the others have, and files of zero bytes that are
    not empty in the others. Ray's own markers do not count. Files that the configuration requires
    have to be there too. With `--deep` the headers of zip (torch, Lightning, NumPy, Keras),
    safetensors and JSON files are looked into: a file that is cut off says so.

    ## Why it matters
    Ray copies a checkpoint file by file, so a crash or a full disk leaves a part of it under its
    final name. Nothing in Ray checks it: a restore fails in the trainable, or goes on with weights
    that are not there.

    ## Example
    `checkpoint_000007` has `state.json`; the others have `state.json` and `weights.bin`.

    ## Remedy
    `ckptctl reindex LOCATION --quarantine` moves the folder into `.ckptctl/quarantine/` and lets
    the records follow: where it was the latest, the newest whole checkpoint becomes it.

    ## Remedy safety
    Manual: nothing is deleted and `ckptctl undo` takes it back, but a save may just be going on,
    and a trainable may well save some files only now and then.
    """

    code = "CKP302"
    name = "partial-checkpoint"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each partial checkpoint, since each lacks something else."""
        for checkpoint in trial.incomplete:
            if checkpoint.state is not CheckpointState.PARTIAL:
                continue
            yield self.finding(
                experiment,
                f"{checkpoint.name} is not whole: {_missing(checkpoint)}"
                f"{facts.restored_from(trial, (checkpoint.name,))}",
                trial=trial,
                checkpoints=(checkpoint.name,),
                evidence=(facts.lies(checkpoint, _missing(checkpoint)),),
                remedy=remedies.quarantine(experiment, "it moves folders that lack files aside"),
            )


def _missing(checkpoint: Checkpoint) -> str:
    parts: list[str] = []
    if checkpoint.lacks:
        parts.append(f"it lacks {listing(checkpoint.lacks)}")
    if checkpoint.hollow:
        parts.append(f"{listing(checkpoint.hollow)} {is_are(len(checkpoint.hollow))} empty")
    parts += [f"{path} {why}" for path, why in checkpoint.torn]
    return "; ".join(parts) or "it differs from its siblings"
