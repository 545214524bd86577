"""Attributes and keys that another Ray reads and the state has not got.

A restore starts over where a ``StorageContext`` or the state of the run lacks one (seen in Ray 2.7
to 2.60); others are read only later, such as when the searcher makes another trial.
"""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.codec.pointer import Pointer
from ckptctl.migration.need import Need, Outcome, Place
from ckptctl.model.experiment import Experiment
from ckptctl.model.pickles import Pickle, StoredObject
from ckptctl.model.plan import Edit
from ckptctl.model.rays import Default, RayRow, rays
from ckptctl.model.wording import listing

__all__ = ["STORAGE", "needs"]

STORAGE = "StorageContext"
_ROOT = "storage_fs_path"
_RUN = "the state of the run"
_AT_ONCE = (_RUN, f"a {STORAGE}")


def needs(experiment: Experiment, ray: RayRow, who: str) -> Iterator[Need]:
    """One need for each class or part of the state, and one for what is left from another Ray."""
    places: dict[str, list[Place]] = {}
    for pickle in experiment.pickles:
        for stored in pickle.objects:
            called = stored.name.rpartition(":")[2]
            found = _missing(experiment, pickle, stored, ray)
            places.setdefault(f"a {called}", []).extend(found)
    places[_RUN] = list(_keys(experiment, ray))
    for what, own in places.items():
        if own:
            lacking = sorted({place.claim.removeprefix("no ") for place in own})
            at_once = what in _AT_ONCE
            outcome = Outcome.STARTS_OVER if at_once else Outcome.FAILS_LATER
            yield Need(
                message=f"{who} does not go on with {what} without {listing(lacking)}: "
                f"{outcome.words}",
                outcome=outcome,
                places=tuple(own),
            )
    yield from _left_behind(experiment, ray, who)


def _missing(
    experiment: Experiment, pickle: Pickle, stored: StoredObject, ray: RayRow
) -> Iterator[Place]:
    name = (ray.moved(stored.name) or stored.name) if ray.lacks(stored.name) else stored.name
    for field, default in ray.fields.get(name, {}).items():
        if field in stored.fields:
            continue
        value = _value(experiment, stored, field, default)
        yield _place(pickle, stored, f"no {field}", _set(stored, field, value))


def _value(experiment: Experiment, stored: StoredObject, field: str, default: Default) -> Default:
    """What the Ray itself would have put there."""
    if stored.name.endswith(f":{STORAGE}"):
        root = stored.plain.get(_ROOT)
        local = "://" not in (experiment.recorded_root or "")
        if field == "_timestamp":
            return Default(known=True, value=_stamp(experiment))
        if field in ("storage_path", "storage_local_path") and local and isinstance(root, str):
            return Default(known=True, value=root)
    return default


def _stamp(experiment: Experiment) -> str:
    """When the run began, as its state file is called."""
    name = (experiment.state_file or "").rpartition("/")[2]
    return name.removeprefix("experiment_state-").removesuffix(".json")


def _set(stored: StoredObject, field: str, value: Default) -> Edit | None:
    if stored.pointer is None or not value.known:
        return None
    pointer = str(Pointer.parse(stored.pointer) / field)
    return Edit(op="set", pointer=pointer, before=None, after=value.value)


def _place(pickle: Pickle, stored: StoredObject, claim: str, edit: Edit | None) -> Place:
    pointer = pickle.pointer if stored.pointer is None else stored.pointer
    if edit is not None:
        pointer = edit.pointer
    return Place(file=pickle.file, pointer=pointer, claim=claim, edit=edit)


def _keys(experiment: Experiment, ray: RayRow) -> Iterator[Place]:
    for held in experiment.state_keys:
        if held.part != "runner":
            continue
        for key, default in ray.runner.items():
            if key in held.keys:
                continue
            pointer = str(Pointer.parse(held.pointer) / key)
            edit = Edit(op="set", pointer=pointer, after=default.value) if default.known else None
            yield Place(file=held.file, pointer=pointer, claim=f"no {key}", edit=edit)


def _left_behind(experiment: Experiment, ray: RayRow, who: str) -> Iterator[Need]:
    """What a ``StorageContext`` keeps from another Ray: it would tell readers of that one."""
    places = []
    for pickle in experiment.pickles:
        for stored in pickle.objects:
            if not stored.name.endswith(f":{STORAGE}") or stored.pointer is None:
                continue
            known = {f for row in rays() for f in row.fields.get(stored.name, {})}
            for field in sorted((known & stored.fields) - ray.fields.get(stored.name, {}).keys()):
                edit = Edit(
                    op="remove",
                    pointer=str(Pointer.parse(stored.pointer) / field),
                    before=stored.plain.get(field),
                )
                places.append(_place(pickle, stored, field, edit))
    if places:
        kept = sorted({place.claim for place in places})
        yield Need(
            message=f"{who} has no {listing(kept)} in a {STORAGE}: {Outcome.GOES_ON.words}",
            outcome=Outcome.GOES_ON,
            places=tuple(places),
        )
