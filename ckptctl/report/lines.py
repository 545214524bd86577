"""Lines of styled text, and how they are laid out on a page of some width.

Renderers build lines once; `plain` joins them for a pipe and `text` colours them for a terminal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import force_setattr

from ckptctl.report.escape import shown


class Style(StrEnum):
    """What a span means; colour carries severity and nothing else."""

    PLAIN = "plain"
    STRONG = "strong"
    DIM = "dim"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Span(Struct, frozen=True):
    """A piece of a line. Its text is escaped when it is made, so nothing slips through."""

    text: str
    style: Style = Style.PLAIN

    def __post_init__(self) -> None:
        force_setattr(self, "text", shown(self.text))


Line = tuple[Span, ...]
BLANK: Line = ()


class Marks(Struct, frozen=True, kw_only=True):
    """The signs that text uses, which not every terminal can show."""

    dots: str = "…"
    arrow: str = "→"
    behind: str = "◂"
    step: str = "›"
    dot: str = " · "
    lowest: str = "↓"
    highest: str = "↑"
    none: str = "–"
    bars: str = "▁▂▃▄▅▆▇█"
    """From the lowest to the highest; empty where no such signs can be shown."""

    def spelled(self, text: str) -> str:
        """Write a sentence of a plan with these signs; an arrow inside a name has no spaces."""
        return text.replace(" → ", f" {self.arrow} ")


ASCII_MARKS = Marks(
    dots="..",
    arrow="->",
    behind="<",
    step=">",
    dot=", ",
    lowest="min",
    highest="max",
    none="-",
    bars="",
)


class Page(Struct, frozen=True, kw_only=True):
    """Where lines are going to be read."""

    width: int | None = None
    """Columns of the terminal; None for a pipe or a file, where nothing wraps or is left out."""
    marks: Marks = field(default_factory=Marks)
    verbose: int = 0
    now: float | None = None
    """The time that relative times count from; None for absolute times."""

    @property
    def brief(self) -> bool:
        """Whether long lists are cut to what a person can take in, with a word on the rest."""
        return self.width is not None and self.verbose == 0


def line(*parts: Span | str, indent: int = 0) -> Line:
    """Make a line of spans and plain text."""
    spans = tuple(Span(p) if isinstance(p, str) else p for p in parts)
    return (Span(" " * indent), *spans) if indent else spans


def columns(text: str) -> int:
    """Count the columns that `text` takes at a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(c) for c in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def length(spans: Iterable[Span]) -> int:
    """Count the columns that a line takes."""
    return sum(columns(s.text) for s in spans)


def wrap(text: str, page: Page, *, indent: int, style: Style = Style.PLAIN) -> list[Line]:
    """Break a sentence between words; a word that is longer than the page stays whole."""
    if page.width is None:
        return [line(Span(text, style), indent=indent)]
    room = max(min(page.width, 100) - indent, 20)
    rows: list[str] = []
    for word in text.split(" "):
        if rows and columns(rows[-1]) + 1 + columns(shown(word)) <= room:
            rows[-1] += f" {word}"
        else:
            rows.append(word)
    return [line(Span(row, style), indent=indent) for row in rows]


def table(
    header: Sequence[str], rows: Sequence[Sequence[Span]], page: Page, *, indent: int = 2
) -> list[Line]:
    """Align columns under a header; on a page that is too narrow, stack each row instead."""
    head = [Span(h, Style.DIM) for h in header]
    widths = _widths([head, *rows])
    if not _has_room(widths, page, indent):
        return _stacked(header, rows, indent)
    titled = [head] if any(header) else []
    return [_aligned(row, widths, indent) for row in [*titled, *rows]]


def fits(
    header: Sequence[str], rows: Sequence[Sequence[Span]], page: Page, *, indent: int = 2
) -> bool:
    """Whether a table has room beside itself, and no row has to be stacked."""
    return _has_room(_widths([[Span(h) for h in header], *rows]), page, indent)


def _widths(rows: Sequence[Sequence[Span]]) -> list[int]:
    return [max(length((cell,)) for cell in column) for column in zip(*rows, strict=True)]


def _has_room(widths: Sequence[int], page: Page, indent: int) -> bool:
    return page.width is None or indent + sum(widths) + 2 * (len(widths) - 1) <= page.width


def aligned(rows: Sequence[Sequence[Span]], page: Page, *, indent: int) -> list[Line]:
    """Align columns without a header; on a page that is too narrow, one space has to do."""
    if not rows:
        return []
    widths = _widths(rows)
    if not _has_room(widths, page, indent):
        widths = [0] * len(widths)
    return [_aligned(row, widths, indent) for row in rows]


def _aligned(row: Sequence[Span], widths: Sequence[int], indent: int) -> Line:
    spans: list[Span] = [Span(" " * indent)] if indent else []
    last = max((i for i, cell in enumerate(row) if cell.text), default=-1)
    for i, cell in enumerate(row[: last + 1]):
        spans.append(cell)
        if i < last:
            spans.append(Span(" " * (max(widths[i] - length((cell,)), 0) + 2)))
    return tuple(spans)


def _stacked(header: Sequence[str], rows: Sequence[Sequence[Span]], indent: int) -> list[Line]:
    lines: list[Line] = []
    names = max((columns(h) for h in header[1:]), default=0)
    for row in rows:
        lines.append(line(row[0], indent=indent))
        for name, cell in zip(header[1:], row[1:], strict=True):
            if cell.text:
                title = Span(name + " " * (names - columns(name)) + "  ", Style.DIM)
                lines.append(line(title, cell, indent=indent + 2))
    return lines


def spread(left: Line, right: Line, page: Page) -> list[Line]:
    """Put the verdict at the right edge, or below where there is no room beside."""
    if not right:
        return [left]
    if page.width is None:
        return [(*left, Span("   "), *right)]
    gap = min(page.width, 100) - length(left) - length(right)
    if gap < 2:
        return [left, line(*right, indent=2)]
    return [(*left, Span(" " * gap), *right)]
