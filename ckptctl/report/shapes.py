"""The documents as types: what every field means, and what the JSON schemas are made from.

`document` makes the values; the tests hold both against each other, so that no field is missing
here and none is there that has no meaning.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

LayoutName = Annotated[str, Meta(description="ray-tune, ray-train-v2, plain, … ; more may come")]
NotFinite = Literal["nan", "inf", "-inf"]
Number = int | float | NotFinite
Metric = Annotated[
    int | float | bool | str | None,
    Meta(description='as it was reported; "nan", "inf" and "-inf" where JSON has no number'),
]
Count = Annotated[int, Meta(ge=0)]


class Tool(Struct):
    """What wrote the document."""

    name: Literal["ckptctl"]
    version: str


class Envelope(Struct, kw_only=True):
    """What every document begins with."""

    format_version: Literal["1.0"]
    tool: Tool
    command: str


class Checkpoint(Struct):
    """A checkpoint folder, or a record of one that is gone."""

    name: str
    index: Annotated[
        int | None, Meta(description="the number of checkpoint_<digits> or checkpoint_<digits>-…")
    ]
    state: Literal["complete", "partial", "empty", "temporary", "missing"]
    training_iteration: int | None
    metrics: Annotated[
        dict[str, Metric], Meta(description="flat; nested keys are joined by a slash")
    ]
    files: Count
    size_bytes: Count
    recorded_by: list[Literal["storage", "trial", "trainable", "session"]]
    saved: Annotated[Count, Meta(description="its place in the order of the saves, from 0")]


class Book(Struct):
    """What one witness says of a trial."""

    latest_index: Annotated[
        int | None, Meta(description="the last index used, whatever the Ray version counts")
    ]
    latest_checkpoint: str | None
    next_index: Annotated[int | None, Meta(description="what the next save would take")]
    checkpoints: list[str]


class Books(Struct):
    """The witnesses side by side; null where one says nothing."""

    storage: Annotated[Book | None, Meta(description="the folders themselves")]
    trial: Annotated[Book | None, Meta(description="the driver's record of the trial")]
    trainable: Annotated[Book | None, Meta(description="what the class trainable left")]
    session: Annotated[Book | None, Meta(description="what the result log says")]


class Best(Struct):
    """The best checkpoint by the trial's own metric and mode."""

    name: str
    metric: str
    mode: Literal["min", "max"]
    value: Number


class Trial(Struct):
    """One trial."""

    trial_id: str | None
    dirname: Annotated[str, Meta(description='relative to the experiment; "." is its folder')]
    status: str | None
    checkpoints: list[Checkpoint]
    books: Books
    latest: Annotated[str | None, Meta(description="the newest complete checkpoint")]
    best: Best | None


class Experiment(Struct):
    """One experiment."""

    location: Annotated[str, Meta(description="as it was named, without credentials")]
    name: str
    layout: LayoutName
    ray_version: str | None
    state_file: str | None
    recorded_root: str | None
    pending: Annotated[str | None, Meta(description="the plan id of an interrupted apply")]
    trials: list[Trial]


class Evidence(Struct):
    """One witness's side of a disagreement, and where it is written."""

    witness: str
    claim: str
    file: Annotated[str, Meta(description="relative to the experiment")]
    pointer: Annotated[str, Meta(description="the place inside the file; empty for all of it")]


class Remedy(Struct):
    """What mends a finding."""

    applicability: Literal["safe", "unsafe", "manual"]
    command: Annotated[str | None, Meta(description="ready to paste")]
    note: str


class Finding(Struct):
    """One disagreement."""

    code: Annotated[str, Meta(pattern="^CKP[0-9]{3}$")]
    rule: str
    severity: Literal["error", "warning", "info"]
    experiment: Annotated[str, Meta(description="the experiment's location")]
    trial: Annotated[str | None, Meta(description="the trial's dirname")]
    checkpoint: Annotated[str | None, Meta(description="the first of `checkpoints`")]
    checkpoints: list[str]
    message: str
    evidence: list[Evidence]
    remedy: Remedy | None


class Summary(Struct):
    """How much was found; checkpoints are those on storage."""

    experiments: Count
    trials: Count
    checkpoints: Count
    size_bytes: Count
    errors: Count
    warnings: Count
    infos: Count


class ScanDocument(Envelope, kw_only=True):
    """`ckptctl scan --json`."""

    command: Literal["scan"]
    experiments: list[Experiment]
    findings: list[Finding]
    summary: Summary


class ErrorBody(Struct, kw_only=True):
    """What failed, and what to do next."""

    code: str
    exit_code: int
    message: str
    hint: str | None
    location: str | None
    reasons: Annotated[list[str], Meta(description="only where a plan was refused")] = []
    changed: Annotated[list[str], Meta(description="only where a plan is stale")] = []


class ErrorDocument(Struct):
    """The one line on stderr of a call with `--json` that failed."""

    error: ErrorBody


class Pick(Struct):
    """The answer for one trial."""

    location: Annotated[str, Meta(description="of the experiment")]
    trial_id: str | None
    trial: str
    path: Annotated[str | None, Meta(description="relative to the experiment")]
    checkpoint: Checkpoint | None


class PicksDocument(Envelope, kw_only=True):
    """`ckptctl latest --json` and `ckptctl best --json`."""

    command: Literal["latest", "best"]
    checkpoints: list[Pick]


class Entry(Struct):
    """One apply."""

    plan_id: str
    entry: str
    command: str | None
    begun: str | None
    applied_at: str | None
    state: Literal["pending", "applied", "undone"]
    steps: Count
    verified: bool
    undoes: str | None
    damage: str | None


class HistoryDocument(Envelope, kw_only=True):
    """`ckptctl history --json`, the newest first."""

    command: Literal["history"]
    location: str
    entries: list[Entry]


class ComparedFile(Struct):
    """One name, and what both places have under it."""

    mark: Annotated[
        Literal["=", "*", "+", "-"], Meta(description="the same, differs, only in A, only in B")
    ]
    path: str
    size_a: Count | None
    size_b: Count | None
    reason: Literal["kind", "size", "content"] | None


class DiffSummary(Struct):
    """How many names have each mark."""

    same: Count
    differ: Count
    only_a: Count
    only_b: Count


class DiffDocument(Envelope, kw_only=True):
    """`ckptctl diff --json`."""

    command: Literal["diff"]
    a: str
    b: str
    identical: bool
    files: list[ComparedFile]
    summary: DiffSummary


class Section(Struct):
    """A part of a rule's page."""

    heading: str
    text: str


class Rule(Struct):
    """One finding that exists."""

    code: Annotated[str, Meta(pattern="^CKP[0-9]{3}$")]
    rule: str
    severity: Literal["error", "warning", "info"]
    since: str
    summary: str
    sections: list[Section]


class RulesDocument(Envelope, kw_only=True):
    """`ckptctl rules --json`."""

    command: Literal["rules"]
    rules: list[Rule]
