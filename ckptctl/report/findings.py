"""Findings as blocks: what, where, who says what, and the line to paste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.report.lines import BLANK, Line, Page, Span, Style, aligned, line, wrap
from ckptctl.report.places import place

_BLOCKS = 12
_MESSAGES = 3
_NAMES = 3

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
    lines: list[Line] = [line(*title, *_concerned(group, page))]
    told = group[:_MESSAGES] if page.brief else group
    for finding in told:
        lines += wrap(finding.message, page, indent=2)
        lines += _evidence(finding.evidence, page)
    if left := group[len(told) :]:
        rest = ", ".join(f.checkpoint for f in left if f.checkpoint)
        lines += wrap(f"the same for {rest or f'{len(left)} more'}", page, indent=2)
    return lines + _help(group, page)


def _concerned(group: Group, page: Page) -> list[Span]:
    each = (f.checkpoints or ((f.checkpoint,) if f.checkpoint else ()) for f in group)
    names = list(dict.fromkeys(name for own in each for name in own))
    told = names[:_NAMES] if page.brief else names
    rest = f" and {len(names) - len(told)} more" if len(names) > len(told) else ""
    return [Span(f"   {', '.join(told)}{rest}")] if told else []


def _evidence(evidence: Sequence[Evidence], page: Page) -> list[Line]:
    rows = [
        (Span(e.witness, Style.DIM), Span(e.claim), Span(place(e.file, e.pointer, page), Style.DIM))
        for e in evidence
    ]
    return aligned(rows, page, indent=4)


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
