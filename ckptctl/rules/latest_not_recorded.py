"""CKP115: a latest checkpoint that Train V2 cannot find among the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule


class LatestNotRecorded(TrialRule):
    """The latest checkpoint is not among the recorded ones.

    ## What it checks
    In snapshots of Train V2 that keep report numbers (Ray 2.54 and newer), whether the name of
    the latest is one of `checkpoint_results`. Every other state keeps the latest beside its list,
    and may well hold one that the list lacks.

    ## Why it matters
    Ray looks the latest up by its name in the list and fails with `KeyError`: neither `fit` nor
    `Result.from_path` can load the run
    (`Ray 2.54 train/v2/_internal/execution/checkpoint/checkpoint_manager.py`).

    ## Example
    A folder was renamed and only `checkpoint_results` was corrected: the latest keeps the old
    name.

    ## Remedy
    `ckptctl reindex LOCATION` records the latest where its folder is there, and otherwise makes
    the newest recorded checkpoint the latest.

    ## Remedy safety
    Safe where the folder or another checkpoint is there. Unsafe where none is: the run would
    start from scratch, which only `--unsafe` allows.
    """

    code = "CKP115"
    name = "latest-not-recorded"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Look for the latest in the list."""
        latest = trial.latest_record
        if experiment.layout != facts.TRAIN_V2 or trial.next_report is None:
            return
        if latest is None or latest.position is not None:
            return
        yield self.finding(
            experiment,
            f"the latest checkpoint, {latest.path}, is not among the recorded ones: the run "
            "cannot be loaded",
            trial=trial,
            checkpoints=(latest.path,),
            evidence=(facts.recorded(latest, f"latest is {latest.path}"),),
            remedy=_remedy(latest, trial, experiment),
        )


def _remedy(latest: Record, trial: Trial, experiment: Experiment) -> Remedy:
    folder = trial.checkpoint(latest.path)
    if folder is not None and folder.on_storage:
        return remedies.safe(experiment, "it adds the latest to the recorded ones")
    if facts.can_go_on(trial, experiment):
        return remedies.safe(experiment, "it makes the newest recorded checkpoint the latest")
    return remedies.unsafe(
        experiment, "no recorded checkpoint is left, so the run would start from scratch"
    )
