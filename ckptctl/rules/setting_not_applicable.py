"""CKP402: a setting has no effect for this trainer."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule
from ckptctl.stages.idle import Idle, idle


class SettingNotApplicable(Rule):
    """A setting has no effect for this trainer.

    ## What it checks
    What was set in `CheckpointConfig` and nobody reads: `checkpoint_frequency` and
    `checkpoint_at_end` where saves are made by the training loop itself, `checkpoint_score_order`
    without a metric, and what `tuner.pkl` says where the trials' own records say something else
    (a restored trial goes by its record). What Ray refuses to start with leaves no run behind.

    ## Why it matters
    The run saves or keeps otherwise than its settings read, and nothing says so.

    ## Example
    `XGBoostTrainer` with a `train_loop_per_worker` of the user's own and `checkpoint_frequency=5`:
    Ray takes the setting, and the loop never sees it.

    ## Remedy
    Put the setting where it is read: `ckptctl policy LOCATION` says where that is. To change what a
    run that goes on keeps, start a new one from its checkpoint.

    ## Remedy safety
    Manual: ckptctl changes no setting.
    """

    code = "CKP402"
    name = "setting-not-applicable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Each setting once, with the first trial that it has no effect for."""
        told: set[tuple[str, str]] = set()
        for trial in experiment.trials:
            for found in idle(experiment, trial):
                if (found.setting, found.why) in told:
                    continue
                told.add((found.setting, found.why))
                yield self.finding(
                    experiment,
                    f"{found.setting} {_shown(found)} has no effect: {found.why}",
                    trial=trial,
                    evidence=(
                        Evidence(
                            witness="settings",
                            claim=f"{found.setting} {_shown(found)}",
                            file=found.provenance.file,
                            pointer=found.provenance.pointer,
                        ),
                    ),
                    remedy=remedies.by_hand(
                        "ckptctl policy says which settings are read",
                        remedies.command("policy", experiment),
                    ),
                )


def _shown(found: Idle) -> str:
    return "not set" if found.value is None else str(found.value)
