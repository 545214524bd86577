"""Run every pair of Rays that is not fresh: python -m tests.upgrades [options]."""

from __future__ import annotations

import argparse
import sys

from tests.judge.install_rays import ensure
from tests.judge.judge import Judge, JudgeError, rays_folder
from tests.judge.v2 import TrainJudge
from tests.matrix.told import Broken
from tests.upgrades import document, results
from tests.upgrades.pairs import (
    NAMES,
    RAYS,
    TRAIN_V2,
    TRAIN_V2_RAYS,
    Asked,
    Seen,
    made_folder,
    make,
    pairs,
    run,
)

ALL = tuple(sorted({*RAYS, *TRAIN_V2_RAYS}, key=lambda v: tuple(map(int, v.split(".")))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", nargs="+", default=ALL, choices=ALL, metavar="VERSION")
    parser.add_argument("--scenarios", nargs="+", default=NAMES, choices=NAMES, metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what is fresh")
    parser.add_argument("--only-write", action="store_true", help="run nothing, write the document")
    given = parser.parse_args()
    trouble = 0
    if not given.only_write:
        digest = results.digest()
        wanted = [
            pair
            for pair in pairs()
            if pair[2] in given.targets
            and pair[0] in given.scenarios
            and (given.again or not fresh(pair, digest))
        ]
        prepare(wanted)
        for target in ALL:
            for train in (False, True):
                mine = [p for p in wanted if p[2] == target and (p[0] == TRAIN_V2) is train]
                trouble += ask(target, mine, digest, train=train)
    document.write()
    return 1 if trouble else 0


def fresh(pair: tuple[str, str, str], digest: str) -> bool:
    seen = results.load(*pair)
    return seen is not None and seen.digest == digest and not seen.trouble


def prepare(wanted: list[tuple[str, str, str]]) -> None:
    """Install the Rays, and make what each has to make."""
    rays_folder().mkdir(parents=True, exist_ok=True)
    for version in sorted({version for _, *both in wanted for version in both}):
        outcome = ensure(rays_folder() / f"ray-{version}", version)
        if outcome != "ready":
            print(f"ray-{version}: {outcome}", flush=True)
    for source in ALL:
        make(made_folder(), source, sorted({s for s, other, _ in wanted if other == source}))


def ask(target: str, mine: list[tuple[str, str, str]], digest: str, *, train: bool) -> int:
    """Ask one Ray about all that others wrote, and return how often something was wrong."""
    if not mine:
        return 0
    trouble = 0
    with (TrainJudge if train else Judge)(target) as judge:
        asked = Asked(judge, made_folder())
        for scenario, source, _ in mine:
            try:
                seen = run(asked, scenario, source)
            except (Broken, JudgeError) as error:
                why = [str(error)[-500:]]
                seen = Seen(scenario, source, target, "?", "?", 0, "?", trouble=why)
            seen.digest = digest
            results.save(seen)
            trouble += bool(seen.trouble)
            print(
                f"{scenario}, {source} to {target}: {seen.real}; {seen.edits} edits: "
                f"{seen.migrated} {'; '.join(seen.trouble)}",
                flush=True,
            )
    return trouble


if __name__ == "__main__":
    sys.exit(main())
