"""What the exhaustive runs have counted last, for the table in docs/safety.md."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).parent / "counts.json"


def keep(run: str, row: Mapping[str, object]) -> None:
    """Keep the counts of a run in place of those of the one before."""
    every = load()
    every[run] = {**row, "on": time.strftime("%Y-%m-%d", time.gmtime())}
    FILE.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n")


def load() -> dict[str, dict[str, object]]:
    """The counts of every run, by its name."""
    if not FILE.exists():
        return {}
    found: dict[str, dict[str, object]] = json.loads(FILE.read_text())
    return found
