"""What the rows of a result log tell: of which save each is, and what wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ckptctl.layouts.tune_sources import Dialect, TrialSources
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import ESTIMATED, Row, TrainableKind
from ckptctl.model.metrics import real_number, whole_number
from ckptctl.model.names import NameKind, index_of, kind_of
from ckptctl.model.rows import Rows


class RowIndex:
    """Finds the row that tells of the same save as a record.

    Iterations repeat in population-based training and names repeat where an index was reset, so
    a save is known by iteration and time together; the name decides where those are not recorded.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @cached_property
    def _once(self) -> Mapping[int | None, int]:
        """Where each iteration stands, where none stands twice; else empty."""
        told = self._rows.iterations
        found = dict(zip(told, range(len(told)), strict=True))
        return found if len(found) == len(told) else {}

    def _places(self, iteration: int) -> Sequence[int]:
        """Where an iteration stands."""
        if self._once:
            place = self._once.get(iteration)
            return () if place is None else (place,)
        return [place for place, told in enumerate(self._rows.iterations) if told == iteration]

    def of(self, metrics: Metrics, name: str | None) -> Row | None:
        """The row of the save with these metrics, which went into the folder `name`."""
        rows = self._rows
        iteration = whole_number(metrics.get("training_iteration"))
        places = self._places(iteration) if iteration is not None else ()
        total = real_number(metrics.get("time_total_s"))
        if total is not None:
            save = real_number(metrics.get("timestamp")), float(total)
            for place in reversed(places):
                if rows.times(place) == save:
                    return rows[place]
        named = rows.last_places((name,)).get(name) if name else None
        if named is not None and iteration in (None, rows.iterations[named]):
            return rows[named]
        if metrics.get(ESTIMATED) or len(places) != 1:
            return None
        return rows[places[0]]


def kind_of_trainable(sources: TrialSources) -> TrainableKind | None:
    """What sort of trainable wrote the trial's checkpoints, as far as its files tell."""
    rows, state = sources.log.rows, sources.state
    config = state.retention if state else None
    if config is not None and (config.frequency or config.at_end):
        return TrainableKind.CLASS
    if sources.dialect is Dialect.LEGACY:
        return _legacy_kind(sources)
    if rows.keyed:
        return TrainableKind.CLASS if _is_named_ahead(rows) else TrainableKind.FUNCTION
    if rows and (sources.folders or (state is not None and state.records)):
        return TrainableKind.CLASS
    return None


def _is_named_ahead(rows: Rows) -> bool:
    """Whether rows have names that no function reported: ckptctl gave them to a class trainable.

    A function's row has ``should_checkpoint`` beside its name (Ray 2.7 to 2.60), that of a class
    trainable only where it asks for a save by itself, which is seldom all: Ray saves at the end.
    """
    names = rows.names
    last = next((place for place in reversed(range(len(names))) if names[place] is not None), None)
    return last is not None and not rows[last].checkpointed


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
