"""CKP114: the recorded best is not the best."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Record, Retention, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule


class BestDisagrees(TrialRule):
    """The recorded best is not the best by its own metric and mode.

    ## What it checks
    Ray keeps the list of checkpoints ascending by score, so the last one is the best
    (`Ray 2.54 train/_internal/checkpoint_manager.py`). The score is worked out again from each
    record's metrics: NaN is the lowest, equals are fine, and records that lack the metric or whose
    metric is no number are left out. The list of Ray 2.6 is a heap and says nothing by its order.

    ## Why it matters
    `num_to_keep` evicts from the front of the list: with a wrong order it deletes better
    checkpoints and keeps worse ones, and `Result.best_checkpoints` shows the wrong ones.

    ## Example
    By `loss`, lowest: the list ends with `checkpoint_000005` (0.333), while `checkpoint_000006`
    has 0.286.

    ## Remedy
    `ckptctl reindex LOCATION` puts the list into the order of the scores.

    ## Remedy safety
    Safe: the same records in the order in which Ray itself would keep them.
    """

    code = "CKP114"
    name = "best-disagrees"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the last of the list with the best by score."""
        retention = trial.retention
        if experiment.layout == facts.LEGACY or retention is None or retention.monitor is None:
            return
        scored = [(s, r) for r in trial.records if (s := _score(r, retention)) is not None]
        if not scored:
            return
        last_score, last = scored[-1]
        best_score, best = max(scored, key=lambda pair: pair[0])
        if best_score == last_score:
            return
        word = "lowest" if retention.mode == "min" else "highest"
        yield self.finding(
            experiment,
            f"the recorded best is {_told(last, retention)}, but {_told(best, retention)} is "
            f"better (best is the {word} {retention.monitor})",
            trial=trial,
            checkpoints=(_name(best), _name(last)),
            evidence=(
                facts.recorded(last, _told(last, retention)),
                facts.recorded(best, _told(best, retention)),
            ),
            remedy=remedies.safe(experiment, "it puts the list into the order of the scores"),
        )


def _score(record: Record, retention: Retention) -> tuple[bool, float] | None:
    """Ray's own key: NaN below everything; None where there is no number to rank by."""
    value = record.metrics.get(retention.monitor or "")
    if not isinstance(value, int | float):
        return None
    if isinstance(value, float) and math.isnan(value):
        return False, -math.inf
    return True, value if retention.mode != "min" else -value


def _name(record: Record) -> str:
    return record.ref.name if record.ref else record.path


def _told(record: Record, retention: Retention) -> str:
    value = record.metrics.get(retention.monitor or "")
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{_name(record)} ({retention.monitor} {shown})"
