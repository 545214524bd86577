"""CKP116: the records point to another place than where they lie."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule


class ForeignRoot(Rule):
    """Records point to another root than where they lie.

    ## What it checks
    The path of the experiment in its records against the place where it was found. They differ
    when it was moved or copied.

    ## Why it matters
    Ray 2.9 and newer let the paths follow when they load the state; only checkpoints that were
    taken over from another trial keep the old one. Ray 2.7 and 2.8 do not: a restored copy goes on
    reading and writing at the old place, into the original. There this is a warning.

    ## Example
    The records say `/mnt/cluster_storage/2.7.2/tune_lr`, and it lies in `/home/me/tune_lr`.

    ## Remedy
    `ckptctl reindex LOCATION --relocate` rewrites the recorded roots.

    ## Remedy safety
    Manual: only a person knows whether this place is where the experiment is to go on, or a copy
    that will go back.
    """

    code = "CKP116"
    name = "foreign-root"
    severity = Severity.INFO

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Compare the recorded root with the actual one."""
        recorded, actual = experiment.recorded_root, experiment.actual_root
        if recorded is None or actual is None or recorded.rstrip("/") == actual.rstrip("/"):
            return
        stays = experiment.roots_are_absolute
        harm = ": Ray 2.7 and 2.8 would go on reading and writing there" if stays else ""
        yield self.finding(
            experiment,
            f"the records point to {recorded}, but the experiment lies in {actual}{harm}",
            evidence=(
                Evidence(witness="trial", claim=recorded, file=experiment.state_file or ""),
                Evidence(witness="storage", claim=actual, file="."),
            ),
            remedy=remedies.by_hand(
                "it rewrites the recorded roots to where the experiment lies now",
                remedies.command("reindex", experiment, "--relocate"),
            ),
            severity=Severity.WARNING if stays else None,
        )
