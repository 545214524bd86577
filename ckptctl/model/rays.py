"""What each Ray and pyarrow has: the table ``rays.json``, and how to ask it.

The table is made by ``tests/judge/ray_table.py``, which asks installed Rays in their own
interpreters and reads what they write; nothing of it is written by hand. A later Ray is a row more.

A version that the table has not got is answered from its neighbours, and only where these agree:
``2.54.0`` counts as the ``2.54.1`` of the table, ``2.50`` lies between 2.48.0 and 2.54.1. Below the
first row and above the last nothing is known, and nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from ckptctl.errors import UsageError

Version = tuple[int, ...]

_VERSION = re.compile(r"(\d{1,6}(?:\.\d{1,6})*)(?:\.?(?:a|b|rc|dev|post)\d*)?", re.ASCII)
_WRITES, _LACKS = "w", "."


class Default(Struct, frozen=True):
    """What a field begins with, where that is a plain value."""

    known: bool
    value: object = None


class Call(Struct, frozen=True):
    """What a pickle calls to make a filesystem, with arguments as JSON has them."""

    name: str
    args: tuple[object, ...]


class PyarrowRow(Struct, frozen=True, kw_only=True):
    """One release of pyarrow."""

    version: str
    local: tuple[Call, ...]
    """How it makes the filesystem of a disk: plain, and with memory maps."""
    takes: Mapping[str, frozenset[str]]
    """The keywords that a remote filesystem is made with, by what is called."""
    column: int

    def lacks(self, name: str) -> bool:
        """Whether it is known to have no such name (``module:qualname``)."""
        return _marks("pyarrow_names").get(name, "")[self.column : self.column + 1] == _LACKS

    @property
    def names(self) -> frozenset[str]:
        """All that it has."""
        marks = _marks("pyarrow_names").items()
        return frozenset(name for name, marked in marks if marked[self.column] != _LACKS)


class RayRow(Struct, frozen=True, kw_only=True):
    """One release of Ray."""

    version: str
    pyarrow: str
    """The pyarrow of its time."""
    stored: frozenset[str]
    """The names in the experiments that it made for the table."""
    counts_next: bool
    """The recorded counter is the next index (Ray 2.7), not the last one used."""
    fields: Mapping[str, Mapping[str, Default]]
    """What it reads of objects of a class that some other Ray does not write, by class."""
    runner: Mapping[str, Default]
    """The keys that the state of a run cannot do without."""
    trial: Mapping[str, Default]
    """The keys of a trial that only some Rays write."""
    snapshot: Mapping[str, Default] | None
    """The fields of a snapshot of Train V2; those without a default it cannot be loaded
    without. None where there is no Train V2."""
    column: int

    def lacks(self, name: str) -> bool:
        """Whether it is known to have no such name (``module:qualname``)."""
        return _marks("ray_names").get(name, "")[self.column : self.column + 1] == _LACKS

    def moved(self, name: str) -> str | None:
        """The one name under which it writes what another Ray wrote as `name`."""
        called = name.partition(":")[2]
        found = [
            other
            for other in _by_qualname().get(called, ())
            if _marks("ray_names")[other][self.column] == _WRITES
        ]
        # Of several classes with one name, that which state files hold.
        found = [other for other in found if other in self.stored] or found
        return found[0] if len(found) == 1 else None


Row = TypeVar("Row", RayRow, PyarrowRow)


def parse_version(text: str) -> Version:
    """The numbers of a version, ``2.54.1`` or ``2.54``.

    Raises:
        UsageError: it is no version.
    """
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"not a version: {text}", hint="give numbers, such as 2.54 or 2.54.1")
    return tuple(map(int, found[1].split(".")))


def known_name(name: str) -> bool:
    """Whether any Ray of the table writes this name."""
    return name in _marks("ray_names")


def rays() -> tuple[RayRow, ...]:
    """All rows, oldest first."""
    return _rays()


def pyarrows() -> tuple[PyarrowRow, ...]:
    """All rows, oldest first."""
    return _pyarrows()


def ray_rows(text: str) -> tuple[RayRow, ...]:
    """The row of a version; of a version between two rows both.

    Raises:
        UsageError: it is no version, or lies outside the table.
    """
    return _around(text, _rays(), "Ray", 2)


def pyarrow_rows(text: str) -> tuple[PyarrowRow, ...]:
    """The row of a version; of a version between two rows both.

    Raises:
        UsageError: it is no version, or lies outside the table.
    """
    return _around(text, _pyarrows(), "pyarrow", 1)


def known(rows: Sequence[RayRow | PyarrowRow]) -> str:
    """The versions of the table, for people."""
    versions = [row.version for row in rows]
    return f"{', '.join(versions[:-1])} and {versions[-1]}"


def _around(text: str, rows: tuple[Row, ...], what: str, line: int) -> tuple[Row, ...]:
    """`line` is how many numbers a release line has: its patches are taken to be alike."""
    version = parse_version(text)
    if len(version) < line:
        raise UsageError(f"which {what} {text.strip()}?", hint=f"known are {known(rows)}")
    numbers = [parse_version(row.version) for row in rows]
    for row, other in zip(rows, numbers, strict=True):
        if other[:line] == version[:line]:
            return (row,)
    below = [row for row, other in zip(rows, numbers, strict=True) if other < version]
    above = [row for row, other in zip(rows, numbers, strict=True) if other > version]
    if not below or not above:
        raise UsageError(
            f"nothing is known of {what} {text.strip()}",
            hint=f"known are {known(rows)}, and what lies between two that agree",
        )
    return (below[-1], above[0])


@cache
def _table() -> Mapping[str, Any]:
    # Only who asks about another Ray pays for it.
    from importlib.resources import files

    table: Mapping[str, Any] = json.loads(files("ckptctl.model").joinpath("rays.json").read_bytes())
    return table


@cache
def _marks(part: str) -> Mapping[str, str]:
    """By name one mark a row: `w` writes it, `h` has it, `.` has it not."""
    return {
        f"{module}:{called}": marks
        for module, groups in _table()[part].items()
        for marks, names in groups.items()
        for called in names
    }


@cache
def _by_qualname() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in _marks("ray_names"):
        called = name.partition(":")[2]
        found[called] = (*found.get(called, ()), name)
    return found


@cache
def _rays() -> tuple[RayRow, ...]:
    return tuple(
        RayRow(
            version=row["version"],
            pyarrow=row["pyarrow"],
            stored=frozenset(row["stored"]),
            counts_next=row["counter"] == "next",
            fields={name: _defaults(held) for name, held in row["fields"].items()},
            runner=_defaults(row["runner"]),
            trial=_defaults(row["trial"]),
            snapshot=None if row["snapshot"] is None else _defaults(row["snapshot"]),
            column=column,
        )
        for column, row in enumerate(_table()["rays"])
    )


@cache
def _pyarrows() -> tuple[PyarrowRow, ...]:
    return tuple(
        PyarrowRow(
            version=row["version"],
            local=tuple(Call(form["call"], tuple(form["args"])) for form in row["local"]),
            takes={call: frozenset(keys) for call, keys in row["takes"].items()},
            column=column,
        )
        for column, row in enumerate(_table()["pyarrows"])
    )


def _defaults(held: Mapping[str, Mapping[str, object]]) -> dict[str, Default]:
    return {
        name: Default(known="default" in how, value=how.get("default"))
        for name, how in held.items()
    }
