"""The document of plans and of what became of them, as types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ckptctl.report.shapes import Count, Envelope, LayoutName


class Move(Struct, tag_field="kind", tag="move"):
    """A folder that gets another name."""

    source: str = field(name="from")
    target: str = field(name="to")


class Edit(Struct):
    """One change inside a record."""

    op: Literal["set", "insert", "remove"]
    pointer: str
    before: Any
    after: Any


class Rewrite(Struct, tag_field="kind", tag="rewrite"):
    """A record that is written anew."""

    file: str
    edits: list[Edit]
    restores: Annotated[
        str | None, Meta(description="undo: the SHA-256 of the content that comes back")
    ]


class Refusal(Struct):
    """One reason why a plan is not applied."""

    code: str
    message: str
    trial: str | None
    checkpoints: list[str]
    details: list[str]
    help: list[str]


class Rename(Struct):
    """A checkpoint's old and new name."""

    trial: str
    source: str = field(name="from")
    target: str = field(name="to")


class Outcome(Struct):
    """What became of a plan."""

    applied: bool
    steps_done: Count
    verified: bool
    entry: Annotated[str | None, Meta(description="the journal entry that holds the way back")]
    notes: list[str]


class Plan(Struct):
    """What will be, or was, done about one experiment."""

    plan_id: str
    location: str
    layout: LayoutName
    fingerprint: Annotated[str, Meta(description="of all that the plan was made from")]
    steps: list[Move | Rewrite]
    refusals: list[Refusal]
    notes: list[str]
    renames: list[Rename]
    unsafe: bool
    undoes: str | None
    outcome: Outcome | None


class PlansDocument(Envelope, kw_only=True):
    """`--json` of the verbs that write."""

    command: Literal["rename", "reindex", "apply", "undo", "resume", "migrate"]
    plans: list[Plan]
