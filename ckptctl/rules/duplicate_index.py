"""CKP002: two folders with the same number."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, in_words, listing


class DuplicateIndex(TrialRule):
    """Two folders of a trial carry the same index.

    ## What it checks
    The leading numbers of a trial's folders, whatever their width and whatever stands behind
    them. Folders that are recorded but gone do not count.

    ## Why it matters
    Ray writes `checkpoint_%06d` only, so one of the two was renamed, copied or unpacked here. A
    person or a script that asks for checkpoint 7 gets one of them by chance, and sorted names put
    `checkpoint_000007-0.25` behind `checkpoint_000007` whichever was saved first.

    ## Example
    `checkpoint_7` beside `checkpoint_000007`.

    ## Remedy
    Where both are worth keeping, `ckptctl reindex LOCATION --by sequential` gives each a number
    of its own. Otherwise move one away by hand.

    ## Remedy safety
    Manual: folders get new names, and every record follows. The command shows its plan first.
    """

    code = "CKP002"
    name = "duplicate-index"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's folders with a number that another one has."""
        carried = [c.index for c in trial.folders if c.index is not None]
        if len(set(carried)) == len(carried):
            return
        by_index: dict[int, list[Checkpoint]] = {}
        for index, checkpoint in facts.indexed(trial):
            by_index.setdefault(index, []).append(checkpoint)
        shared = [(n, own) for n, own in sorted(by_index.items()) if len(own) > 1]
        found = [c for _, own in shared for c in own]
        if len(shared) == 1:
            ((index, own),) = shared
            who = "both" if len(own) == 2 else f"all {in_words(len(own))}"
            message = f"{listing([c.name for c in own])} {who} carry the index {index}"
        else:
            numbers = listing([str(n) for n, _ in shared])
            message = f"{count(len(shared), 'index', 'indices')} are carried by several folders "
            message += f"each: {numbers}"
        yield self.finding(
            experiment,
            message,
            trial=trial,
            checkpoints=[c.name for c in found],
            evidence=(facts.lies(c, f"{c.name} is {c.index}") for c in found),
            remedy=remedies.by_hand(
                "it renumbers the folders in the order of the saves",
                remedies.command("reindex", experiment, "--by", "sequential"),
            ),
        )
