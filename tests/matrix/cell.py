"""One version and scenario, run in a folder of its own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.judge.judge import Judge
from tests.judge.v2 import TrainJudge
from tests.matrix import course, course_v2, results
from tests.matrix.results import Result
from tests.matrix.scenarios import TRAIN_V2, named


@dataclass
class Judges:
    """One Ray at a time, kept running for all scenarios of its version."""

    _now: dict[tuple[type[Judge], str], Judge] = field(default_factory=dict)

    def tune(self, version: str) -> Judge:
        return self._get(Judge, version)

    def train(self, version: str) -> TrainJudge:
        judge = self._get(TrainJudge, version)
        assert isinstance(judge, TrainJudge)
        return judge

    def close(self) -> None:
        for judge in self._now.values():
            judge.close()
        self._now.clear()

    def _get(self, kind: type[Judge], version: str) -> Judge:
        if (kind, version) not in self._now:
            self.close()
            self._now[kind, version] = kind(version)
        return self._now[kind, version]


@contextmanager
def judges() -> Iterator[Judges]:
    """Judges that are shut down in the end."""
    found = Judges()
    try:
        yield found
    finally:
        found.close()


def run(asked: Judges, version: str, scenario: str, digest: str) -> Result:
    """Run one cell, and keep what was seen."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="matrix-") as root:
        if scenario == TRAIN_V2:
            phases = course_v2.run(asked.train(version), Path(root))
        else:
            phases = course.run(asked.tune(version), named(scenario), Path(root))
    for phase in phases:
        phase.text = phase.text.replace(f"{root}/", "")
    result = Result(
        version=version,
        scenario=scenario,
        digest=digest,
        phases=phases,
        seconds=round(time.monotonic() - began, 1),
        date=datetime.now(UTC).date().isoformat(),
    )
    results.save(result)
    return result
