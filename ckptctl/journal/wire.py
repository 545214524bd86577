"""The JSON shapes of a plan and of its steps, checked field by field when read."""

from __future__ import annotations

from typing import Any

import msgspec


class WireEdit(msgspec.Struct, kw_only=True):
    """One change inside a record."""

    op: str
    pointer: str
    before: Any = None
    after: Any = None


class WireFile(msgspec.Struct, kw_only=True):
    """A file inside a moved folder."""

    path: str
    size: int


class WireMove(
    msgspec.Struct,
    kw_only=True,
    tag_field="kind",
    tag="move",
    rename={"source": "from", "target": "to"},
):
    """A folder that moves."""

    source: str
    target: str
    files: list[WireFile]
    file_id: str | None = None


class WireRewrite(msgspec.Struct, kw_only=True, tag_field="kind", tag="rewrite"):
    """A record that is rewritten."""

    file: str
    record_kind: str
    edits: list[WireEdit]
    sha256_before: str
    sha256_after: str
    restores: str | None = None


class WireRead(msgspec.Struct, kw_only=True):
    """A record that the plan was made from."""

    file: str
    sha256: str


class WireRefusal(msgspec.Struct, kw_only=True):
    """A reason not to apply."""

    code: str
    message: str
    trial: str | None = None
    checkpoints: list[str] = []
    help: list[str] = []


class WireRename(msgspec.Struct, kw_only=True, rename={"source": "from", "target": "to"}):
    """A rename as people see it."""

    trial: str
    source: str
    target: str


class WirePlan(msgspec.Struct, kw_only=True):
    """A whole plan."""

    format: int
    plan_id: str
    command: str
    location: str
    layout: str
    fingerprint: str
    reads: list[WireRead]
    steps: list[WireMove | WireRewrite]
    refusals: list[WireRefusal] = []
    notes: list[str] = []
    renames: list[WireRename] = []
    undoes: str | None = None
    created_by: str = ""
    unsafe: bool = False
