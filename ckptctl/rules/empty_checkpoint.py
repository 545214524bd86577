"""CKP301: checkpoint folders without files."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, listing


class EmptyCheckpoint(TrialRule):
    """A checkpoint folder has no files.

    ## What it checks
    Checkpoint folders that hold nothing, or nothing but Ray's own markers. Links count as files:
    they are not followed, and what they lead to may be whole.

    ## Why it matters
    A restore hands the empty folder to the trainable, which fails on it or starts from nothing.
    Buckets have no empty folders: there the checkpoint is missing instead (CKP103, CKP104).

    ## Example
    `checkpoint_000007` was created, and the disk was full before the first file was written.

    ## Remedy
    `ckptctl reindex LOCATION --quarantine` moves the folder into `.ckptctl/quarantine/` and lets
    the records follow: where it was the latest, the newest whole checkpoint becomes it.

    ## Remedy safety
    Manual: nothing is deleted and `ckptctl undo` takes it back, but a save may just be going on.
    """

    code = "CKP301"
    name = "empty-checkpoint"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's empty folders."""
        empty = [c for c in trial.incomplete if c.state is CheckpointState.EMPTY]
        if not empty:
            return
        names = [c.name for c in empty]
        verb = "has" if len(empty) == 1 else "have"
        yield self.finding(
            experiment,
            f"{count(len(empty), 'checkpoint')} {verb} no files: {listing(names)}"
            f"{facts.restored_from(trial, names)}",
            trial=trial,
            checkpoints=names,
            evidence=(facts.lies(c, "no files") for c in empty),
            remedy=remedies.quarantine(experiment, "it moves empty folders aside"),
        )
