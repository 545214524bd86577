"""One real trial, spliced by the codec into one of any number of saves.

The bytes are Ray's own: a trial of the tests' corpus, whose record of checkpoints is lengthened
by the editor that also mends experiments. Trials then differ in their id.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckptctl.codec.edit import apply_edits, read_pointer
from ckptctl.model.experiment import RecordKind, RecordShape
from ckptctl.model.plan import Edit
from ckptctl.planner.record_value import record_value

SOURCE = Path(__file__).parents[1] / "tests" / "corpus" / "healthy" / "ray-2.54.1-function_topk"
STORAGE = "/mnt/cluster_storage/2.54.1/function_topk"
"""Where the records say that it lies: elsewhere, as in any experiment that was copied."""
_ID = "02a88_00001"
_STORED, _RUN = "trial_data/0/0#", "trial_data/0/1#"
_LIST = f"{_RUN}checkpoint_manager#_checkpoint_results"
_SHAPE = RecordShape(
    list_pointer=_LIST,
    latest_pointer=f"{_RUN}checkpoint_manager#_latest_checkpoint_result",
    filesystem_pointer=f"{_STORED}storage#storage_filesystem",
    result_class="ray.train._internal.session:_TrainingResult",
    checkpoint_class="ray.tune:Checkpoint",
)
_CHANGED = ("checkpoint_dir_name", "loss", "time_total_s", "timestamp", "training_iteration")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What every trial is made of."""

    dirname: str
    log: str
    progress: str
    params: str
    pair: tuple[str, str]
    """The two texts that a state file holds of a trial."""
    around: dict[str, object]
    """The state file without its trials."""


def own(text: str, number: int) -> str:
    """The same text for the trial of this number, inside pickles too."""
    # A name of another length would break the lengths in the pickles.
    if not 0 <= number < 100_000:
        raise ValueError(f"a trial's number has five digits, and {number} has not")
    mine = f"02a88_{number:05d}"
    return text.replace(_ID, mine).replace(_ID.encode().hex(), mine.encode().hex())


def template(checkpoints: int, recorded: int = 4) -> Template:
    """A trial that saved `checkpoints` times and has the last `recorded` of them on record."""
    (folder,) = (p for p in SOURCE.iterdir() if f"_{_ID}_" in p.name)
    state = json.loads(next(SOURCE.glob("experiment_state-*.json")).read_text())
    state["trial_data"] = [p for p in state["trial_data"] if json.loads(p[0])["trial_id"] == _ID]
    rows = _rows((folder / "result.json").read_text(), checkpoints)
    _rank(rows[-recorded:])
    edits = _edits(json.dumps(state).encode(), folder.name, rows, recorded)
    edited = json.loads(apply_edits(json.dumps(state).encode(), RecordKind.JSON, edits))
    ((stored, run),) = edited.pop("trial_data")
    return Template(
        dirname=folder.name,
        log="".join(f"{json.dumps(row)}\n" for row in rows),
        progress=_progress(rows),
        params=(folder / "params.json").read_text(),
        pair=(stored, run),
        around=edited,
    )


def _rows(log: str, checkpoints: int) -> list[Row]:
    """The trial's own rows over and over, counted on."""
    real = [json.loads(line) for line in log.splitlines()]
    rows = []
    for number in range(checkpoints):
        row = copy.deepcopy(real[number % len(real)])
        row |= {
            "checkpoint_dir_name": f"checkpoint_{number:06d}",
            "training_iteration": number + 1,
            "iterations_since_restore": number + 1,
            "timestamp": real[0]["timestamp"] + number,
            "time_total_s": real[0]["time_total_s"] * (number + 1),
            "done": number == checkpoints - 1,
            "loss": 4.0 / (number + 1),
        }
        rows.append(row)
    return rows


def _progress(rows: Sequence[Row]) -> str:
    keys = [key for key, value in rows[0].items() if not isinstance(value, dict)]
    lines = [",".join(keys), *(",".join(str(row[key]) for key in keys) for row in rows)]
    return "\n".join(lines) + "\n"


def _as_recorded(rows: Sequence[Row]) -> list[Row]:
    """In the order of the list: its second is the latest too, by identity, as Ray left it."""
    kept = list(rows)
    kept[1], kept[-1] = kept[-1], kept[1]
    return kept


def _rank(rows: Sequence[Row]) -> None:
    """Make the recorded ones the best, the last of the list the very best, as Ray sorts them."""
    kept = _as_recorded(rows)
    for place, row in enumerate(kept):
        row["loss"] = 0.001 * (len(kept) - place)


def _edits(state: bytes, dirname: str, rows: Sequence[Row], recorded: int) -> list[Edit]:
    """What puts the last saves on record, with the newest as the latest."""
    there = read_pointer(state, RecordKind.JSON, _LIST)
    if not isinstance(there, list) or not len(there) <= recorded <= len(rows):
        raise ValueError(f"cannot put {recorded} of {len(rows)} saves on record")
    kept = _as_recorded(rows[-recorded:])
    edits = [_set(f"{_RUN}checkpoint_manager#_checkpoint_config/num_to_keep", recorded)]
    for place, row in enumerate(kept):
        path = f"{STORAGE}/{dirname}/{row['checkpoint_dir_name']}"
        if place < len(there):
            edits.append(_set(f"{_LIST}/{place}/checkpoint/path", path))
            edits += [_set(f"{_LIST}/{place}/metrics/{key}", row[key]) for key in _CHANGED]
        else:
            value = record_value(_SHAPE, path, row)
            edits.append(Edit(op="insert", pointer=f"{_LIST}/{len(there)}", after=value))
    edits += [_set(f"{_RUN}last_result/{key}", rows[-1][key]) for key in _CHANGED]
    edits.append(_set(f"{_STORED}storage#current_checkpoint_index", len(rows) - 1))
    return edits


def _set(pointer: str, value: object) -> Edit:
    return Edit(op="set", pointer=pointer, after=value)
