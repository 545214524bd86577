"""Real runs of Lightning under Ray whose two stages disagree, and what `ckptctl policy` says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckptctl import api
from ckptctl.model.finding import Finding
from tests.policies.jobs import Job, run

RAY = "2.54.1"
_SAVER = {"monitor": "val_loss", "mode": "min", "save_top_k": 1}


@dataclass(frozen=True, kw_only=True)
class Case:
    """The settings of both stages, and what each is to be told as."""

    name: str
    saver: dict[str, Any]
    config: dict[str, Any]
    inner: str
    outer: str | None
    """None where both stages want the same."""


def _ranked(number: int, metric: str, order: str | None) -> dict[str, Any]:
    ranked = {"num_to_keep": number, "checkpoint_score_attribute": metric}
    return ranked if order is None else ranked | {"checkpoint_score_order": order}


CASES = [
    Case(
        name="metric",
        saver=_SAVER,
        config=_ranked(2, "train_loss", "max"),
        inner="ModelCheckpoint keeps 1 by val_loss (min)",
        outer="CheckpointConfig keeps 2 by train_loss (max)",
    ),
    Case(
        name="mode",
        saver=_SAVER,
        config=_ranked(1, "val_loss", None),  # Ray ranks by the highest where nothing is said
        inner="ModelCheckpoint keeps 1 by val_loss (min)",
        outer="CheckpointConfig keeps 1 by val_loss (max)",
    ),
    Case(
        name="number",
        saver=_SAVER | {"save_top_k": 2},
        config=_ranked(3, "val_loss", "min"),
        inner="ModelCheckpoint keeps 2 by val_loss (min)",
        outer="CheckpointConfig keeps 3 by val_loss (min)",
    ),
    Case(
        name="same",
        saver=_SAVER | {"save_top_k": 2},
        config=_ranked(2, "val_loss", "min"),
        inner="ModelCheckpoint keeps 2 by val_loss (min)",
        outer=None,
    ),
]


def ask(storage: Path, rays: Path) -> list[str]:
    """Run Lightning under Train V1 and V2, and say where `policy` is wrong."""
    found: list[str] = []
    for v2 in (False, True):
        label = "Train V2" if v2 else "Train V1"
        jobs: list[Job] = [
            {
                "kind": "lightning",
                "storage": str(storage),
                "name": f"{case.name}-{label[-2:]}",
                "saver": case.saver,
                "config": case.config,
                "records": v2,
            }
            for case in CASES
        ]
        answers = run(RAY, jobs, v2=v2, rays=rays)
        for case, job, answer in zip(CASES, jobs, answers, strict=True):
            wrong = [answer["error"]] if answer["error"] else _wrong(case, storage / job["name"])
            found += [f"{label}, {case.name}: {text}" for text in wrong]
    return found


def _wrong(case: Case, place: Path) -> list[str]:
    ((stages, findings),) = api.policy(str(place))
    told = {
        (s.stage, s.name): s.value if s.exact or s.stage == "lightning" else "inferred"
        for s in stages.trials[0].settings
    }
    asked = {("lightning", name): value for name, value in case.saver.items()}
    asked |= {("ray", name): value for name, value in case.config.items()}
    wrong = [
        f"{stage}'s {name} is {value}, and told as {told.get((stage, name))}"
        for (stage, name), value in asked.items()
        if told.get((stage, name)) != value
    ]
    saves = [c for e in api.scan(str(place)) for t in e.trials for c in t.saves]
    if len(saves) > case.config["num_to_keep"] + 1:
        wrong.append(f"Ray keeps {[c.name for c in saves]}")
    return wrong + _conflict(case, [f for f in findings if f.code == "CKP401"])


def _conflict(case: Case, found: list[Finding]) -> list[str]:
    if case.outer is None:
        return [f.message for f in found]
    if len(found) != 1:
        return [f"{len(found)} times CKP401"]
    claims = [e.claim for e in found[0].evidence]
    inner, outer = (str(e.file) for e in found[0].evidence)
    wrong = [] if claims == [case.inner, case.outer] else [f"CKP401 says {claims}"]
    if not inner.endswith(".ckpt"):
        wrong.append(f"Lightning's settings are said to be in {inner}")
    if not (outer.startswith("experiment_state-") or outer.endswith("train-v2.json")):
        wrong.append(f"Ray's settings are said to be in {outer}")
    return wrong
