"""Where a Tune experiment keeps what: its trials' folders, their logs and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial

from ckptctl.layouts.base import MAX_LOG_BYTES, Source
from ckptctl.layouts.folders import Folder, checkpoint_folders, compare_siblings
from ckptctl.layouts.log_metrics import LogMetrics
from ckptctl.layouts.logged import LogReader
from ckptctl.layouts.references import References
from ckptctl.layouts.result_log import (
    LOG_NAME,
    PROGRESS_NAME,
    ProgressCheck,
    ResultLog,
    mentions_of_progress,
    problem_of_progress,
    result_log,
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


class Logs:
    """The result log of every trial, read when it is asked for.

    Trials are asked for in their order, in which a store that answers many requests at once reads
    ahead.
    """

    def __init__(self, tree: Tree, source: Source, dirnames: Sequence[str]) -> None:
        self._tree, self._source = tree, source
        self._dirnames = dirnames
        self._begun = False
        self._metrics = LogMetrics()
        self._read: dict[str, ResultLog] = {}
        self.mentions: list[Callable[[], Iterable[Mention]]] = []
        """What finds the checkpoints that are named in the logs which were read."""

    def read_all(self) -> dict[str, ResultLog]:
        """All of them at once, for who cannot do without."""
        for name in self._dirnames:
            self._read[name] = self._next(name)
        return self._read

    def take(self, name: str) -> ResultLog:
        """The log of a trial, once."""
        return self._read.pop(name, None) or self._next(name)

    def _next(self, name: str) -> ResultLog:
        if not self._begun:
            self._begun = True
            paths = (within(n, file) for n in self._dirnames for file in (LOG_NAME, PROGRESS_NAME))
            self._source.ahead((p for p in paths if self._tree.file(p)), limit=MAX_LOG_BYTES)
        log = self._log(within(name, LOG_NAME))
        self.mentions.append(partial(log.mentions, TrialDir(name)))
        self._look_at_progress(within(name, PROGRESS_NAME), TrialDir(name))
        return log

    def _log(self, path: str) -> ResultLog:
        if self._tree.file(path) is None:
            return ResultLog()
        reader = LogReader(self._source.again(path), self._metrics)
        if not self._source.feed(path, RecordKind.JSON_LINES, RecordRole.RESULT_LOG, reader.take):
            return ResultLog()
        return result_log(path, reader.done())

    def _look_at_progress(self, path: str, trial: TrialDir) -> None:
        entry, source = self._tree.file(path), self._source
        if entry is None:
            return
        check = ProgressCheck()
        if not source.feed(path, RecordKind.CSV, RecordRole.PROGRESS, check.take):
            return
        problem = None
        if not check.sure:
            data = check.whole or source.peek(path, limit=MAX_LOG_BYTES)
            problem = problem_of_progress(path, data) if data is not None else None
        if problem is not None:
            source.problems.append(problem)
        elif entry.size:
            self.mentions.append(partial(_progress_mentions, source, path, trial))


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
    references: References,
    logs: Logs,
) -> dict[str, tuple[Folder, ...]]:
    """The checkpoint folders of every trial, whole or not.

    A log may name folders that are called otherwise than Ray's; only where there are others at
    all does it have to be read before.
    """
    named: dict[str, set[str]] = {name: set() for name in dirnames}
    for trial in trials:
        recorded = (*trial.records, *((trial.latest,) if trial.latest else ()))
        for record in recorded:
            ref = references.resolve(record.path)
            if ref is not None and ref.trial in named:
                named[ref.trial].add(ref.name)
    if any(not tree.all_begin(name, "checkpoint") for name in dirnames):
        for name, log in logs.read_all().items():
            named[name] |= log.unlike
    return compare_siblings(
        {
            name: checkpoint_folders(tree, "" if name == "." else name, named[name])
            for name in dirnames
        }
    )


def with_deeper(
    folders: tuple[Folder, ...], tree: Tree, name: str, log: ResultLog
) -> tuple[Folder, ...]:
    """A trial's folders, with those that its log says lie deeper."""
    deeper = {n for n in log.unlike if "/" in n and tree.has_folder(within(name, n))}
    if deeper <= {f.name for f in folders}:
        return folders
    own = checkpoint_folders(tree, "" if name == "." else name, {f.name for f in folders} | deeper)
    return compare_siblings({name: own})[name]
