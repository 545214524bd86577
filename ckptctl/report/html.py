"""A scan as one page that needs nothing else: no script, no request, readable for years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ckptctl._version import __version__
from ckptctl.model.experiment import Best, Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.report import findings as blocks
from ckptctl.report import html_findings, html_trials, overview, words
from ckptctl.report.closing import closing
from ckptctl.report.html_style import STYLE
from ckptctl.report.html_trials import Limits
from ckptctl.report.markup import EMPTY, Markup, el, escaped, joined
from ckptctl.report.overview import Overview

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule

# Even if a name slipped through, nothing could be run or fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_SHORT = 26
_CALM = 40
"""Trials without findings that the table shows before the rest is folded."""


def scan(
    experiments: Sequence[Experiment], findings: Sequence[Finding], rules: Sequence[Rule]
) -> str:
    """Write the whole page; `rules` explain the findings."""
    title = experiments[0].name if len(experiments) == 1 else "ckptctl scan"
    limits = Limits.of(sum(len(e.trials) for e in experiments))
    sections = []
    for number, experiment in enumerate(experiments, 1):
        own = overview.worst_first(blocks.of(experiment, findings))
        sections.append(_experiment(number, experiment, own, rules, limits))
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="generator", content=f"ckptctl {__version__}"),
        el("title", f"{title}: {overview.verdict(findings)}"),
        el("style", Markup(STYLE)),
    )
    sentence = closing(experiments, findings)
    top = el(
        "header", el("h1", "ckptctl scan"), sentence and el("p", sentence), _index(experiments)
    )
    end = el("footer", el("p", f"ckptctl {__version__}"))
    body = el("body", top, el("main", *sections), end)
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _index(experiments: Sequence[Experiment]) -> Markup:
    if len(experiments) < 2:
        return EMPTY
    links = (el("a", e.location, href=f"#e{n}") for n, e in enumerate(experiments, 1))
    return el("p", joined(links, ", "))


def _experiment(
    number: int,
    experiment: Experiment,
    findings: Sequence[Finding],
    rules: Sequence[Rule],
    limits: Limits,
) -> Markup:
    rows = overview.overviews(experiment, findings)
    detailed = html_trials.chosen(rows, limits)
    anchors: dict[str, str] = {
        row.trial.dirname: f"e{number}t{n}" for n, row in enumerate(detailed, 1)
    }
    parts = [_title(experiment, findings), _about(experiment)]
    if rows:
        parts += [
            el("h3", "Trials, and what each witness believes"),
            _table(experiment, rows, anchors),
        ]
    if findings:
        labels = overview.labels(experiment)
        parts += [
            el("h3", "Findings"),
            html_findings.cards(findings, rules, labels, anchors),
        ]
    parts += html_trials.details(experiment, detailed, anchors, limits)
    return el("section", *parts, class_="experiment", id=f"e{number}")


def _title(experiment: Experiment, findings: Sequence[Finding]) -> Markup:
    worst = min((f.severity for f in findings), key=lambda s: s.rank, default=None)
    style = "fine" if worst in (None, Severity.INFO) else str(worst)
    verdict = el("span", overview.verdict(findings), class_=f"verdict {style}")
    title = el("div", el("h2", experiment.name), verdict, class_="title")
    return joined([title, el("p", " · ".join(overview.facts(experiment)), class_="facts")])


def _about(experiment: Experiment) -> Markup:
    facts = (
        ("location", experiment.location),
        ("state file", experiment.state_file),
        ("recorded root", experiment.recorded_root),
        ("interrupted apply", experiment.pending),
    )
    told = [part for name, fact in facts if fact for part in _fact(name, fact)]
    return el("dl", *told, class_="about")


def _fact(name: str, fact: str) -> tuple[Markup, Markup]:
    return el("dt", name), el("dd", fact, class_="code")


def _table(experiment: Experiment, rows: Sequence[Overview], anchors: Mapping[str, str]) -> Markup:
    """Show trials in trouble first, and fold what is many and calm."""
    troubled = [r for r in rows if r.worst not in (None, Severity.INFO)]
    calm = [r for r in rows if r.worst in (None, Severity.INFO)]
    if len(calm) <= _CALM:
        return _rows(experiment, rows, anchors)
    first = troubled or calm[:_CALM]
    rest = calm if troubled else calm[_CALM:]
    text = f"{words.count(len(rest), 'more trial')} without errors or warnings"
    more = el("details", el("summary", text), _rows(experiment, rest, anchors), class_="more")
    return joined([_rows(experiment, first, anchors), more])


def _rows(experiment: Experiment, rows: Sequence[Overview], anchors: Mapping[str, str]) -> Markup:
    ranked = next((_ranking(row.best) for row in rows if row.best), None)
    columns = _columns(experiment, ranked)
    head = el(
        "tr",
        *(
            el("th", name, class_="number" if style == "number" else None)
            for name, style in columns
        ),
    )
    body = []
    for row in rows:
        cells = zip(columns, _cells(row, anchors, ranked), strict=True)
        body.append(el("tr", *(_cell(name, text, style) for (name, style), text in cells)))
    table = el("table", el("thead", head), el("tbody", *body), class_="stack")
    return el("div", table, class_="scroll")


def _columns(experiment: Experiment, ranked: str | None) -> list[tuple[str, str]]:
    """Name each column, and say how its cells look."""
    columns = [("trial", "code"), ("status", ""), ("folders", "number"), ("last", "number")]
    columns += [(f"{witness} says", "number") for witness in overview.speakers(experiment.trials)]
    columns += [("latest", "code")]
    columns += [("best", "code"), (ranked, "number")] if ranked else []
    return [*columns, ("", "note")]


def _cell(name: str, text: str, style: str) -> Markup:
    behind = " behind" if text.endswith("◂") else ""
    return el("td", text, class_=(style + behind) or None, data_n=name or None)


def _cells(row: Overview, anchors: Mapping[str, str], ranked: str | None) -> Iterator[str]:
    anchor, label = anchors.get(row.trial.dirname), _kept(row.label)
    yield el("a", label, href=f"#{anchor}") if anchor else label
    yield row.status
    yield str(row.folders)
    yield "" if row.last is None else str(row.last)
    for belief in row.beliefs:
        text = "" if belief.index is None else str(belief.index)
        yield f"{text} ◂" if belief.behind else text
    yield _kept(row.latest)
    if ranked:
        yield _kept(row.best.name) if row.best else ""
        yield _value(row.best, ranked) if row.best else ""
    yield ", ".join(row.notes)


def _kept(name: str) -> Markup:
    """Keep a name of common length on one line."""
    return el("span", name, class_="whole") if len(name) <= _SHORT else escaped(name)


def _ranking(best: Best) -> str:
    return f"{best.metric} {'↓' if best.mode == 'min' else '↑'}"


def _value(best: Best, ranked: str) -> str:
    value, own = words.value(best.value), _ranking(best)
    return value if own == ranked else f"{value} ({own})"
