"""The least that the same work can take in Python: ``python -m benchmarks.floors WHAT PATH``."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from ckptctl.codec.json_records import fallback_bytes, load_json
from ckptctl.codec.pickle_reader import decode


def listing(path: str) -> None:
    """One `scandir` a folder and one `stat` an entry, and nothing kept."""
    waiting = [path]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for item in found:
                item.stat(follow_symlinks=False)
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)


def state(path: str) -> None:
    """What a scan asks of a state file, decoded and not looked at."""
    gc.disable()  # as the command line does
    (file,) = Path(path).glob("experiment_state-*.json")
    document: Any = load_json(file.read_bytes())
    for stored, run in document["trial_data"]:
        for text, key in ((stored, "storage"), (run, "checkpoint_manager")):
            record: Any = load_json(text)
            decode(fallback_bytes(record[key]) or b"")


def logs(path: str) -> None:
    """`json.loads` of every line of every result log."""
    gc.disable()
    for file in Path(path).glob("*/result.json"):
        for line in file.read_bytes().splitlines():
            json.loads(line)


def lines(path: str) -> None:
    """The same, a line in memory at a time."""
    gc.disable()
    for name in Path(path).glob("*/result.json"):
        with name.open("rb") as file:
            for line in file:
                json.loads(line)


def reading(path: str) -> None:
    """Every result log opened and read, and nothing made of it."""
    for file in Path(path).glob("*/result.json"):
        file.read_bytes()


def nothing(path: str) -> None:
    """The imports of this module, which are taken off."""


if __name__ == "__main__":
    {
        "listing": listing,
        "state": state,
        "logs": logs,
        "lines": lines,
        "reading": reading,
        "nothing": nothing,
    }[sys.argv[1]](sys.argv[2])
