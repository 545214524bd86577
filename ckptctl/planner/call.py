"""One call of `rename`: what passes in it, and the command line of it with another template."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from ckptctl.model.experiment import Experiment
from ckptctl.model.template import MetricMissing, MetricNotFinite, RenderFailure, Template
from ckptctl.planner.ground import Ground
from ckptctl.planner.naming import give
from ckptctl.planner.proposals import Proposal, propose
from ckptctl.planner.renaming import Manner, refusals_of
from ckptctl.planner.wording import command

__all__ = ["Call", "OnMissing"]

OnMissing: TypeAlias = Literal["error", "skip"]


class Call(Struct, frozen=True, kw_only=True):
    """The options of a call, and the trials that it speaks of."""

    experiment: Experiment
    skip: bool
    """Whether a checkpoint without a finite value keeps its name."""
    trial_glob: str | None
    manner: Manner
    grounds: tuple[Ground, ...]

    @property
    def names(self) -> int:
        """How many checkpoints it is about."""
        return sum(len(ground.saves) for ground in self.grounds)

    def fails(self, why: RenderFailure) -> bool:
        """Whether a checkpoint that gets no name is a reason to refuse."""
        return not (self.skip and isinstance(why, (MetricMissing, MetricNotFinite)))

    def passes(self, template: Template, *, anew: bool = True) -> bool:
        """Whether nothing speaks against the names of a template; with `anew`, they are new."""
        changes = not anew
        for ground in self.grounds:
            given = give(ground, template)
            if any(self.fails(failure.why) for failure in given.failures):
                return False
            after = ground.after(given.names)
            if next(refusals_of(after, self.manner), None) is not None:
                return False
            changes = changes or bool(after.names)
        return changes

    def proposal(self, templates: Iterable[Template]) -> Proposal | None:
        """The smallest change of the first of these that passes and renames anything."""
        fresh = (template for template in templates if not self._is_settled(template))
        return propose(fresh, lambda t: bool(t.fields) and self.passes(t), names=self.names)

    def plain(self) -> Proposal | None:
        """The plainest template that passes, be it that its names are there already."""
        return propose((), lambda t: self.passes(t, anew=False), names=self.names)

    def _is_settled(self, template: Template) -> bool:
        """Whether a template makes the names that are there: a wider one would say no more."""
        given = [give(ground, template) for ground in self.grounds]
        return not any(one.failures for one in given) and all(
            old == new for one in given for old, new in one.names.items()
        )

    def line(self, template: Template, *options: str) -> str:
        """The command line with this template."""
        given: tuple[str, ...] = ("--to", str(template))
        if self.trial_glob is not None:
            given = (*given, "--trial", self.trial_glob)
        if self.skip:
            given = (*given, "--on-missing", "skip")
        if self.manner.allow_reorder:
            given = (*given, "--allow-reorder")
        return command("rename", self.experiment.location, *given, *options)
