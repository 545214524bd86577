"""A trial's chart as SVG. Shapes tell the saves apart, colour only helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ckptctl.report import words
from ckptctl.report.chart import Chart, Fate, Mark, span, thinned, ticks
from ckptctl.report.markup import EMPTY, Markup, el, joined

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 22, 34
_ROOM = 9
"""Between the ends of the curve and the edges."""

Scale = Callable[[float], float]


class Budget(Struct, frozen=True, kw_only=True):
    """How much one chart may draw, so that a page of many trials stays small."""

    curve: int = 240
    titled: int = 100
    """Marks with a name of their own to point at."""
    dots: int = 300

    @classmethod
    def of(cls, trials: int) -> Budget:
        """Share out what a page can hold."""
        many = max(trials, 1)
        return cls(
            curve=_between(40, 24_000 // many, 240),
            titled=_between(12, 8_000 // many, 100),
            dots=_between(40, 30_000 // many, 300),
        )


def _between(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))


def draw(chart: Chart, budget: Budget) -> Markup:
    """Draw one chart."""
    low, high = span([p[0] for p in chart.curve] + [m.x for m in chart.marks])
    x = _scale(low, high, _LEFT, WIDTH - _RIGHT)
    heights = [p[1] for p in chart.curve] + [m.y for m in chart.marks if m.y is not None]
    bottom, top = span(heights)
    y = _scale(bottom, top, HEIGHT - _BOTTOM - _ROOM, _TOP + _ROOM)
    return el(
        "svg",
        *_axes(chart, (low, high), (bottom, top), x, y),
        _curve(thinned(chart.curve, budget.curve), x, y),
        *_marks(chart.marks, x, y, budget),
        class_="chart",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=_spoken(chart),
    )


def _n(value: float) -> str:
    """A tenth of a unit is as fine as anybody can see."""
    return f"{round(value, 1):g}"


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    # Halves, so that the distance of the greatest floats is finite.
    whole = high / 2 - low / 2

    def scale(value: float) -> float:
        part = (value / 2 - low / 2) / whole if whole else 0.5
        return start + part * (end - start)

    return scale


def _axes(
    chart: Chart,
    wide: tuple[float, float],
    tall: tuple[float, float],
    x: Scale,
    y: Scale,
) -> Iterator[Markup]:
    base = HEIGHT - _BOTTOM
    for value in ticks(*tall, 4):
        at = y(value)
        yield el("path", class_="grid", d=f"M{_LEFT} {_n(at)}H{WIDTH - _RIGHT}")
        yield el("text", words.value(value), class_="end", x=_LEFT - 8, y=_n(at + 4))
    whole = [v for v in ticks(*wide, 8) if v == int(v)]
    for value in whole or [wide[0]]:
        yield el("text", f"{value:g}", class_="mid", x=_n(x(value)), y=base + 16)
    yield el("path", class_="axis", d=f"M{_LEFT} {base}H{WIDTH - _RIGHT}")
    sign = {"min": " ↓", "max": " ↑"}.get(chart.mode or "", "")
    yield el("text", f"{chart.metric}{sign}", class_="name", x=_LEFT, y=12)
    yield el("text", chart.by, class_="end", x=WIDTH - _RIGHT, y=HEIGHT - 4)


def _curve(points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> Markup:
    path, pen = [], "M"
    for px, py in points:
        if math.isfinite(py):
            path.append(f"{pen}{_n(x(px))} {_n(y(py))}")
            pen = "L"
        else:
            pen = "M"
    return el("path", class_="curve", d="".join(path)) if path else EMPTY


def _marks(marks: Sequence[Mark], x: Scale, y: Scale, budget: Budget) -> Iterator[Markup]:
    evicted = [m for m in marks if m.fate is Fate.EVICTED]
    others = [m for m in marks if m.fate is not Fate.EVICTED]
    yield _dots(evicted, x, y, budget, "evicted")
    # The best and the latest are drawn whatever else is left out.
    ordered = sorted(others, key=lambda m: not (m.best or m.latest))
    yield _dots(ordered[budget.titled :], x, y, budget, "many")
    named = sorted(ordered[: budget.titled], key=lambda m: m.x)
    for mark in named:
        yield _mark(mark, x(mark.x), HEIGHT - _BOTTOM if mark.y is None else y(mark.y))


def _dots(marks: Sequence[Mark], x: Scale, y: Scale, budget: Budget, kind: str) -> Markup:
    """Draw marks without names: lines of no length, which round caps make dots."""
    points = thinned([(m.x, m.y) for m in marks if m.y is not None], budget.dots)
    if not points:
        return EMPTY
    return el("path", class_=kind, d="".join(f"M{_n(x(px))} {_n(y(py))}h0" for px, py in points))


def _mark(mark: Mark, x: float, y: float) -> Markup:
    told = [word for word, on in (("best", mark.best), ("latest", mark.latest)) if on]
    value = "no value" if mark.y is None else words.value(mark.y)
    title = el("title", f"{mark.name}: {value}, {', '.join([mark.fate, *told])}")
    shapes = [_shape(mark, x, y)]
    if mark.latest:
        shapes.append(el("circle", class_="latest", cx=_n(x), cy=_n(y), r=8))
    if mark.best:
        shapes.append(el("path", class_="best", d=star(x, y - 13)))
    return el("g", title, *shapes)


def _shape(mark: Mark, x: float, y: float) -> Markup:
    match mark.fate:
        case Fate.MISSING:
            d = f"M{_n(x - 4)} {_n(y - 4)}l8 8m0-8l-8 8"
            return el("path", class_="missing", d=d)
        case Fate.BROKEN:
            return el("rect", class_="broken", x=_n(x - 4), y=_n(y - 4), width=8, height=8)
        case _ if mark.y is None:
            return el("path", class_="kept", d=f"M{_n(x - 4)} {_n(y)}h8l-4-7z")
        case _:
            return el("circle", class_="kept", cx=_n(x), cy=_n(y), r=4)


def star(x: float, y: float) -> str:
    """Draw a small star around a point."""
    points = []
    for i in range(10):
        radius, angle = (5.5, 2.3)[i % 2], math.pi * i / 5 - math.pi / 2
        points.append(f"{x + radius * math.cos(angle):.1f} {y + radius * math.sin(angle):.1f}")
    return f"M{'L'.join(points)}z"


def _spoken(chart: Chart) -> str:
    counts = [(f, sum(m.fate is f for m in chart.marks)) for f in Fate]
    told = ", ".join(f"{number} {fate}" for fate, number in counts if number)
    return f"{chart.metric} by {chart.by}: {told or 'no saves'}"


def legend() -> Markup:
    """Explain the signs of all charts."""
    signs = (
        (el("circle", class_="kept", cx=8, cy=8, r=4), "kept"),
        (el("path", class_="evicted", d="M8 8h0"), "evicted by retention"),
        (el("path", class_="missing", d="M4 4l8 8m0-8l-8 8"), "recorded, but missing"),
        (el("rect", class_="broken", x=4, y=4, width=8, height=8), "not complete"),
        (el("path", class_="best", d=star(8, 8)), "best"),
        (el("circle", class_="latest", cx=8, cy=8, r=6.5), "latest"),
    )
    return el(
        "p",
        joined(
            el("span", el("svg", sign, viewBox="0 0 16 16", aria_hidden="true"), text)
            for sign, text in signs
        ),
        class_="legend",
    )
