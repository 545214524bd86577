"""What every rule is: a code, a page of its own, and a pure check that gives findings.

The docstring of a rule is its page: the first line is the summary, and each of the headings in
`HEADINGS` stands once. `ckptctl rules CKP101` prints it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from ckptctl.errors import InternalError
from ckptctl.model.deferred import EachOf
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Remedy, Severity

HEADINGS = ("What it checks", "Why it matters", "Example", "Remedy", "Remedy safety")


class Explanation(Struct, frozen=True, kw_only=True):
    """The page of one rule."""

    summary: str
    checks: str
    why: str
    example: str
    remedy: str
    safety: str

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Heading and text, in the order in which they are printed."""
        texts = (self.checks, self.why, self.example, self.remedy, self.safety)
        return tuple(zip(HEADINGS, texts, strict=True))


class Rule:
    """One thing that can be wrong with an experiment."""

    code: ClassVar[str]
    """Never reused; the table is in the contract."""
    name: ClassVar[str]
    """The slug, which is also the module's name."""
    severity: ClassVar[Severity]
    since: ClassVar[str] = "0.1"
    """The version that first had it."""

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Everything of this kind that is wrong with `experiment`."""
        raise NotImplementedError

    @property
    def explanation(self) -> Explanation:
        """The rule's page, from its docstring."""
        return parse_explanation(self.__doc__ or "")

    def finding(  # noqa: PLR0913 - the keyword-only parts of one value
        self,
        experiment: Experiment,
        message: str,
        *,
        trial: Trial | str | None = None,
        checkpoints: Iterable[str] = (),
        evidence: Iterable[Evidence] = (),
        remedy: Remedy | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule; the first of `checkpoints` stands for all of them."""
        names = tuple(checkpoints)
        return Finding(
            code=self.code,
            rule=self.name,
            severity=severity or self.severity,
            experiment=experiment.location,
            trial=trial.dirname if isinstance(trial, Trial) else trial,
            checkpoint=names[0] if names else None,
            message=message,
            evidence=evidence if isinstance(evidence, EachOf) else tuple(evidence),
            remedy=remedy,
            checkpoints=names,
        )


class TrialRule(Rule):
    """A rule that looks at one trial at a time."""

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Everything of this kind that is wrong with any trial."""
        for trial in experiment.trials:
            yield from self.check_trial(trial, experiment)

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Everything of this kind that is wrong with `trial`."""
        raise NotImplementedError


def parse_explanation(docstring: str) -> Explanation:
    """Take a rule's docstring apart at its headings."""
    head, *parts = f"\n{inspect.cleandoc(docstring)}".split("\n## ")
    sections = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        sections[heading.strip()] = text.strip()
    if tuple(sections) != HEADINGS or not all(sections.values()):
        raise InternalError(f"the page of a rule lacks headings: {head.strip()!r}")
    return Explanation(
        summary=head.strip(),
        checks=sections["What it checks"],
        why=sections["Why it matters"],
        example=sections["Example"],
        remedy=sections["Remedy"],
        safety=sections["Remedy safety"],
    )
