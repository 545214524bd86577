"""The filesystems that pyarrow pickles: each release calls something of its own.

For a disk pyarrow before 17 calls ``LocalFileSystem._reconstruct`` and later ones
``FileSystem._from_uri``; the calls for S3 and the like take more keywords with every release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ckptctl.codec.values import Call, same, to_json
from ckptctl.migration.names import outcome_in
from ckptctl.migration.need import Need, Place
from ckptctl.model import rays
from ckptctl.model.experiment import Experiment
from ckptctl.model.pickles import Pickle, StoredCall
from ckptctl.model.plan import Edit
from ckptctl.model.wording import listing

__all__ = ["needs"]


def needs(experiment: Experiment, arrow: rays.PyarrowRow) -> Iterator[Need]:
    """One need for what the pyarrow lacks, one for keywords that it does not take."""
    who = f"pyarrow {arrow.version}"
    missing: list[Place] = []
    refused: list[Place] = []
    for pickle in experiment.pickles:
        for call in pickle.calls:
            if arrow.lacks(call.name):
                missing.append(_missing(pickle, call, arrow))
            elif extra := _extra(call, arrow):
                refused.append(_refused(pickle, call, extra))
        missing += _named_only(pickle, arrow)
    for places, words in ((missing, "has no"), (refused, "does not take")):
        if places:
            outcome = max(outcome_in(experiment, place.file) for place in places)
            claims = sorted({place.claim for place in places})
            yield Need(
                message=f"{who} {words} {listing(claims)}: {outcome.words}",
                outcome=outcome,
                places=tuple(places),
            )


def _missing(pickle: Pickle, call: StoredCall, arrow: rays.PyarrowRow) -> Place:
    after = _same_filesystem(call, arrow)
    return _place(pickle, call, call.name, after)


def _same_filesystem(call: StoredCall, arrow: rays.PyarrowRow) -> rays.Call | None:
    for row in rays.pyarrows():
        for form, other in zip(row.local, arrow.local, strict=True):
            if form.name == call.name and call.args is not None and same(form.args, call.args):
                return other
    return None


def _extra(call: StoredCall, arrow: rays.PyarrowRow) -> dict[str, object]:
    """The keywords that are too many, with their values."""
    known = arrow.takes.get(call.name)
    keywords = call.args[0] if call.args else None
    if known is None or not isinstance(keywords, Mapping):
        return {}
    return {key: value for key, value in keywords.items() if key not in known}


def _refused(pickle: Pickle, call: StoredCall, extra: Mapping[str, object]) -> Place:
    """Keywords that say nothing can go; others say something that would be lost."""
    after = None
    keywords = call.args[0] if call.args else None
    if call.args and isinstance(keywords, Mapping) and not any(extra.values()):
        kept = {key: value for key, value in keywords.items() if key not in extra}
        after = rays.Call(call.name, (kept, *call.args[1:]))
    return _place(pickle, call, f"{call.name} with {listing(sorted(extra))}", after)


def _place(pickle: Pickle, call: StoredCall, claim: str, after: rays.Call | None) -> Place:
    edit = None
    if after is not None and call.pointer is not None:
        made = Call(global_=after.name, args=after.args)  # type: ignore[arg-type]
        edit = Edit(
            op="set",
            pointer=call.pointer,
            before={"$sealed": call.name},
            after=to_json(made),
        )
    pointer = pickle.pointer if call.pointer is None else call.pointer
    return Place(file=pickle.file, pointer=pointer, claim=claim, edit=edit)


def _named_only(pickle: Pickle, arrow: rays.PyarrowRow) -> Iterator[Place]:
    """What is named without being called to make something."""
    called = {call.name for call in pickle.calls}
    for name in sorted(pickle.names - called):
        if arrow.lacks(name):
            yield Place(file=pickle.file, pointer=pickle.pointer, claim=name, edit=None)
