"""Workers that end half-way: killed, by the pid that their first answer told, at their next unit.

    python -m tests.cluster.struck URL LOG FILE

does it to the workers of a Ray, in whose Python it runs, and writes what it saw into FILE.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ckptctl import api
from ckptctl.cluster import Answer, Workers, copies, reading, units
from ckptctl.storage import local_walk, object_listing

SMALL = (
    (local_walk, "ENOUGH", 1),
    (object_listing, "_FEWEST", 1),
    (reading, "_FILES", 5),
    (copies, "_OBJECTS", 30),
)
"""A few trials, and few objects, are many units."""
TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"
TRIALS, CHECKPOINTS, FILES = 8, 5, 3


class Struck:
    """The workers of a cluster of one worker, which ends once in each run."""

    def __init__(self, workers: Workers, log: Path) -> None:
        self.workers = workers
        self.name, self.count = workers.name, workers.count
        self.killed: list[int] = []
        self._log = log

    @contextmanager
    def run(self, sent: Iterable[bytes]) -> Iterator[Iterator[Answer]]:
        begun, copying = 0, False

        def counted() -> Iterator[bytes]:
            nonlocal begun, copying
            for unit in sent:
                begun += 1
                copying = units._decode_unit(unit).function == "copies:copy_objects"
                yield unit

        def striking(answers: Iterator[Answer]) -> Iterator[Answer]:
            struck = False
            for number, answer in enumerate(answers, start=1):
                if begun > number and not struck:
                    struck = self._strike(answer, '"COPY"' if copying else '"op"')
                yield answer

        with self.workers.run(counted()) as answers:
            yield striking(answers)

    def _strike(self, answer: Answer, word: str) -> bool:
        """Kill who answered, as soon as the bucket is asked for something after the answer.

        Where that was before anybody looked, there will be another unit.
        """
        assert isinstance(answer, bytes)
        found = re.match(r"process (\d+) on ", units._decode_done(answer).where)
        assert found is not None
        before = self._log.stat().st_size
        until = time.monotonic() + 3
        while word not in self._log.read_text()[before:]:
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        os.kill(int(found.group(1)), signal.SIGKILL)
        self.killed.append(int(found.group(1)))
        return True


def requests(log: Path) -> int:
    return log.read_text().count("\n")


def seen(url: str, workers: Workers, log: Path) -> dict[str, Any]:
    """A scan, a rename and its undo in a bucket whose requests are logged; each loses workers."""
    struck = Struck(workers, log)
    [alone] = api.scan(url)
    before = requests(log)
    [found] = api.scan(url, executor=workers)
    usual = requests(log) - before
    [again] = api.scan(url, executor=struck)
    plan = api.plan_rename(again, template=TEMPLATE)
    told: dict[str, Any] = {
        "same": alone == found == again and len(alone.trials) == TRIALS,
        "requests": [usual, requests(log) - before - usual],
        "killed in scan": len(struck.killed),
    }
    done = api.apply(plan, allow_live=True, executor=struck)
    [after] = api.scan(url)
    told |= {
        "applied": done.verified and done.steps_done == len(plan.steps),
        "notes": done.notes,
        "names": sorted(c.name for t in after.trials for c in t.checkpoints),
        "killed": len(struck.killed),
    }
    back = api.undo(url, allow_live=True, executor=struck)
    [last] = api.scan(url)
    names = [[c.name for c in t.checkpoints] for t in last.trials]
    told["undone"] = back.verified and names == [
        [c.name for c in t.checkpoints] for t in alone.trials
    ]
    return told | {"killed in all": len(struck.killed)}


def main(url: str, log: str, file: str) -> None:
    import ray

    from ckptctl.integrations.ray.cluster import RayCluster

    for module, name, size in SMALL:
        setattr(module, name, size)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    told = seen(url, RayCluster(), Path(log))
    address = ray.get_runtime_context().gcs_address
    joined = subprocess.run(
        [sys.executable, "-m", "ckptctl", "latest", url, "--executor", "ray"],
        env={**os.environ, "RAY_ADDRESS": address},
        capture_output=True,
        text=True,
        check=False,
    )
    told["joined"] = [joined.returncode, joined.stdout.count("\n"), joined.stderr]
    told["stays"] = ray.is_initialized() and bool(ray.nodes())
    Path(file).write_text(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
