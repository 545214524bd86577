"""CKP902: another run of ckptctl holds the lock."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule


class ForeignLock(Rule):
    """Another run holds the lock.

    ## What it checks
    Whether `.ckptctl/lock.json` is there, and which process it names. A scan needs no lock and
    takes none, so every lock that it sees is another's.

    ## Why it matters
    A run that holds the lock is changing names and records, and what a scan reads meanwhile may
    be gone a moment later. A lock whose process has ended on this machine is taken over by the
    next run without a word; one of another machine nobody can judge from here.

    ## Example
    Process 4711 on `node-7` holds the lock.

    ## Remedy
    Wait and scan again. Where the process is known to have ended, remove `.ckptctl/lock.json`;
    CKP901 tells whether it left something unfinished.

    ## Remedy safety
    Manual: two runs that change one experiment at once damage it, so only a person who knows that
    the other one has ended may break its lock.
    """

    code = "CKP902"
    name = "foreign-lock"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Look for a holder of the lock."""
        holder = experiment.lock_holder
        if holder is None:
            return
        yield self.finding(
            experiment,
            f"{holder} holds the lock: what was read may be changing",
            evidence=(Evidence(witness="lock", claim=holder, file=".ckptctl/lock.json"),),
            remedy=remedies.by_hand(
                "wait until it has finished; where it is known to have ended, remove the lock"
            ),
        )
