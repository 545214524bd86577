"""Findings as blocks: what, where, who says what, and the line to paste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.report.lines import BLANK, Line, Page, Span, Style, aligned, length, line, wrap
from ckptctl.report.places import place

_BLOCKS = 12
_MESSAGES = 3
_NAMES = 3
_EVIDENCE = 6

STYLES = {
    Severity.ERROR: Style.ERROR,
    Severity.WARNING: Style.WARNING,
    Severity.INFO: Style.INFO,
}

Group = tuple[Finding, ...]


def render(findings: Sequence[Finding], names: Mapping[str, str], page: Page) -> list[Line]:
    """Show one experiment's findings, the worst first; infos take one line each."""
    groups = _groups(findings)
    full = [g for g in groups if page.verbose or g[0].severity is not Severity.INFO]
    blocks = full[:_BLOCKS] if page.brief else full
    lines: list[Line] = []
    for group in blocks:
        lines += [BLANK, *_block(group, names, page)]
    if left := len(full) - len(blocks):
        rest = f"{page.marks.dots} {left} more of these; -v lists all"
        lines += [BLANK, line(Span(rest, Style.DIM))]
    infos = [] if page.verbose else [f for f in findings if f.severity is Severity.INFO]
    return lines + _infos(infos, names, page)


def _groups(findings: Iterable[Finding]) -> list[Group]:
    """Findings of one kind in one trial are one block."""

    def key(finding: Finding) -> tuple[int, str, str, str]:
        return (finding.severity.rank, finding.trial or "", finding.code, finding.rule)

    return [tuple(group) for _, group in groupby(sorted(findings, key=key), key)]


def _block(group: Group, names: Mapping[str, str], page: Page) -> list[Line]:
    first = group[0]
    title = [Span(f"{first.severity} {first.code} {first.rule}", STYLES[first.severity])]
    title += [Span(f"   {names.get(first.trial, first.trial)}")] if first.trial else []
    lines = _headed(tuple(title), _concerned(group, page), page)
    told = group[:_MESSAGES] if page.brief else group
    for finding in told:
        lines += wrap(finding.message, page, indent=2)
        lines += _evidence(finding, names, page)
    if left := group[len(told) :]:
        rest = ", ".join(f.checkpoint for f in left if f.checkpoint)
        lines += wrap(f"the same for {rest or f'{len(left)} more'}", page, indent=2)
    return lines + _help(group, page)


def _headed(title: Line, concerned: str, page: Page) -> list[Line]:
    """Put the checkpoints beside the title, or below it where there is no room."""
    row = (*title, Span(f"   {concerned}" if concerned else ""))
    if page.width is None or length(row) <= page.width:
        return [row]
    return [title, *wrap(concerned, page, indent=4)]


def _concerned(group: Group, page: Page) -> str:
    each = (f.checkpoints or ((f.checkpoint,) if f.checkpoint else ()) for f in group)
    names = list(dict.fromkeys(name for own in each for name in own))
    told = names[:_NAMES] if page.brief else names
    rest = f" and {len(names) - len(told)} more" if len(names) > len(told) else ""
    return ", ".join(told) + rest


def _evidence(finding: Finding, names: Mapping[str, str], page: Page) -> list[Line]:
    told = finding.evidence[:_EVIDENCE] if page.brief else finding.evidence
    claims = [(Span(e.witness, Style.DIM), Span(e.claim)) for e in told]
    places = [place(_near(e.file, finding.trial, names, page), e.pointer, page) for e in told]
    rows = [(*c, Span(p, Style.DIM)) for c, p in zip(claims, places, strict=True)]
    lines = aligned(rows, page, indent=4)
    if page.width is not None and any(length(row) > page.width for row in lines):
        lines = [
            part
            for claim, where in zip(aligned(claims, page, indent=4), places, strict=True)
            for part in (claim, *wrap(where, page, indent=6, style=Style.DIM))
        ]
    if left := len(finding.evidence) - len(told):
        lines.append(
            line(Span(f"{page.marks.dots} {left} more; -v lists all", Style.DIM), indent=4)
        )
    return lines


def _near(file: str, trial: str | None, names: Mapping[str, str], page: Page) -> str:
    """At a terminal, cut the trial's folder behind the id that the title names."""
    head, slash, rest = file.partition("/")
    label = names.get(trial or "", "")
    if not page.brief or head != trial or not slash or label not in head or label == head:
        return file
    return f"{head[: head.index(label) + len(label)]}{page.marks.dots}/{rest}"


def _help(group: Group, page: Page) -> list[Line]:
    """One line for each way to mend it; mostly that is one line."""
    lines: list[Line] = []
    remedies = dict.fromkeys(f.remedy for f in group if f.remedy)
    for remedy in remedies:
        if remedy.command:
            lines.append(line(Span("help: ", Style.STRONG), remedy.command, indent=2))
            lines += wrap(remedy.note, page, indent=8) if remedy.note else []
        elif remedy.note:
            lines += wrap(f"help: {remedy.note}", page, indent=2)
    return lines


def _infos(infos: Sequence[Finding], names: Mapping[str, str], page: Page) -> list[Line]:
    lines: list[Line] = []
    for code, group in groupby(sorted(infos, key=lambda f: f.code), lambda f: f.code):
        first, *more = group
        where = f"{names.get(first.trial, first.trial)}: " if first.trial else ""
        text = f"info {code} {first.rule}: {where}{first.message}"
        text += f" (and {len(more)} more)" if more else ""
        lines += wrap(text, page, indent=0, style=Style.INFO)
    return [BLANK, *lines] if lines else []


def of(experiment: Experiment, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Choose the findings of one experiment."""
    return tuple(f for f in findings if f.experiment == experiment.location)
