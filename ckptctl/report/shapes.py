"""The documents as types: what every field means, and what the JSON schemas are made from.

`document` makes the values; the tests hold both against each other, so that no field is missing
here and none is there that has no meaning.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

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


class StageSetting(Struct):
    """One setting of one stage."""

    stage: Literal["lightning", "report", "ray", "tune"]
    setting: str
    value: Annotated[
        int | float | bool | str | None, Meta(description="null: not set, or not known")
    ]
    applies: Annotated[
        Literal["yes", "no", "refused", "training-loop"],
        Meta(description="training-loop: the trainer's own loop reads it, and Tune does not"),
    ]
    exact: Annotated[bool, Meta(description="false: inferred from what the records allow")]
    why: str
    file: Annotated[str | None, Meta(description="relative to the experiment")]
    pointer: str | None


class StagesOfTrial(Struct):
    """The stages of one trial."""

    trial_id: str | None
    dirname: str
    runner: str
    trainer: Annotated[str | None, Meta(description="the class of a trainer of Ray Train")]
    settings: list[StageSetting]
    deleted_next: Annotated[
        list[str], Meta(description="what one more save deletes, if it ranks above all of it")
    ]


class StagesOfExperiment(Struct):
    """The stages of one experiment."""

    location: str
    name: str
    layout: LayoutName
    ray_version: str | None
    trials: list[StagesOfTrial]


class PolicyDocument(Envelope, kw_only=True):
    """`ckptctl policy --json`."""

    command: Literal["policy"]
    experiments: list[StagesOfExperiment]
    findings: list[Finding]


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
