"""What each Ray does with each setting for each trainer, beside what `ckptctl policy` says of it.

Ray is asked by running it: once with ranking and retention, once with each of the two settings
that not every trainer takes. A setting that Ray refuses ends the job before anything is trained.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ckptctl import api
from tests.policies.jobs import Job, run

KINDS = ("class", "function", "trainer", "torch", "xgboost", "xgboost-own-loop", "lightgbm", "v2")
RAYS = ("2.6.3", "2.40.0", "2.54.1")
NO_OWN_LOOP = ("2.6.3", "2.40.0")
"""Rays whose XGBoostTrainer takes no training loop of the user's own."""
NO_V2 = ("2.6.3", "2.40.0")
_METRIC = {"xgboost": "train-logloss", "lightgbm": "train-binary_logloss"}
_OWN = {"xgboost-own-loop": "train-logloss"}

ASKED: dict[str, dict[str, Any]] = {
    "frequency": {"checkpoint_frequency": 2},
    "at_end_true": {"checkpoint_at_end": True},
    "at_end_false": {"checkpoint_at_end": False},
}


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One trainer of one Ray: what it did, and what `policy` says."""

    version: str
    kind: str
    ray: dict[str, str]
    """By what was asked: ``refused``, or the iterations of the saves that are left."""
    told: dict[str, str]
    """By setting, what `policy` says of the run with ranking."""
    wrong: tuple[str, ...]
    """Where the two differ."""


def kinds_of(version: str) -> tuple[str, ...]:
    """The trainers that a Ray has."""
    left_out = ("xgboost-own-loop",) * (version in NO_OWN_LOOP) + ("v2",) * (version in NO_V2)
    return tuple(kind for kind in KINDS if kind not in left_out)


def _job(kind: str, name: str, storage: Path, config: dict[str, Any]) -> Job:
    job: Job = {"kind": kind.partition("-")[0], "name": name, "storage": str(storage)}
    return job | {"config": config, "own_loop": kind.endswith("own-loop"), "workers": 1}


def ask(version: str, storage: Path, rays: Path) -> list[Seen]:
    """Run every trainer of one Ray, and look at what is left."""
    found: list[Seen] = []
    for v2 in (False, True):
        kinds = [kind for kind in kinds_of(version) if (kind == "v2") is v2]
        jobs: list[tuple[str, str, Job]] = []
        for kind in kinds:
            metric = _METRIC.get(kind) or _OWN.get(kind) or "loss"
            ranked = {
                "num_to_keep": 2,
                "checkpoint_score_attribute": metric,
                "checkpoint_score_order": "min",
            }
            saves = {"checkpoint_frequency": 1} if kind in ("class", *_METRIC) else {}
            asked = {"ranked": ranked | saves} | ASKED
            jobs += [(kind, w, _job(kind, f"{kind}-{w}", storage, c)) for w, c in asked.items()]
        if jobs:
            answers = run(version, [job for _, _, job in jobs], v2=v2, rays=rays)
            ended = {(kind, w): a["error"] for (kind, w, _), a in zip(jobs, answers, strict=True)}
            found += [_seen(version, kind, storage, ended) for kind in kinds]
    return found


def _seen(version: str, kind: str, storage: Path, ended: dict[tuple[str, str], str | None]) -> Seen:
    outcome = {w: _outcome(storage / f"{kind}-{w}", ended[kind, w]) for w in ("ranked", *ASKED)}
    told = _told(storage / f"{kind}-ranked") if not ended[kind, "ranked"] else {}
    own = {w: _told(storage / f"{kind}-{w}") for w in ASKED if not ended[kind, w]}
    return Seen(
        version=version,
        kind=kind,
        ray=outcome,
        told={name: f"{value} ({applies})" for name, (value, applies) in told.items()},
        wrong=tuple(_differences(kind, outcome, told, own)),
    )


def _outcome(place: Path, error: str | None) -> str:
    if error is not None:
        refused = ("does not support", "cannot be", "not supported", "deprecat", "DEPRECATED")
        lowered = error.lower()
        return "refused" if any(r.lower() in lowered for r in refused) else f"failed: {error[:300]}"
    saves = [c for e in api.scan(str(place)) for t in e.trials for c in t.saves]
    told = [c.training_iteration if c.training_iteration is not None else c.saved for c in saves]
    return json.dumps(told)


def _told(place: Path) -> dict[str, tuple[Any, str]]:
    ((stages, _),) = api.policy(str(place))
    return {s.name: (s.value, s.applies.value) for s in stages.trials[0].settings}


def _differences(
    kind: str,
    outcome: dict[str, str],
    told: dict[str, tuple[Any, str]],
    own: dict[str, dict[str, tuple[Any, str]]],
) -> list[str]:
    wrong = [f"{what}: {text}" for what, text in outcome.items() if text.startswith("failed")]
    if outcome["ranked"] == "refused":
        return [*wrong, "ranked: refused"]
    if outcome["ranked"].startswith("failed"):
        return wrong
    exact = kind != "v2"
    if exact and told["num_to_keep"] != (2, "yes"):
        wrong.append(f"num_to_keep is told as {told['num_to_keep']}")
    if len(json.loads(outcome["ranked"])) > 3:
        wrong.append(f"Ray keeps {outcome['ranked']}")
    refused = {
        "checkpoint_frequency": outcome["frequency"] == "refused",
        "checkpoint_at_end": outcome["at_end_true"] == "refused",
    }
    for setting, by_ray in refused.items():
        if by_ray != (told[setting][1] == "refused"):
            wrong.append(f"{setting} is told as {told[setting]}, refused by Ray: {by_ray}")
    if not refused["checkpoint_frequency"] and not outcome["frequency"].startswith("failed"):
        wrong += _frequency(json.loads(outcome["frequency"]), own["frequency"])
    return wrong


def _frequency(iterations: list[int], told: dict[str, tuple[Any, str]]) -> list[str]:
    """Whether a setting of 2 that is said to apply is seen in the saves, and the other way."""
    # Boosted trees of Ray 2.6 report once more than there are rounds, so they begin at 3.
    steps = {after - before for before, after in pairwise(iterations)}
    applies = told["checkpoint_frequency"][1] in ("yes", "training-loop")
    if applies != (steps == {2}):
        return [f"saves at {iterations}, and frequency 2 is told as {told['checkpoint_frequency']}"]
    return []
