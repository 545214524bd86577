"""CKP105: folders that no record names."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.deferred import EachOf
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.model.saves import save_of
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import count, is_are, listing

_STATES = (CheckpointState.COMPLETE, CheckpointState.PARTIAL)


class UnrecordedCheckpoint(Rule):
    """A checkpoint folder is there that no record names.

    ## What it checks
    Folders with files in them against the recorded lists and the latest checkpoints of all
    trials. Only trials are checked whose state could be read. Empty and temporary folders are
    CKP301 and CKP005.

    ## Why it matters
    `Tuner.restore`, `ResultGrid` and `num_to_keep` do not know the folder: it is never gone on
    from and never cleared away. `Result.from_path` does see it, and takes it for the latest if it
    sorts last. Whether a later save overwrites it is told by CKP101.

    ## Example
    `checkpoint_000078` and `checkpoint_000079` were written after the state was last saved, and
    then the driver was killed.

    ## Remedy
    Where the result log names the folder, its metrics are known: `ckptctl reindex LOCATION` adds
    the record. Where it does not, `reindex` only raises the index past the folder, and `--unsafe`
    records it with an iteration that is estimated from its neighbours. A folder that lacks files
    is better moved aside: `--quarantine`.

    ## Remedy safety
    Safe with the metrics of the log. Unsafe without: nothing tells for certain which iteration the
    folder holds, and a restore from it counts on from the estimate.
    """

    code = "CKP105"
    name = "unrecorded-checkpoint"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """A trial's folders in at most three findings, by what mends them."""
        if not facts.state_was_read(experiment):
            return
        recorded: dict[str, set[str]] = {}
        for record in (r for trial in experiment.trials for r in facts.all_records(trial)):
            if record.ref is not None:
                recorded.setdefault(record.ref.trial, set()).add(record.ref.name)
        for trial in experiment.trials:
            if not facts.trial_was_read(trial):
                continue
            known = recorded.get(trial.dirname, set())
            unknown = [c for c in trial.folders if c.name not in known and c.state in _STATES]
            if unknown:
                yield from self._findings(unknown, trial, experiment)

    def _findings(
        self, unknown: list[Checkpoint], trial: Trial, experiment: Experiment
    ) -> Iterator[Finding]:
        rows = facts.naming_rows(trial, experiment)
        whole = [c for c in unknown if c.state is CheckpointState.COMPLETE]
        inside = _told_inside(whole, trial, experiment)
        for known, who in (
            ([c for c in whole if c.name in rows and c.left is None], "the result log"),
            ([c for c in whole if c.name in inside], "what the trainable left inside"),
        ):
            if known:
                words = f"{who} knows {{}} metrics"
                note = f"it records {'it' if len(known) == 1 else 'them'} with these metrics"
                remedy = remedies.safe(experiment, note)
                yield self._finding(known, words, trial, experiment, remedy)
        if strange := [
            c for c in whole if c.name not in inside and (c.name not in rows or c.left is not None)
        ]:
            words = _what_is_known(strange, experiment)
            remedy = remedies.unsafe(experiment, _unsafe_note(strange, trial))
            yield self._finding(strange, words, trial, experiment, remedy)
        if torn := [c for c in unknown if c.state is CheckpointState.PARTIAL]:
            words = f"{'it lacks' if len(torn) == 1 else 'they lack'} files"
            note = "it moves folders that lack files aside"
            remedy = remedies.quarantine(experiment, note)
            yield self._finding(torn, words, trial, experiment, remedy)

    def _finding(
        self,
        found: list[Checkpoint],
        words: str,
        trial: Trial,
        experiment: Experiment,
        remedy: Remedy,
    ) -> Finding:
        names = [c.name for c in found]
        reason = words.format("its" if len(found) == 1 else "their")
        return self.finding(
            experiment,
            f"{count(len(found), 'checkpoint')} {is_are(len(found))} on storage that no record "
            f"names: {listing(names)}; {reason}",
            trial=trial,
            checkpoints=names,
            evidence=EachOf(facts.lies, found),
            remedy=remedy,
        )


def _told_inside(whole: list[Checkpoint], trial: Trial, experiment: Experiment) -> frozenset[str]:
    """The names of those that tell their own result and are no copy of a recorded save."""
    telling = [c for c in whole if c.left is not None and c.left_result is not None]
    if not telling:
        return frozenset()
    recorded = {
        save_of(record.metrics)
        for record in facts.all_records(trial)
        if record.ref is not None and facts.is_there(record.ref, trial, experiment)
    }
    return frozenset(
        c.name
        for c in telling
        if c.left_result is not None and save_of(c.left_result) not in recorded - {None}
    )


def _what_is_known(strange: list[Checkpoint], experiment: Experiment) -> str:
    if all(Witness.TRAINABLE in c.recorded_by for c in strange):
        return "only what the trainable left inside tells {} metrics"
    if experiment.layout == facts.TRAIN_V2:
        return "nothing tells {} metrics"
    return "no result row tells {} metrics"


def _unsafe_note(strange: list[Checkpoint], trial: Trial) -> str:
    it = "it" if len(strange) == 1 else "them"
    note = f"it records {it} with an estimated iteration"
    if facts.trial_index(trial) is None or all(c.index is None for c in strange):
        return note
    return f"{note}; without --unsafe, reindex only keeps later saves away from {it}"
