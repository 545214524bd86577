"""`make fuzz`: damaged real experiments through every verb, for minutes.

    python -m tests.fuzz [--seconds N] [--seed N] [--case SEED]

Every case follows from its seed, which is printed with each failure; what was damaged is kept
in tests/fuzz/failures/ and becomes a regression test when it is moved to tests/fuzz/cases/.
Ends with 1 where a verb showed a traceback, took more than the memory limit or too long, wrote
what it should not, or could not be undone byte for byte.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.counts import keep
from tests.fuzz.run import debugging, fuzz, limit_memory

FAILURES = Path(__file__).parent / "failures"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 40))
    parser.add_argument("--case", type=int, help="only the case of this seed")
    asked = parser.parse_args()
    seed = asked.seed if asked.case is None else asked.case
    print(f"seed {seed}", flush=True)
    debugging()
    limit_memory()
    with tempfile.TemporaryDirectory(prefix="ckptctl-fuzz-") as folder:
        tally = fuzz(
            Path(folder),
            seed,
            seconds=asked.seconds,
            cases=None if asked.case is None else 1,
            keep=FAILURES,
        )
    row = {
        "cases": tally.cases,
        "verbs run": tally.codes.total(),
        "applied and undone": tally.applied,
        "peak, MiB": tally.peak >> 20,
        "failures": len(tally.failures),
    }
    print(row, f"slowest {tally.slowest:.1f} s", dict(sorted(tally.codes.items())), sep="\n")
    for failure in tally.failures:
        print(failure)
    if asked.case is None:
        keep("fuzz", row)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
