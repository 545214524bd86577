"""CKP112: the result log of a trial is older than its saved state."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.stale_state import taken_over


class StaleResultLog(TrialRule):
    """The saved trial state is ahead of the result log.

    ## What it checks
    The last result in the state against the iteration of the last whole row of the result log. A
    trial without a log is no fault (loggers can be switched off), nor is one whose last result was
    just taken over from another trial.

    ## Why it matters
    Rows are lost, or were never copied to storage: `Result.from_path` gives the newest checkpoints
    empty metrics, and plots end early. A restore is not hurt.

    ## Example
    The state ends at iteration 8, the log at iteration 6.

    ## Remedy
    `ckptctl reindex LOCATION` appends a row for each recorded save that the log lacks. Iterations
    that saved nothing are in no record and stay lost. Where the last line of the log is cut off
    (CKP202), it has to go first: a row that is appended to it could not be read.

    ## Remedy safety
    Safe where the record of the state's last result has the row; manual for a log that is cut off
    or where no record has it.
    """

    code = "CKP112"
    name = "stale-result-log"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the ends of state and log."""
        state, log = trial.state_iteration, trial.result_log
        if state is None or log is None or taken_over(trial):
            return
        last = trial.rows[-1] if trial.rows else None
        iteration = last.training_iteration if last else None
        if last is not None and (iteration is None or iteration >= state.value):
            return
        ends = "has no row" if iteration is None else f"ends at iteration {iteration}"
        yield self.finding(
            experiment,
            f"the saved state is at iteration {state.value}, but the result log {ends}",
            trial=trial,
            evidence=(
                facts.says(state, f"iteration {state.value}"),
                facts.logged(trial, last, f"iteration {iteration}", "training_iteration")
                if last is not None
                else Evidence(witness=Witness.SESSION.value, claim="no row", file=log),
            ),
            remedy=_remedy(state.value, trial, experiment),
        )


def _remedy(state: int, trial: Trial, experiment: Experiment) -> Remedy:
    problems = (*trial.problems, *experiment.problems)
    if any(p.truncated and p.file == trial.result_log for p in problems):
        return remedies.by_hand("the last line of the log is cut off: remove it, then reindex")
    own = (r for r in facts.all_records(trial) if not facts.is_foreign(trial, r))
    if any(r.training_iteration == state for r in own):
        return remedies.safe(experiment, "it appends the rows of the recorded saves")
    return remedies.by_hand("no record holds the rows that the log lacks")
