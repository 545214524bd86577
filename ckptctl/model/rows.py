"""The rows of a result log, of which most are only asked for a name and an iteration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import overload

from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import Row


class Rows(Sequence[Row]):
    """Rows that are told column by column, and made when one is looked at."""

    @property
    def pairs(self) -> Iterator[tuple[int, str | None]]:
        """Line and name of each."""
        return zip(self.lines, self.names, strict=True)

    @property
    @abstractmethod
    def lines(self) -> Sequence[int]:
        """The line of each."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str | None]:
        """The name of a checkpoint in each."""

    @property
    @abstractmethod
    def iterations(self) -> Sequence[int | None]:
        """The training iteration of each."""

    @property
    @abstractmethod
    def keyed(self) -> bool:
        """Whether any has the key for a name, if only for none."""

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return tuple(self.at(place) for place in range(*index.indices(len(self))))
        return self.at(range(len(self))[index])

    @abstractmethod
    def at(self, place: int) -> Row:
        """The row at a place from 0, which is there."""

    def times(self, place: int) -> tuple[int | float | None, float | None]:
        """When the row at a place was reported, and how long its trial had run then."""
        row = self.at(place)
        return row.timestamp, row.time_total_s

    def metrics(self, place: int) -> Metrics:
        """The metrics of the row at a place."""
        return self.at(place).metrics

    def without(self, metric: str) -> Iterator[int]:
        """The places of the rows that have a name and metrics, but not this one."""
        for place, row in enumerate(self):
            if row.name and row.metrics and metric not in row.metrics:
                yield place

    def last_places(self, names: Collection[str]) -> dict[str, int]:
        """The place of the last row that has each of some names."""
        return {n: place for place, n in enumerate(self.names) if n is not None and n in names}

    def last_of_each(self) -> Sequence[int]:
        """The places of the rows that are the last to have their name, in order."""
        return sorted({n: place for place, n in enumerate(self.names) if n is not None}.values())

    def names_at(self, places: Sequence[int]) -> Sequence[str]:
        """The names of some rows that have one."""
        names = self.names
        return [names[place] or "" for place in places]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


class RowList(Rows):
    """Rows that are there already."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, place: int) -> Row:
        """The row at a place."""
        return self._rows[place]

    @cached_property
    def lines(self) -> Sequence[int]:
        """The line of each."""
        return [row.line for row in self._rows]

    @cached_property
    def names(self) -> Sequence[str | None]:
        """The name of a checkpoint in each."""
        return [row.name for row in self._rows]

    @cached_property
    def iterations(self) -> Sequence[int | None]:
        """The training iteration of each."""
        return [row.training_iteration for row in self._rows]

    @cached_property
    def keyed(self) -> bool:
        """Whether any has the key for a name."""
        return any(row.has_name for row in self._rows)


def columns(rows: Sequence[Row]) -> Rows:
    """Rows of any kind, told column by column."""
    return rows if isinstance(rows, Rows) else RowList(rows)
