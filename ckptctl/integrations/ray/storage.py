"""The storage context that decides names and indexes. Imports Ray: only `hook` imports it.

Ray keeps three copies of a trial's context: the driver's, the trainable's and, for functions and
trainers, the session's. Each counts for itself, from other metrics (Ray 2.8 to 2.60). Here the
one that saves decides, and the name travels in the result as ``checkpoint_dir_name``, the key
that Ray itself uses for functions; every other copy takes index and name from there.

To a file Ray's own class is written, with the settings as plain text in it, so that an experiment
is restored where ckptctl is not installed.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import ray
from ray.train._internal.storage import StorageContext

from ckptctl.integrations.ray.naming import Decision, Naming, Save, decide, iteration_in
from ckptctl.model.experiment import TrainableKind
from ckptctl.model.names import index_of

NAME_KEY = "checkpoint_dir_name"
"""Of a result: the folder of its save."""
_log = logging.getLogger("ckptctl")


class NamingStorage(StorageContext):
    """A storage context that asks `naming` where Ray's own counts one up."""

    current_checkpoint_index: int
    ckptctl_naming: Naming
    ckptctl_name: str | None = None
    """The name of the latest save."""
    ckptctl_base: int = 0
    """The training iteration at which this run of the trainable began."""
    ckptctl_rows: bool | None = None
    """On the driver: whether the result rows name the saves, as they did from the first one on."""
    ckptctl_row: str | None = None
    """On the driver: the name that the row of a save tells which is still to come."""

    @property
    def checkpoint_dir_name(self) -> str:
        """The folder of the latest save."""
        name = self.ckptctl_name
        if name is not None and index_of(name) == self.current_checkpoint_index:
            return name
        return str(StorageContext._make_checkpoint_dir_name(self.current_checkpoint_index))

    def _update_checkpoint_index(self, metrics: MutableMapping[str, Any]) -> None:
        told = metrics.get(NAME_KEY)
        index = index_of(told) if isinstance(told, str) else None
        if index is not None and told is not None:
            if index > self.current_checkpoint_index:
                self._follow(index, told, metrics)
                return
            if told == self.checkpoint_dir_name:
                return  # registered once more, as a trial that pauses does
            if self._is_driver():
                return  # of two saves at once, and the answer to the later one came first
        decision = self.decide(metrics, self.current_checkpoint_index)
        for note in decision.notes:
            _log.warning("trial %s: %s", self.trial_dir_name, note)
        self.current_checkpoint_index, self.ckptctl_name = decision.index, decision.name
        # A session writes it there itself; of a class trainable it is all that the driver gets.
        metrics[NAME_KEY] = decision.name

    def decide(self, metrics: Mapping[str, Any], previous: int) -> Decision:
        """What a save with these metrics is called that comes behind index `previous`."""
        return decide(self.ckptctl_naming, self._save(metrics), previous)

    def _follow(self, index: int, name: str, metrics: MutableMapping[str, Any]) -> None:
        self._compare(index, name)
        self.current_checkpoint_index, self.ckptctl_name = index, name
        self.ckptctl_base = iteration_in(dict(metrics)) or self.ckptctl_base

    def _compare(self, index: int, name: str) -> None:
        """Say so where a save is called otherwise than its row, which is written before it."""
        row, due = self.ckptctl_row, index_of(self.ckptctl_row or "")
        if row is None or due is None or index < due:
            return
        self.ckptctl_row = None
        if row != name:
            _log.warning(
                "trial %s: its result row names %s, and the save is called %s; to mend the row: "
                "ckptctl reindex %s",
                self.trial_dir_name,
                row,
                name,
                self.experiment_fs_path,
            )

    def _save(self, metrics: Mapping[str, Any]) -> Save:
        session, trainable = _session(), self._trainable()
        iteration = iteration_in(dict(metrics))
        if iteration is None and trainable is not None:
            # The report is what ends the step that Tune waits for, so it is not counted yet.
            iteration = trainable._iteration + 1
        elif iteration is None and session is not None:
            iteration = self.ckptctl_base + session.iteration
        return Save(
            metrics=dict(metrics),
            iteration=iteration,
            trial_id=_trial_id(session, trainable, metrics),
            kind=TrainableKind.CLASS if session is None else TrainableKind.FUNCTION,
            is_trainer=session is not None and session.world_rank is not None,
        )

    def _is_driver(self) -> bool:
        """Whether this copy is where saves are told, and not where one is made."""
        return _session() is None and self._trainable() is None

    def _trainable(self) -> Any:
        """The trainable of this process whose context this is."""
        actors = getattr(ray._private.worker.global_worker, "actors", {})
        owned = (a for a in actors.values() if getattr(a, "_storage", None) is self)
        return next(owned, None)

    def __copy__(self) -> NamingStorage:
        """Each trial gets a copy of its own."""
        return hooked(self, self.ckptctl_naming)

    def __deepcopy__(self, memo: dict[int, Any]) -> NamingStorage:
        """As deep as Ray's own goes, in this class."""
        new = NamingStorage.__new__(NamingStorage)
        memo[id(self)] = new
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Travel to workers as what this is, and be written to files as Ray's own class.

        The state of an experiment holds a context in each trial, and in the searcher's state too.
        """
        if not _is_sent():
            # The form of old protocols: that of new ones is for objects of the class itself.
            return unhooked(self).__reduce__()
        trainable = self._trainable()
        if trainable is not None:  # so that the workers of a trainer know where they begin
            self.ckptctl_base = trainable._iteration
        return super().__reduce_ex__(protocol)


def _is_sent() -> bool:
    """Whether Ray is passing an object to another process, and not writing it to a file."""
    if not ray.is_initialized():
        return False
    context = ray._private.worker.global_worker.get_serialization_context()
    return bool(context.is_in_band_serialization())


def hooked(storage: StorageContext, naming: Naming) -> NamingStorage:
    """The same context, which decides by `naming` from now on."""
    new = NamingStorage.__new__(NamingStorage)
    new.__dict__.update(storage.__dict__)
    new.ckptctl_naming = naming
    return new


def unhooked(storage: StorageContext) -> StorageContext:
    """The same context in Ray's own class, with a word on how the run was named."""
    if not isinstance(storage, NamingStorage):
        return storage
    new = StorageContext.__new__(StorageContext)
    own = ("ckptctl_naming", "ckptctl_name", "ckptctl_base", "ckptctl_row")
    new.__dict__.update({k: v for k, v in storage.__dict__.items() if k not in own})
    new.__dict__["ckptctl_naming"] = storage.ckptctl_naming.shown
    return new


def made_by(naming: Naming) -> Callable[..., NamingStorage]:
    """What Tune calls where it would call its own class to make a context."""

    def make(*args: Any, **kwargs: Any) -> NamingStorage:
        return hooked(StorageContext(*args, **kwargs), naming)

    return make


def _session() -> Any:
    from ray.train._internal.session import get_session

    return get_session()


def _trial_id(session: Any, trainable: Any, metrics: Mapping[str, Any]) -> str | None:
    if trainable is not None:
        return str(trainable.trial_id)
    info = getattr(session, "trial_info", None)
    told = metrics.get("trial_id")
    return str(info.id) if info is not None else str(told) if told else None
