"""CKP203: older state files beside the one that counts."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules.base import Rule
from ckptctl.rules.unreadable_record import superseded
from ckptctl.rules.wording import count, listing


class SupersededState(Rule):
    """An older state file lies beside the one that counts.

    ## What it checks
    Whether there is more than one `experiment_state-*.json`. Ray takes the one whose name is the
    greatest and opens no other.

    ## Why it matters
    It is normal: every restore begins a new file. The older one is worth having when the newer one
    is torn. In Ray 2.7 to 2.9 it may be another run's of the same name, since they shared one
    folder for what was to be copied.

    ## Example
    `experiment_state-2020-01-01_00-00-00.json` beside `experiment_state-2026-11-30_10-37-15.json`.

    ## Remedy
    None is needed; ckptctl leaves older state files as they are.

    ## Remedy safety
    Nothing is changed.
    """

    code = "CKP203"
    name = "superseded-state"
    severity = Severity.INFO

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the older files."""
        older = superseded(experiment)
        if not older:
            return
        verb = "lies" if len(older) == 1 else "lie"
        beside = f" beside {experiment.state_file}" if experiment.state_file else ""
        yield self.finding(
            experiment,
            f"{count(len(older), 'older state file')} {verb}{beside}: {listing(older)}",
            evidence=(
                Evidence(witness="storage", claim="not read by Ray", file=path) for path in older
            ),
        )
