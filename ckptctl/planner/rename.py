"""`rename`: new names from a template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Refusal
from ckptctl.model.template import (
    BadValue,
    MetricMissing,
    MetricNotFinite,
    RenderFailure,
    Template,
)
from ckptctl.planner.draft import Draft
from ckptctl.planner.ground import Ground, grounds, is_chosen
from ckptctl.planner.naming import Failure, describe_by, give
from ckptctl.planner.proposals import propose
from ckptctl.planner.renaming import Manner, plan_names, refusals_of, unreadable
from ckptctl.planner.wording import command, plural

__all__ = ["OnMissing", "plan_rename"]

OnMissing: TypeAlias = Literal["error", "skip"]

_SHOWN = 12
"""How many metrics a message lists."""


def plan_rename(  # noqa: PLR0913  keyword-only options
    experiment: Experiment,
    template: Template,
    *,
    on_missing: OnMissing = "error",
    allow_reorder: bool = False,
    trial_glob: str | None = None,
    gone: Collection[str] = (),
) -> Draft:
    """What gives every checkpoint the name that `template` makes of it, records and all.

    Where a metric is missing or not finite, the plan is refused, or with ``skip`` that checkpoint
    keeps its name. `gone` are paths of folders that another part of the same plan moves away.
    Every refusal helps with a template or an option that passes, where there is one.
    """
    manner = Manner(
        allow_reorder=allow_reorder, describe=describe_by(template), gone=frozenset(gone)
    )
    call = _Call(
        experiment=experiment,
        skip=on_missing == "skip",
        trial_glob=trial_glob,
        manner=manner,
        grounds=tuple(
            ground
            for ground in grounds(experiment, manner.gone).values()
            if is_chosen(experiment, ground.trial, trial_glob)
        ),
    )
    given = [give(ground, template) for ground in call.grounds]
    failures = [failure for one in given for failure in one.failures]
    refusals = tuple(_failures(call, failures, template))
    if refusals:
        return Draft(refusals=(*unreadable(experiment), *refusals))
    names: dict[tuple[str, str], str] = {
        (one.ground.trial.dirname, old): new for one in given for old, new in one.names.items()
    }
    draft = plan_names(experiment, names, manner)
    if draft.refusals:
        return replace(draft, refusals=tuple(_helped(call, template, draft.refusals)))
    return replace(draft, notes=(*draft.notes, *_skipped(failures)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    experiment: Experiment
    skip: bool
    trial_glob: str | None
    manner: Manner
    grounds: tuple[Ground, ...]
    """Of the trials that the call speaks of."""

    def line(self, template: Template, *options: str) -> str:
        """The same call with this template."""
        given: tuple[str, ...] = ("--to", str(template))
        if self.trial_glob is not None:
            given = (*given, "--trial", self.trial_glob)
        if self.skip:
            given = (*given, "--on-missing", "skip")
        if self.manner.allow_reorder:
            given = (*given, "--allow-reorder")
        return command("rename", self.experiment.location, *given, *options)


def _fails(call: _Call, why: RenderFailure) -> bool:
    return not (call.skip and isinstance(why, (MetricMissing, MetricNotFinite)))


def _passes(call: _Call, template: Template) -> bool:
    return all(_passes_in(call, ground, template) for ground in call.grounds)


def _passes_in(call: _Call, ground: Ground, template: Template) -> bool:
    given = give(ground, template)
    if any(_fails(call, failure.why) for failure in given.failures):
        return False
    return next(refusals_of(ground.after(given.names), call.manner), None) is None


def _helped(call: _Call, template: Template, refusals: tuple[Refusal, ...]) -> Iterator[Refusal]:
    """The refusals, with the template that would pass."""
    lines: tuple[str, ...] = ()
    if not any(r.help for r in refusals):
        count = sum(len(ground.saves) for ground in call.grounds)
        proposal = propose(template, lambda other: _passes(call, other), names=count)
        if proposal is not None:
            collided = any(r.code == "collision" for r in refusals)
            lines = (proposal.sentence(collided=collided), call.line(proposal.template))
        elif all(r.code == "order" for r in refusals):
            lines = (
                "no precision or width keeps this template in order; --allow-reorder takes it so",
                call.line(template, "--allow-reorder"),
            )
    for refusal in refusals:
        yield refusal if refusal.help else replace(refusal, help=lines)


def _failures(call: _Call, failures: Iterable[Failure], template: Template) -> Iterator[Refusal]:
    groups: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        if _fails(call, failure.why):
            groups[_code(failure.why), failure.why.field].append(failure)
    for (code, name), group in groups.items():
        trials = {failure.ground.trial.dirname for failure in group}
        several = len(trials) > 1
        names = tuple(f.checkpoint.path if several else f.checkpoint.name for f in group)
        yield Refusal(
            code=code,
            message=_failed_message(group, name, several=several),
            trial=None if several else next(iter(trials)),
            checkpoints=names,
            details=tuple(
                f"{name} {failure.why.message}" for name, failure in zip(names, group, strict=True)
            ),
            help=tuple(_failed_help(call, template, group)),
        )


def _code(failure: RenderFailure) -> str:
    match failure:
        case MetricMissing():
            return "metric-missing"
        case MetricNotFinite():
            return "metric-not-finite"
        case BadValue():
            return "bad-name"


def _failed_message(group: list[Failure], name: str, *, several: bool) -> str:
    who = plural(len(group), "checkpoint")
    verb = "has" if len(group) == 1 else "have"
    where = "" if several else f" of {group[0].ground.label}"
    match group[0].why:
        case MetricMissing():
            return f"{who}{where} {verb} no {name}"
        case MetricNotFinite():
            return f"{who}{where} {verb} a {name} that is not finite"
        case BadValue() as why:
            return f"{who}{where} {verb} a {name} that does not fit: {why.reason}"


def _failed_help(call: _Call, template: Template, group: list[Failure]) -> Iterator[str]:
    why = group[0].why
    if isinstance(why, BadValue):
        yield why.hint
        return
    if isinstance(why, MetricMissing):
        yield f"nearest: {', '.join(why.nearest)}" if why.nearest else _known(group[0])
        for name in why.nearest:
            other = template.with_fields(
                replace(f, name=name) if f.name == why.field else f for f in template.fields
            )
            if _passes(call, other):
                yield call.line(other)
                return
    if len(group) < sum(len(ground.saves) for ground in call.grounds):
        yield "--on-missing skip leaves such checkpoints alone"
        yield call.line(template, "--on-missing", "skip")


def _known(failure: Failure) -> str:
    names = sorted(failure.checkpoint.metrics)
    if not names:
        return "no record tells its metrics"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"its metrics: {', '.join(names[:_SHOWN])}{more}"


def _skipped(failures: Iterable[Failure]) -> Iterator[str]:
    groups: defaultdict[str, int] = defaultdict(int)
    for failure in failures:
        kind = "no" if isinstance(failure.why, MetricMissing) else "no finite"
        groups[f"{kind} {failure.why.field}"] += 1
    for what, count in groups.items():
        verb = "keeps its name" if count == 1 else "keep their names"
        yield f"{plural(count, 'checkpoint')} {verb}: {what}"
