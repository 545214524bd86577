"""Plans as JSON and back. A plan that was edited by hand, or that reaches out, is refused."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec.structs import replace

from ckptctl.codec.reasons import reason_of
from ckptctl.errors import InternalError, RefusedError, UsageError
from ckptctl.journal.paths import check_path, is_sha256
from ckptctl.journal.wire import (
    WireEdit,
    WireFile,
    WireMove,
    WirePlan,
    WireRead,
    WireRefusal,
    WireRename,
    WireRewrite,
)
from ckptctl.model.experiment import RecordKind
from ckptctl.model.plan import (
    PLAN_FORMAT,
    Edit,
    MoveTree,
    Plan,
    Refusal,
    ReplaceFile,
    Step,
    TreeFile,
)

ID_LENGTH = 12
_OPS = frozenset({"set", "insert", "remove"})


def plan_id_of(plan: Plan) -> str:
    """The first 12 hex digits of SHA-256 over all of a plan's content but its id."""
    content = {key: value for key, value in plan_to_json(plan).items() if key != "plan_id"}
    return hashlib.sha256(canonical(content)).hexdigest()[:ID_LENGTH]


def with_id(plan: Plan) -> Plan:
    """The plan with the id that its content gives."""
    return replace(plan, plan_id=plan_id_of(plan))


def canonical(content: object) -> bytes:
    """The one JSON text of a value: no spaces, ASCII, keys in the order that they have.

    A record is written in the order of the values that a plan holds, so two orders are two plans.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def plan_to_json(plan: Plan) -> dict[str, object]:
    """A plan in the shape of the contract, with all that `plan_from_json` needs.

    Raises:
        InternalError: an edit holds what JSON cannot.
    """
    wire = WirePlan(
        format=PLAN_FORMAT,
        plan_id=plan.plan_id,
        command=plan.command,
        location=plan.location,
        layout=plan.layout,
        fingerprint=plan.fingerprint,
        reads=[WireRead(file=file, sha256=sha256) for file, sha256 in plan.reads],
        steps=[_step_to_wire(step) for step in plan.steps],
        refusals=[_refusal_to_wire(refusal) for refusal in plan.refusals],
        notes=list(plan.notes),
        renames=[WireRename(trial=t, source=old, target=new) for t, old, new in plan.renames],
        undoes=plan.undoes,
        created_by=plan.created_by,
        unsafe=plan.unsafe,
    )
    try:
        return cast(dict[str, object], msgspec.to_builtins(wire))
    except TypeError as error:
        raise InternalError(f"plan cannot be written: {error}") from error


def plan_from_json(value: object) -> Plan:
    """A plan from its JSON form; fields that are not known are left out.

    Raises:
        UsageError: it is no plan, or of a newer format.
        RefusedError: it was edited by hand, or names a path it may not touch.
    """
    check_format(value, PLAN_FORMAT, "plan")
    try:
        wire = msgspec.convert(value, WirePlan)
    except msgspec.ValidationError as error:
        raise UsageError(f"plan cannot be read: {reason_of(error)}") from error
    plan = _plan_from_wire(wire)
    if plan.plan_id != plan_id_of(plan):
        raise RefusedError(
            f"plan is unsafe: {plan.plan_id}: its content is not what this id stands for",
            hint="make the plan again instead of editing it",
        )
    return plan


def check_format(value: object, newest: int, what: str) -> None:
    """Raise UsageError unless this is an object of a format that we know."""
    found = value.get("format") if isinstance(value, Mapping) else None
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise UsageError(f"{what} cannot be read: it has no format number")
    if found > newest:
        raise UsageError(
            f"{what} cannot be read: format {found} is newer than this ckptctl, "
            f"which reads up to {newest}",
            hint="use the ckptctl that made it, or a newer one",
        )


def _step_to_wire(step: Step) -> WireMove | WireRewrite:
    if isinstance(step, MoveTree):
        return WireMove(
            source=step.source,
            target=step.target,
            files=[WireFile(path=f.path, size=f.size) for f in step.files],
            file_id=step.file_id,
        )
    return WireRewrite(
        file=step.file,
        record_kind=step.kind.value,
        edits=[_edit_to_wire(edit) for edit in step.edits],
        sha256_before=step.before,
        sha256_after=step.after,
        restores=step.restores,
    )


def _edit_to_wire(edit: Edit) -> WireEdit:
    return WireEdit(
        op=edit.op, pointer=edit.pointer, before=_plain(edit.before), after=_plain(edit.after)
    )


def _plain(value: object) -> object:
    """What JSON holds as it is; a float that it has no literal for as `codec.values` has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _refusal_to_wire(refusal: Refusal) -> WireRefusal:
    return WireRefusal(
        code=refusal.code,
        message=refusal.message,
        trial=refusal.trial,
        checkpoints=list(refusal.checkpoints),
        help=list(refusal.help),
    )


def _plan_from_wire(wire: WirePlan) -> Plan:
    return Plan(
        plan_id=wire.plan_id,
        command=wire.command,
        location=wire.location,
        layout=wire.layout,
        fingerprint=wire.fingerprint,
        reads=tuple((check_path(r.file), _digest(r.sha256)) for r in wire.reads),
        steps=tuple(_step_from_wire(step) for step in wire.steps),
        refusals=tuple(_refusal_from_wire(refusal) for refusal in wire.refusals),
        notes=tuple(wire.notes),
        renames=tuple((r.trial, r.source, r.target) for r in wire.renames),
        undoes=wire.undoes,
        created_by=wire.created_by,
        unsafe=wire.unsafe,
    )


def _step_from_wire(step: WireMove | WireRewrite) -> Step:
    if isinstance(step, WireMove):
        return MoveTree(
            source=check_path(step.source),
            target=check_path(step.target),
            files=tuple(TreeFile(path=_inner(f.path), size=f.size) for f in step.files),
            file_id=step.file_id,
        )
    return ReplaceFile(
        file=check_path(step.file),
        kind=_kind(step.record_kind),
        before=_digest(step.sha256_before),
        after=_digest(step.sha256_after),
        edits=tuple(_edit_from_wire(edit) for edit in step.edits),
        restores=None if step.restores is None else _digest(step.restores),
    )


def _edit_from_wire(edit: WireEdit) -> Edit:
    if edit.op not in _OPS:
        raise UsageError(f"plan cannot be read: {edit.op!r}: not a kind of edit")
    return Edit(op=edit.op, pointer=edit.pointer, before=edit.before, after=edit.after)


def _refusal_from_wire(refusal: WireRefusal) -> Refusal:
    return Refusal(
        code=refusal.code,
        message=refusal.message,
        trial=refusal.trial,
        checkpoints=tuple(refusal.checkpoints),
        help=tuple(refusal.help),
    )


def _kind(text: str) -> RecordKind:
    try:
        return RecordKind(text)
    except ValueError:
        raise UsageError(f"plan cannot be read: {text!r}: not a kind of record") from None


def _digest(text: str) -> str:
    if not is_sha256(text):
        raise UsageError(f"plan cannot be read: {text!r}: not a SHA-256")
    return text


def _inner(path: str) -> str:
    """A path inside a moved folder; empty for a moved file itself."""
    if path and any(part in ("", ".", "..") for part in path.split("/")):
        raise RefusedError(f"plan is unsafe: {path!r}: not a path inside a folder")
    return path
