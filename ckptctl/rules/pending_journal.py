"""CKP901: an apply that was not finished."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule


class PendingJournal(Rule):
    """An apply was interrupted.

    ## What it checks
    Whether the journal in `.ckptctl/journal/` holds a plan that was begun and neither finished
    nor taken back.

    ## Why it matters
    Some folders may have their new names and some records the old ones, so that other findings
    tell of a state that was never meant to be. Nothing is lost: the journal knows each step, and
    what was replaced is kept in it. Until it is closed, nothing else can be applied.

    ## Example
    The machine went down during a `rename`, and plan `3f2a91c4d07b` is not closed.

    ## Remedy
    `ckptctl resume LOCATION` does the rest; `ckptctl undo LOCATION` takes back what was done.

    ## Remedy safety
    Manual, since there is a choice: both are safe, and both end in a state that was planned.
    Where the apply still runs, wait for it instead.
    """

    code = "CKP901"
    name = "pending-journal"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Look for a plan that is not closed."""
        plan = experiment.pending
        if plan is None:
            return
        held = ""
        if experiment.lock_holder is not None:
            held = f"; {experiment.lock_holder} holds the lock and may still be at work on it"
        yield self.finding(
            experiment,
            f"the apply of plan {plan} is not finished: names and records may disagree until it "
            f"is{held}",
            evidence=(
                Evidence(witness="journal", claim=f"{plan} is open", file=".ckptctl/journal"),
            ),
            remedy=remedies.by_hand(
                f"it does the rest; {remedies.command('undo', experiment)} takes it back",
                remedies.command("resume", experiment),
            ),
        )
