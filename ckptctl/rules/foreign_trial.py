"""CKP205: a trial folder that the state does not know."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import facts
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import count


class ForeignTrial(Rule):
    """A trial folder lies here that the state does not know.

    ## What it checks
    The trial folders on storage against the trials in the state that counts, where that could be
    read.

    ## Why it matters
    Ray leaves such a folder alone. It is from an earlier run of the same name, or Ray 2.7 to 2.9
    copied it here from the folder that runs of one name shared.

    ## Example
    `function_02a88_00000_0_x=1_2026-11-29_18-00-00` is in no trial of the state.

    ## Remedy
    None is needed, and ckptctl never adds such a trial to the state. `Result.from_path` on the
    folder works.

    ## Remedy safety
    Nothing is changed.
    """

    code = "CKP205"
    name = "foreign-trial"
    severity = Severity.INFO

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each such folder."""
        if experiment.layout not in (facts.TUNE, facts.TUNE_2_7, facts.LEGACY):
            return
        if not facts.state_was_read(experiment):
            return
        for trial in experiment.trials:
            if trial.in_state or not trial.on_storage:
                continue
            yield self.finding(
                experiment,
                f"the state does not know this trial ({count(len(trial.folders), 'checkpoint')})",
                trial=trial,
                evidence=(
                    Evidence(witness="storage", claim="a trial folder", file=trial.dirname),
                    Evidence(
                        witness="trial", claim="no such trial", file=experiment.state_file or ""
                    ),
                ),
            )
