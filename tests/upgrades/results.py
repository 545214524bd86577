"""What was seen of each pair, kept until the code changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.judge.judge import REPOSITORY, rays_folder
from tests.upgrades.pairs import Seen

CODE = (
    "ckptctl/codec",
    "ckptctl/layouts",
    "ckptctl/migration",
    "ckptctl/model",
    "ckptctl/planner",
    "tests/judge/ray_scripts",
)
FILES = ("tests/upgrades/pairs.py", "tests/judge/judge.py", "tests/judge/install_rays.py")


def digest() -> str:
    """A digest of the code and the table that matter."""
    total = hashlib.sha256()
    for path in _code():
        total.update(path.relative_to(REPOSITORY).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _code() -> Iterator[Path]:
    yield from (REPOSITORY / name for name in FILES)
    for top in CODE:
        for pattern in ("*.py", "*.json"):
            yield from sorted((REPOSITORY / top).rglob(pattern))


def place(scenario: str, source: str, target: str) -> Path:
    return rays_folder() / "upgrades" / f"{scenario}-{source}-{target}.json"


def load(scenario: str, source: str, target: str) -> Seen | None:
    path = place(scenario, source, target)
    return Seen(**json.loads(path.read_text())) if path.is_file() else None


def save(seen: Seen) -> None:
    path = place(seen.scenario, seen.source, seen.target)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(seen), indent=1) + "\n")
    new.replace(path)
