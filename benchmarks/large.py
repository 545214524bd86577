"""What grows: experiments and logs that are larger than they should be held in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import CKPTCTL, Row, floor
from benchmarks.generate import generate
from benchmarks.measure import Cost, in_turns
from benchmarks.template import own, template

_GIGABYTE = 1_000_000_000


def many_trials(work: Path, many: tuple[int, int], usual: tuple[int, int]) -> Iterator[Row]:
    """An experiment of millions of files against the usual one, by the checkpoint and in turns.

    Args:
        work: where they are made.
        many: trials, and checkpoints of each, of the large one.
        usual: the same of the usual one.
    """
    commands: dict[str, list[str]] = {"imports": floor("nothing", work)}
    for name, (trials, checkpoints) in {"many": many, "usual": usual}.items():
        path = work / f"{name}-of-many"
        generate(path, trials=trials, checkpoints=checkpoints, size=16, state=True)
        commands[name] = [*CKPTCTL, "scan", "--json", str(path)]
        commands[f"{name}: floor"] = floor("listing", path)
    two = generate(work / "two-of-many", trials=2, checkpoints=4, state=True)
    commands["start"] = [*CKPTCTL, "scan", "--json", str(two)]
    costs = in_turns(commands, runs=2)

    def each(name: str, off: str, size: tuple[int, int]) -> float:
        """Microseconds a checkpoint."""
        return (costs[name].cpu - costs[off].cpu) / (size[0] * size[1]) * 1e6

    ours, other = each("many", "start", many), each("usual", "start", usual)
    least = each("many: floor", "imports", many), each("usual: floor", "imports", usual)
    size = f"{many[0]:,} × {many[1]} × 3, 4 of each on record"
    against = f"{usual[0]:,} × {usual[1]} × 3"
    yield Row(
        case=f"scan {size}: CPU a checkpoint",
        ours=f"{ours:.1f} µs",
        other=f"{against} {other:.1f} µs",
        ratio=ours / other,
        goal="≤ 1.15",
    )
    yield Row(
        case="the same, `os.scandir` and `stat` alone: CPU a checkpoint",
        ours="",
        other=f"{least[0]:.1f} µs, {against} {least[1]:.1f} µs",
        ratio=least[0] / least[1],
        goal="",
    )
    yield _memory(f"scan {size}: memory", costs["many"], 1000)
    for name in ("many", "usual"):
        shutil.rmtree(work / f"{name}-of-many")


def long_log(work: Path) -> Iterator[Row]:
    """A result log of a gigabyte, every row of which names a checkpoint."""
    made = template(100)
    trial = work / "long" / own(made.dirname, 0)
    trial.mkdir(parents=True)
    row = own(made.log, 0).splitlines()[-1].replace("checkpoint_000099", "checkpoint_%06d")
    row = row.replace('"training_iteration": 100', '"training_iteration": %d')
    with (trial / "result.json").open("w") as file:
        written = number = 0
        while written < _GIGABYTE:
            written += file.write(f"{row % (number, number + 1)}\n")
            number += 1
    (trial / f"checkpoint_{number - 1:06d}").mkdir()
    (trial / f"checkpoint_{number - 1:06d}" / "model.pt").write_bytes(b"weights")
    two = generate(work / "two-of-long", trials=2, checkpoints=4)
    costs = in_turns(
        {
            "start": [*CKPTCTL, "scan", "--json", str(two)],
            "scan": [*CKPTCTL, "scan", "--json", str(trial.parent)],
            "imports": floor("nothing", trial.parent),
            "json": floor("lines", trial.parent),
        },
        runs=1,
    )
    ours = costs["scan"].cpu - costs["start"].cpu
    other = costs["json"].cpu - costs["imports"].cpu
    yield Row(
        case=f"scan with a log of 1 GB, {number:,} rows that all name a checkpoint",
        ours=f"{ours:.1f} s",
        other=f"`json.loads` a line {other:.1f} s",
        ratio=other / ours,
        goal="",
    )
    yield _memory("the same: memory", costs["scan"], 100)
    shutil.rmtree(trial.parent)


def of_ray(work: Path, ray: Path, trials: int, results: int, checkpoints: int) -> Iterator[Row]:
    """Ray's own reader, its import included, on an experiment that this Ray has just made."""
    python = str(ray / "bin" / "python")
    script = Path(__file__).with_name("run_ray.py")
    sizes = [str(number) for number in (trials, results, checkpoints)]
    in_turns({"made": [python, str(script), str(work / "ray"), *sizes]}, runs=0)
    made = work / "ray" / "many"
    code = (
        "import sys; from ray.tune import ExperimentAnalysis;"
        "a = ExperimentAnalysis(sys.argv[1]); a.dataframe()"
    )
    costs = in_turns(
        {
            "ours": [*CKPTCTL, "scan", "--json", str(made)],
            "ray": [python, "-c", code, str(made)],
        },
        runs=3,
    )
    yield Row(
        case=f"scan of {trials} trials × {results:,} results that {ray.name} made",
        ours=_ms(costs["ours"].cpu),
        other=f"its `ExperimentAnalysis` {_ms(costs['ray'].cpu)}",
        ratio=costs["ray"].cpu / costs["ours"].cpu,
        goal="≥ 20",
    )
    shutil.rmtree(work / "ray")


def _memory(case: str, cost: Cost, most: int) -> Row:
    return Row(
        case=case,
        ours=f"{cost.peak:,.0f} MB",
        other=f"{most:,} MB",
        ratio=cost.peak / most,
        goal="≤ 1",
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
