"""JUnit XML: a test suite for each experiment, a test case for each rule and trial.

Errors are failures; what is less goes to the case's output. Each rule also has a case for the
experiment as a whole, so that the list of cases stays the same whatever is found.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.report import findings as blocks
from ckptctl.report.escape import shown
from ckptctl.report.lines import Page
from ckptctl.report.places import place

if TYPE_CHECKING:
    from ckptctl.rules.base import Rule

_PAGE = Page()
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

Found = Mapping[tuple[str, str], Sequence[Finding]]


def scan(
    experiments: Sequence[Experiment], findings: Sequence[Finding], rules: Sequence[Rule]
) -> str:
    """Write a suite for each experiment; `rules` are those that were checked."""
    found = [_found(e, blocks.of(e, findings)) for e in experiments]
    suites = [_suite(e, own, rules) for e, own in zip(experiments, found, strict=True)]
    tests = sum(len(rules) * (len(e.trials) + 1) for e in experiments)
    counts = _counts(tests, sum(map(_failures, found)))
    return f'{_HEAD}<testsuites name="ckptctl scan" {counts}>\n{"".join(suites)}</testsuites>\n'


def _found(experiment: Experiment, findings: Sequence[Finding]) -> Found:
    trials = {t.dirname for t in experiment.trials}
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        # A folder that is none of the trials is the experiment's own trouble.
        trial = finding.trial if finding.trial in trials else None
        found.setdefault((finding.code, trial or ""), []).append(finding)
    return found


def _failures(found: Found) -> int:
    return sum(any(f.severity is Severity.ERROR for f in own) for own in found.values())


def _counts(tests: int, failures: int) -> str:
    return f'tests="{tests}" failures="{failures}" errors="0" skipped="0" time="0"'


def _suite(experiment: Experiment, found: Found, rules: Sequence[Rule]) -> str:
    names = ["", *(t.dirname for t in experiment.trials)]
    cases = [_case(experiment, trial, rule, found) for trial in names for rule in rules]
    facts = (("layout", experiment.layout), ("ray_version", experiment.ray_version or "unknown"))
    told = "".join(
        f"      <property name={_quoted(name)} value={_quoted(value)}/>\n" for name, value in facts
    )
    return (
        f"  <testsuite name={_quoted(experiment.location)} "
        f"{_counts(len(cases), _failures(found))}>\n"
        f"    <properties>\n{told}    </properties>\n{''.join(cases)}  </testsuite>\n"
    )


def _case(experiment: Experiment, trial: str, rule: Rule, found: Found) -> str:
    name = experiment.name if trial in ("", ".") else f"{experiment.name}.{trial}"
    if trial == ".":
        name += ".trial"
    start = f"    <testcase classname={_quoted(name)} name={_quoted(f'{rule.code} {rule.name}')}"
    own = found.get((rule.code, trial), ())
    if not own:
        return f'{start} time="0"/>\n'
    body = "".join(_failure([f for f in own if f.severity is Severity.ERROR]))
    body += "".join(_output([f for f in own if f.severity is not Severity.ERROR]))
    return f'{start} time="0">\n{body}    </testcase>\n'


def _failure(errors: Sequence[Finding]) -> Iterator[str]:
    if errors:
        message = _quoted(errors[0].message)
        text = _escaped("\n".join(line for f in errors for line in _told(f)))
        yield f"      <failure message={message} type={_quoted(errors[0].code)}>{text}</failure>\n"


def _output(others: Sequence[Finding]) -> Iterator[str]:
    if others:
        text = _escaped("\n".join(line for f in others for line in _told(f)))
        yield f"      <system-out>{text}</system-out>\n"


def _told(finding: Finding) -> Iterator[str]:
    yield shown(f"{finding.severity}: {finding.message}")
    for evidence in finding.evidence:
        where = place(evidence.file, evidence.pointer, _PAGE)
        yield "  " + shown(f"{evidence.witness}: {evidence.claim}   {where}")
    if finding.remedy and (text := finding.remedy.command or finding.remedy.note):
        yield "  " + shown(f"help: {text}")


def _quoted(text: str) -> str:
    return f'"{_escaped(shown(text))}"'


def _escaped(text: str) -> str:
    """Escape what is markup; XML has no way to hold the two that are no characters."""
    plain = text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    return html.escape(plain)
