"""CKP204: a state file without bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, RecordRole, Unreadable
from ckptctl.model.finding import Evidence, Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.unreadable_record import WITHOUT_TUNER, without_state

_MAY_BE_EMPTY = (RecordRole.RESULT_LOG, RecordRole.PROGRESS, RecordRole.SUPERSEDED_STATE)


class EmptyStateFile(Rule):
    """A state file has zero bytes.

    ## What it checks
    The experiment state, the snapshot of Train V2, `tuner.pkl`, `trainer.pkl` and what trainables
    leave in their checkpoints. Logs begin empty and may be so.

    ## Why it matters
    A full disk or a crash between opening and writing leaves such files. `Tuner.restore` needs both
    the state and `tuner.pkl` and fails on an empty one; `Tuner.can_restore` only looks whether
    `tuner.pkl` is there and still says yes.

    ## Example
    `tuner.pkl` with zero bytes.

    ## Remedy
    By hand. `tuner.pkl` cannot be rebuilt from other files, but constructing the same Tuner again
    (same trainable, search space, name and storage path) writes it anew, without calling `fit`.
    For an empty state see CKP201. `Result.from_path` and, for `tuner.pkl`, `ExperimentAnalysis`
    work without it.

    ## Remedy safety
    Manual: the content is in no other file.
    """

    code = "CKP204"
    name = "empty-state-file"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each file."""
        for trial, problem in facts.problems(experiment):
            if not problem.empty or problem.role in _MAY_BE_EMPTY:
                continue
            yield self.finding(
                experiment,
                f"{problem.file} has zero bytes{_harm(problem)}",
                trial=trial,
                evidence=(Evidence(witness="storage", claim="0 bytes", file=problem.file),),
                remedy=_remedy(problem, experiment),
            )


def _harm(problem: Unreadable) -> str:
    if problem.role in (RecordRole.STATE, RecordRole.TUNER):
        return ": a restore fails"
    return ""


def _remedy(problem: Unreadable, experiment: Experiment) -> Remedy:
    match problem.role:
        case RecordRole.STATE:
            return remedies.by_hand(without_state(problem, experiment))
        case RecordRole.TUNER:
            return remedies.by_hand(WITHOUT_TUNER)
        case _:
            return remedies.by_hand("bring it back from a backup")
