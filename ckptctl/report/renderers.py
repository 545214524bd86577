"""The renderers behind the names of `formats`: one table for each kind of document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding
from ckptctl.model.plan import Outcome, Plan
from ckptctl.report import (
    csv,
    document,
    github,
    json,
    jsonl,
    junit,
    listings,
    markdown,
    rows,
    sarif,
    tsv,
)
from ckptctl.report.document import Document

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule


class Scan(Struct, frozen=True, kw_only=True):
    """All that `scan` found, and the rules that were checked."""

    experiments: Sequence[Experiment]
    findings: Sequence[Finding]
    rules: Sequence[Rule]

    @property
    def document(self) -> Document:
        """The scan as its JSON document."""
        return document.scan_document(self.experiments, self.findings)


class Plans(Struct, frozen=True, kw_only=True):
    """What a verb planned, and what became of it."""

    command: str
    planned: Sequence[tuple[Plan, Outcome | None]]

    @property
    def document(self) -> Document:
        """The plans as their JSON document."""
        return document.plans_document(self.command, self.planned)


SCAN: Mapping[str, Callable[[Scan], str]] = {
    "json": lambda scan: json.render(scan.document),
    "jsonl": lambda scan: jsonl.scan(scan.document),
    "tsv": lambda scan: tsv.render(rows.scan(scan.experiments, scan.findings)),
    "csv": lambda scan: csv.render(rows.scan(scan.experiments, scan.findings)),
    "github": lambda scan: github.scan(scan.experiments, scan.findings),
    "sarif": lambda scan: sarif.scan(scan.experiments, scan.findings, scan.rules),
    "junit": lambda scan: junit.scan(scan.experiments, scan.findings, scan.rules),
    "markdown": lambda scan: markdown.scan(scan.experiments, scan.findings),
}

PLANS: Mapping[str, Callable[[Plans], str]] = {
    "json": lambda plans: json.render(plans.document),
    "jsonl": lambda plans: jsonl.plans(plans.document),
    "tsv": lambda plans: tsv.render(rows.plans(plans.planned)),
    "csv": lambda plans: csv.render(rows.plans(plans.planned)),
    "github": lambda plans: github.plans(plans.planned),
    "markdown": lambda plans: markdown.plans(plans.planned),
}

LISTINGS: Mapping[str, Callable[[Document], str]] = {
    "json": json.render,
    "jsonl": jsonl.listing,
    "tsv": lambda listing: tsv.render(listings.table(listing)),
    "csv": lambda listing: csv.render(listings.table(listing)),
    "markdown": lambda listing: markdown.listing(listings.table(listing)),
}
