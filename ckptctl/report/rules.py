"""The rules: a table of all, or the page of one."""

from __future__ import annotations

from collections.abc import Sequence

from ckptctl.report.document import Document, envelope
from ckptctl.report.findings import STYLES
from ckptctl.report.lines import BLANK, Line, Page, Span, Style, line, table, wrap
from ckptctl.rules.base import Rule


def listing(rules: Sequence[Rule], page: Page) -> list[Line]:
    """Every rule in one row."""
    rows = [
        (
            Span(rule.code, STYLES[rule.severity]),
            Span(rule.name),
            Span(str(rule.severity)),
            Span(rule.explanation.summary, Style.DIM),
        )
        for rule in rules
    ]
    return table(("code", "rule", "severity", "what it finds"), rows, page, indent=0)


def explanation(rule: Rule, page: Page) -> list[Line]:
    """Lay out the page of one rule."""
    title = Span(f"{rule.code} {rule.name}", STYLES[rule.severity])
    lines: list[Line] = [line(title, f"   {rule.severity}, since {rule.since}")]
    lines += wrap(rule.explanation.summary, page, indent=2)
    for heading, text in rule.explanation.sections:
        lines += [BLANK, line(Span(heading, Style.STRONG))]
        for paragraph in text.split("\n\n"):
            lines += _paragraph(paragraph, page)
    return lines


def _paragraph(text: str, page: Page) -> list[Line]:
    rows = text.split("\n")
    if any(row.startswith("    ") for row in rows):  # an example keeps its lines
        return [line(row, indent=2) for row in rows]
    return wrap(" ".join(rows), page, indent=2)


def document(rules: Sequence[Rule]) -> Document:
    """Describe the rules to programs."""
    return {
        **envelope("rules"),
        "rules": [
            {
                "code": rule.code,
                "rule": rule.name,
                "severity": rule.severity,
                "since": rule.since,
                "summary": rule.explanation.summary,
                "sections": [{"heading": h, "text": t} for h, t in rule.explanation.sections],
            }
            for rule in rules
        ],
    }
