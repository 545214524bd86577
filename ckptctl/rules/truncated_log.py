"""CKP202: a log whose last line is cut off."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import Rule


class TruncatedLog(Rule):
    """The last line of a log is cut off.

    ## What it checks
    Whether the last line of each result log is whole. The lines before it are read as usual.

    ## Why it matters
    `Result.from_path` and `ExperimentAnalysis` parse every line and fail on a torn one
    (`Ray 2.54 air/result.py`), and the next row would be written onto its end.

    ## Example
    `result.json` ends with `{"loss": 0.25, "training_iterat`.

    ## Remedy
    While the trial runs, wait: the line may just be in the making. Otherwise remove the torn line
    by hand; `ckptctl reindex LOCATION` then appends the row again if a record has it (CKP112).

    ## Remedy safety
    Manual: what the torn line said is lost with it, unless a record says it too.
    """

    code = "CKP202"
    name = "truncated-log"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each log."""
        for trial, problem in facts.problems(experiment):
            if not facts.is_torn_log(problem):
                continue
            yield self.finding(
                experiment,
                f"the last line of {problem.file} is cut off: Result.from_path fails on it",
                trial=trial,
                evidence=(Evidence(witness="session", claim=problem.reason, file=problem.file),),
                remedy=remedies.by_hand(
                    "remove the torn line once the trial has stopped, then reindex"
                ),
            )
