"""Runs the rules over an experiment and puts what they find into order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import natural_key
from ckptctl.rules import expand, selected
from ckptctl.rules.needs_another_ray import NeedsAnotherRay

_NO_SEVERITIES: Mapping[str, Severity] = {}


def check(  # noqa: PLR0913 - keyword-only options
    experiment: Experiment,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    severities: Mapping[str, Severity] = _NO_SEVERITIES,
    for_ray: str | None = None,
    for_pyarrow: str | None = None,
) -> tuple[Finding, ...]:
    """What the selected rules find, in the order of every answer.

    `select`, `ignore` and the keys of `severities` are codes, prefixes of codes or slugs; what is
    both selected and ignored is ignored, and of two keys that fit the longer one counts. With
    `for_ray` and `for_pyarrow` it is also asked whether those versions can load the state, for
    which `scanner.scan` has to collect globals.

    Raises:
        UsageError: a word is no rule, or a version is none.
    """
    levels = _levels(severities)
    found = (
        finding if finding.code not in levels else replace(finding, severity=levels[finding.code])
        for rule in (
            NeedsAnotherRay(for_ray, for_pyarrow) if isinstance(rule, NeedsAnotherRay) else rule
            for rule in selected(select, ignore)
        )
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
