"""CKP206: trials without a state."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, RecordRole
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import count


class MissingState(Rule):
    """Trials have result logs, but there is no state file.

    ## What it checks
    Whether an experiment with result logs has an `experiment_state-*.json`. One that is there but
    cannot be read is CKP201 or CKP204.

    ## Why it matters
    The state holds the index, the records of the checkpoints and each trial's settings. Without it
    `Tuner.restore` and `ExperimentAnalysis` fail.

    ## Example
    A copy that was made with `cp -r */` took the trial folders along, and not the files beside.

    ## Remedy
    Bring `experiment_state-*.json` and `tuner.pkl` back from where the experiment came from. They
    cannot be rebuilt. What still works: `Result.from_path` on each trial folder, and a new run
    that starts from one of the checkpoints.

    ## Remedy safety
    Manual: there is nothing to mend them from.
    """

    code = "CKP206"
    name = "missing-state"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Look for a state where there are result logs."""
        logs = [t.result_log for t in experiment.trials if t.result_log is not None]
        if not logs or experiment.state_file is not None or _has_state(experiment):
            return
        verb = "has" if len(logs) == 1 else "have"
        yield self.finding(
            experiment,
            f"{count(len(logs), 'trial')} {verb} a result log, but there is no "
            "experiment_state file: restore is impossible",
            evidence=(Evidence(witness="session", claim="a result log", file=log) for log in logs),
            remedy=remedies.by_hand(
                "bring experiment_state-*.json and tuner.pkl back from the original; they cannot "
                "be rebuilt. Result.from_path on each trial folder still gives its metrics"
            ),
        )


def _has_state(experiment: Experiment) -> bool:
    return any(f.role is RecordRole.STATE for f in experiment.records) or any(
        p.role is RecordRole.STATE for p in experiment.problems
    )
