"""What was seen, kept in a file for each version and scenario, until the code changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.judge.judge import REPOSITORY, rays_folder
from tests.matrix.told import Told

# What a cell's outcome depends on; how ckptctl prints, and how the matrix is told, is not of it.
CODE = ("ckptctl", "tests/matrix", "tests/judge/ray_scripts")
FILES = (
    "tests/judge/checks.py",
    "tests/judge/experiments.py",
    "tests/judge/install_rays.py",
    "tests/judge/judge.py",
)
LEFT_OUT = ("ckptctl/cli", "ckptctl/demo", "ckptctl/report")
TELLING = ("__main__.py", "document.py", "test_matrix.py")


@dataclass
class Result:
    """One version and scenario."""

    version: str
    scenario: str
    digest: str
    phases: list[Told]
    seconds: float
    date: str

    @property
    def failed(self) -> list[Told]:
        return [phase for phase in self.phases if phase.state == "failed"]

    def phase(self, name: str) -> Told | None:
        return next((phase for phase in self.phases if phase.phase == name), None)


def digest() -> str:
    """A digest of the code that matters."""
    total = hashlib.sha256()
    for path in code():
        total.update(path.relative_to(REPOSITORY).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def code() -> Iterator[Path]:
    yield from (REPOSITORY / name for name in FILES)
    for top in CODE:
        for path in sorted((REPOSITORY / top).rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            telling = top == "tests/matrix" and path.name in TELLING
            if not telling and not name.startswith(LEFT_OUT):
                yield path


def place(version: str, scenario: str) -> Path:
    return rays_folder() / "matrix" / f"{version}-{scenario}.json"


def load(version: str, scenario: str) -> Result | None:
    path = place(version, scenario)
    if not path.is_file():
        return None
    document = json.loads(path.read_text())
    phases = [Told(**phase) for phase in document.pop("phases")]
    return Result(**document, phases=phases)


def save(result: Result) -> None:
    path = place(result.version, result.scenario)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(result), indent=1) + "\n")
    new.replace(path)
