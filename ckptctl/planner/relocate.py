"""Edits that make the records of a moved experiment name the place where it lies now.

Ray 2.7 and 2.8 need them: they go on reading and writing at the recorded root.
"""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Mention, MentionForm, Record, Trial
from ckptctl.model.plan import Edit, Refusal


def relocation_needed(experiment: Experiment) -> bool:
    """Whether the records name another root than where the experiment lies."""
    recorded, actual = experiment.recorded_root, experiment.actual_root
    return recorded is not None and actual is not None and recorded != actual


def refuse_relocation(experiment: Experiment) -> Refusal | None:
    """A reason not to relocate: between a disk and a bucket the filesystem would change too."""
    recorded, actual = experiment.recorded_root or "", experiment.actual_root or ""
    if _scheme(recorded) == _scheme(actual):
        return None
    return Refusal(
        code="relocation",
        message=(
            f"the records were made for {recorded} and it lies at {actual} now: the recorded "
            "filesystem would have to change with the root"
        ),
        help=("Ray 2.9 and newer find the checkpoints at the new place without it",),
    )


def relocation_edits(experiment: Experiment, written: frozenset[str]) -> dict[str, list[Edit]]:
    """The edits by file; the path pointers in `written` are dropped or written anew anyway."""
    edits: dict[str, list[Edit]] = {}
    if experiment.state_file is None or experiment.actual_root is None:
        return edits
    into = edits.setdefault(experiment.state_file, [])
    for trial in experiment.trials:
        into.extend(_root_edits(experiment, trial))
    for mention in experiment.mentions:
        pointer = mention.provenance.pointer
        if mention.form is not MentionForm.PATH or pointer in written:
            continue
        after = f"{_plain(experiment.actual_root)}/{mention.ref.path}"
        if mention.text != after:
            edits.setdefault(mention.provenance.file, []).append(
                Edit(op="set", pointer=pointer, before=mention.text, after=after)
            )
    return edits


def _root_edits(experiment: Experiment, trial: Trial) -> Iterator[Edit]:
    if trial.shape is None or experiment.actual_root is None:
        return
    parent, _, name = _plain(experiment.actual_root).rpartition("/")
    for pointer, text in trial.shape.roots:
        after = parent or "/"
        if pointer.endswith("experiment_dir_name"):
            after = name
        elif pointer.endswith("_experiment_path"):  # Ray 2.6 and before
            after = _plain(experiment.actual_root)
        if text != after and "://" not in text:
            yield Edit(op="set", pointer=pointer, before=text, after=after)


def relocated_path(experiment: Experiment, record: Record) -> str:
    """The path a record holds once the experiment's records are relocated."""
    if record.ref is None or experiment.actual_root is None:
        return record.path
    return f"{_plain(experiment.actual_root)}/{record.ref.path}"


def present_path(experiment: Experiment, mention: Mention, name: str) -> str | None:
    """Where another trial's checkpoint lies now, by the path that a record has to hold.

    Ray 2.9 and newer find a moved trial's own checkpoints by themselves, but not one that was
    taken over from another trial: only the own trial's root is exchanged (Ray 2.54
    ``tune/experiment/trial.py`` ``set_storage``). None where the recorded path is right.
    """
    foreign = mention.owner not in (None, mention.ref.trial)
    if mention.form is not MentionForm.PATH or not foreign or experiment.roots_are_absolute:
        return None
    if not relocation_needed(experiment) or refuse_relocation(experiment) is not None:
        return None
    return f"{_plain(experiment.actual_root or '')}/{mention.ref.trial}/{name}"


def _plain(root: str) -> str:
    """Without scheme, as Ray records it."""
    return root.partition("://")[2] or root


def _scheme(root: str) -> str:
    return root.partition("://")[0] if "://" in root else ""
