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
V1 = {
    "2.54.1": [*INDEX, FUNCTION, CLASS, GONE, *REFUSED],
    "2.9.3": INDEX,
}

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
