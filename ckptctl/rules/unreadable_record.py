"""CKP201: a record that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, RecordRole, Unreadable
from ckptctl.model.finding import Evidence, Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import Rule


class UnreadableRecord(Rule):
    """A record file cannot be read.

    ## What it checks
    Every record that could not be read whole, of `tuner.pkl` and `trainer.pkl` those up to 1 MiB;
    and a trial's record that does not tell its counter. A torn last line of a log is CKP202, a file
    without bytes CKP204; older state files are left out, since no reader opens them.

    ## Why it matters
    Without the state `Tuner.restore` fails, and nothing tells which checkpoints are recorded. Ray
    2.12 and newer copy the state to storage without an atomic replace, so a crash can tear it.
    With a broken line in it, a result log can be read neither by `Result.from_path` nor by
    `ExperimentAnalysis`.

    ## Example
    `experiment_state-2026-11-30_10-37-15.json` ends in the middle of a text.

    ## Remedy
    By hand, from a backup. Ray takes the state file whose name is the greatest: where an older one
    lies beside it, move the torn one out of the folder (a new name that does not begin with
    `experiment_state` does as well), then `ckptctl reindex LOCATION` lets the older one follow
    what is on storage. `Result.from_path` on each trial folder works without a state.

    ## Remedy safety
    Manual: what was in the torn part is in no other file.
    """

    code = "CKP201"
    name = "unreadable-record"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each file."""
        for trial, problem in facts.problems(experiment):
            if problem.empty or facts.is_torn_log(problem):
                continue
            if problem.role is RecordRole.SUPERSEDED_STATE:
                continue
            yield self.finding(
                experiment,
                f"{problem.file} cannot be read: {problem.reason}",
                trial=trial,
                evidence=(Evidence(witness="storage", claim=problem.reason, file=problem.file),),
                remedy=_remedy(problem, experiment),
            )


def _remedy(problem: Unreadable, experiment: Experiment) -> Remedy:
    match problem.role:
        case RecordRole.STATE if experiment.salvaged is not None:
            return remedies.unsafe(
                experiment,
                "it makes a new snapshot from the folders and from what is whole of this one; "
                "metrics that stood in the rest are lost",
            )
        case RecordRole.STATE:
            return remedies.by_hand(without_state(problem, experiment))
        case RecordRole.TUNER:
            return remedies.by_hand(WITHOUT_TUNER)
        case RecordRole.RESULT_LOG | RecordRole.PROGRESS:
            return remedies.by_hand("correct or remove the line that is told; the others are whole")
        case _:
            return remedies.by_hand("bring it back from a backup")


WITHOUT_TUNER = (
    "it cannot be rebuilt from other files; constructing the same Tuner again (same trainable, "
    "search space, name and storage path) writes it anew, and Result.from_path and "
    "ExperimentAnalysis work without it"
)
# Ray 2.54 tune/impl/tuner_internal.py: the constructor writes tuner.pkl, fit is not needed.


def without_state(problem: Unreadable, experiment: Experiment) -> str:
    """What can be done where the state that counts is torn or empty."""
    if experiment.layout == facts.TRAIN_V2:
        return (
            f"bring {problem.file} back from a backup; it cannot be rebuilt, since metrics stand "
            "nowhere else. A new run can still start from one of the checkpoint folders"
        )
    older = superseded(experiment)
    if older:
        return (
            f"{older[-1]} is the newest older state: move {problem.file} out of the folder, so "
            "that Ray takes that one, then reindex"
        )
    return (
        f"bring {problem.file} back from a backup; it cannot be rebuilt. Result.from_path on each "
        "trial folder still gives checkpoints and metrics"
    )


def superseded(experiment: Experiment) -> tuple[str, ...]:
    """The older state files, in order of their names."""
    return tuple(
        sorted(f.path for f in experiment.records if f.role is RecordRole.SUPERSEDED_STATE)
    )
