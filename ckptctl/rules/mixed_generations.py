"""CKP303: files of two saves in one folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from ckptctl.model.checkpoint import Checkpoint, Stray
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import listing

_LONGEST_SAVE = 3600.0
"""Seconds. A copy that keeps no times sets them anew, and takes less than this for one folder."""
_SKEW = 60.0
"""Seconds by which the clocks of a worker and of a storage may differ."""


class MixedGenerations(TrialRule):
    """One folder holds files of two saves.

    ## What it checks
    Files whose name no sibling has. They are of another save where two of them play one part of
    which each sibling has one file (`ckpt-loss=0.25` beside `ckpt-loss=0.31`), where they are
    older than the result before the save was, or older than all other files by more than an hour
    and by more than the siblings' own files lie apart. A copy that keeps no times is quiet.

    ## Why it matters
    Ray writes a retried save into the folder of the one that failed, and clears nothing (seen in
    Ray 2.7 and 2.54). A trainable that takes every file it finds, such as all shards, then loads
    weights of two iterations. No number tells of it.

    ## Example
    `checkpoint_000002` holds `state.json`, `weights.bin` and `stale_shard.bin`; no other
    checkpoint has a `stale_shard.bin`, and it is from before iteration 2.

    ## Remedy
    Look at the files named, and move the older ones out of the folder by hand.

    ## Remedy safety
    Manual, and nothing is safe: only the trainable knows which files it reads, and a file that
    is taken away wrongly makes the checkpoint useless.
    """

    code = "CKP303"
    name = "mixed-generations"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each folder with files of another save."""
        suspects = [c for c in trial.folders if c.strays]
        if not suspects:
            return
        before, apart = _results_before(trial), _time_apart(trial)
        for checkpoint in suspects:
            limit = _limit(checkpoint, before, apart)
            strays = [s for s in checkpoint.strays if s.twin or _is_older(s, limit)]
            if not strays:
                continue
            shown = [f"{s.path} beside {s.twin}" if s.twin else s.path for s in strays]
            yield self.finding(
                experiment,
                f"{checkpoint.name} holds files of two saves: no other checkpoint has "
                f"{listing(shown)}",
                trial=trial,
                checkpoints=(checkpoint.name,),
                evidence=(_evidence(s, checkpoint) for s in strays),
                remedy=remedies.by_hand(
                    "look at them and move them out of the folder; nothing is safe to do by "
                    "itself, since only the trainable knows which files it reads"
                ),
            )


def _is_older(stray: Stray, limit: float | None) -> bool:
    return limit is not None and stray.modified is not None and stray.modified < limit


def _limit(checkpoint: Checkpoint, before: Mapping[str, float], apart: float) -> float | None:
    """The time before which nothing of this save can have been written."""
    if checkpoint.begun is None:
        return None
    limit = checkpoint.begun - max(_LONGEST_SAVE, apart)
    result = before.get(checkpoint.name, limit)
    return max(limit, result) if result <= checkpoint.begun else limit


def _time_apart(trial: Trial) -> float:
    """How far the files of one checkpoint lie apart, at most, where none is strange."""
    return max(
        (
            c.modified - c.begun
            for c in trial.folders
            if c.modified is not None and c.begun is not None and not c.strays
        ),
        default=0.0,
    )


def _results_before(trial: Trial) -> dict[str, float]:
    """When the result before that of each save was reported: a save begins after it."""
    lines = {row.name: row.line for row in trial.rows if row.name is not None}
    for record in facts.all_records(trial):
        if (
            record.row is not None
            and record.ref is not None
            and not facts.is_foreign(trial, record)
        ):
            lines[record.ref.name] = record.row
    earlier = {row.line: previous for previous, row in pairwise(trial.rows)}
    return {
        name: float(previous.timestamp) - _SKEW
        for name, line in lines.items()
        if (previous := earlier.get(line)) is not None and previous.timestamp is not None
    }


def _evidence(stray: Stray, checkpoint: Checkpoint) -> Evidence:
    claim = f"no sibling has {stray.path}"
    if stray.twin is not None:
        claim = f"{stray.path} and {stray.twin}, of which each sibling has one"
    elif stray.modified is not None and checkpoint.begun is not None:
        claim += f", and it is {checkpoint.begun - stray.modified:,.0f} s older than the rest"
    return Evidence(witness="storage", claim=claim, file=f"{checkpoint.path}/{stray.path}")
