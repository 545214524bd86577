"""A real Ray with ckptctl in its workers: jobs go in, and what they leave is looked at here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import distribution
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
def installed(extras: Sequence[str] = ()) -> Iterator[Path]:
    """A folder with what ckptctl's integration needs, as pip would put it beside Ray.

    `extras` are packages, as s3fs, that are put there with all that they need.
    """
    with tempfile.TemporaryDirectory(prefix="ckptctl-path-") as folder:
        packages = {PACKAGE, Path(str(msgspec.__file__)).parent, *_modules(extras)}
        for package in packages:
            Path(folder, package.name).symlink_to(package)
        yield Path(folder)


def _modules(distributions: Sequence[str]) -> set[Path]:
    """The folders and files that these and what they require are imported from."""
    found: set[Path] = set()
    todo, done = list(distributions), set[str]()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        package = distribution(name)
        tops = {path.parts[0] for path in package.files or () if path.suffix in (".py", ".so")}
        found |= {Path(str(package.locate_file(top))) for top in tops - {".."}}
        needs = (need for need in package.requires or () if "extra ==" not in need)
        todo += [re.split(r"[^\w.-]", need)[0] for need in needs if ";" not in need]
    return found


def run(
    version: str,
    jobs: Sequence[Job],
    *,
    v2: bool = False,
    rays: Path | None = None,
    with_ckptctl: bool = True,
    extras: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> list[Job]:
    """What each job ended with; those of one call share one Ray.

    `settings` are added to their environment.
    """
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    with installed(extras) as path, tempfile.TemporaryDirectory(prefix="jobs-") as home:
        environment |= {"HOME": home, "PYTHONPATH": str(path) if with_ckptctl else home}
        environment |= {"RAY_TRAIN_V2_ENABLED": "1" if v2 else "0", **(settings or {})}
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
