"""Markdown as GitHub renders it: for step summaries, issues and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding
from ckptctl.model.plan import Outcome, Plan, Refusal
from ckptctl.report import findings as blocks
from ckptctl.report import md, overview, words
from ckptctl.report import plans as plan_text
from ckptctl.report.cells import Table, written
from ckptctl.report.closing import closing
from ckptctl.report.lines import Page
from ckptctl.report.overview import Overview
from ckptctl.report.places import place

_PAGE = Page()


def scan(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> str:
    """Write each experiment with its trials and its findings, the worst first."""
    lines: list[str] = []
    for experiment in experiments:
        own = overview.worst_first(blocks.of(experiment, findings))
        lines += [f"## {md.code(experiment.location)}", "", _facts(experiment, own), ""]
        lines += [*_trials(experiment, own), ""] if experiment.trials else []
        lines += _findings(own, overview.labels(experiment))
    sentence = closing(experiments, findings)
    lines += [md.text(sentence)] if sentence else []
    return _joined(lines)


def _facts(experiment: Experiment, findings: Sequence[Finding]) -> str:
    told = " · ".join(map(md.text, overview.facts(experiment)))
    return f"{told} · **{overview.verdict(findings)}**"


def _trials(experiment: Experiment, findings: Sequence[Finding]) -> list[str]:
    shown = overview.speakers(experiment.trials)
    header = ["trial", "status", "folders", *(f"{w} says" for w in shown), "latest", "best", ""]
    rows = [_trial(row) for row in overview.overviews(experiment, findings)]
    return md.table(header, rows)


def _trial(row: Overview) -> list[str]:
    folders = str(row.folders) if row.last is None else f"{row.folders} …{row.last}"
    beliefs = [
        "" if b.index is None else f"**{b.index}** ◂" if b.behind else str(b.index)
        for b in row.beliefs
    ]
    return [
        md.code(row.label),
        md.text(row.status),
        folders,
        *beliefs,
        md.code(row.latest),
        _best(row),
        ", ".join(row.notes) or " ",
    ]


def _best(row: Overview) -> str:
    if row.best is None:
        return ""
    sign = _PAGE.marks.lowest if row.best.mode == "min" else _PAGE.marks.highest
    value = words.value(row.best.value)
    return f"{md.code(row.best.name)} {md.text(row.best.metric)} {value} {sign}"


def _findings(findings: Sequence[Finding], names: Mapping[str, str]) -> Iterator[str]:
    for finding in findings:
        trial = f" {md.code(names.get(finding.trial, finding.trial))}" if finding.trial else ""
        title = f"**{finding.severity} {finding.code}** {finding.rule}{trial}"
        yield f"- {title}: {md.text(finding.message)}"
        yield from (f"  - {_evidence(evidence)}" for evidence in finding.evidence)
        if remedy := help_of(finding):
            yield f"  - help: {remedy}"
    if findings:
        yield ""


def _evidence(evidence: Evidence) -> str:
    where = md.code(place(evidence.file, evidence.pointer, _PAGE))
    return f"{md.text(evidence.witness)}: {md.text(evidence.claim)}, {where}"


def help_of(finding: Finding) -> str:
    """Say what mends a finding: a command, or what has to be decided."""
    remedy = finding.remedy
    if remedy is None:
        return ""
    command = [md.code(remedy.command)] if remedy.command else []
    return ": ".join([*command, *([md.text(remedy.note)] if remedy.note else [])])


def plans(planned: Sequence[tuple[Plan, Outcome | None]]) -> str:
    """Write each plan with its new names, its notes and what became of it."""
    lines: list[str] = []
    for plan, outcome in planned:
        lines += [f"## {md.code(plan.location)}", "", md.text(plan_headline(plan)), ""]
        lines += _renames(plan)
        lines += [f"- {md.text(note)}" for note in plan.notes]
        lines += [row for reason in plan.refusals for row in _refusal(reason)]
        lines += [f"- {_outcome(outcome)}"] if outcome else []
        lines += [""] if plan.notes or plan.refusals or outcome else []
    return _joined(lines)


def plan_headline(plan: Plan) -> str:
    """Say in one line what a plan does."""
    return plan_text.headline(plan) if plan.steps else "nothing to do"


def _renames(plan: Plan) -> list[str]:
    if not plan.renames:
        return []
    rows = [[md.code(cell) for cell in row] for row in plan.renames]
    return [*md.table(["trial", "from", "to"], rows), ""]


def _refusal(reason: Refusal) -> Iterator[str]:
    yield f"- **refused** {md.text(reason.message)}"
    for detail in reason.details or reason.checkpoints:
        yield f"  - {md.code(detail)}"
    for text in reason.help:
        yield f"  - help: {md.text(text)}"


def _outcome(outcome: Outcome) -> str:
    if not outcome.applied:
        return "nothing was changed"
    done = words.count(outcome.steps_done, "step")
    return f"**{'done and verified' if outcome.verified else 'done, but not as planned'}**: {done}"


def listing(table: Table) -> str:
    """Write any table."""
    rows = [[md.text(written(cell)) for cell in row] for row in table.rows]
    return _joined(md.table(table.columns, rows))


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""
