"""What the rows of a result log tell: of which save each is, and what wrote them."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.layouts.tune_sources import Dialect, TrialSources
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import ESTIMATED, Row, TrainableKind
from ckptctl.model.metrics import real_number, whole_number
from ckptctl.model.names import NameKind, index_of, kind_of


class RowIndex:
    """Finds the row that tells of the same save as a record.

    Iterations repeat in population-based training and names repeat where an index was reset, so
    a save is known by iteration and time together; the name decides where those are not recorded.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._by_save: dict[tuple[object, ...], Row] = {}
        self._by_name: dict[str, Row] = {}
        self._by_iteration: dict[int | None, Row | None] = {None: None}
        for row in rows:
            self._by_save[(row.training_iteration, row.timestamp, row.time_total_s)] = row
            once = row.training_iteration not in self._by_iteration
            self._by_iteration[row.training_iteration] = row if once else None
            if row.name:
                self._by_name[row.name] = row

    def of(self, metrics: Metrics, name: str | None) -> Row | None:
        """The row of the save with these metrics, which went into the folder `name`."""
        iteration = whole_number(metrics.get("training_iteration"))
        total = real_number(metrics.get("time_total_s"))
        if iteration is not None and total is not None:
            key = (iteration, real_number(metrics.get("timestamp")), float(total))
            if key in self._by_save:
                return self._by_save[key]
        row = self._by_name.get(name or "")
        if row is not None and iteration in (None, row.training_iteration):
            return row
        return None if metrics.get(ESTIMATED) else self._by_iteration.get(iteration)


def kind_of_trainable(sources: TrialSources) -> TrainableKind | None:
    """What sort of trainable wrote the trial's checkpoints, as far as its files tell."""
    rows, state = sources.log.rows, sources.state
    config = state.retention if state else None
    if config is not None and (config.frequency or config.at_end):
        return TrainableKind.CLASS
    if sources.dialect is Dialect.LEGACY:
        return _legacy_kind(sources)
    if any(row.has_name for row in rows):
        return TrainableKind.FUNCTION
    if rows and (sources.folders or (state is not None and state.records)):
        return TrainableKind.CLASS
    return None


def _legacy_kind(sources: TrialSources) -> TrainableKind | None:
    """By the numbers that Ray gave: a function's folder has that of the iteration before.

    Ray 2.6 writes no names into the log, and ``should_checkpoint`` for functions alone; a trainer
    of Ray Train counts by itself, and is a function to Tune.
    """
    ahead = {
        note.iteration.value - index
        for name, note in sources.notes.items()
        if note.iteration is not None
        and kind_of(name) is NameKind.RAY_INDEX
        and (index := index_of(name)) is not None
    }
    if any(row.checkpointed for row in sources.log.rows) or ahead == {1}:
        return TrainableKind.FUNCTION
    return TrainableKind.CLASS if ahead == {0} else None
