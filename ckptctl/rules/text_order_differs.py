"""CKP003: sorted names are not in the order of the saves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import listing


class TextOrderDiffers(TrialRule):
    """Sorting the names does not give the order of the saves.

    ## What it checks
    Whether the folder names of a trial, sorted as plain text, stand in the order in which the
    checkpoints were saved, as records and result log tell it. Folders of which neither a record,
    nor the log, nor an index tells when they were saved are left out.

    ## Why it matters
    `Result.from_path` (`Ray 2.54 air/result.py`), `ls | tail -1` and most scripts sort names and
    take the last one for the latest checkpoint. They go on from an old one without a word.

    ## Example
    `checkpoint_10` sorts before `checkpoint_9`, so iteration 9 is taken for the latest.

    ## Remedy
    `ckptctl rename LOCATION --to 'checkpoint_{index:06d}'` where the numbers are right and only
    lack zeros; otherwise `ckptctl reindex LOCATION --by sequential`.

    ## Remedy safety
    Manual: folders get new names, and every record follows. The command shows its plan first.
    """

    code = "CKP003"
    name = "text-order-differs"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the order of text with the order of saves."""
        if _is_sorted(trial.saves):
            return
        saved = [c for c in trial.saves if _is_placed(c) and _is_listed(c, experiment)]
        if _is_sorted(saved):
            return
        by_text = sorted(saved, key=lambda c: c.name)
        newest, last = saved[-1], by_text[-1]
        if newest is last:
            moved = [c.name for c, d in zip(saved, by_text, strict=True) if c is not d]
            message = (
                f"the names do not sort in the order of the saves: {listing(moved)} stand in "
                f"other places, though {newest.name} is the latest in both orders"
            )
        else:
            message = (
                f"{last.name} sorts last, but {newest.name} was saved last: readers that sort "
                f"names take {last.name} for the latest"
            )
        yield self.finding(
            experiment,
            message,
            trial=trial,
            checkpoints=[c.name for c in ((last,) if newest is last else (last, newest))],
            evidence=(
                facts.lies(last, f"{last.name} by text"),
                facts.lies(newest, f"{newest.name} by save"),
            ),
            remedy=_remedy(saved, experiment),
        )


def _is_sorted(checkpoints: Sequence[Checkpoint]) -> bool:
    names = [c.name for c in checkpoints]
    return names == sorted(names)


def _is_placed(checkpoint: Checkpoint) -> bool:
    return (
        checkpoint.index is not None
        or checkpoint.training_iteration is not None
        or bool(checkpoint.recorded_by)
    )


def _is_listed(checkpoint: Checkpoint, experiment: Experiment) -> bool:
    # Ray's readers of trial folders look at names with this prefix only.
    return experiment.layout == facts.TRAIN_V2 or checkpoint.name.startswith("checkpoint")


def _remedy(saved: list[Checkpoint], experiment: Experiment) -> Remedy:
    numbers = [c.index for c in saved if c.index is not None]
    if len(numbers) == len(saved) and numbers == sorted(set(numbers)):
        return remedies.by_hand(
            "the numbers are right and only lack zeros; another template does as well, "
            "as long as its names sort",
            remedies.command("rename", experiment, "--to", "checkpoint_{index:06d}"),
        )
    return remedies.by_hand(
        "it renumbers the folders in the order of the saves",
        remedies.command("reindex", experiment, "--by", "sequential"),
    )
