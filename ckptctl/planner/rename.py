"""`rename`: new names from a template."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Refusal
from ckptctl.model.template import Template
from ckptctl.planner.call import Call, OnMissing
from ckptctl.planner.draft import Draft
from ckptctl.planner.ground import grounds, is_chosen
from ckptctl.planner.mending import mended
from ckptctl.planner.naming import describe_by, give
from ckptctl.planner.renaming import Manner, plan_names, unreadable
from ckptctl.planner.unnamed import refused, skipped

__all__ = ["OnMissing", "plan_rename"]


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
    call = Call(
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
    refusals = tuple(refused(call, failures, template))
    if refusals:
        folders = {ground.path(c.name) for ground in call.grounds for c in ground.saves}
        return Draft(refusals=(*unreadable(experiment, folders), *refusals))
    names: dict[tuple[str, str], str] = {
        (one.ground.trial.dirname, old): new for one in given for old, new in one.names.items()
    }
    draft = plan_names(experiment, names, manner)
    if draft.refusals:
        return replace(draft, refusals=tuple(_helped(call, template, draft.refusals)))
    return replace(draft, notes=(*draft.notes, *skipped(failures)))


def _helped(call: Call, template: Template, refusals: tuple[Refusal, ...]) -> Iterator[Refusal]:
    """The refusals, with the template that would pass."""
    lines: tuple[str, ...] = ()
    if not any(r.help for r in refusals):
        proposal = call.proposal([template, *mended(template, {})])
        if proposal is not None:
            collided = any(r.code == "collision" for r in refusals)
            sentence = proposal.sentence(collided=collided)
            lines = (*([sentence] if sentence else []), call.line(proposal.template))
        elif all(r.code == "order" for r in refusals):
            lines = (
                "no precision or width keeps this template in order; --allow-reorder takes it so",
                call.line(template, "--allow-reorder"),
            )
        elif (plain := call.plain()) is not None:
            lines = (call.line(plain.template),)
    for refusal in refusals:
        yield refusal if refusal.help else replace(refusal, help=lines)
