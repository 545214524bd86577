"""Write a Ray-like experiment of any size: ``python -m benchmarks.generate FOLDER --trials 1000``.

Result logs, parameters and the state file are a real trial's, over and over; the files in the
checkpoints are as small as they are said to be.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.template import Template, own, template

STATE_NAME = "experiment_state-2026-11-30_10-37-15.json"


def generate(  # noqa: PLR0913 - keyword-only options
    target: Path,
    *,
    trials: int,
    checkpoints: int,
    files: int = 3,
    size: int = 64,
    state: bool = False,
) -> Path:
    """Make the experiment in `target`, which must not exist; it comes back."""
    made = template(checkpoints)
    target.mkdir(parents=True)
    for number in range(trials):
        _trial(target / own(made.dirname, number), made, number, checkpoints, files, b"\1" * size)
    if state:
        _state(target / STATE_NAME, made, trials)
    return target


def _trial(  # noqa: PLR0913, PLR0917 - one loop's body
    folder: Path, made: Template, number: int, checkpoints: int, files: int, content: bytes
) -> None:
    folder.mkdir()
    (folder / "result.json").write_text(own(made.log, number))
    (folder / "progress.csv").write_text(own(made.progress, number))
    (folder / "params.json").write_text(made.params)
    for save in range(checkpoints):
        checkpoint = folder / f"checkpoint_{save:06d}"
        checkpoint.mkdir()
        for part in range(files):
            (checkpoint / f"part-{part}.bin").write_bytes(content)


def _state(path: Path, made: Template, trials: int) -> None:
    """Written trial by trial, as it is read: the whole may be larger than memory."""
    around = json.dumps(made.around)
    with path.open("w") as file:
        file.write('{"trial_data": [')
        for number in range(trials):
            pair = [own(text, number) for text in made.pair]
            file.write(f"{', ' if number else ''}{json.dumps(pair)}")
        file.write(f"], {around[1:]}")


def main() -> None:
    """Write what the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--checkpoints", type=int, default=50)
    parser.add_argument("--files", type=int, default=3)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--state", action="store_true")
    asked = parser.parse_args()
    generate(**vars(asked))


if __name__ == "__main__":
    main()
