"""`make policies`: what real Rays do with settings, with names and with Lightning.

Asks about every trainer and writes docs/trainers.md; then whether `policy` tells the truth of runs
of Lightning; then whether runs with the hook are named from the start, on five Rays. With
versions behind it only the first is done, and with the name of a part only that part.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.judge import install_rays
from tests.judge.judge import REPOSITORY, rays_folder
from tests.policies import document, extras, named, scenarios, truth, two_stages

PAGE = REPOSITORY / "docs" / "trainers.md"


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all."""
    parts = {"lightning": lightning, "names": names}
    asked = [parts[argument] for argument in arguments if argument in parts]
    versions = [argument for argument in arguments if argument not in parts]
    failed = trainers(versions) if versions or not arguments else 0
    for part in asked if arguments else parts.values():
        failed |= part()
    return failed


def lightning() -> int:
    """Ask whether `policy` tells both stages of real runs of Lightning."""
    extras.ensure(two_stages.RAY)
    with tempfile.TemporaryDirectory(prefix="policies-") as folder:
        return _told("lightning", two_stages.ask(Path(folder), extras.extras_folder()))


def names() -> int:
    """Ask whether runs with the hook are named from the start, and clean."""
    failed = 0
    for version in scenarios.NAMED_RAYS:
        install_rays.ensure(rays_folder() / f"ray-{version}", version)
        with tempfile.TemporaryDirectory(prefix="policies-") as folder:
            found = named.ask(version, scenarios.NAMED, Path(folder))
            failed |= _told(f"names, Ray {version}", found)
    return failed


def _told(what: str, wrong: list[str]) -> int:
    print(f"{what}: {'as it has to be' if not wrong else ''}", *wrong, sep="\n  ", flush=True)
    return 1 if wrong else 0


def trainers(versions: list[str]) -> int:
    """Ask these Rays, or all; the page is written only where all were asked."""
    found: list[truth.Seen] = []
    for version in versions or truth.RAYS:
        extras.ensure(version)
        with tempfile.TemporaryDirectory(prefix="policies-") as folder:
            found += truth.ask(version, Path(folder), extras.extras_folder())
        print(document.render([s for s in found if s.version == version]), flush=True)
    if not versions:
        PAGE.write_text(document.render(found), encoding="utf-8")
    return 1 if any(seen.wrong for seen in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
