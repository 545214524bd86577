"""What the exhaustive runs have counted last: the table in docs/safety.md."""

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


def table() -> str:
    """All counts as rows of Markdown."""
    lines = ["| run | on | counts |", "|---|---|---|"]
    for run, row in sorted(load().items()):
        told = "; ".join(f"{name}: {_shown(value)}" for name, value in row.items() if name != "on")
        lines.append(f"| {run} | {row['on']} | {told} |")
    return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value)


if __name__ == "__main__":
    print(table())
