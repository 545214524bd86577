"""What is done to experiments before they are mended."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from tests.judge.experiments import state_file
from tests.matrix.seen import Answer, checkpoints, iteration_in
from tests.matrix.told import must

# The attribute's name, remembered, and an integer of one or two bytes.
INDEX = re.compile(rb"current_checkpoint_index\x94(?:K(?P<one>.)|M(?P<two>..))", re.DOTALL)


def remove_latest(experiment: Path, trial: Answer) -> None:
    """Remove the latest checkpoint of a trial, or its newest where that belongs to another."""
    folder = experiment / trial["dirname"]
    latest = Path(trial["latest"]["path"])
    if latest.parent.name != folder.name:
        latest = max(checkpoints(folder), key=iteration_in)
    shutil.rmtree(folder / latest.name)


def remove_oldest(folder: Path) -> None:
    shutil.rmtree(min(checkpoints(folder), key=iteration_in))


def set_index_behind(experiment: Path, trial_id: str, by: int = 2) -> None:
    """Lower the index that the state holds for a trial, as bytes of the pickle that holds it."""
    path = state_file(experiment)
    text = path.read_text()
    for first, _ in json.loads(text)["trial_data"]:
        trial = json.loads(first)
        if trial["trial_id"] == trial_id:
            value: str = trial["storage"]["value"]
            must(text.count(value) == 1, "the storage of the trial is not in the state once")
            path.write_text(text.replace(value, _lowered(bytes.fromhex(value), by).hex()))
            return
    must(False, f"no trial {trial_id} in the state")


def _lowered(pickle: bytes, by: int) -> bytes:
    found = INDEX.search(pickle)
    must(found, "no index in the storage of the trial")
    assert found is not None
    which = "one" if found["one"] is not None else "two"
    index = int.from_bytes(found[which], "little")
    new = max(0, index - by).to_bytes(len(found[which]), "little")
    return pickle[: found.start(which)] + new + pickle[found.end(which) :]


def older_state(experiment: Path, old: bytes) -> None:
    """Have every state file say what the state said earlier."""
    for path in experiment.glob("experiment_state-*.json"):
        path.write_bytes(old)


def unfinished(read: Answer) -> list[Answer]:
    """The trials that can go on, the one with most checkpoints first."""
    going = [trial for trial in read["trials"] if trial["status"] != "TERMINATED"]
    return sorted(going, key=lambda trial: (-len(trial["checkpoints"]), trial["dirname"]))
