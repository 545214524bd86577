"""A log that is read in pieces tells what it tells as a whole, and is not kept."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ckptctl import api
from ckptctl.layouts import base
from ckptctl.report import scan_json
from tests.support import CORPUS

MADE = sorted(p for kind in ("healthy", "damaged") for p in (CORPUS / kind).iterdir() if p.is_dir())


def told(path: Path) -> str:
    pairs = api.audit(str(path))
    findings = [f for _, found in pairs for f in found]
    return "".join(scan_json.parts([e for e, _ in pairs], findings))


@pytest.mark.parametrize("path", MADE, ids=lambda p: p.name)
def test_it_is_the_same_in_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(path)
    monkeypatch.setattr(base, "PIECE", 200)
    assert told(path) == whole


@pytest.mark.parametrize("near", [True, False])
def test_what_is_not_kept_is_read_again(near: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CORPUS / "healthy" / "ray-2.54.1-function_topk"
    [kept] = api.scan(str(path))
    monkeypatch.setattr(base, "_KEPT", 0)
    monkeypatch.setattr(base.Source, "is_near", near)
    [left] = api.scan(str(path))
    for trial, other in zip(kept.trials, left.trials, strict=True):
        assert [dict(r.metrics) for r in trial.rows] == [dict(r.metrics) for r in other.rows]
        assert [r.timestamp for r in trial.rows] == [r.timestamp for r in other.rows]


def test_rows_of_a_long_log_take_few_bytes_each(tmp_path: Path) -> None:
    rows = 200_000
    trial = tmp_path / "train_1"
    trial.mkdir()
    with (trial / "result.json").open("w") as log:
        for n in range(rows):
            log.write(
                f'{{"loss": {n}.5, "checkpoint_dir_name": "checkpoint_{n:06d}", "config": '
                f'{{"lr": 0.1}}, "training_iteration": {n + 1}, "pad": "{"x" * 60}"}}\n'
            )
    (trial / f"checkpoint_{rows - 1:06d}").mkdir()
    (trial / f"checkpoint_{rows - 1:06d}" / "model.pt").write_bytes(b"w")
    tracemalloc.start()
    try:
        [found] = api.scan(str(tmp_path))
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.trials[0].rows) == rows
    assert found.trials[0].checkpoints[0].metrics["loss"] == rows - 0.5
    print(now / rows, peak / rows)
    assert now / rows < 40 and peak < 40_000_000
