"""Which Rays are asked, and what is made with each."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.judge.judge import Option

RAYS = ("2.6.3", "2.7.2", "2.8.1", "2.9.3", "2.24.0", "2.40.0", "2.48.0", "2.54.1", "2.60.0")
TRAIN_V2_RAYS = ("2.48.0", "2.54.1", "2.60.0")
TRAIN_V2 = "train-v2"


def release(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A kind of run of Ray Tune, and how far each further run of it goes."""

    name: str
    told: str
    base: str = "function"
    """The scenario of the judge that makes it."""
    options: dict[str, Option] = field(default_factory=dict)
    again: dict[str, Option] | None = None
    """How it is restored once before anything else is done with it."""
    then: dict[str, Option]
    """How it goes on after a write."""
    last: dict[str, Option]
    """How it goes on after it went on once already."""
    killed: bool = False
    moved: bool = False
    """Whether what is damaged is a copy in another place."""
    ranked: bool = False
    """Whether retention removes checkpoints."""

    @property
    def is_class(self) -> bool:
        return "class" in self.base


SCENARIOS = (
    Scenario(
        name="function",
        told="function trainable, three trials that save at every report; all broke off after the"
        " fourth",
        options={"trials": 3, "fail_at": 4},
        then={"steps": 6},
        last={"steps": 8},
    ),
    Scenario(
        name="class",
        told="class trainable, three trials with `checkpoint_frequency=2`; all broke off after"
        " iteration 8",
        base="class",
        options={"trials": 3, "frequency": 2, "fail_at": 8},
        then={"steps": 11},
        last={"steps": 14},
    ),
    Scenario(
        name="population-based",
        told="`PopulationBasedTraining` over two function trials: one took over the other's"
        " checkpoint, and both broke off",
        base="pbt",
        then={"steps": 6},
        last={"steps": 8},
    ),
    Scenario(
        name="restored",
        told="function trainable, three trials that broke off, were restored, and broke off again;"
        " the damaged one is a copy in another place",
        options={"trials": 3, "fail_at": 3},
        again={"fail_at": 5, "steps": 10},
        then={"steps": 7},
        last={"steps": 9},
        moved=True,
    ),
    Scenario(
        name="failed",
        told="function trainable with `num_to_keep=2` by smallest loss: two trials failed, one had"
        " ended well",
        options={"trials": 3, "keep": 2, "steps": 8, "stagger": 2, "fail_at": 5},
        then={"steps": 8, "stagger": 2},
        last={"steps": 10, "stagger": 2},
        ranked=True,
    ),
    Scenario(
        name="retried",
        told="function trainable with `max_failures=1`: both trials failed, were retried by Ray,"
        " and failed again",
        options={"retry_at": 2, "max_failures": 1, "fail_at": 4},
        then={"steps": 6},
        last={"steps": 8},
    ),
    Scenario(
        name="killed",
        told="function trainable, two trials; the driver was killed with SIGKILL while both ran,"
        " and its staging was lost",
        # Ray before 2.12 stages where the experiment is, unless it is told otherwise.
        options={"steps": 100_000, "local": True},
        then={},
        last={},
        killed=True,
    ),
)

NAMES = (*(scenario.name for scenario in SCENARIOS), TRAIN_V2)


def named(name: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


def cells(versions: tuple[str, ...], names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every version with every scenario that it has."""
    return [
        (version, name)
        for version in versions
        for name in names
        if name != TRAIN_V2 or version in TRAIN_V2_RAYS
    ]
