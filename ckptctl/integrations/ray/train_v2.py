"""Names for the checkpoints of Train V2, and a note of how they are ranked.

Train V2 takes a name with each report and gives the folder that of rank 0 (Ray 2.46 to 2.60); its
`CheckpointConfig` stays in memory. So the training loop asks here for a name, and rank 0 writes
the settings down beside the checkpoints, in ``.ckptctl/train-v2.json`` of the run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from ckptctl._version import __version__
from ckptctl.errors import UsageError
from ckptctl.integrations.ray.naming import Naming, Save, decide, iteration_in, parse_naming
from ckptctl.model.names import index_of
from ckptctl.model.policies import IndexFunction
from ckptctl.model.template import Template

_FOLDER, _FILE = ".ckptctl", "train-v2.json"
_SETTINGS = ("num_to_keep", "checkpoint_score_attribute", "checkpoint_score_order")
_log = logging.getLogger("ckptctl")


class CheckpointNames:
    """Gives each save of a training loop its name; made once in the loop, on every rank."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._template = Template.parse(naming.template or "")
        self._previous: int | None = None
        self._base = 0
        self._calls = 0

    def __call__(self, metrics: Mapping[str, Any], *, saves: bool = True) -> str | None:
        """The name for ``report(checkpoint_dir_name=…)``, to be asked once for every report.

        With ``saves=False``, for a report without a checkpoint, it only counts the iteration, and
        gives None.

        Raises:
            UsageError: the template wants a training iteration that nothing tells.
        """
        if self._previous is None:
            self._begin()
        self._calls += 1
        if not saves:
            return None
        iteration = iteration_in(dict(metrics))
        save = Save(metrics=dict(metrics), iteration=iteration or self._counted())
        decision = decide(self._naming, save, -1 if self._previous is None else self._previous)
        for note in decision.notes:
            _log.warning("%s", note)
        self._previous = decision.index
        return _unused(decision.name)

    def _begin(self) -> None:
        """Go on behind the checkpoint that this worker is restored from."""
        checkpoint = _ray_train().get_checkpoint()
        name = "" if checkpoint is None else str(checkpoint.path).rstrip("/").rpartition("/")[2]
        index = index_of(name)
        self._previous = -1 if index is None else index
        if self._template.fields[0].name == "training_iteration":
            self._base = max(0, self._previous)
        elif self._wants_iteration and index is not None:
            self._base = -1
        record_ranking(self._naming)

    @property
    def _wants_iteration(self) -> bool:
        return any(field.name == "training_iteration" for field in self._template.fields)

    def _counted(self) -> int | None:
        if self._base >= 0:
            return self._base + self._calls
        raise UsageError(
            "the template wants training_iteration, and a restored worker cannot know it",
            hint="report it as a metric, or put it in front: checkpoint_{training_iteration:06d}-…",
        )


def checkpoint_names(template: str, *, by: str | IndexFunction | None = None) -> CheckpointNames:
    """Make names for the checkpoints of Train V2 (Ray 2.46 and newer), in the training loop.

    ``names = checkpoint_names("checkpoint_{training_iteration:06d}-{loss:.4f}")``, and then
    ``ray.train.report(metrics, checkpoint=…, checkpoint_dir_name=names(metrics))``. The template
    is that of ``ckptctl rename`` and begins with ``checkpoint_`` and a number of six digits; `by`
    is a policy of ``ckptctl reindex --by`` for ``{index:06d}``. Iterations are counted by calls
    where no metric tells them.

    Raises:
        UsageError: it is no such template, or this Ray takes no names with a report.
    """
    naming = parse_naming(template, by)
    _check_report()
    return CheckpointNames(naming)


def record_ranking(naming: Naming | None = None) -> bool:
    """Write the run's `CheckpointConfig` down, so that ``ckptctl policy`` knows it exactly.

    Called in the training loop of Train V2; only rank 0 writes, and `checkpoint_names` does it by
    itself. A storage that refuses is told as a warning. Returns whether it was written.
    """
    context = _context()
    if context is None or _ray_train().get_context().get_world_rank() != 0:
        return False
    config = context.train_run_context.run_config.checkpoint_config
    note = {
        "format_version": "1.0",
        "tool": {"name": "ckptctl", "version": __version__},
        "checkpoint_config": {name: getattr(config, name, None) for name in _SETTINGS},
        "naming": None if naming is None else naming.shown,
    }
    storage = context.storage_context
    folder = f"{storage.experiment_fs_path}/{_FOLDER}"
    try:
        storage.storage_filesystem.create_dir(folder)
        with storage.storage_filesystem.open_output_stream(f"{folder}/{_FILE}") as stream:
            stream.write(json.dumps(note, indent=2).encode())
    except OSError as error:
        _log.warning("cannot write %s/%s: %s", folder, _FILE, error)
        return False
    return True


def _unused(name: str) -> str:
    """The name, or one with a number behind where a save that failed has left such a folder."""
    context = _context()
    if context is None or _ray_train().get_context().get_world_rank() != 0:
        return name  # rank 0's is the one that counts
    storage, tried = context.storage_context, name
    for number in range(2, 100):
        (info,) = storage.storage_filesystem.get_file_info(
            [f"{storage.experiment_fs_path}/{tried}"]
        )
        if info.type.name == "NotFound":
            break
        tried = f"{name}-{number}"
    return tried


def _check_report() -> None:
    import inspect

    report = getattr(_ray_train(), "report", None)  # Ray 2.6 has none
    takes = report and "checkpoint_dir_name" in inspect.signature(report).parameters
    if not takes or _context() is None:
        raise UsageError(
            f"this is no training loop of Train V2, and Ray {_ray_version()} takes no names here",
            hint="Train V2 of Ray 2.46 and newer does; for Tune and Train V1 use "
            "checkpoint_naming around fit()",
        )


def _ray_train() -> Any:
    try:
        import ray.train
    except ImportError as error:
        raise UsageError(
            f"Ray Train cannot be imported: {error}", hint='pip install "ckptctl[ray]"'
        ) from error
    return ray.train


def _ray_version() -> str:
    import ray

    return str(ray.__version__)


def _context() -> Any:
    """What this worker knows of its run; None outside of one."""
    try:
        from ray.train.v2._internal.execution.context import get_train_context

        return get_train_context()
    except (ImportError, RuntimeError):
        return None
