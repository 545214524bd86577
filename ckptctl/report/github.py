"""GitHub Actions: annotations on stdout, and a table for the step's summary.

A step shows at most ten annotations of each level, so the tenth counts the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ckptctl.errors import CkptctlError
from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.plan import Outcome, Plan
from ckptctl.report import markdown, md, overview, where, words
from ckptctl.report.escape import shown

MOST = 10
_ROWS = 200
_SUMMARY = 300_000
"""Characters; GitHub takes a mebibyte."""

Labels = Mapping[tuple[str, str], str]
"""Short names of trials by experiment and folder."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def scan(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> str:
    """Write one annotation for each finding, the worst first."""
    names = _labels(experiments)
    lines: list[str] = []
    for severity, level in _LEVELS.items():
        found = [f for f in overview.worst_first(findings) if f.severity is severity]
        told = found if len(found) <= MOST else found[: MOST - 1]
        lines += [_finding(finding, level, names) for finding in told]
        if left := len(found) - len(told):
            more = words.count(left, f"more {severity}")
            lines.append(command(level, f"and {more}", title="ckptctl"))
    return "".join(lines)


def _labels(experiments: Sequence[Experiment]) -> Labels:
    return {(e.location, k): v for e in experiments for k, v in overview.labels(e).items()}


def _finding(finding: Finding, level: str, names: Labels) -> str:
    evidence = where.main_evidence(finding.evidence)
    file = evidence.file if evidence else where.folder_of(finding)
    line = where.line_of(evidence) if evidence else None
    trial = names.get((finding.experiment, finding.trial or ""), finding.trial)
    text = [f"{trial}: {finding.message}" if trial else finding.message]
    if finding.remedy and finding.remedy.command:
        text.append(f"help: {finding.remedy.command}")
    return command(
        level,
        *text,
        file=where.path(finding.experiment, file),
        line=None if line is None else str(line),
        title=f"{finding.code} {finding.rule}",
    )


def command(name: str, *lines: str, **properties: str | None) -> str:
    """Write one workflow command; what is in it can neither end it nor begin another."""
    named = [f"{key}={_property(value)}" for key, value in properties.items() if value]
    head = f"{name} {','.join(named)}" if named else name
    return f"::{head}::{'%0A'.join(map(_data, lines))}\n"


def _data(text: str) -> str:
    return shown(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def plans(planned: Sequence[tuple[Plan, Outcome | None]]) -> str:
    """Write what is planned or done as a notice, and each refusal as an error."""
    return "".join(line for plan, outcome in planned for line in _plan(plan, outcome))


def _plan(plan: Plan, outcome: Outcome | None) -> Iterator[str]:
    title = f"ckptctl {plan.command}"
    told = plan.refusals if len(plan.refusals) <= MOST else plan.refusals[: MOST - 1]
    for reason in told:
        text = [f"refused: {reason.message}", *(f"help: {line}" for line in reason.help)]
        yield command("error", *text, file=plan.location, title=title)
    if left := len(plan.refusals) - len(told):
        yield command("error", f"and {words.count(left, 'more refusal')}", title=title)
    if plan.steps and not plan.refusals:
        state = _state(outcome)
        text = [f"{state}: {markdown.plan_headline(plan)}"]
        level = "warning" if outcome and not outcome.verified else "notice"
        yield command(level, *text, file=plan.location, title=title)


def _state(outcome: Outcome | None) -> str:
    if outcome is None:
        return "planned"
    if not outcome.applied:
        return "nothing was changed"
    return "done and verified" if outcome.verified else "done, but not as planned"


def plans_summary(planned: Sequence[tuple[Plan, Outcome | None]]) -> str:
    """Write the step's summary of plans, as far as GitHub takes it."""
    text = markdown.plans(planned)
    if len(text) <= _SUMMARY:
        return text
    return text[: text.rindex("\n", 0, _SUMMARY)] + "\n\nand more\n"


def error(problem: CkptctlError) -> str:
    """Write an error as an annotation."""
    text = [problem.message, *([f"help: {problem.hint}"] if problem.hint else [])]
    return command("error", *text, title="ckptctl")


def summary(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> str:
    """Write the step's summary: what was looked at, and the findings as a table."""
    lines = [f"### ckptctl scan: {overview.verdict(findings)}", ""]
    for experiment in experiments[:_ROWS]:
        facts = " · ".join(map(md.text, overview.facts(experiment)))
        lines.append(f"- {md.code(experiment.location)} {facts}")
    if left := len(experiments) - _ROWS:
        lines += [f"- and {words.count(left, 'more experiment')}"] if left > 0 else []
    lines += ["", *_table(experiments, findings)] if findings else []
    return "\n".join(lines) + "\n"


def _table(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> list[str]:
    names = _labels(experiments)
    ordered = overview.worst_first(findings)
    rows = [
        [
            str(f.severity),
            f"{f.code} {f.rule}",
            md.code(names.get((f.experiment, f.trial or ""), f.trial or "")),
            md.text(f.message),
            markdown.help_of(f),
        ]
        for f in ordered[:_ROWS]
    ]
    lines = md.table(["severity", "finding", "trial", "what", "help"], rows)
    if left := len(ordered) - len(rows):
        lines += ["", f"and {words.count(left, 'more finding')}"]
    return lines
