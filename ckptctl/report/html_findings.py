"""The findings on the page: one card for each rule, each finding with its evidence and remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ckptctl.model.finding import Evidence, Finding, Remedy
from ckptctl.report import words
from ckptctl.report.lines import Page
from ckptctl.report.markup import EMPTY, Markup, el, joined
from ckptctl.report.places import place

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule

_PAGE = Page()
_OPEN = 5
"""Findings of one rule that are shown without asking."""
_WHOLE = 100
"""Findings of one rule that are shown with their evidence; of the others the message is."""
_TOLD = 1000

Labels = Mapping[str, str]
Anchors = Mapping[str, str]
"""Where on the page each trial is."""


def cards(
    findings: Sequence[Finding], rules: Sequence[Rule], labels: Labels, anchors: Anchors
) -> Markup:
    """Lay out the findings of one experiment, the worst first."""
    pages = {rule.code: rule for rule in rules}

    def key(finding: Finding) -> tuple[int, str]:
        return finding.severity.rank, finding.code

    groups = [list(group) for _, group in groupby(sorted(findings, key=key), key)]
    return el("div", *(_card(g, pages, labels, anchors) for g in groups), class_="groups")


def _card(
    group: Sequence[Finding], pages: Mapping[str, Rule], labels: Labels, anchors: Anchors
) -> Markup:
    first = group[0]
    number = words.count(len(group), "finding") if len(group) > 1 else None
    title = el(
        "h4",
        el("span", str(first.severity), class_=f"badge {first.severity}"),
        f"{first.code} {first.rule}",
        number and el("span", f"   {number}", class_="soft"),
    )
    shown = [_finding(f, labels, anchors, whole=True) for f in group[:_OPEN]]
    rest = [
        _finding(f, labels, anchors, whole=number < _WHOLE)
        for number, f in enumerate(group[_OPEN:_TOLD], _OPEN)
    ]
    if left := len(group) - _TOLD:
        rest += [el("p", f"and {words.count(left, 'more finding')}")] if left > 0 else []
    more = EMPTY
    if rest:
        text = words.count(len(group) - _OPEN, "more finding")
        more = el("details", el("summary", text), *rest, class_="more")
    about = _about(pages[first.code]) if first.code in pages else EMPTY
    return el("section", title, about, *shown, more, class_=f"group {first.severity}")


def _about(rule: Rule) -> Markup:
    page = rule.explanation
    parts = (page.why, f"Remedy: {page.remedy}", f"Its safety: {page.safety}")
    told = (el("p", _prose(part)) for text in parts for part in text.split("\n\n"))
    return el("details", el("summary", page.summary), *told, class_="why")


def _prose(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def _finding(finding: Finding, labels: Labels, anchors: Anchors, *, whole: bool) -> Markup:
    trial = EMPTY
    if finding.trial:
        label, anchor = labels.get(finding.trial, finding.trial), anchors.get(finding.trial)
        name = el("a", label, href=f"#{anchor}") if anchor else label
        trial = joined([el("span", name, class_="code"), ": "])
    parts = [el("p", trial, finding.message)]
    if whole:
        parts += [_evidence(finding.evidence)] if finding.evidence else []
        parts += [_remedy(finding.remedy)] if finding.remedy else []
    return el("div", *parts, class_="finding")


def _evidence(evidence: Sequence[Evidence]) -> Markup:
    cells = [cell for one in evidence for cell in _claim(one)]
    return el("div", *cells, class_="evidence")


def _claim(evidence: Evidence) -> Iterator[Markup]:
    file = "" if evidence.file == "." else evidence.file
    where = place(file, evidence.pointer, _PAGE)
    yield el("span", evidence.witness, class_="who")
    yield el("span", evidence.claim, class_="claim")
    yield el("span", where, class_="place code")


def _remedy(remedy: Remedy) -> Markup:
    command = el("code", remedy.command) if remedy.command else None
    note = el("span", f" {remedy.note}" if command else remedy.note, class_="soft")
    kind = el("span", str(remedy.applicability), class_="badge")
    return el("div", kind, command, note if remedy.note else None, class_="remedy")
