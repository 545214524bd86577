from __future__ import annotations

import pytest

from ckptctl.errors import InternalError
from ckptctl.model.plan import Edit, Refusal
from ckptctl.planner.draft import Draft, merge


def _set(pointer: str, after: object) -> Edit:
    return Edit(op="set", pointer=pointer, before=0, after=after)


def test_drafts_become_one() -> None:
    refusal = Refusal(code="live", message="alive")
    insert = Edit(op="insert", pointer="list/0", after=1)
    one = Draft(
        moves=(("a", "b"),),
        edits={"f": (_set("x", 1),), "empty": ()},
        notes=("n",),
        renames=(("t", "a", "b"),),
    )
    two = Draft(
        edits={"f": (_set("x", 1), _set("y", 2), insert, insert), "g": (insert,)},
        refusals=(refusal,),
        notes=("n", "m"),
        unsafe=True,
    )
    assert merge(one, two) == Draft(
        moves=(("a", "b"),),
        edits={"f": (_set("x", 1), _set("y", 2), insert, insert), "g": (insert,)},
        refusals=(refusal,),
        notes=("n", "m"),
        renames=(("t", "a", "b"),),
        unsafe=True,
    )
    assert merge() == Draft()


def test_one_place_has_one_value() -> None:
    with pytest.raises(InternalError, match="f: x"):
        merge(Draft(edits={"f": (_set("x", 1),)}), Draft(edits={"f": (_set("x", 2),)}))


def test_a_draft_is_empty_where_nothing_is_done_and_nothing_refused() -> None:
    assert Draft(edits={"f": ()}, notes=("n",)).is_empty
    assert not Draft(edits={"f": (_set("x", 1),)}).is_empty
    assert not Draft(refusals=(Refusal(code="live", message="alive"),)).is_empty
