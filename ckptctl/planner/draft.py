"""What a planner wants to do, before it is bound to the bytes it was made from."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ckptctl.errors import InternalError
from ckptctl.model.plan import Edit, Refusal

__all__ = ["Draft", "merge"]


class Draft(Struct, frozen=True, kw_only=True):
    """Moves and edits without digests; `assemble` makes a plan of it."""

    moves: tuple[tuple[str, str], ...] = ()
    """(source, target), relative to the experiment, in an order in which no target exists."""
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    """By file, named as it is before the moves."""
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    renames: tuple[tuple[str, str, str], ...] = ()
    """For people: (trial dirname, old name, new name), in save order."""
    unsafe: bool = False
    """Whether some part of it is a remedy that is marked unsafe."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do and nothing is refused."""
        return not (self.moves or self.refusals or any(self.edits.values()))


def merge(*drafts: Draft) -> Draft:
    """All of them as one; `InternalError` where two set one place to different values."""
    edits: dict[str, dict[tuple[str, str], Edit]] = {}
    extra: dict[str, list[Edit]] = {}
    for draft in drafts:
        for file, own in draft.edits.items():
            places = edits.setdefault(file, {})
            for edit in own:
                if edit.op != "set":
                    extra.setdefault(file, []).append(edit)
                elif places.setdefault((edit.op, edit.pointer), edit).after != edit.after:
                    raise InternalError(f"two edits of one place: {file}: {edit.pointer}")
    return Draft(
        moves=tuple(m for draft in drafts for m in draft.moves),
        edits={
            file: (*places.values(), *extra.get(file, ()))
            for file, places in edits.items()
            if places or file in extra
        },
        refusals=tuple(r for draft in drafts for r in draft.refusals),
        notes=tuple(dict.fromkeys(n for draft in drafts for n in draft.notes)),
        renames=tuple(r for draft in drafts for r in draft.renames),
        unsafe=any(draft.unsafe for draft in drafts),
    )
