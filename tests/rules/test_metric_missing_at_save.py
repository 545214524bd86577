from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.experiment import ESTIMATED
from tests.rules.builders import a_trial, folder, one, record, row, run
from tests.rules.stages import ranked


def saved(*metrics: dict[str, float], monitor: str | None = "loss"):  # type: ignore[no-untyped-def]
    folders = [replace(folder(n), metrics=m) for n, m in enumerate(metrics)]
    records = [record(n, metrics=m) for n, m in enumerate(metrics)]
    return ranked(a_trial(*folders, records=records), 2, monitor, "min")


def test_a_save_without_the_ranking_metric_is_told() -> None:
    finding = one("CKP403", saved({"step": 1}, {"loss": 0.5}, {"step": 3}))
    assert finding.message == (
        "checkpoints are ranked by loss, "
        "which was not reported with checkpoint_000000 and checkpoint_000002"
    )
    assert finding.checkpoints == ("checkpoint_000000", "checkpoint_000002")
    assert finding.evidence[0].claim == "ranked by loss (min)"
    assert finding.evidence[0].pointer.endswith("#_checkpoint_config")


def test_an_evicted_one_is_known_from_the_log() -> None:
    log = [replace(row(0, 0), metrics={"step": 1.0}), replace(row(1, 1), metrics={"loss": 1.0})]
    trial = replace(saved({"loss": 0.5}), rows=tuple(log))
    assert one("CKP403", trial).checkpoints == ("checkpoint_000000",)


def test_values_that_are_there_are_not_missing() -> None:
    assert run("CKP403", saved({"loss": 0.5}, {"loss": float("nan")})) == []
    assert run("CKP403", saved({"step": 1}, monitor=None)) == []
    estimated = [replace(folder(0), metrics={ESTIMATED: True})]
    trial = a_trial(*estimated, records=[record(0, metrics={ESTIMATED: True})])
    assert run("CKP403", ranked(trial, 2, "loss", "min")) == []
