"""Where a Tune experiment keeps what: its trials' folders, their logs and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial

from ckptctl.layouts.base import MAX_LOG_BYTES, Source
from ckptctl.layouts.folders import Folder, checkpoint_folders, compare_siblings
from ckptctl.layouts.references import References
from ckptctl.layouts.result_log import (
    LOG_NAME,
    PROGRESS_NAME,
    ResultLog,
    mentions_of_progress,
    problem_of_progress,
    read_result_log,
)
from ckptctl.layouts.tree import SNAPSHOT, Tree
from ckptctl.layouts.tune_state import StateTrial
from ckptctl.model.checkpoint import TrialDir
from ckptctl.model.experiment import Mention, RecordKind, RecordRole
from ckptctl.model.names import NameKind, kind_of

STATE_PATTERN = "experiment_state-*.json"
_TRIAL_FILES = frozenset({LOG_NAME, PROGRESS_NAME, "params.json", "params.pkl", "error.txt"})


def state_files(tree: Tree, folder: str = "") -> tuple[str, ...]:
    """The state files, the one that a restore reads last (Ray takes the greatest name)."""
    return tuple(n for n in tree.file_names(folder) if fnmatchcase(n, STATE_PATTERN))


def has_logs(tree: Tree) -> bool:
    """Whether there are trials' folders with a result log."""
    return any(tree.file(f"{name}/{LOG_NAME}") for name in tree.folders())


def is_lone_trial(tree: Tree) -> bool:
    """Whether it is the folder of one trial, without the experiment around it."""
    return tree.file(LOG_NAME) is not None and any(
        kind_of(name) not in (NameKind.OTHER, NameKind.TEMPORARY) for name in tree.folders()
    )


def trial_dirs(tree: Tree, trials: tuple[StateTrial, ...]) -> tuple[str, ...]:
    """The folders of all trials, known to the state or not; ``.`` for a trial alone."""
    known = {t.dirname for t in trials if t.dirname}
    if not known and not state_files(tree) and not has_logs(tree) and is_lone_trial(tree):
        return (".",)
    found = {name for name in tree.folders() if _looks_like_trial(tree, name)}
    return tuple(sorted(known | found))


def _looks_like_trial(tree: Tree, name: str) -> bool:
    if name.startswith(("checkpoint", ".")) or is_experiment(tree, name):
        return False
    return bool(_TRIAL_FILES.intersection(tree.file_names(name))) or any(
        kind_of(n) is NameKind.RAY_INDEX for n in tree.folders(name)
    )


def is_experiment(tree: Tree, folder: str) -> bool:
    """Whether a folder holds a state of its own: an experiment inside another's folder."""
    return bool(state_files(tree, folder)) or tree.file(f"{folder}/{SNAPSHOT}") is not None


def read_logs(
    tree: Tree, source: Source, dirnames: tuple[str, ...]
) -> tuple[dict[str, ResultLog], list[Callable[[], Iterable[Mention]]]]:
    """The result log of every trial, and what finds the mentions in the logs."""
    logs: dict[str, ResultLog] = {}
    mentions: list[Callable[[], Iterable[Mention]]] = []
    paths = (within(name, file) for name in dirnames for file in (LOG_NAME, PROGRESS_NAME))
    source.ahead((path for path in paths if tree.file(path)), limit=MAX_LOG_BYTES)
    for name in dirnames:
        log = logs[name] = _read_log(tree, source, name)
        mentions.append(partial(log.mentions, TrialDir(name)))
        path = within(name, PROGRESS_NAME)
        if tree.file(path) is None:
            continue
        data = source.read(path, RecordKind.CSV, RecordRole.PROGRESS, limit=MAX_LOG_BYTES)
        if not data:
            continue
        if problem := problem_of_progress(path, data):
            source.problems.append(problem)
        else:
            mentions.append(partial(_progress_mentions, source, path, TrialDir(name)))
    return logs, mentions


def _read_log(tree: Tree, source: Source, name: str) -> ResultLog:
    path = within(name, LOG_NAME)
    data = None
    if tree.file(path) is not None:
        data = source.read(path, RecordKind.JSON_LINES, RecordRole.RESULT_LOG, limit=MAX_LOG_BYTES)
    return ResultLog() if data is None else read_result_log(path, data)


def _progress_mentions(source: Source, path: str, trial: TrialDir) -> Iterable[Mention]:
    # Only a plan asks, and it is refused where the file is not what was read before.
    data = source.peek(path, limit=MAX_LOG_BYTES)
    return () if data is None else mentions_of_progress(path, data, trial)


def within(dirname: str, name: str) -> str:
    """The path of something in a trial's folder, relative to the experiment."""
    return name if dirname == "." else f"{dirname}/{name}"


def read_folders(
    tree: Tree,
    trials: tuple[StateTrial, ...],
    dirnames: tuple[str, ...],
    logs: Mapping[str, ResultLog],
    references: References,
) -> dict[str, tuple[Folder, ...]]:
    """The checkpoint folders of every trial, whole or not."""
    named: dict[str, set[str]] = {name: set() for name in dirnames}
    for trial in trials:
        recorded = (*trial.records, *((trial.latest,) if trial.latest else ()))
        for record in recorded:
            ref = references.resolve(record.path)
            if ref is not None and ref.trial in named:
                named[ref.trial].add(ref.name)
    for name, log in logs.items():
        named[name].update(log.names)
    return compare_siblings(
        {
            name: checkpoint_folders(tree, "" if name == "." else name, named[name])
            for name in dirnames
        }
    )
