"""A real Ray with ckptctl in its workers: jobs go in, and what they leave is looked at here."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.judge.judge import KEPT_ENVIRONMENT, READY_MARKER, MissingRay, rays_folder

SCRIPT = Path(__file__).parent / "ray_scripts" / "jobs.py"
PACKAGE = Path(__file__).parents[2] / "ckptctl"

Job = dict[str, Any]


def python_of(version: str, rays: Path | None = None) -> Path:
    """The interpreter of a Ray, or `MissingRay`."""
    venv = (rays or rays_folder()) / f"ray-{version}"
    if not (venv / READY_MARKER).is_file():
        raise MissingRay(
            f"Ray {version} is not installed in {venv}:"
            f" run python tests/judge/install_rays.py {version}"
        )
    return venv / "bin" / "python"


@contextmanager
def installed() -> Iterator[Path]:
    """A folder with what ckptctl's integration needs, as pip would put it beside Ray."""
    with tempfile.TemporaryDirectory(prefix="ckptctl-path-") as folder:
        for package in (PACKAGE, Path(str(msgspec.__file__)).parent):
            Path(folder, package.name).symlink_to(package)
        yield Path(folder)


def run(
    version: str,
    jobs: Sequence[Job],
    *,
    v2: bool = False,
    rays: Path | None = None,
    with_ckptctl: bool = True,
) -> list[Job]:
    """What each job ended with; those of one call share one Ray."""
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    with installed() as path, tempfile.TemporaryDirectory(prefix="jobs-") as home:
        environment |= {"HOME": home, "PYTHONPATH": str(path) if with_ckptctl else home}
        environment |= {"RAY_TRAIN_V2_ENABLED": "1" if v2 else "0"}
        done = subprocess.run(
            [python_of(version, rays), SCRIPT],
            input="".join(json.dumps(job) + "\n" for job in jobs),
            capture_output=True,
            text=True,
            timeout=280 * len(jobs),
            check=False,
            cwd=home,
            env=environment,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(jobs), done.stderr[-4000:]
    return answers
