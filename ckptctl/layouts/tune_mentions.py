"""Every place in a Tune state file that names a checkpoint folder.

The full list is what the real Ray was seen to read and write: the path of each record and of the
latest, the name inside their metrics, the name in the last result, and a checkpoint that
``tune.run(restore=)`` pointed at.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ckptctl.layouts.references import References
from ckptctl.layouts.tune_state import StateRecord, StateTrial
from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.checkpoint import CheckpointName, TrialDir
from ckptctl.model.experiment import CheckpointRef, Mention, MentionForm


def state_mentions(
    file: str | None, trials: tuple[StateTrial, ...], references: References
) -> list[Mention]:
    """The mentions of all trials; a path that leads out of the experiment is none."""
    if file is None:
        return []
    return [m for trial in trials for m in _of_trial(file, trial, references)]


def _of_trial(file: str, trial: StateTrial, references: References) -> Iterator[Mention]:
    recorded = (*trial.records, trial.latest, trial.best, trial.restored)
    for record in recorded:
        if record is not None:
            for mention in _of_record(file, record, references):
                yield replace(mention, owner=TrialDir(trial.dirname))
    if trial.last_dir_name and trial.shape is not None:
        yield Mention(
            ref=CheckpointRef(
                trial=TrialDir(trial.dirname), name=CheckpointName(trial.last_dir_name)
            ),
            provenance=Provenance(
                file=file, pointer=f"{trial.shape.last_result_pointer}/checkpoint_dir_name"
            ),
            text=trial.last_dir_name,
            form=MentionForm.NAME,
        )
    if trial.restore_path is not None:
        pointer, text = trial.restore_path
        yield from _of_path(file, pointer, text, references)


def _of_record(file: str, record: StateRecord, references: References) -> Iterator[Mention]:
    yield from _of_path(file, record.path_pointer, record.path, references)
    ref = references.resolve(record.path)
    if ref is not None and record.dir_name:
        yield Mention(
            ref=CheckpointRef(trial=ref.trial, name=CheckpointName(record.dir_name)),
            provenance=Provenance(file=file, pointer=record.name_pointer),
            text=record.dir_name,
            form=MentionForm.NAME,
        )


def _of_path(file: str, pointer: str, text: str, references: References) -> Iterator[Mention]:
    ref = references.resolve(text)
    if ref is not None:
        yield Mention(
            ref=ref,
            provenance=Provenance(file=file, pointer=pointer),
            text=text,
            form=MentionForm.PATH,
        )
