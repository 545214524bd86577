"""CKP113: a checkpoint of two iterations."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Record, TrainableKind, Trial
from ckptctl.model.finding import Evidence, Finding, Remedy, Severity
from ckptctl.model.names import NameKind, kind_of
from ckptctl.model.policies import runs_trainer
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count


class _Disagreement(Struct, frozen=True, kw_only=True):
    checkpoint: Checkpoint
    inside: int
    other: int
    record: Record | None
    """None where it is the name that disagrees."""


class IterationDisagrees(TrialRule):
    """Trainable, record and name give a checkpoint different iterations.

    ## What it checks
    What the trainable left inside (`.tune_metadata`, Ray 2.6 and before) against the driver's
    record, and against Ray's own name: a class trainable numbers its folders by the iteration, a
    function trainable by the iteration before. Names are left alone where most of the trial's
    folders are numbered otherwise, and where they may count the saves, as Ray Train does.

    ## Why it matters
    A restore counts on from what is inside, `Result.from_path` sorts by it, the best list ranks
    by the record, and the fallback for a missing latest goes by the name: each takes another
    checkpoint for the newest.

    ## Example
    `checkpoint_000010` of a function trainable says iteration 11 by its name and 8 inside: it is
    a copy of `checkpoint_000007`.

    ## Remedy
    What is inside is right. `ckptctl reindex LOCATION` writes it into a record that says
    otherwise. Where it is the name, move a copy away, and put back what was renamed by hand; after
    that `ckptctl reindex LOCATION --by ray-2.6` numbers all folders by their iterations again.

    ## Remedy safety
    Safe for a record: a restore goes by what is inside. Manual for a name: only a person knows
    whether the folder is a copy, and which of two saves of one iteration is worth keeping.
    """

    code = "CKP113"
    name = "iteration-disagrees"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's checkpoints of two iterations."""
        if all(c.left is None for c in trial.folders):
            return
        found = [*_by_record(trial), *_by_name(trial, experiment)]
        if not found:
            return
        names = list(dict.fromkeys(d.checkpoint.name for d in found))
        first = found[0]
        where = "by its name" if first.record is None else "by its record"
        message = f"{first.checkpoint.name} is of iteration {first.inside} by what the trainable "
        message += f"left inside, but of {first.other} {where}"
        if len(names) > 1:
            message += f" (and {count(len(names) - 1, 'more checkpoint')} like it)"
        yield self.finding(
            experiment,
            message,
            trial=trial,
            checkpoints=names,
            evidence=(e for d in found for e in _evidence(d)),
            remedy=_remedy(found, experiment),
        )


def _remedy(found: list[_Disagreement], experiment: Experiment) -> Remedy:
    if all(d.record is not None for d in found):
        return remedies.safe(experiment, "it writes the iteration that is inside into the record")
    return remedies.by_hand(
        "what is inside is right: rename or remove what was copied or renamed by hand; "
        "none of it is safe to do by itself, since two saves may be of one iteration"
    )


def _by_record(trial: Trial) -> Iterator[_Disagreement]:
    """Where no record of a folder agrees with it; that there are several is CKP109."""
    said: dict[str, list[Record]] = {}
    for record in facts.all_records(trial):
        known = record.training_iteration is not None and not record.estimated
        if known and record.ref is not None and record.ref.trial == trial.dirname:
            said.setdefault(record.ref.name, []).append(record)
    for checkpoint in trial.folders:
        records = said.get(checkpoint.name, [])
        if checkpoint.left is None or not records:
            continue
        inside, last = checkpoint.left.value, records[-1]
        if all(r.training_iteration != inside for r in records):
            other = last.training_iteration or 0
            yield _Disagreement(checkpoint=checkpoint, inside=inside, other=other, record=last)


def _by_name(trial: Trial, experiment: Experiment) -> Iterator[_Disagreement]:
    if trial.kind is None or runs_trainer(trial, experiment.layout):
        return
    behind = 0 if trial.kind is TrainableKind.CLASS else 1
    named = [
        (index + behind, checkpoint.left.value, checkpoint)
        for index, checkpoint in sorted(facts.indexed(trial), key=lambda pair: pair[0])
        if checkpoint.left is not None and kind_of(checkpoint.name) is NameKind.RAY_INDEX
    ]
    wrong = [(name, inside, c) for name, inside, c in named if name != inside]
    if 2 * len(wrong) >= len(named):
        return
    lead = [inside - name for name, inside, _ in named]
    if behind and lead[0] >= 0 and lead == sorted(lead):
        return  # a counter of saves never gains on the iterations
    for name, inside, checkpoint in wrong:
        yield _Disagreement(checkpoint=checkpoint, inside=inside, other=name, record=None)


def _evidence(found: _Disagreement) -> Iterator[Evidence]:
    if found.checkpoint.left is not None:
        yield facts.says(found.checkpoint.left, f"iteration {found.inside}")
    if found.record is not None:
        yield facts.recorded(found.record, f"iteration {found.other}")
    else:
        yield facts.lies(found.checkpoint, f"iteration {found.other} by its name")
