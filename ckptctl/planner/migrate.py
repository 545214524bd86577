"""`migrate`: the edits that give another Ray and pyarrow what they need of an experiment."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from ckptctl.codec.pointer import Pointer
from ckptctl.migration.need import Need, Place
from ckptctl.migration.needs import LEGACY, TRAIN_V2, needs
from ckptctl.model import rays
from ckptctl.model.experiment import Experiment, RecordRole
from ckptctl.model.pickles import StoredCode
from ckptctl.model.plan import Edit, Refusal
from ckptctl.planner.draft import Draft

__all__ = ["plan_migrate"]

_SHIPPED = frozenset({"ray", "pyarrow", "numpy", "uuid", "__main__"}) | sys.stdlib_module_names


def plan_migrate(
    experiment: Experiment,
    ray: str,
    pyarrow: str | None,
    *,
    python: str | None = None,
    unsafe: bool = False,
) -> Draft:
    """What carries the records over; what cannot be carried is refused, or with `unsafe` left.

    Raises:
        UsageError: a version is none or unknown.
    """
    found = needs(experiment, ray, pyarrow)
    refusal = _refuse(experiment, found, ray)
    if refusal is not None:
        return Draft(refusals=(refusal,))
    left = [place for need in found for place in need.left]
    refusals = [*_unread(experiment), *_left(found), *_code(experiment, python)]
    notes = [need.message for need in found]
    notes += [*_codes_python(experiment, python), *_users_own(experiment)]
    if refusals and unsafe:
        notes += [f"left as it is: {refusal.message}" for refusal in refusals]
    edits = _edits(place for need in found for place in need.places)
    return Draft(
        edits=edits,
        refusals=() if unsafe else tuple(refusals),
        notes=tuple(notes) if edits or refusals or left else (),
        unsafe=unsafe and bool(refusals),
    )


def _refuse(experiment: Experiment, found: tuple[Need, ...], ray: str) -> Refusal | None:
    """Why nothing of the experiment can be carried over at all."""
    problems = (*experiment.problems, *(p for t in experiment.trials for p in t.problems))
    unread = [p for p in problems if p.role is RecordRole.STATE]
    if experiment.state_file is None or unread:
        reason = unread[0].reason if unread else "there is none"
        return Refusal(
            code="unreadable",
            message=f"the state of {experiment.location} cannot be read: {reason}",
            help=("scan says what is wrong with it",),
        )
    if experiment.layout == LEGACY:
        return Refusal(
            code="not-carried",
            message=f"{found[0].message}, and no edit carries it over",
            help=("finish it with Ray 2.6, or begin anew from its latest checkpoint",),
        )
    if experiment.layout == TRAIN_V2 and any(need.left for need in found):
        return Refusal(
            code="not-carried",
            message=f"Ray {ray} has no Train V2, and no edit makes a run of Train V1 of one",
            help=("name a Ray that has it",),
        )
    return None


def _unread(experiment: Experiment) -> Iterator[Refusal]:
    """Files that a restore reads, and nobody knows what they need."""
    read = {pickle.file for pickle in experiment.pickles}
    for record in experiment.records:
        if record.role in (RecordRole.TUNER, RecordRole.SEARCHER) and record.path not in read:
            yield Refusal(
                code="unreadable",
                message=f"{record.path} cannot be read, so that nobody knows what it needs",
                help=(
                    "scan says what is wrong with it",
                    "--unsafe carries the rest over and leaves this as it is",
                ),
            )


def _edits(places: Iterable[Place]) -> dict[str, tuple[Edit, ...]]:
    edits: dict[str, dict[tuple[str, str], Edit]] = {}
    for place in places:
        if place.edit is not None:
            own = edits.setdefault(place.file, {})
            own[place.edit.op, place.edit.pointer] = place.edit
    return {file: tuple(own.values()) for file, own in edits.items()}


def _left(found: Iterable[Need]) -> Iterator[Refusal]:
    for need in found:
        if need.left:
            why = "" if need.before else ", and nothing there takes its place"
            yield Refusal(
                code="not-carried",
                message=f"{need.message}{why}",
                details=tuple(_shown(place) for place in need.left),
                help=(
                    *((need.before,) if need.before else ()),
                    "--unsafe carries the rest over and leaves this as it is",
                ),
            )


def _shown(place: Place) -> str:
    return f"{place.claim}   {place.file} {place.pointer}"


def _code(experiment: Experiment, python: str | None) -> Iterator[Refusal]:
    """Functions that are kept by value for another Python than the one that is named."""
    if python is None:
        return
    minor = ".".join(map(str, rays.parse_version(python)[:2]))
    places = [
        f"{code.name}, for Python {' or '.join(sorted(code.pythons)) or 'unknown'}   {file} {at}"
        for file, at, code in _functions(experiment)
        if minor not in code.pythons
    ]
    if places:
        yield Refusal(
            code="not-carried",
            message=f"functions that are kept by value are not for Python {minor}",
            details=tuple(places),
            help=(
                "restore it with the Python that wrote it",
                "--unsafe carries the rest over and leaves this as it is",
            ),
        )


def _functions(experiment: Experiment) -> Iterator[tuple[str, str, StoredCode]]:
    for pickle in experiment.pickles:
        for code in pickle.code:
            yield pickle.file, pickle.pointer, code


def _codes_python(experiment: Experiment, python: str | None) -> Iterator[str]:
    """Nothing tells which Python the target runs on, unless the user does."""
    found = list(_functions(experiment))
    if not found or python is not None:
        return
    told = {" or ".join(sorted(code.pythons)) or "unknown" for _, _, code in found}
    files = sorted({file for file, _, _ in found})
    yield (
        f"functions are kept by value in {', '.join(files)}: they need the Python that wrote them "
        f"({', '.join(sorted(told))}); --to-python VERSION has it checked"
    )


def _users_own(experiment: Experiment) -> Iterator[str]:
    """Classes that only the user's own environment can have."""
    places: dict[str, list[str]] = {}
    for pickle in experiment.pickles:
        for name in sorted(pickle.names):
            if name.partition(":")[0].partition(".")[0] not in _SHIPPED:
                pointer = str(Pointer.parse(pickle.pointer))
                places.setdefault(name, []).append(f"{pickle.file} {pointer}")
    for name, own in places.items():
        more = f" and {len(own) - 1} more" if len(own) > 1 else ""
        yield f"the target has to have {name} ({own[0]}{more})"
