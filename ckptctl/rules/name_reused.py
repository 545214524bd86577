"""CKP108: two saves went into one folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckptctl.model.experiment import Experiment, Row, TrainableKind, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import natural_key
from ckptctl.model.rows import columns
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, in_words, listing


class NameReused(TrialRule):
    """Two saves went into one folder.

    ## What it checks
    Whether two rows of the result log name the same folder, and the folder is there. Folders that
    were evicted meanwhile are left out: no reader asks for them. The rows of class trainables are
    written before the save: those of Ray 2.7 are no proof of one and are left out too (CKP106),
    and where an iteration is repeated after a save that failed, its rows tell of one save.

    ## Why it matters
    An index was reset, or did not advance: after a failure or a restore Ray counted on from the
    driver's number and wrote into a folder that was there, without clearing it. The earlier
    checkpoint is lost, and files that only it had may still lie among those of the later one.
    Some population-based runs of Ray do this by themselves.

    ## Example
    The rows of iterations 4 and 5 both name `checkpoint_000003`.

    ## Remedy
    `ckptctl reindex LOCATION` leaves the name on the last row, whose save the folder holds, and
    takes it off the earlier ones.

    ## Remedy safety
    Safe: what the earlier save wrote is gone already; its row keeps its metrics.
    """

    code = "CKP108"
    name = "name-reused"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's folders with more than one row."""
        there = {c.name for c in trial.folders}
        told = [name for name in columns(trial.rows).names if name in there]
        if len(set(told)) == len(told):  # as nearly always
            return
        twice = {
            name: rows
            for name, places in facts.naming_rows(trial, experiment).items()
            if len(rows := _saves(trial, places)) > 1
        }
        if not twice:
            return
        names = sorted(twice, key=natural_key)
        if len(names) == 1:
            rows = twice[names[0]]
            saves = [str(r.training_iteration) for r in rows if r.training_iteration is not None]
            where = f" (iterations {listing(saves)})" if len(saves) == len(rows) else ""
            message = f"{in_words(len(rows))} saves went into {names[0]}{where}"
        else:
            message = (
                f"{count(len(names), 'folder')} hold more than one save each: {listing(names)}"
            )
        yield self.finding(
            experiment,
            f"{message}: the earlier content was overwritten",
            trial=trial,
            checkpoints=names,
            evidence=(
                facts.logged(trial, row, f"{name} at iteration {row.training_iteration}")
                for name in names
                for row in twice[name]
            ),
            remedy=remedies.safe(experiment, "it leaves the name on the last of the rows"),
        )


def _saves(trial: Trial, places: Sequence[int]) -> list[Row]:
    """The rows that each tell of a save of its own."""
    rows = [trial.rows[place] for place in places]
    if trial.kind is not TrainableKind.CLASS:
        return rows
    return list({row.training_iteration: row for row in rows}.values())
