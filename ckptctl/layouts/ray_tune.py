"""Ray Tune 2.7 and newer: a state file, a result log a trial, numbered checkpoint folders.

The two dialects differ in what the counter means and in what the rows of the log say
(Ray 2.7 ``train/_internal/storage.py``; Ray 2.8 moved the increment before the save). The state
file tells them apart: the trial's JSON of Ray 2.7 holds keys that 2.8 dropped, and that a newer
one which goes on with the experiment keeps behind its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import msgspec
from msgspec import Struct

from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_records import load_json
from ckptctl.layouts.base import ALONE, Match, Source
from ckptctl.layouts.folders import Folder, lacking
from ckptctl.layouts.imported import TUNER_FILES, imported, look_into
from ckptctl.layouts.legacy_state import read_legacy_trials
from ckptctl.layouts.references import References
from ckptctl.layouts.result_log import LOG_NAME
from ckptctl.layouts.tree import Tree
from ckptctl.layouts.tune_folders import (
    Logs,
    has_logs,
    is_lone_trial,
    read_folders,
    state_files,
    trial_dirs,
    with_deeper,
    within,
)
from ckptctl.layouts.tune_mentions import state_mentions
from ckptctl.layouts.tune_metadata import METADATA_NAME, TrainableNote, read_note
from ckptctl.layouts.tune_sources import Dialect, TrialSources
from ckptctl.layouts.tune_state import StateError, StateTrial, read_trial_data
from ckptctl.layouts.tune_trial import build_trial
from ckptctl.model.checkpoint import TrialDir
from ckptctl.model.deferred import Deferred
from ckptctl.model.experiment import (
    Experiment,
    RecordKind,
    RecordRole,
    Trial,
    Unreadable,
)
from ckptctl.model.names import NameKind, kind_of, natural_key

_LOOKED_INTO = 1 << 20
"""Bytes of the settings of a run that are read to see whether they are whole, at most."""


class RayTune:
    """Ray Tune 2.7 to 2.60, and Ray Train V1."""

    names: ClassVar[tuple[str, ...]] = tuple(Dialect)

    def match(self, tree: Tree) -> Match | None:
        """By a state file; less surely by trial folders with a result log."""
        if state_files(tree):
            return Match(confidence=80, why="an experiment_state file lies in it")
        if has_logs(tree):
            return Match(confidence=40, why="trial folders with result logs, but no state file")
        if is_lone_trial(tree):
            return Match(confidence=ALONE, why="one trial's folder, and no experiment around it")
        return None

    def read(self, tree: Tree, source: Source) -> Experiment:
        """Every trial that the state or the folders know."""
        state = _read_state_file(tree, source)
        _note_other_files(tree, source)
        dirnames = trial_dirs(tree, state.trials)
        references = References(_roots(state.trials), dirnames)
        logs = Logs(tree, source, dirnames)
        folders = read_folders(tree, state.trials, dirnames, references, logs)
        dialect = _dialect(tree, state.trials)
        if dialect is Dialect.LEGACY:
            # It is written last, and a restore cannot do without it.
            folders = lacking(folders, METADATA_NAME)
        notes = _notes(source, dialect, folders)
        pickles, keys = imported(tree, source, state.file) if source.collect_globals else ((), ())
        unparsed = tuple(
            within(name, folder.name)
            for name in dirnames
            for folder in folders[name]
            if kind_of(folder.name) is NameKind.OTHER
        )
        odd = tree.odd_paths()
        in_state = {t.dirname: t for t in state.trials}
        trials: list[Trial] = []
        for name in dirnames:
            log = logs.take(name)
            sources = TrialSources(
                dirname=TrialDir(name),
                state=in_state.get(name),
                state_file=state.file,
                state_read=state.read,
                on_storage=name == "." or tree.has_folder(name),
                folders=with_deeper(folders.pop(name), tree, name, log),
                log=log,
                log_path=within(name, LOG_NAME) if tree.file(within(name, LOG_NAME)) else None,
                dialect=dialect,
                references=references,
                notes=notes[name],
            )
            trials.append(build_trial(sources))
            log.rest(source)
            tree.let_go(name)
        logs.mentions.append(partial(state_mentions, state.file, state.trials, references))
        return Experiment(
            location=source.location,
            name=source.root.rstrip("/").rpartition("/")[2] or source.location,
            layout=dialect,
            trials=tuple(trials),
            ray_version=_ray_version(notes),
            state_file=state.file,
            recorded_root=_recorded_root(state.trials),
            actual_root=source.root,
            counter_means_next=dialect is Dialect.TUNE_2_7,
            staging=next((t.staging for t in state.trials if t.staging), None),
            roots_are_absolute=any(t.keeps_roots for t in state.trials),
            records=tuple(sorted(source.files, key=lambda f: f.path)),
            mentions=Deferred(logs.mentions),
            problems=tuple(source.problems),
            odd=odd,
            unparsed=unparsed,
            state_fields=_state_fields(state.trials),
            pickles=pickles,
            state_keys=keys,
        )


def _dialect(tree: Tree, trials: tuple[StateTrial, ...]) -> Dialect:
    """By the state; without one, only Ray 2.6 and before leave a mark in each checkpoint."""
    if any(t.is_legacy for t in trials):
        return Dialect.LEGACY
    if any(t.is_2_7 for t in trials):
        return Dialect.TUNE_2_7
    if not trials and tree.holds(METADATA_NAME):
        return Dialect.LEGACY
    return Dialect.TUNE


def _notes(
    source: Source, dialect: Dialect, folders: Mapping[str, tuple[Folder, ...]]
) -> dict[str, dict[str, TrainableNote]]:
    notes: dict[str, dict[str, TrainableNote]] = {name: {} for name in folders}
    if dialect is not Dialect.LEGACY:
        return notes
    noted = [
        (name, folder.name)
        for name, own in folders.items()
        for folder in own
        if METADATA_NAME in folder.held.names
    ]
    source.ahead(f"{within(name, folder)}/{METADATA_NAME}" for name, folder in noted)
    for name, folder in noted:
        note = read_note(source, within(name, folder))
        if note is not None:
            notes[name][folder] = note
    return notes


def _ray_version(notes: Mapping[str, Mapping[str, TrainableNote]]) -> str | None:
    """The newest version that a checkpoint tells of; only Ray 2.6 and before do."""
    versions = {n.ray_version for own in notes.values() for n in own.values()} - {None}
    return max((v for v in versions if v), key=natural_key, default=None)


def _state_fields(trials: tuple[StateTrial, ...]) -> frozenset[str]:
    fields = [t.storage_fields for t in trials if t.broken is None]
    return frozenset[str]().union(*fields[:1]).intersection(*fields)


class _State(Struct, frozen=True, kw_only=True):
    file: str | None
    trials: tuple[StateTrial, ...]
    read: bool


def _read_state_file(tree: Tree, source: Source) -> _State:
    files = state_files(tree)
    for older in files[:-1]:
        source.remember(older, RecordKind.JSON, RecordRole.SUPERSEDED_STATE)
    if not files:
        return _State(file=None, trials=(), read=False)
    newest = files[-1]
    data = source.read(newest, RecordKind.JSON, RecordRole.STATE)
    if data is None:
        return _State(file=newest, trials=(), read=False)
    try:
        return _State(file=newest, trials=_parse(data), read=True)
    except (CodecError, StateError) as error:
        source.problems.append(
            Unreadable(
                file=newest, reason=str(error), empty=not data.strip(), role=RecordRole.STATE
            )
        )
        return _State(file=newest, trials=(), read=False)


class _Document(Struct):
    """A state file whose trials are still text: all of them at once may fill the memory."""

    trial_data: list[msgspec.Raw] | None = None
    checkpoints: list[msgspec.Raw] | None = None


_decode = msgspec.json.Decoder(_Document).decode


def _parse(data: bytes) -> tuple[StateTrial, ...]:
    document = _shallow(data)
    if document is None:
        return _parse_whole(data)
    if document.trial_data is not None:
        return read_trial_data(load_json(bytes(raw)) for raw in document.trial_data)
    return read_legacy_trials(load_json(bytes(raw)) for raw in document.checkpoints or ())


def _shallow(data: bytes) -> _Document | None:
    """The state of which only the list of trials is looked at; None where it is unusual."""
    if not data.isascii():  # what the decoder skips it does not look at
        return None
    try:
        document = _decode(data)
    except (ValueError, RecursionError, MemoryError):
        return None
    return None if document.trial_data is None and document.checkpoints is None else document


def _parse_whole(data: bytes) -> tuple[StateTrial, ...]:
    document = load_json(data)
    if isinstance(document, Mapping):
        pairs, texts = document.get("trial_data"), document.get("checkpoints")
        if isinstance(pairs, list):
            return read_trial_data(pairs)
        if isinstance(texts, list):
            return read_legacy_trials(texts)
    raise StateError("it has neither a list `trial_data` nor a list `checkpoints`")


def _note_other_files(tree: Tree, source: Source) -> None:
    for name in TUNER_FILES:
        entry = tree.file(name)
        if entry is None:
            continue
        if all(file.path != name for file in source.files):
            source.remember(name, RecordKind.PICKLE, RecordRole.TUNER)
        if entry.size == 0:
            source.problems.append(
                Unreadable(file=name, reason="it has zero bytes", empty=True, role=RecordRole.TUNER)
            )
        elif not source.collect_globals:  # else it has just been looked into
            data = source.peek(name, limit=_LOOKED_INTO)
            if data is not None:
                look_into(source, name, RecordRole.TUNER, data)


def _roots(trials: tuple[StateTrial, ...]) -> dict[str, str]:
    return {_trial_root(t): t.dirname for t in trials}


def _trial_root(trial: StateTrial) -> str:
    return "/".join(
        part.rstrip("/")
        for part in (trial.storage_root, trial.experiment_name, trial.dirname)
        if part
    )


def _recorded_root(trials: tuple[StateTrial, ...]) -> str | None:
    for trial in trials:
        if trial.storage_root:
            path = f"{trial.storage_root.rstrip('/')}/{trial.experiment_name}".rstrip("/")
            return f"{trial.scheme}://{path.lstrip('/')}" if trial.scheme else path
    return None
