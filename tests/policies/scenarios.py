"""The jobs that are run with the integration installed."""

from __future__ import annotations

from tests.policies.jobs import Job

NAMING = "checkpoint_{training_iteration:06d}-{loss:.4f}"

INDEX: list[Job] = [
    {
        "kind": "class",
        "name": "index",
        "index": "training_iteration",
        "steps": 100,
        "fail_at": 52,
        "config": {"checkpoint_frequency": 5},
    },
    {"kind": "class", "name": "index", "index": "training_iteration", "restore": True},
]
FUNCTION: Job = {
    "kind": "function",
    "name": "function",
    "naming": NAMING,
    "steps": 7,
    "every": 2,
    "fail_at": 4,
    "retries": 1,
}
CLASS: Job = {
    "kind": "class",
    "name": "class",
    "naming": NAMING,
    "steps": 7,
    "fail_at": 4,
    "retries": 1,
    "config": {"checkpoint_frequency": 2, "num_to_keep": 2},
}
GONE = FUNCTION | {"name": "gone", "retries": 0}
"""It is restored where there is no ckptctl."""
REFUSED: list[Job] = [
    {"kind": "function", "name": "function-frequency", "config": {"checkpoint_frequency": 2}},
    {"kind": "trainer", "name": "trainer-at-end", "config": {"checkpoint_at_end": False}},
]
RESTORED: list[Job] = [
    {
        "kind": "class",
        "name": "restored",
        "naming": NAMING,
        "steps": 7,
        "fail_at": 5,
        "config": {"checkpoint_frequency": 2, "checkpoint_at_end": True},
    },
    {"kind": "class", "name": "restored", "naming": NAMING, "restore": True},
]
SEQUENTIAL: Job = {
    "kind": "class",
    "name": "sequential",
    "index": "sequential",
    "steps": 7,
    "fail_at": 4,
    "retries": 1,
    "config": {"checkpoint_frequency": 2},
}
UNSAVED = SEQUENTIAL | {"name": "unsaved", "fail_at": None, "fail_save_at": 4}
"""The row of iteration 4 is written, its save fails, and both are made again."""
UNHOOKED: list[Job] = [
    {
        "kind": "class",
        "name": "unhooked",
        "steps": 5,
        "fail_at": 3,
        "config": {"checkpoint_frequency": 2},
    },
    {"kind": "class", "name": "unhooked", "index": "training_iteration", "restore": True},
]
"""It is begun without the hook, and goes on with it."""
ANSWERS: Job = {"kind": "answers", "name": "answers", "template": NAMING}
PAUSED: list[Job] = [
    {"kind": "pbt", "of": "class", "name": "synch", "naming": NAMING, "steps": 8, "by_acc": True},
    {
        "kind": "pbt",
        "of": "class",
        "name": "asynch",
        "naming": NAMING,
        "steps": 8,
        "synch": False,
        "config": {"checkpoint_frequency": 2, "num_to_keep": 3},
    },
    {"kind": "halving", "name": "halving", "naming": NAMING, "steps": 8},
]
"""Schedulers save here, or have trials saved twice with one result."""
ASKING: Job = {"kind": "class", "name": "asking", "index": "step", "steps": 5, "asks_at": 3}
"""Saved where its result asks for it, and at the end; the policy's metric is never reported."""
CLASSES = [CLASS, *RESTORED, SEQUENTIAL, UNSAVED]
V1 = {
    "2.54.1": [*INDEX, FUNCTION, *CLASSES, GONE, *REFUSED, ANSWERS],
    "2.54.1-more": [ASKING, *UNHOOKED, *PAUSED],
    "2.9.3": [*INDEX, CLASS, *RESTORED, UNSAVED],
}
"""By Ray, in parts that each are one run of it."""
NAMED = [*INDEX, FUNCTION, *CLASSES, ASKING, *UNHOOKED, *PAUSED]
"""What `make policies` asks every Ray of `NAMED_RAYS`."""
NAMED_RAYS = ("2.8.1", "2.9.3", "2.40.0", "2.54.1", "2.60.0")

RANKED = {
    "num_to_keep": 2,
    "checkpoint_score_attribute": "loss",
    "checkpoint_score_order": "min",
}
V2: list[Job] = [
    {
        "kind": "v2",
        "name": "v2",
        "naming": NAMING,
        "steps": 5,
        "workers": 2,
        "fail_at": 3,
        "retries": 1,
        "config": RANKED,
    },
    {"kind": "v2", "name": "v2-hooked", "index": "sequential", "steps": 2, "workers": 1},
]
