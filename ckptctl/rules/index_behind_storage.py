"""CKP101: the index is behind the folders, so the next saves overwrite them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckptctl.model.bookkeeping import Claim
from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.model.names import ray_name
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import in_words, listing


class IndexBehindStorage(TrialRule):
    """The trial's index is below the highest folder.

    ## What it checks
    The driver's counter of a trial against the highest leading number among the trial's own
    folders, whole or not. Temporary folders do not count. Finished trials are checked too: a
    restore can take them up again, and a copy of the records carries the index along.

    ## Why it matters
    Ray names the next save by this counter alone and never looks at the folders. A counter that
    is behind writes into checkpoints that exist, without clearing them and without a word. Where
    `num_to_keep` is set, evicting the older record then deletes the newer checkpoint of the same
    name (seen in Ray 2.54).

    ## Example
    The index is 77 and `checkpoint_000079` exists: the next two saves overwrite
    `checkpoint_000078` and `checkpoint_000079`. The driver was killed before it wrote its state.

    ## Remedy
    `ckptctl reindex LOCATION` raises the index to the highest number.

    ## Remedy safety
    Safe: an index that is too high leaves a gap in the numbers and does nothing else.
    """

    code = "CKP101"
    name = "index-behind-storage"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the driver's counter with the folders."""
        index = facts.trial_index(trial)
        if index is None:
            return
        ahead = sorted(
            ((n, c) for n, c in facts.indexed(trial) if n > index.value),
            key=lambda pair: (pair[0], pair[1].name),
        )
        if not ahead:
            return
        number, highest = ahead[-1]
        exposed = [c for n, c in ahead if c.name == ray_name(n)]
        has = "has counted no save" if index.value < 0 else f"is {index.value}"
        names = [c.name for c in exposed] or [c.name for _, c in ahead]
        yield self.finding(
            experiment,
            f"the trial's index {has}, but {highest.name} exists: "
            f"{_harm(index.value, exposed, ahead[0][1])}",
            trial=trial,
            checkpoints=names,
            evidence=(counter(index, experiment), facts.lies(highest, str(number))),
            remedy=remedies.safe(experiment, f"it raises the index to {number}"),
        )


def counter(index: Claim[int], experiment: Experiment) -> Evidence:
    """The driver's counter as evidence, with the written number where that means the next."""
    if not experiment.counter_means_next:
        return facts.says(index)
    return facts.says(index, f"{index.value} (written as {index.value + 1}, the next one)")


def _harm(index: int, exposed: Sequence[Checkpoint], first: Checkpoint) -> str:
    if not exposed:
        return f"the next save, {ray_name(max(index + 1, 0))}, would sort before {first.name}"
    listed = listing([c.name for c in exposed])
    last = max(c.index for c in exposed if c.index is not None)
    saves = last - index
    if saves == 1:
        return f"the next save would overwrite {listed}"
    if saves == len(exposed):
        return f"the next {in_words(saves)} saves would overwrite {listed}"
    return f"{in_words(len(exposed))} of the next {in_words(saves)} saves would overwrite {listed}"
