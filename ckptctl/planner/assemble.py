"""From a draft and the bytes it was made from to a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ckptctl.codec.errors import CodecError
from ckptctl.errors import StalePlanError
from ckptctl.model.experiment import Experiment, RecordFile, RecordKind, RecordRole
from ckptctl.model.fingerprint import fingerprint_of
from ckptctl.model.plan import Edit, MoveTree, Plan, Refusal, ReplaceFile, TreeFile
from ckptctl.planner.draft import Draft
from ckptctl.planner.ordering import order_steps
from ckptctl.planner.routing import Move, order_moves

__all__ = ["ApplyEdits", "assemble"]

ApplyEdits: TypeAlias = Callable[[bytes, RecordKind, Sequence[Edit]], bytes]
"""`codec.edit.apply_edits`: raises `CodecError` where an edit does not apply."""


def assemble(  # noqa: PLR0913  each is another part of what the plan is bound to
    experiment: Experiment,
    draft: Draft,
    contents: Mapping[str, bytes],
    trees: Mapping[str, tuple[TreeFile, ...]],
    file_ids: Mapping[str, str],
    *,
    command: str,
    apply_edits: ApplyEdits,
) -> Plan:
    """The plan that does what `draft` wants; its id is left to `journal.format.with_id`.

    `contents` holds the bytes of every file with edits, `trees` and `file_ids` what each moved
    folder holds and is known by; all by path as it is before the moves. An edit that does not
    apply becomes a refusal; `StalePlanError` where bytes are not those that were scanned.
    """
    records = {record.path: record for record in experiment.records}
    ordered = order_moves(draft.moves)
    moves, moved = _moves(ordered, trees, file_ids), _Moved(ordered)
    rewrites: list[ReplaceFile] = []
    refusals = list(draft.refusals)
    for file, edits in draft.edits.items():
        step = _rewrite(file, edits, contents.get(file), records.get(file), apply_edits)
        if isinstance(step, Refusal):
            refusals.append(step)
        elif step is not None:
            rewrites.append(replace(step, file=moved.after(file)))
    roles = {moved.after(path): record.role for path, record in records.items()}
    reads = _reads(experiment)
    return Plan(
        plan_id="",
        command=command,
        location=experiment.location,
        layout=experiment.layout,
        fingerprint=fingerprint_of(reads, _first_moves(moves)),
        reads=reads,
        steps=order_steps(moves, rewrites, roles),
        refusals=tuple(refusals),
        notes=(*draft.notes, *_staging_note(experiment, rewrites, records)),
        renames=draft.renames,
        unsafe=draft.unsafe,
    )


def _staging_note(
    experiment: Experiment, rewrites: Sequence[ReplaceFile], records: Mapping[str, RecordFile]
) -> tuple[str, ...]:
    """Ray uploads its staging folder over the storage before it looks there."""
    logs = (RecordRole.RESULT_LOG, RecordRole.PROGRESS)
    roles = {records[step.file].role for step in rewrites if step.file in records}
    if experiment.staging is None or roles.isdisjoint(logs):
        return ()
    note = (
        f"before a restore, move {experiment.staging} away on the machine that drives it: Ray "
        "would put the result logs of that copy over these"
    )
    return (note,)


def _rewrite(
    file: str,
    edits: Sequence[Edit],
    data: bytes | None,
    record: RecordFile | None,
    apply_edits: ApplyEdits,
) -> ReplaceFile | Refusal | None:
    if not edits:
        return None
    if data is None or record is None:
        return _unreadable(file, "it was not read")
    before = hashlib.sha256(data).hexdigest()
    if record.sha256 not in ("", before):
        raise StalePlanError(
            f"{file} changed while the plan was made",
            changed=(file,),
            hint="run the command again",
        )
    try:
        edited = apply_edits(data, record.kind, edits)
    except CodecError as error:
        return _unreadable(file, str(error))
    after = hashlib.sha256(edited).hexdigest()
    if after == before:
        return None
    return ReplaceFile(file=file, kind=record.kind, before=before, after=after, edits=tuple(edits))


def _unreadable(file: str, reason: str) -> Refusal:
    return Refusal(
        code="unreadable",
        message=f"{file} cannot be edited: {reason}",
        help=("scan says what is wrong with it",),
    )


def _reads(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    return tuple(
        sorted(
            (record.path, record.sha256)
            for record in experiment.records
            if record.sha256 and record.role is not RecordRole.SUPERSEDED_STATE
        )
    )


def _moves(
    moves: Sequence[Move],
    trees: Mapping[str, tuple[TreeFile, ...]],
    file_ids: Mapping[str, str],
) -> list[MoveTree]:
    """Each move with what its folder holds, which a temporary name does not change."""
    origin: dict[str, str] = {}
    found: list[MoveTree] = []
    for source, target in moves:
        first = origin.pop(source, source)
        origin[target] = first
        found.append(
            MoveTree(
                source=source,
                target=target,
                files=trees.get(first, ()),
                file_id=file_ids.get(first),
            )
        )
    return found


def _first_moves(moves: Sequence[MoveTree]) -> list[MoveTree]:
    """The moves that begin at what is there now, and not at a temporary name."""
    reached: set[str] = set()
    first: list[MoveTree] = []
    for move in moves:
        if move.source not in reached:
            first.append(move)
        reached.discard(move.source)
        reached.add(move.target)
    return first


class _Moved:
    """Where files lie once all folders have moved: without going through all moves for each."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._moves: dict[str, list[tuple[int, str]]] = {}
        """By source: when it moves, and where to."""
        for number, (source, target) in enumerate(moves):
            self._moves.setdefault(source, []).append((number, target))

    def after(self, path: str) -> str:
        """The path of a file after all moves, of which several may move it."""
        begin = 0
        while (step := self._next(path, begin)) is not None:
            number, source, target = step
            path = f"{target}{path.removeprefix(source)}"
            begin = number + 1
        return path

    def _next(self, path: str, begin: int) -> tuple[int, str, str] | None:
        """The first move from one on that takes a path along."""
        found: list[tuple[int, str, str]] = []
        folder = path
        while "/" in folder:
            folder = folder.rpartition("/")[0]
            known = self._moves.get(folder, ())
            found += [(at, folder, target) for at, target in known if at >= begin][:1]
        return min(found, default=None)
