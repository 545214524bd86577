"""What an apply will do: moves of folders and edits of records, and nothing else."""

from __future__ import annotations

from msgspec import Struct, field

from ckptctl.model.experiment import RecordKind

PLAN_FORMAT = 1
"""The version of the saved plan; a newer one is refused with a sentence."""


class Edit(Struct, frozen=True, kw_only=True):
    """One change inside a record.

    `op` is ``set``, ``insert`` or ``remove``; `before` and `after` are JSON-able, in the value
    language of `codec.values`. `before` is None where it is not compared.
    """

    op: str
    pointer: str
    before: object = None
    after: object = None


class TreeFile(Struct, frozen=True, kw_only=True):
    """A file inside a moved folder: enough to know the folder again."""

    path: str
    """Relative to the folder."""
    size: int


class MoveTree(Struct, frozen=True, kw_only=True):
    """Move one folder to a name that does not exist; its parents are made where missing."""

    source: str
    """Relative to the experiment."""
    target: str
    files: tuple[TreeFile, ...]
    """What the folder held when the plan was made, in order of path."""
    file_id: str | None = None
    """The folder's identity on a disk (device and inode), where names alone cannot tell."""


class ReplaceFile(Struct, frozen=True, kw_only=True):
    """Replace a record's bytes with the same bytes, edited."""

    file: str
    """Relative to the experiment."""
    kind: RecordKind
    before: str
    """SHA-256 of the bytes the edits apply to, in hex."""
    after: str
    """SHA-256 of the bytes that come out."""
    edits: tuple[Edit, ...]
    restores: str | None = None
    """Undo: the blob (by SHA-256) whose bytes come back; no edits are needed then."""


Step = MoveTree | ReplaceFile


class Refusal(Struct, frozen=True, kw_only=True):
    """One reason why a plan must not be applied."""

    code: str
    """``collision``, ``metric-missing``, ``metric-not-finite``, ``order``, ``bad-name``,
    ``live``, ``unsafe``, ``unreadable``."""
    message: str
    trial: str | None = None
    checkpoints: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    """Each line a sentence or a command that would pass."""
    details: tuple[str, ...] = ()
    """One line for each checkpoint concerned: its name, its values, the name it would get."""


class Plan(Struct, frozen=True, kw_only=True):
    """A frozen, saveable list of steps, bound to what was seen when it was made."""

    plan_id: str
    """A hash of the content."""
    command: str
    """The verb that made it: ``rename``, ``reindex`` or ``undo``."""
    location: str
    layout: str
    fingerprint: str
    """A hash over `reads` and the folders that the steps move."""
    reads: tuple[tuple[str, str], ...] = ()
    """Every record the plan was made from, as (path, SHA-256)."""
    steps: tuple[Step, ...] = ()
    """In the order in which they are done."""
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    """What the plan does beside the obvious, one sentence each."""
    undoes: str | None = None
    """The journal entry that this plan takes back."""
    renames: tuple[tuple[str, str, str], ...] = ()
    """For people: (trial dirname, old name, new name), in save order."""
    created_by: str = ""
    unsafe: bool = False
    """Whether some step is a remedy that is marked unsafe."""

    @property
    def moves(self) -> tuple[MoveTree, ...]:
        """The steps that move folders."""
        return tuple(s for s in self.steps if isinstance(s, MoveTree))

    @property
    def rewrites(self) -> tuple[ReplaceFile, ...]:
        """The steps that rewrite records."""
        return tuple(s for s in self.steps if isinstance(s, ReplaceFile))


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a plan."""

    applied: bool
    steps_done: int
    verified: bool
    entry: str | None = None
    """The journal entry that holds the way back."""
    notes: tuple[str, ...] = field(default_factory=tuple)
