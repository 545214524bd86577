"""What is measured, one function a case: each makes rows of the table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate import generate
from benchmarks.measure import Cost, in_turns

PYTHON = sys.executable
CKPTCTL = [str(Path(sys.executable).with_name("ckptctl"))]
BARE = [PYTHON, "-c", "pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: what ours took, what the other took, and how they compare."""

    case: str
    ours: str
    other: str
    ratio: float
    goal: str
    """What the ratio has to be, empty where it only informs."""


def floor(what: str, path: Path) -> list[str]:
    """The command of a floor."""
    return [PYTHON, "-m", "benchmarks.floors", what, str(path)]


def start_up(work: Path) -> Iterator[Row]:
    """A process from its first to its last instruction."""
    two = generate(work / "two", trials=2, checkpoints=4, state=True)
    costs = in_turns(
        {
            "bare": BARE,
            "--version": [*CKPTCTL, "--version"],
            "scan --json": [*CKPTCTL, "scan", "--json", str(two)],
            "the table": [*CKPTCTL, "scan", "--color", "always", str(two)],
        },
        runs=9,
    )
    bare = costs["bare"].cpu
    for case, goal in (("--version", "≤ 2"), ("scan --json", "≤ 12"), ("the table", "≤ 20")):
        name = f"`{case}` of two trials" if case.startswith("scan") else f"{case}"
        yield Row(
            case=f"start-up: {name}",
            ours=_ms(costs[case].cpu),
            other=f"`python -c pass` {_ms(bare)}",
            ratio=costs[case].cpu / bare,
            goal=goal,
        )


def local_scan(work: Path, trials: int, checkpoints: int) -> Iterator[Row]:
    """A scan with the whole JSON written, start-up taken off on both sides."""
    plain = generate(work / "plain", trials=trials, checkpoints=checkpoints, size=16)
    size = f"{trials:,} × {checkpoints} × 3"
    commands = {
        "bare": BARE,
        "start": [*CKPTCTL, "scan", "--json", str(work / "two")],
        "floor": floor("listing", plain),
        "imports": floor("nothing", plain),
        "scan": [*CKPTCTL, "scan", "--json", str(plain)],
        **_listers(plain),
    }
    costs = in_turns(commands, runs=5)
    least = costs["floor"].cpu - costs["imports"].cpu
    ours = costs["scan"].cpu - costs["start"].cpu
    yield Row(
        case=f"scan {size}, no state",
        ours=f"{_ms(ours)}, {costs['scan'].peak:.0f} MB",
        other=f"`os.scandir` and `stat` {_ms(least)}",
        ratio=ours / least,
        goal="≤ 2",
    )
    for name in _listers(plain):
        yield Row(
            case=f"scan {size}, no state",
            ours=_ms(costs["scan"].cpu),
            other=f"`{name}` {_ms(costs[name].cpu)}",
            ratio=costs["scan"].cpu / costs[name].cpu,
            goal="",
        )
    with_state = generate(
        work / "state", trials=trials, checkpoints=checkpoints, size=16, state=True
    )
    costs |= in_turns(
        {
            "stated": [*CKPTCTL, "scan", "--json", str(with_state)],
            "its floor": floor("listing", with_state),
            "codec": floor("state", with_state),
        },
        runs=5,
    )
    least = costs["its floor"].cpu - costs["imports"].cpu
    codec = costs["codec"].cpu - costs["imports"].cpu
    ours = costs["stated"].cpu - costs["start"].cpu
    yield Row(
        case=f"scan {size}, 4 of each on record",
        ours=f"{_ms(ours)}, {costs['stated'].peak:.0f} MB",
        other=f"twice the listing and 1.2 × the codec alone ({_ms(codec)})",
        ratio=ours / (2 * least + 1.2 * codec),
        goal="≤ 1",
    )


def _listers(path: Path) -> dict[str, list[str]]:
    """Other programs that list a tree, as far as they are here."""
    known = {
        "find -printf": ["find", str(path), "-type", "f", "-printf", r"%p %s %T@\n"],
        "rclone lsf -R": ["rclone", "lsf", "-R", "--format", "pst", str(path)],
    }
    return {name: command for name, command in known.items() if shutil.which(command[0])}


def logs(work: Path) -> Iterator[Row]:
    """Result logs alone, against `json.loads` of each of their lines."""
    path = work / "state"
    costs = in_turns(
        {
            "imports": [PYTHON, "-m", "benchmarks.logs", str(work / "none")],
            "ours": [PYTHON, "-m", "benchmarks.logs", str(path)],
            "start": floor("nothing", path),
            "read": floor("reading", path),
            "json": floor("logs", path),
        },
        runs=9,
    )
    reading = costs["read"].cpu - costs["start"].cpu
    ours = costs["ours"].cpu - costs["imports"].cpu - reading
    other = costs["json"].cpu - costs["start"].cpu - reading
    yield Row(
        case="result logs of the same trials, the bytes read",
        ours=_ms(ours),
        other=f"`json.loads` {_ms(other)}",
        ratio=other / ours,
        goal="≥ 10",
    )


def renames(work: Path) -> Iterator[Row]:
    """Renames on a local disk: the moves by themselves, and what else an apply does."""
    found = []
    for number in range(3):
        command = [PYTHON, "-m", "benchmarks.renames", str(work / f"renames-{number}")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
        shutil.rmtree(work / f"renames-{number}")
    told = sorted(found, key=lambda f: float(f["moves"]) / float(f["bare"]))[1]
    yield Row(
        case=f"{told['renames']:,} renames: the moves with their journal",
        ours=_ms(told["moves"]),
        other=f"`os.rename` with as many fsyncs {_ms(told['bare'])}",
        ratio=told["moves"] / told["bare"],
        goal="≤ 3",
    )
    yield Row(
        case="the same: all of the apply, records rewritten and verified",
        ours=f"{_ms(told['apply'])}, {_ms(told['records'])} of it to write records",
        other=f"`os.rename` {_ms(told['bare'])}",
        ratio=told["apply"] / told["bare"],
        goal="",
    )


def find_ray() -> Path | None:
    """The newest Ray that is installed for the tests."""
    roots = [Path(os.environ[k]) for k in ("CKPTCTL_RAYS",) if k in os.environ]
    found = [p for root in (*roots, Path(".rays")) for p in root.glob("ray-2.54.1")]
    return next((p for p in found if (p / "bin" / "python").exists()), None)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | ckptctl | against | ratio | goal |", "|---|---|---|--:|---|"]
    lines += [f"| {r.case} | {r.ours} | {r.other} | {r.ratio:.2f} | {r.goal} |" for r in rows]
    return "\n".join(lines)


__all__ = ["Cost", "Row", "find_ray", "local_scan", "logs", "renames", "start_up", "table"]
