"""Small experiments as Ray 2.6 writes them, made and read with the real pickle.

The classes stand in for Ray's own, under the names by which a pickle knows them.
"""

from __future__ import annotations

import enum
import heapq
import json
import pickle
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ckptctl.api import apply, plan_reindex
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Outcome, Plan
from ckptctl.scanner import scan

STATE = "experiment_state-2023-08-01_10-00-00.json"
ROOT = "/recorded/exp"
COMMON = "ray.air._internal.checkpoint_manager"


class CheckpointStorage(enum.Enum):
    MEMORY = 1
    PERSISTENT = 2


class _Plain:
    def __init__(self, **state: Any) -> None:
        self.__dict__.update(state)


class _TrackedCheckpoint(_Plain):
    id: int
    dir_or_data: str | None
    metrics: dict[str, Any]


class _HeapCheckpointWrapper(_Plain):
    priority: tuple[bool, float, int]

    def __lt__(self, other: Any) -> bool:
        return bool(self.priority < other.priority)


class _CheckpointManager(_Plain): ...


class CheckpointConfig(_Plain): ...


HOMES: dict[str, tuple[type, ...]] = {
    COMMON: (CheckpointStorage, _TrackedCheckpoint, _HeapCheckpointWrapper),
    "ray.tune.execution.checkpoint_manager": (_CheckpointManager,),
    "ray.air.config": (CheckpointConfig,),
}


@contextmanager
def stand_ins() -> Iterator[None]:
    """Ray's modules, as far as a pickle of its books needs them."""
    names = {name.rpartition(".")[0] for name in HOMES} | {"ray", "ray.air", "ray.tune", *HOMES}
    before = {name: sys.modules.get(name) for name in names}
    for name in names:
        sys.modules[name] = types.ModuleType(name)
    for home, classes in HOMES.items():
        for one in classes:
            one.__module__ = home
            setattr(sys.modules[home], one.__name__, one)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


class LegacyTrial:
    """One trial that saves like Ray 2.6.3 does."""

    def __init__(self, number: int, *, keep: int | None = None, status: str = "ERROR") -> None:
        self.trial_id = f"abcde_{number:05d}"
        self.dirname = f"fn_{self.trial_id}_{number}_x={number}_2023-08-01_10-00-00"
        self.keep, self.status = keep, status
        self.monitor, self.mode = "loss", "min"
        self.heap: list[Any] = []
        self.best: Any = None
        self.latest: Any = None
        self.counter = 0
        self.clean_up: set[Any] = set()
        self.rows: list[dict[str, Any]] = []
        self.folders: dict[str, dict[str, Any]] = {}

    def report(self, iteration: int, loss: float) -> dict[str, Any]:
        row = {
            "loss": loss,
            "eval": {"acc": 1 - loss},
            "should_checkpoint": True,
            "training_iteration": iteration,
            "trial_id": self.trial_id,
            "timestamp": 1000 + iteration,
            "time_total_s": iteration / 2,
            "node_ip": "192.0.2.7",
        }
        self.rows.append(row)
        return row

    def save(self, iteration: int, loss: float, *, register: bool = True) -> str:
        """A report with a checkpoint; the driver may die before it hears of it."""
        row = self.report(iteration, loss)
        name = f"checkpoint_{iteration - 1:06d}"
        self.folders[name] = row
        if register:
            self.register(name, row)
        return name

    def register(self, name: str, metrics: dict[str, Any]) -> None:
        tracked = _TrackedCheckpoint(
            dir_or_data=f"{ROOT}/{self.dirname}/{name}",
            id=self.counter,
            storage_mode=CheckpointStorage.PERSISTENT,
            rank=0,
            metrics={**metrics, "experiment_tag": "0"},
            node_ip="192.0.2.7",
            _move_instead_of_copy=True,
        )
        self.counter += 1
        item = _HeapCheckpointWrapper(
            priority=(True, -float(metrics["loss"]), tracked.id), tracked_checkpoint=tracked
        )
        if self.keep is None:
            self.heap.append(item)
        elif len(self.heap) < self.keep:
            heapq.heappush(self.heap, item)
        elif item.priority >= self.heap[0].priority:
            worst = heapq.heappushpop(self.heap, item).tracked_checkpoint
            if worst is self.latest:
                self.clean_up.add(worst)
            else:
                del self.folders[worst.dir_or_data.rpartition("/")[2]]
        else:
            self.clean_up.add(tracked)
        self.latest = tracked
        if self.best is None or tracked.metrics["loss"] <= self.best.metrics["loss"]:
            self.best = tracked
        for old in [one for one in self.clean_up if one is not tracked]:
            self.clean_up.remove(old)
            del self.folders[old.dir_or_data.rpartition("/")[2]]

    def by_iteration(self) -> None:
        """Rank by the iteration, as Ray does where no metric is named."""
        self.monitor, self.mode = "training_iteration", "max"
        for item in self.heap:
            tracked = item.tracked_checkpoint
            item.priority = (True, float(tracked.metrics["training_iteration"]), tracked.id)
        heapq.heapify(self.heap)

    def state(self) -> str:
        manager = _CheckpointManager(
            _checkpoint_strategy=CheckpointConfig(
                num_to_keep=self.keep,
                checkpoint_score_attribute=self.monitor,
                checkpoint_score_order=self.mode,
                checkpoint_frequency=0,
                checkpoint_at_end=False,
            ),
            _latest_checkpoint_id=self.counter,
            _top_persisted_checkpoints=self.heap,
            _best_persisted_checkpoint=self.best,
            _latest_persisted_checkpoint=self.latest,
            _latest_memory_checkpoint=_TrackedCheckpoint(
                dir_or_data=None, id=-1, storage_mode=CheckpointStorage.MEMORY, metrics={}
            ),
            _checkpoints_to_clean_up=self.clean_up,
        )
        with stand_ins():
            pickled = pickle.dumps(manager, 5).hex()
        document = {
            "trial_id": self.trial_id,
            "status": self.status,
            "relative_logdir": self.dirname,
            "_local_experiment_path": ROOT,
            "_orig_experiment_path": ROOT,
            "_remote_experiment_path": None,
            "restore_path": None,
            "_last_result": self.rows[-1] if self.rows else {},
            "checkpoint_manager": {"_type": "CLOUDPICKLE_FALLBACK", "value": pickled},
        }
        return json.dumps(document, indent=2)

    def write(self, experiment: Path) -> None:
        folder = experiment / self.dirname
        folder.mkdir(parents=True)
        lines = [json.dumps(row) + "\n" for row in self.rows]
        (folder / "result.json").write_text("".join(lines))
        for name, row in self.folders.items():
            write_checkpoint(folder / name, row)


def write_checkpoint(folder: Path, row: dict[str, Any]) -> None:
    folder.mkdir()
    (folder / ".is_checkpoint").touch()
    (folder / "model.bin").write_bytes(bytes([row["training_iteration"]]))
    note = {"iteration": row["training_iteration"], "last_result": row, "ray_version": "2.6.3"}
    (folder / ".tune_metadata").write_bytes(pickle.dumps(note, 5))


def write_experiment(experiment: Path, trials: Sequence[LegacyTrial]) -> Path:
    experiment.mkdir(parents=True, exist_ok=True)
    for trial in trials:
        trial.write(experiment)
    state = {"checkpoints": [trial.state() for trial in trials], "runner_data": {}, "stats": {}}
    (experiment / STATE).write_text(json.dumps(state, indent=2))
    return experiment


def manager_of(experiment: Path, position: int = 0) -> Any:
    """The books of a trial, as an unpickler makes them."""
    state = json.loads((experiment / STATE).read_text())
    pickled = json.loads(state["checkpoints"][position])["checkpoint_manager"]["value"]
    with stand_ins():
        return pickle.loads(bytes.fromhex(pickled))


def name_of(tracked: Any) -> str:
    return str(tracked.dir_or_data).rpartition("/")[2]


def listed(manager: Any) -> list[str]:
    return [name_of(item.tracked_checkpoint) for item in manager._top_persisted_checkpoints]


def read(experiment: Path) -> Experiment:
    (found,) = scan(str(experiment))
    return found


def reindex(
    experiment: Path, *, unsafe: bool = False, relocate: bool = False
) -> tuple[Plan, Outcome]:
    """Mend it, and hold that nothing is left to mend."""
    plan = plan_reindex(read(experiment), unsafe=unsafe, relocate=relocate)
    outcome = apply(plan)
    assert outcome.verified
    assert plan_reindex(read(experiment), unsafe=unsafe, relocate=relocate).steps == ()
    return plan, outcome
