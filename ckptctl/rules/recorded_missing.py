"""CKP104: records of checkpoints that are gone."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import CheckpointRef, Experiment, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.model.names import natural_key
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count, is_are, listing


class RecordedMissing(TrialRule):
    """A recorded checkpoint is not on storage.

    ## What it checks
    Whether every folder in the driver's list of checkpoints is there.

    ## Why it matters
    `ResultGrid`, `get_best_result().checkpoint` and `ExperimentAnalysis` hand out paths from the
    list without looking: they lead nowhere. A dead record also takes a place of `num_to_keep`.
    Train V2 refuses to load the whole run (Ray 2.54 and newer).

    ## Example
    The list holds `checkpoint_000074` to `checkpoint_000077`; the first two were evicted after
    the state was last written, and then the driver was killed.

    ## Remedy
    If a folder was moved or renamed by hand, put it back. Otherwise `ckptctl reindex LOCATION`
    takes the records out of the list. The rows of the result log stay.

    ## Remedy safety
    Safe as long as another checkpoint with known metrics is left, or the latest is not among the
    missing ones; `ckptctl undo` brings the records back. Otherwise unsafe, see CKP103.
    """

    code = "CKP104"
    name = "recorded-missing"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's dead records."""
        if not trial.records:
            return
        there = {c.name for c in trial.checkpoints if c.on_storage}
        missing: dict[CheckpointRef, list[int]] = {}
        for number, record in enumerate(trial.records):
            ref = record.ref
            if ref is None:
                continue
            own = ref.trial == trial.dirname
            if not (own and ref.name in there) and not facts.is_there(ref, trial, experiment):
                missing.setdefault(ref, []).append(number)
        if not missing:
            return
        names = sorted((ref.name for ref in missing), key=natural_key)
        yield self.finding(
            experiment,
            f"{count(len(missing), 'recorded checkpoint')} {is_are(len(missing))} not on "
            f"storage: {listing(names)}{_harm(experiment)}",
            trial=trial,
            checkpoints=names,
            evidence=(
                facts.recorded(trial.records[number])
                for numbers in missing.values()
                for number in numbers
            ),
            remedy=_remedy(trial, experiment, missing),
        )


def _harm(experiment: Experiment) -> str:
    if experiment.layout == facts.TRAIN_V2:
        return "; the run cannot be loaded with such a record"
    return ""


def _remedy(
    trial: Trial, experiment: Experiment, missing: dict[CheckpointRef, list[int]]
) -> Remedy:
    latest = trial.latest_record
    gone = latest is not None and latest.ref in missing
    if gone and not facts.can_go_on(trial, experiment):
        return remedies.unsafe(
            experiment,
            "no checkpoint with known metrics would be left; "
            "if the folders were only renamed or moved, put them back instead",
        )
    noun = "record" if sum(map(len, missing.values())) == 1 else "records"
    warning = facts.may_be_renamed(trial, experiment, [ref.name for ref in missing])
    return remedies.safe(experiment, f"it takes the {noun} out of the list{warning}")
