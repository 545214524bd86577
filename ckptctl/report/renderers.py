"""The renderers behind the names of `formats`: one table for each kind of document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding
from ckptctl.model.plan import Outcome, Plan
from ckptctl.report.document import Document

if TYPE_CHECKING:
    from ckptctl.report.policy import Policy
    from ckptctl.rules.base import Rule


class Scan(Struct, frozen=True, kw_only=True):
    """All that `scan` found, and the rules that were checked."""

    experiments: Sequence[Experiment]
    findings: Sequence[Finding]
    rules: Sequence[Rule]

    @property
    def document(self) -> Document:
        """The scan as its JSON document."""
        from ckptctl.report import document

        return document.scan_document(self.experiments, self.findings)

    @property
    def json(self) -> Iterator[str]:
        """The text of that document, piece by piece."""
        from ckptctl.report import scan_json

        return scan_json.parts(self.experiments, self.findings)


class Plans(Struct, frozen=True, kw_only=True):
    """What a verb planned, and what became of it."""

    command: str
    planned: Sequence[tuple[Plan, Outcome | None]]

    @property
    def document(self) -> Document:
        """The plans as their JSON document."""
        from ckptctl.report import document

        return document.plans_document(self.command, self.planned)


def _of(module: str) -> Any:  # noqa: ANN401 - a module
    """Import a renderer; an answer has one format, and the others would only cost time."""
    return import_module(f"ckptctl.report.{module}")


SCAN: Mapping[str, Callable[[Scan], str]] = {
    "json": lambda scan: "".join(scan.json),
    "jsonl": lambda scan: _of("jsonl").scan(scan.document),
    "tsv": lambda scan: _of("tsv").render(_of("rows").scan(scan.experiments, scan.findings)),
    "csv": lambda scan: _of("csv").render(_of("rows").scan(scan.experiments, scan.findings)),
    "github": lambda scan: _of("github").scan(scan.experiments, scan.findings),
    "sarif": lambda scan: _of("sarif").scan(scan.experiments, scan.findings, scan.rules),
    "junit": lambda scan: _of("junit").scan(scan.experiments, scan.findings, scan.rules),
    "markdown": lambda scan: _of("markdown").scan(scan.experiments, scan.findings),
}

PLANS: Mapping[str, Callable[[Plans], str]] = {
    "json": lambda plans: _of("json").render(plans.document),
    "jsonl": lambda plans: _of("jsonl").plans(plans.document),
    "tsv": lambda plans: _of("tsv").render(_of("rows").plans(plans.planned)),
    "csv": lambda plans: _of("csv").render(_of("rows").plans(plans.planned)),
    "github": lambda plans: _of("github").plans(plans.planned),
    "markdown": lambda plans: _of("markdown").plans(plans.planned),
}

POLICY: Mapping[str, Callable[[Policy], str]] = {
    "json": lambda told: _of("json").render(told.document),
    "jsonl": lambda told: _of("jsonl").policy(told.document),
    "tsv": lambda told: _of("tsv").render(_of("policy").table(told)),
    "csv": lambda told: _of("csv").render(_of("policy").table(told)),
    "markdown": lambda told: _of("markdown").listing(_of("policy").table(told)),
}

LISTINGS: Mapping[str, Callable[[Document], str]] = {
    "json": lambda listing: _of("json").render(listing),
    "jsonl": lambda listing: _of("jsonl").listing(listing),
    "tsv": lambda listing: _of("tsv").render(_of("listings").table(listing)),
    "csv": lambda listing: _of("csv").render(_of("listings").table(listing)),
    "markdown": lambda listing: _of("markdown").listing(_of("listings").table(listing)),
}
