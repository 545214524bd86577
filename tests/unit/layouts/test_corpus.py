"""Every experiment of the corpus reads as an independent reader found it."""

from __future__ import annotations

from typing import Any

import pytest

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.scanner import scan
from tests.support import CORPUS, corpus, truth

NAMES = sorted(p.stem for p in (CORPUS / "truth").glob("*.json"))


def _scan(name: str) -> Experiment:
    (experiment,) = scan(str(corpus(name)))
    return experiment


def _trials(name: str) -> list[tuple[dict[str, Any], Trial]]:
    experiment = _scan(name)
    found = []
    for expected in truth(name)["trials"]:
        trial = experiment.trial(expected["dirname"])
        assert trial is not None, expected["dirname"]
        found.append((expected, trial))
    assert len(found) == len([t for t in experiment.trials if t.in_state])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_layout_and_state_file(name: str) -> None:
    experiment, expected = _scan(name), truth(name)
    assert experiment.layout == expected["layout"]
    if "state_file" in expected:
        assert experiment.state_file == expected["state_file"]
    roots = {t["root"] for t in expected["trials"] if "root" in t}
    assert not roots or any(root in (experiment.recorded_root or "") for root in roots)


@pytest.mark.parametrize("name", NAMES)
def test_trials_and_their_counters(name: str) -> None:
    for expected, trial in _trials(name):
        assert trial.trial_id == expected.get("trial_id")
        assert trial.status == expected.get("status")
        if "raw_index" in expected:
            last = expected["raw_index"] - (truth(name)["layout"] == "ray-tune-2.7")
            assert trial.counted_index == last
        if "state_iteration" in expected:
            assert trial.state_iteration is not None
            assert trial.state_iteration.value == expected["state_iteration"]


@pytest.mark.parametrize("name", NAMES)
def test_folders_records_and_latest(name: str) -> None:
    for expected, trial in _trials(name):
        assert [c.name for c in trial.folders] == expected["folders"]
        recorded = [r.ref.name for r in trial.records if r.ref]
        assert recorded == expected["recorded"]
        assert trial.latest is not None
        assert trial.latest.name == expected["latest"]
        assert trial.latest.trial == expected.get("latest_dir", trial.dirname)
        book = trial.books[Witness.TRIAL]
        assert book.latest_checkpoint is not None
        assert book.latest_checkpoint.value == expected["latest"]


@pytest.mark.parametrize("name", NAMES)
def test_metrics_of_every_record(name: str) -> None:
    for expected, trial in _trials(name):
        last = {record.ref.name: record for record in trial.records if record.ref}
        for name_of, record in last.items():
            known = expected.get("record_metrics", {}).get(name_of, {})
            assert {k: record.metrics.get(k) for k in known} == known


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_the_result_log(name: str) -> None:
    for expected, trial in _trials(name):
        assert len(trial.rows) == expected.get("rows", 0)
        if "row_names" in expected:
            assert [r.name for r in trial.rows] == expected["row_names"]
            assert trial.rows[-1].training_iteration == expected["last_iteration"]
