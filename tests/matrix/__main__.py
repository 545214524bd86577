"""Ask every Ray about every scenario: python -m tests.matrix [--rays V ...] [--scenarios S ...]."""

from __future__ import annotations

import argparse
import sys

from tests.judge.install_rays import ensure
from tests.judge.judge import rays_folder
from tests.matrix import document, results
from tests.matrix.cell import judges, run
from tests.matrix.results import Result
from tests.matrix.scenarios import NAMES, RAYS, cells


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rays", nargs="+", default=RAYS, choices=RAYS, metavar="VERSION")
    parser.add_argument("--scenarios", nargs="+", default=NAMES, choices=NAMES, metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what is fresh")
    parser.add_argument("--only-write", action="store_true", help="run nothing, write the document")
    given = parser.parse_args()
    failed = 0
    if not given.only_write:
        failed = run_all(tuple(given.rays), tuple(given.scenarios), again=given.again)
    document.write()
    return 1 if failed else 0


def run_all(versions: tuple[str, ...], scenarios: tuple[str, ...], *, again: bool) -> int:
    """Run what is not fresh, and return how many cells failed."""
    digest = results.digest()
    failed = 0
    with judges() as asked:
        for version in versions:
            wanted = cells((version,), scenarios)
            known = {cell: results.load(*cell) for cell in wanted}
            if not again and all(fresh(known[cell], digest) for cell in wanted):
                print(f"ray-{version}: fresh", flush=True)
                continue
            rays_folder().mkdir(parents=True, exist_ok=True)
            outcome = ensure(rays_folder() / f"ray-{version}", version)
            print(f"ray-{version}: {outcome}", flush=True)
            if outcome.startswith("FAILED"):
                failed += len(wanted)
                continue
            for cell in wanted:
                if fresh(known[cell], digest) and not again:
                    continue
                result = run(asked, *cell, digest)
                failed += bool(result.failed)
                tell(result)
    return failed


def fresh(result: Result | None, digest: str) -> bool:
    """Whether it need not be run: what failed is tried again."""
    return result is not None and result.digest == digest and not result.failed


def tell(result: Result) -> None:
    state = "FAILED" if result.failed else "ok"
    print(f"  {result.scenario}: {state}, {result.seconds:.0f} s", flush=True)
    for phase in result.failed:
        print(f"    {phase.phase}: {phase.text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
