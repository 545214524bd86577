"""CKP207: the Ray or pyarrow that is asked about cannot load the state."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.needs import needs


class NeedsAnotherRay(Rule):
    """The Ray or pyarrow that is asked about cannot load the state.

    ## What it checks
    Only with `--for-ray VERSION` or `--for-pyarrow VERSION`: whether that version has the classes
    and functions that state, `tuner.pkl` and searcher state are made of, whether the state has
    the fields that it asks for, and whether it takes the recorded index for what it is. Classes
    of the user's own are not looked at.

    ## Why it matters
    Where a class is missing, Ray prints `Failed to restore the run state`, then `Restarting
    experiment`, and starts from scratch in the same folder: nothing fails, and the work is lost.
    Train V2 does not load the run at all.

    ## Example
    The state of Ray 2.54 names `ray.tune:CheckpointConfig`, which Ray 2.40 does not have.

    ## Remedy
    Let the Ray and pyarrow go on that wrote it, in an environment of their own.

    ## Remedy safety
    Manual: no command carries records over to another Ray yet. Between Ray 2.6 and 2.7 the state
    is made up so differently that no edit could.
    """

    code = "CKP207"
    name = "needs-another-ray"
    severity = Severity.ERROR

    def __init__(self, for_ray: str | None = None, for_pyarrow: str | None = None) -> None:
        self._asked = for_ray, for_pyarrow

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each thing that is missing; none where nothing was asked about."""
        for need in needs(experiment, *self._asked):
            yield self.finding(
                experiment,
                need.message,
                evidence=need.evidence,
                remedy=remedies.by_hand("go on with the Ray and pyarrow that wrote it"),
            )
