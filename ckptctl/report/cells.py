r"""Tables for programs: columns with stable names, and one way to write a cell.

A text is written so that a row stays one line and a spreadsheet takes no name for a formula: a
backslash is ``\\``, and what a terminal would act on or hide is ``\t``, ``\n``, ``\r``, ``\xNN``,
``\uNNNN`` or ``\UNNNNNNNN``, as is a character that would begin a formula. Numbers are bare, truth
is ``true`` or ``false``, what is not known is empty, and lists are separated by single spaces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from msgspec import Struct

from ckptctl.report.escape import shown

Cell = str | int | float | bool | None

# The wide forms are formulas too, in spreadsheets set to Chinese, Japanese or Korean. A semicolon
# begins a cell where the decimal sign is a comma, whatever quotes stand around it.
_FORMULA = re.compile("(^|;[\"' ]*)([=+\\-@\uff1d\uff0b\uff0d\uff20])")


class Table(Struct, frozen=True, kw_only=True):
    """Rows under named columns; later versions add columns at the right end only."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def written(cell: Cell) -> str:
    """Write one cell, without any quoting that a format adds."""
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float() if not math.isfinite(cell):
            return "nan" if math.isnan(cell) else "inf" if cell > 0 else "-inf"
        case int() | float():
            return repr(cell)
        case _:
            return _text(cell)


def _text(text: str) -> str:
    return _FORMULA.sub(_spelled, shown(text.replace("\\", "\\\\")))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[2])
    return match[1] + (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")


def listed(items: Iterable[str]) -> str:
    """Join names that hold no spaces: codes, witnesses."""
    return " ".join(items)
