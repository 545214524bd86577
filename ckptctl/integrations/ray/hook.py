"""Installs the storage context into Tune and Train V1, and takes it out again.

Everything that a run asks is set before training starts; a Ray in which it cannot work is told
there, and never in the middle of a run.
"""

from __future__ import annotations

import functools
import threading
from types import TracebackType
from typing import Any, Self

from ckptctl.errors import UsageError
from ckptctl.integrations.ray.naming import Naming, parse_naming
from ckptctl.model.policies import IndexFunction

_LOCK = threading.RLock()
_INSTALLED: list[Installed] = []
_READY: list[bool] = []


class Installed:
    """A hook that is in place; as a context manager it is taken out at the end."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        with _LOCK:
            _prepare()
            _INSTALLED.append(self)
            _set()

    def remove(self) -> None:
        """Take it out; runs that began with it go on with it."""
        with _LOCK:
            if self in _INSTALLED:
                _INSTALLED.remove(self)
                _set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def checkpoint_naming(template: str) -> Installed:
    """Name the checkpoint folders of Tune and Train V1 (Ray 2.8 and newer) by a template.

    ``with checkpoint_naming("checkpoint_{training_iteration:06d}-{loss:.4f}"):`` around `fit`, or
    as a plain call for the rest of the process. The template is that of ``ckptctl rename``; it
    begins with ``checkpoint_`` and a number of six digits, which becomes the index.

    Raises:
        UsageError: it is no such template, or this Ray does not ask for names.
    """
    return Installed(_merged(parse_naming(template, None)))


def checkpoint_index(policy: str | IndexFunction) -> Installed:
    """Number the checkpoints of Tune and Train V1 (Ray 2.8 and newer) by an index policy.

    ``with checkpoint_index("training_iteration"):`` around `fit`, or as a plain call. The policies
    are those of ``ckptctl reindex --by``; a function ``(metrics, previous_index) -> index`` can be
    given itself. An index that is not above the one before is the one before, plus 1.

    Raises:
        UsageError: it is no policy, or this Ray does not ask for indexes.
    """
    return Installed(_merged(parse_naming(None, policy)))


def _merged(naming: Naming) -> Naming:
    """A template and a policy that are installed one after the other work together."""
    with _LOCK:
        outer = _INSTALLED[-1].naming if _INSTALLED else Naming()
    template = outer.template if naming.template is None else naming.template
    by = outer.by if naming.by is None else naming.by
    return parse_naming(template, by)


def _set() -> None:
    """Let Tune make its contexts by the innermost hook, or by itself."""
    from ray.train._internal.storage import StorageContext
    from ray.tune.experiment import Experiment

    from ckptctl.integrations.ray.storage import made_by

    current = _current()
    made: Any = StorageContext if current is None else staticmethod(made_by(current))
    Experiment._storage_context_cls = made


def _current() -> Naming | None:
    return _INSTALLED[-1].naming if _INSTALLED else None


def _prepare() -> None:
    """Look at this Ray, and teach its `Trial` to take contexts over; once a process."""
    if _READY:
        return
    ray = _ray()
    from ray.train._internal.storage import StorageContext
    from ray.tune.experiment import Experiment, Trial

    asks = hasattr(Experiment, "_storage_context_cls")
    if not asks or not hasattr(StorageContext, "_update_checkpoint_index"):
        raise _too_old(ray.__version__)
    from ckptctl.integrations.ray.rows import name_rows

    _adopt_when_restored(Trial)
    name_rows()
    _refuse_train_v2()
    _READY.append(True)


def _ray() -> Any:
    try:
        import ray
        import ray.tune
    except ImportError as error:
        raise UsageError(
            f"Ray cannot be imported: {error}", hint='pip install "ckptctl[ray]"'
        ) from error
    version = tuple(int(part) for part in ray.__version__.split(".")[:2])
    if version < (2, 8):
        raise _too_old(ray.__version__)
    return ray


def _too_old(version: str) -> UsageError:
    return UsageError(
        f"Ray {version} names checkpoints by itself and asks nobody; it takes Ray 2.8 or newer",
        hint="run without it, and afterwards: ckptctl reindex LOCATION --by POLICY, "
        "ckptctl rename LOCATION --to TEMPLATE",
    )


def _adopt_when_restored(trial: Any) -> None:
    from ckptctl.integrations.ray.storage import hooked

    original = trial.from_json_state.__func__

    @functools.wraps(original)
    def from_json_state(cls: Any, *args: Any, **kwargs: Any) -> Any:
        restored, naming = original(cls, *args, **kwargs), _current()
        if naming is not None and restored.storage is not None:
            restored.storage = hooked(restored.storage, naming)
        return restored

    trial.from_json_state = classmethod(from_json_state)


def _refuse_train_v2() -> None:
    """A trainer of Train V2 asks no context; a hook that does nothing would be a silent one."""
    try:
        from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
    except ImportError:
        return
    original = DataParallelTrainer.fit

    @functools.wraps(original)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _current() is not None:
            raise UsageError(
                "Ray Train V2 takes names from report(), and no hook reaches it",
                hint="use ckptctl.integrations.ray.checkpoint_names in the training loop, "
                "or RAY_TRAIN_V2_ENABLED=0",
            )
        return original(self, *args, **kwargs)

    DataParallelTrainer.fit = fit
