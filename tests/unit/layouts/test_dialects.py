"""Which Ray wrote a state last, where the keys of another are still in it."""

from __future__ import annotations

import json
from pathlib import Path

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.experiment import Experiment
from ckptctl.scanner import scan
from tests.support import copy_of

OF_2_7 = "legacy"


def read_again(experiment: Path, *, behind: str) -> Experiment:
    """The experiment whose states hold the keys of Ray 2.7 behind another key."""
    for file in experiment.glob("experiment_state-*.json"):
        state = json.loads(file.read_text())
        for pair in state["trial_data"]:
            trial = json.loads(pair[0])
            late = {key: trial.pop(key) for key in list(trial) if OF_2_7 in key}
            assert late
            at = list(trial).index(behind) + 1
            items = list(trial.items())
            pair[0] = json.dumps(dict([*items[:at], *late.items(), *items[at:]]))
        file.write_text(json.dumps(state))
    (found,) = scan(str(experiment))
    return found


def indices(experiment: Experiment) -> set[int]:
    claims = [t.books[Witness.TRIAL].latest_index for t in experiment.trials]
    return {claim.value for claim in claims if claim is not None}


def test_a_newer_ray_puts_the_keys_of_2_7_behind_its_own(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.7.2-function_topk", tmp_path)
    (made,) = scan(str(experiment))
    assert made.layout == "ray-tune-2.7"
    same = read_again(experiment, behind="storage")
    assert (same.layout, indices(same)) == ("ray-tune-2.7", indices(made))
    continued = read_again(experiment, behind="_state_json")
    assert continued.layout == "ray-tune"
    assert indices(continued) == {index + 1 for index in indices(made)}


def test_a_log_that_names_no_saves_any_more_is_no_witness_of_the_index(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-class_freq", tmp_path)
    (made,) = scan(str(experiment))
    trial = made.trials[0]
    first, *_, last = trial.folders
    log = experiment / trial.dirname / "result.json"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    for named, witnessed in ((first, False), (last, True)):
        told = [
            row | ({"checkpoint_dir_name": named.name} if row["training_iteration"] == at else {})
            for row in rows
            for at in [named.training_iteration]
        ]
        log.write_text("".join(json.dumps(row) + "\n" for row in told))
        (found,) = scan(str(experiment))
        session = next(t for t in found.trials if t.dirname == trial.dirname).books[Witness.SESSION]
        assert (session.latest_index is not None) is witnessed
        assert (session.latest_checkpoint is not None) is witnessed
        assert [claim.value for claim in session.checkpoints] == [named.name]
