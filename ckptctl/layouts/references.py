"""From a path in a record to the checkpoint folder that it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckptctl.model.checkpoint import CheckpointName, TrialDir
from ckptctl.model.experiment import CheckpointRef


class References:
    """Resolves recorded paths, whatever root they were recorded under.

    An experiment that was moved, copied or renamed keeps its old paths; a trial's folder has a
    name of its own (trial id, parameters and time), so its last parts tell it.
    """

    def __init__(self, roots: Mapping[str, str], dirnames: Iterable[str]) -> None:
        self._roots = {path.rstrip("/"): TrialDir(name) for path, name in roots.items() if path}
        self._dirnames = frozenset(dirnames)

    def resolve(self, path: str) -> CheckpointRef | None:
        """The folder of this experiment that `path` means, or None where it lies elsewhere."""
        parent, _, name = path.rstrip("/").rpartition("/")
        if not name:
            return None
        trial = self._roots.get(parent)
        if trial is None:
            last = parent.rpartition("/")[2]
            if last not in self._dirnames:
                return None
            trial = TrialDir(last)
        return CheckpointRef(trial=trial, name=CheckpointName(name))
