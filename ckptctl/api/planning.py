"""Making plans, and keeping them: what `rename` and `reindex` are made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from ckptctl._version import __version__
from ckptctl.api._cost import cost
from ckptctl.errors import StalePlanError, UsageError
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Plan, TreeFile

if TYPE_CHECKING:
    from ckptctl.model.policies import Policy
    from ckptctl.planner.draft import Draft
    from ckptctl.storage.listing import Listing


def plan_rename(
    experiment: Experiment,
    *,
    template: str,
    trial: str | None = None,
    on_missing: Literal["error", "skip"] = "error",
    allow_reorder: bool = False,
) -> Plan:
    """Plan names made from metrics; a plan that would be unsafe carries its refusals."""
    from ckptctl.model.template import Template
    from ckptctl.planner.rename import plan_rename as draft_rename

    _require_closed(experiment, "rename")
    draft = draft_rename(
        experiment,
        Template.parse(template),
        on_missing=on_missing,
        allow_reorder=allow_reorder,
        trial_glob=trial,
    )
    return _plan(experiment, draft, "rename")


def plan_reindex(
    experiment: Experiment,
    *,
    by: str | Policy | None = None,
    trial: str | None = None,
    allow_reorder: bool = False,
    unsafe: bool = False,
    relocate: bool = False,
    quarantine: bool = False,
) -> Plan:
    """Plan what makes the records agree with the folders, or with `by` new indices for both."""
    from ckptctl.model.policies import parse_policy
    from ckptctl.planner.reindex_by import plan_reindex_by
    from ckptctl.planner.repair import plan_repair

    _require_closed(experiment, "reindex")
    if by is None:
        draft = plan_repair(
            experiment,
            unsafe=unsafe,
            relocate=relocate,
            quarantine=quarantine,
            trial_glob=trial,
        )
    elif quarantine:
        raise UsageError(
            "folders are not moved aside and renumbered in one go",
            hint="reindex --quarantine first, then reindex --by",
        )
    else:
        policy = parse_policy(by) if isinstance(by, str) else by
        draft = plan_reindex_by(experiment, policy, allow_reorder=allow_reorder, trial_glob=trial)
    return _plan(experiment, draft, "reindex")


def plan_migrate(
    experiment: Experiment,
    *,
    to_ray: str,
    to_pyarrow: str | None = None,
    to_python: str | None = None,
    unsafe: bool = False,
) -> Plan:
    """Plan what carries the records over to another Ray and pyarrow.

    The experiment has to be scanned with `collect_globals`. Raises UsageError for a version that
    is none or unknown.
    """
    from ckptctl.planner.migrate import plan_migrate as draft_migrate

    _require_closed(experiment, "migrate")
    draft = draft_migrate(experiment, to_ray, to_pyarrow, python=to_python, unsafe=unsafe)
    return _plan(experiment, draft, "migrate")


def _require_closed(experiment: Experiment, command: str) -> None:
    """Refuse where an apply is half done: nothing true can be planned from that."""
    if experiment.pending is None:
        return
    from ckptctl.executor.work import half_done
    from ckptctl.journal.store import Journal
    from ckptctl.storage.location import open_reader

    entry = Journal(open_reader(experiment.location)).pending()
    if entry is not None:
        raise half_done(experiment.location, entry, command, experiment.lock_holder)
    what = "an apply came to its end while the experiment was read"
    raise StalePlanError(
        f"changed meanwhile: {experiment.location}: {what}",
        changed=(what,),
        location=experiment.location,
    )


def _plan(experiment: Experiment, draft: Draft, command: str) -> Plan:
    """Bind a draft to the bytes and folders as they are now."""
    from ckptctl.codec.edit import apply_edits
    from ckptctl.journal.format import with_id
    from ckptctl.planner.assemble import assemble
    from ckptctl.storage.listing import Listing
    from ckptctl.storage.location import open_reader

    reader = open_reader(experiment.location)
    listing = Listing(reader.list_tree()) if draft.moves else Listing(())
    sources = [source for source, _ in draft.moves]
    trees = {path: _tree(listing, path) for path in sources}
    entries = {path: listing.get(path) for path in sources}
    plan = assemble(
        experiment,
        draft,
        {file: reader.read_bytes(file) for file, edits in draft.edits.items() if edits},
        trees,
        {path: entry.file_id for path, entry in entries.items() if entry and entry.file_id},
        command=command,
        apply_edits=apply_edits,
    )
    notes = (*plan.notes, *cost(plan, len(listing), reader.capabilities))
    return with_id(replace(plan, notes=notes, created_by=f"ckptctl {__version__}"))


def _tree(listing: Listing, path: str) -> tuple[TreeFile, ...]:
    files = listing.files(path) or {}
    return tuple(TreeFile(path=name, size=files[name]) for name in sorted(files))


def plan_to_json(plan: Plan) -> bytes:
    """Write a plan down, so that it can be applied from any folder; its id covers the place."""
    from ckptctl.journal.format import plan_to_json as to_value
    from ckptctl.journal.format import with_id
    from ckptctl.storage.location import parse

    place = parse(plan.location)
    if place.is_local and place.path != plan.location:
        plan = with_id(replace(plan, location=place.path))
    return (json.dumps(to_value(plan), indent=2, allow_nan=False) + "\n").encode()


def plan_from_json(data: bytes, *, source: str = "the plan") -> Plan:
    """Read a plan; UsageError where it is none, RefusedError where it was edited by hand."""
    from ckptctl.codec.reasons import reason_of
    from ckptctl.journal.format import plan_from_json as from_value

    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{source} is no saved plan: it is {reason_of(error)}",
            hint="--plan-out FILE saves one",
            location=source,
        ) from error
    return from_value(value)
