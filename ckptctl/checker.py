"""Runs the rules over an experiment and puts what they find into order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import natural_key
from ckptctl.rules import expand, selected

_NO_SEVERITIES: Mapping[str, Severity] = {}


def check(
    experiment: Experiment,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    severities: Mapping[str, Severity] = _NO_SEVERITIES,
) -> tuple[Finding, ...]:
    """What the selected rules find, in the order of every answer.

    `select`, `ignore` and the keys of `severities` are codes, prefixes of codes or slugs; what is
    both selected and ignored is ignored, and of two keys that fit the longer one counts.
    """
    levels = _levels(severities)
    found = (
        finding if finding.code not in levels else replace(finding, severity=levels[finding.code])
        for rule in selected(select, ignore)
        for finding in rule.check(experiment)
    )
    return tuple(sorted(found, key=order))


def order(finding: Finding) -> tuple[object, ...]:
    """Location, trial, checkpoint, code; what concerns a whole trial or experiment is first."""
    checkpoint = finding.checkpoint
    return (
        finding.experiment,
        finding.trial is not None,
        finding.trial or "",
        checkpoint is not None,
        natural_key(checkpoint) if checkpoint is not None else (),
        finding.code,
    )


def _levels(severities: Mapping[str, Severity]) -> dict[str, Severity]:
    levels: dict[str, Severity] = {}
    for word in sorted(severities, key=len):
        levels.update(dict.fromkeys(expand((word,)), severities[word]))
    return levels
