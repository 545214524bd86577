"""CKP207: the Ray or pyarrow that is asked about cannot load the state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule

if TYPE_CHECKING:
    from ckptctl.migration.need import Need


class NeedsAnotherRay(Rule):
    """The Ray or pyarrow that is asked about cannot load the state.

    ## What it checks
    Only with `--for-ray VERSION` or `--for-pyarrow VERSION`: whether that version has the classes
    and functions that state, `tuner.pkl` and searcher state are made of, whether the state has
    the fields that it asks for, and whether it takes the recorded index for what it is. With
    `--for-ray` alone, the pyarrow of that Ray's time is asked about too. Classes of the user's own
    are not looked at.

    ## Why it matters
    Where a class is missing, Ray prints `Failed to restore the run state`, then `Restarting
    experiment`, and starts from scratch in the same folder: nothing fails, and the work is lost.
    Where one is missing in `tuner.pkl`, `Tuner.restore` raises. Train V2 does not load the run at
    all.

    ## Example
    The state of Ray 2.54 names `ray.tune:CheckpointConfig`, which Ray 2.40 does not have.

    ## Remedy
    `ckptctl migrate LOCATION --to-ray VERSION` carries the records over; or let the Ray and pyarrow
    go on that wrote it, in an environment of their own.

    ## Remedy safety
    Manual: only a person knows which Ray will go on with it. What cannot be carried over is named;
    between Ray 2.6 and 2.7 the state is made up so differently that no edit could.
    """

    code = "CKP207"
    name = "needs-another-ray"
    severity = Severity.ERROR

    def __init__(self, for_ray: str | None = None, for_pyarrow: str | None = None) -> None:
        self._asked = for_ray, for_pyarrow

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each thing that is missing; none where nothing was asked about."""
        if self._asked == (None, None):
            return
        # What it takes to answer is a table, which nobody else has to load.
        from ckptctl.migration.need import Outcome
        from ckptctl.migration.needs import needs

        for need in needs(experiment, *self._asked):
            if need.outcome is not Outcome.GOES_ON:
                yield self.finding(
                    experiment,
                    need.message,
                    evidence=need.evidence,
                    remedy=self._remedy(experiment, need),
                )

    def _remedy(self, experiment: Experiment, need: Need) -> Remedy:
        for_ray, for_pyarrow = self._asked
        go_on = "go on with the Ray and pyarrow that wrote it"
        if need.left or for_ray is None:
            return remedies.by_hand(go_on)
        options = ["--to-ray", for_ray]
        if for_pyarrow is not None:
            options += ["--to-pyarrow", for_pyarrow]
        paste = remedies.command("migrate", experiment, *options)
        return remedies.by_hand(f"it carries the records over; or {go_on}", paste)
