"""Classes and functions of Ray's that another Ray has elsewhere, or not at all.

What is missing in the settings of the run makes ``Tuner.restore`` raise; what is missing in the
state, or in what searcher and callbacks left, makes it start over (seen in Ray 2.7 to 2.60).
"""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.codec.pointer import NAMES, Pointer
from ckptctl.migration.need import Need, Outcome, Place
from ckptctl.model.experiment import Experiment, RecordRole
from ckptctl.model.plan import Edit
from ckptctl.model.rays import RayRow
from ckptctl.model.wording import listing

__all__ = ["needs", "outcome_in"]


def needs(experiment: Experiment, ray: RayRow, who: str) -> Iterator[Need]:
    """One need for all names that the Ray lacks."""
    places = []
    for pickle in experiment.pickles:
        for name in sorted(pickle.names):
            if ray.lacks(name):
                pointer = str(Pointer.parse(pickle.pointer) / NAMES / name)
                places.append(
                    Place(
                        file=pickle.file,
                        pointer=pointer,
                        claim=name,
                        edit=_edit(pointer, name, ray.moved(name)),
                    )
                )
    if places:
        outcome = max(outcome_in(experiment, place.file) for place in places)
        missing = sorted({place.claim for place in places})
        yield Need(
            message=f"{who} has no {listing(missing)}: {outcome.words}",
            outcome=outcome,
            places=tuple(places),
        )


def outcome_in(experiment: Experiment, file: str) -> Outcome:
    """What becomes of a restore that cannot load this file."""
    roles = {record.path: record.role for record in experiment.records}
    tuner = roles.get(file) is RecordRole.TUNER
    return Outcome.REFUSES if tuner else Outcome.STARTS_OVER


def _edit(pointer: str, name: str, moved: str | None) -> Edit | None:
    return None if moved is None else Edit(op="set", pointer=pointer, before=name, after=moved)
