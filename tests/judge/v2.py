"""One Ray for many runs of Train V2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.judge.judge import Judge


class TrainJudge(Judge):
    """Train V2 of one Ray version."""

    script = "session_v2.py"

    def fit(
        self,
        run: Path,
        steps: int,
        fail_at: int | None = None,
        *,
        keep: int | None = None,
        named: bool = False,
    ) -> dict[str, Any]:
        """Make a run or go on with it, and what Ray then says of it."""
        return self._ask(
            "fit",
            storage=str(run.parent),
            name=run.name,
            steps=steps,
            fail_at=fail_at,
            keep=keep,
            named=named,
        )

    def look(self, run: Path) -> dict[str, Any]:
        """What Ray's own reader says of a run."""
        return self._ask("read", storage=str(run.parent), name=run.name)
