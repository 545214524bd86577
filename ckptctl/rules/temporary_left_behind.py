"""CKP005: what an interrupted save left."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, is_are, listing


class TemporaryLeftBehind(TrialRule):
    """A temporary folder of an interrupted save is still there.

    ## What it checks
    Folders with a temporary name (`checkpoint_tmp…`, `checkpoint_-00001`) or with the marker of
    a temporary folder in them.

    ## Why it matters
    Ray does not clear them away, and `Result.from_path` lists them among the checkpoints since
    their names begin with `checkpoint_`. `checkpoint_tmp…` sorts behind every number, so it is
    taken for the latest.

    ## Example
    `checkpoint_tmpccbce4/.temp_marker` beside three checkpoints.

    ## Remedy
    `ckptctl reindex LOCATION --quarantine` moves them into `.ckptctl/quarantine/`.

    ## Remedy safety
    Manual: nothing is deleted and `ckptctl undo` takes it back, but while a trial still runs the
    folder may be in use.
    """

    code = "CKP005"
    name = "temporary-left-behind"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's temporary folders."""
        left = [c for c in trial.incomplete if c.state is CheckpointState.TEMPORARY]
        if not left:
            return
        names = [c.name for c in left]
        yield self.finding(
            experiment,
            f"{count(len(left), 'temporary folder')} of an interrupted save "
            f"{is_are(len(left))} left: {listing(names)}",
            trial=trial,
            checkpoints=names,
            evidence=(facts.lies(c, count(c.files, "file")) for c in left),
            remedy=remedies.quarantine(experiment, "it moves temporary folders aside"),
        )
