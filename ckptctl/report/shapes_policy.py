"""The document of the stages that decide what is kept, as types."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ckptctl.report.shapes import Envelope, Finding, LayoutName


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
