"""`reindex --by`: new numbers from an index policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment
from ckptctl.model.names import ray_name
from ckptctl.model.plan import Refusal
from ckptctl.model.policies import BadIndex, ByMetric, Policy, Trouble, indexes, metric_of
from ckptctl.model.wording import count
from ckptctl.planner.draft import Draft
from ckptctl.planner.ground import Ground, grounds, is_chosen
from ckptctl.planner.renaming import Counter, Manner, plan_names

__all__ = ["plan_reindex_by"]

_NUMBERED = (CheckpointState.COMPLETE, CheckpointState.PARTIAL)

_CODES = {
    Trouble.DUPLICATE: "collision",
    Trouble.NOT_RISING: "order",
    Trouble.NOT_AN_INTEGER: "bad-name",
    Trouble.NEGATIVE: "bad-name",
    Trouble.FAILED: "bad-name",
}


def plan_reindex_by(
    experiment: Experiment,
    policy: Policy,
    *,
    allow_reorder: bool = False,
    trial_glob: str | None = None,
    gone: Collection[str] = (),
) -> Draft:
    """What renumbers every checkpoint by `policy` as ``checkpoint_%06d``, records and all.

    The recorded index is set so that the next save goes right behind the highest number. `gone`
    are paths of folders that another part of the same plan moves away.
    """
    left = frozenset(gone)
    chosen = [
        ground
        for ground in grounds(experiment, left).values()
        if is_chosen(experiment, ground.trial, trial_glob)
    ]
    names: dict[tuple[str, str], str] = {}
    refusals: list[Refusal] = []
    for ground in chosen:
        saves = [c for c in ground.saves if c.state in _NUMBERED]
        numbers = indexes(policy, ground.trial, saves, layout=experiment.layout)
        for checkpoint, number in zip(saves, numbers, strict=False):
            if isinstance(number, int):
                names[ground.trial.dirname, checkpoint.name] = ray_name(number)
        bad = [number for number in numbers if isinstance(number, BadIndex)]
        refusals += _refusals(ground, policy, bad)
    if refusals:
        return Draft(refusals=tuple(refusals))
    manner = Manner(
        counter=Counter.SET,
        allow_reorder=allow_reorder,
        gone=left,
        trials=frozenset(ground.trial.dirname for ground in chosen),
    )
    draft = plan_names(experiment, names, manner)
    return replace(draft, notes=(*draft.notes, *_lacking(chosen, policy)))


def _lacking(chosen: list[Ground], policy: Policy) -> Iterator[str]:
    if isinstance(policy, ByMetric):
        saves = (c for ground in chosen for c in ground.saves if c.state in _NUMBERED)
        if number := sum(metric_of(c, policy.metric) is None for c in saves):
            verb = "has" if number == 1 else "have"
            yield (
                f"{count(number, 'checkpoint')} {verb} no {policy.metric}, "
                "and the number behind the save before"
            )


def _refusals(ground: Ground, policy: Policy, bad: list[BadIndex]) -> Iterator[Refusal]:
    by_trouble: defaultdict[Trouble, list[BadIndex]] = defaultdict(list)
    for one in bad:
        by_trouble[one.trouble].append(one)
    for trouble, group in by_trouble.items():
        who = count(len(group), "checkpoint")
        yield Refusal(
            code=_CODES[trouble],
            message=f"{who} of {ground.label} would get an index by {policy} that {trouble}",
            trial=ground.trial.dirname,
            checkpoints=tuple(one.checkpoint.name for one in group),
            details=tuple(str(one) for one in group),
            help=("--by sequential numbers them in the order in which they were saved",),
        )
