"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ckptctl._version import __version__
from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.report import md, where
from ckptctl.report.document import Document
from ckptctl.report.escape import shown
from ckptctl.report.fingerprints import fingerprints, names_of

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT = "ckptctl/v1"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def scan(
    experiments: Sequence[Experiment], findings: Sequence[Finding], rules: Sequence[Rule]
) -> str:
    """Write one run; `rules` are those that were checked."""
    known = {rule.code: number for number, rule in enumerate(rules)}
    homes = {e.location: e for e in experiments}
    prints = fingerprints(findings, experiments)
    results = [
        _result(finding, homes.get(finding.experiment), known, fingerprint)
        for finding, fingerprint in zip(findings, prints, strict=True)
    ]
    driver = {"name": "ckptctl", "version": __version__, "rules": [_rule(r) for r in rules]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, allow_nan=False) + "\n"


def _rule(rule: Rule) -> Document:
    page = rule.explanation
    sections = page.sections
    plain = "\n\n".join(f"{heading}\n{text}" for heading, text in sections)
    marked = "\n\n".join(f"## {heading}\n{text}" for heading, text in sections)
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.why},
        "help": {"text": plain, "markdown": marked},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(
    finding: Finding, home: Experiment | None, known: Mapping[str, int], fingerprint: str
) -> Document:
    evidence = tuple(finding.evidence)
    main = where.main_evidence(evidence)
    others = [e for e in evidence if e is not main]
    result: Document = {
        "ruleId": finding.code,
        **({"ruleIndex": known[finding.code]} if finding.code in known else {}),
        "level": _LEVELS[finding.severity],
        "message": _message(finding),
        "locations": [
            {
                "physicalLocation": _physical(finding, main),
                "logicalLocations": _logical(finding, home),
            }
        ],
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }
    if others:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _physical(finding, evidence),
                "message": {"text": shown(f"{evidence.witness}: {evidence.claim}")},
            }
            for number, evidence in enumerate(others, 1)
        ]
    return result


def _message(finding: Finding) -> Document:
    help_line = finding.remedy.command if finding.remedy else None
    text = shown(finding.message)
    marked = md.text(finding.message)
    if help_line:
        text += f"\nhelp: {shown(help_line)}"
        marked += f"\n\nhelp: {md.code(help_line)}"
    if "](" in text:  # would be a link
        text = text.replace("[", "\\[").replace("]", "\\]")
    # A brace is a placeholder.
    return {"text": text.replace("{", "{{").replace("}", "}}"), "markdown": marked}


def _physical(finding: Finding, evidence: Evidence | None) -> Document:
    file = evidence.file if evidence else where.folder_of(finding)
    line = where.line_of(evidence) if evidence else None
    return {
        "artifactLocation": {"uri": where.uri(finding.experiment, file)},
        **({"region": {"startLine": line}} if line else {}),
    }


def _logical(finding: Finding, home: Experiment | None) -> list[Document]:
    """Name the experiment, the trial and the checkpoint, whichever files tell of them."""
    name = home.name if home else finding.experiment.rstrip("/").rpartition("/")[2]
    parts = [("experiment", name)]
    parts += [("trial", finding.trial)] if finding.trial else []
    names = names_of(finding)
    if not names:
        return [_place(parts)]
    return [_place([*parts, ("checkpoint", checkpoint)]) for checkpoint in names]


def _place(parts: Sequence[tuple[str, str]]) -> Document:
    kind, name = parts[-1]
    whole = "/".join(shown(part) for _, part in parts)
    return {"name": shown(name), "fullyQualifiedName": whole, "kind": kind}
