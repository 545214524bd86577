"""`make policies`: ask Rays about every trainer, and write docs/trainers.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.judge.judge import REPOSITORY
from tests.policies import document, extras, truth

PAGE = REPOSITORY / "docs" / "trainers.md"


def main(versions: list[str]) -> int:
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
