"""Checkpoints that a template makes no name for: why, and which template would pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ckptctl.model.plan import Refusal
from ckptctl.model.template import (
    BadValue,
    Field,
    MetricMissing,
    MetricNotFinite,
    RenderFailure,
    Template,
)
from ckptctl.model.wording import count
from ckptctl.planner.call import Call
from ckptctl.planner.mending import mended
from ckptctl.planner.naming import Failure

__all__ = ["refused", "skipped"]

_SHOWN = 12
"""How many metrics a message lists."""


def refused(call: Call, failures: Iterable[Failure], template: Template) -> Iterator[Refusal]:
    """One refusal for each kind of failure of each field, with what would pass."""
    groups: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        if call.fails(failure.why):
            groups[_code(failure.why), failure.why.field].append(failure)
    if not groups:
        return
    would_pass = _would_pass(call, template, groups.values())
    for (code, name), group in groups.items():
        trials = {failure.ground.trial.dirname for failure in group}
        several = len(trials) > 1
        names = tuple(f.checkpoint.path if several else f.checkpoint.name for f in group)
        told = (failure.why.value_told for failure in group)
        yield Refusal(
            code=code,
            message=_message(group, name, several=several),
            trial=None if several else next(iter(trials)),
            checkpoints=names,
            details=tuple("  ".join(filter(None, row)) for row in zip(names, told, strict=True)),
            help=(*_hint(group[0]), *would_pass),
        )


def _code(failure: RenderFailure) -> str:
    match failure:
        case MetricMissing():
            return "metric-missing"
        case MetricNotFinite():
            return "metric-not-finite"
        case BadValue():
            return "bad-name"


def _message(group: list[Failure], name: str, *, several: bool) -> str:
    who = count(len(group), "checkpoint")
    verb = "has" if len(group) == 1 else "have"
    where = "" if several else f" of {group[0].ground.label}"
    match group[0].why:
        case MetricMissing():
            return f"{who}{where} {verb} no {name}"
        case MetricNotFinite():
            return f"{who}{where} {verb} a {name} that is not finite"
        case BadValue() as why:
            return f"{who}{where} {verb} a {name} that does not fit: {why.reason}"


def _hint(failure: Failure) -> Iterator[str]:
    match failure.why:
        case MetricMissing(nearest=nearest):
            yield f"nearest: {', '.join(nearest)}" if nearest else _known(failure)
        case BadValue(fitting=fitting):
            yield f"{fitting} fits"
        case MetricNotFinite():
            return


def _known(failure: Failure) -> str:
    names = sorted(failure.checkpoint.metrics)
    if not names:
        return "no record tells its metrics"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"its metrics: {', '.join(names[:_SHOWN])}{more}"


def _would_pass(
    call: Call, template: Template, groups: Iterable[Sequence[Failure]]
) -> tuple[str, ...]:
    """Leaving some checkpoints alone is tried first, then templates with other fields."""
    groups = tuple(groups)
    leaving = replace(call, skip=True)
    some = all(len(group) < call.names for group in groups)
    if some and not call.skip and not any(isinstance(g[0].why, BadValue) for g in groups):
        proposal = leaving.proposal([template])
        if proposal is not None and proposal.template.fields:
            return (
                "--on-missing skip leaves such checkpoints alone",
                leaving.line(proposal.template),
            )
    changes = {g[0].why.field: _instead(g[0].why, template) for g in groups}
    proposal = call.proposal(mended(template, changes)) or call.plain()
    return () if proposal is None else (call.line(proposal.template),)


def _instead(why: RenderFailure, template: Template) -> tuple[Field, ...]:
    match why:
        case MetricMissing(field=name, nearest=nearest):
            own = next(f for f in template.fields if f.name == name)
            return tuple(replace(own, name=other) for other in nearest)
        case BadValue(fitting=fitting):
            return (fitting,)
        case MetricNotFinite():
            return ()


def skipped(failures: Iterable[Failure]) -> Iterator[str]:
    """Notes on the checkpoints that keep their names."""
    groups: defaultdict[str, int] = defaultdict(int)
    for failure in failures:
        kind = "no" if isinstance(failure.why, MetricMissing) else "no finite"
        groups[f"{kind} {failure.why.field}"] += 1
    for what, number in groups.items():
        verb = "keeps its name" if number == 1 else "keep their names"
        yield f"{count(number, 'checkpoint')} {verb}: {what}"
