"""``make bench``: every case in one go, printed, and with ``--write`` kept in the documentation."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import buckets, cases, large

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
_BEGIN, _END = "<!-- measured -->\n", "<!-- end -->\n"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--checkpoints", type=int, default=50)
    parser.add_argument("--write", action="store_true", help="keep it in docs/performance.md")
    parser.add_argument("--many", type=int, default=10_000, help="trials of the large experiment")
    parser.add_argument("--objects", type=int, default=1_000_000, help="in the bucket")
    parser.add_argument("--ray-trials", type=int, default=200, help="that a real Ray runs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for row in _rows(Path(folder), asked):
            rows.append(row)
            print(f"{row.case}: {row.ours} · {row.other} · {row.ratio:.2f} {row.goal}", flush=True)
        text = f"{_machine(folder)}\n\n{cases.table(rows)}\n"
    print(f"\n{text}")
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.partition(_BEGIN)[0], page.partition(_END)[2]
        PAGE.write_text(f"{head}{_BEGIN}\n{text}\n{_END}{tail}", encoding="utf-8")


def _rows(work: Path, asked: argparse.Namespace) -> Iterator[cases.Row]:
    yield from cases.start_up(work)
    yield from cases.local_scan(work, asked.trials, asked.checkpoints)
    yield from cases.logs(work)
    yield from cases.renames(work)
    ray = cases.find_ray()
    if ray is None:
        print("left out: no Ray is installed (make rays), so its own reader is not timed")
    else:
        yield from large.of_ray(work, ray, asked.ray_trials, 10, 10)
        yield from large.of_ray(work, ray, max(1, asked.ray_trials // 10), 5000, 10)
    yield from large.long_log(work)
    if asked.many:
        usual = asked.trials, asked.checkpoints
        yield from large.many_trials(work, (asked.many, 100), usual)
    if asked.objects:
        yield from buckets.listing(work, asked.objects)


def _machine(folder: str) -> str:
    """The machine in a sentence, without a path of it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.release().partition('-')[0]}, {os.cpu_count()} cores, "
        f"{memory:.0f} GB of memory, {_disk(folder)}. CPU time of whole processes, medians of "
        "runs taken in turns, the cache of the file system warm."
    )


def _disk(folder: str) -> str:
    """The file system that the experiments lay on."""
    best = ("", "an unknown file system")
    try:
        for line in Path("/proc/mounts").read_text().splitlines():
            _, point, kind, *_ = line.split()
            if folder.startswith(point) and len(point) > len(best[0]):
                best = (point, kind)
    except OSError:
        pass
    return best[1]


if __name__ == "__main__":
    main()
