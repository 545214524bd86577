"""Rays with torch, XGBoost, LightGBM and Lightning beside them, for the trainers that need these.

Each is a virtual environment of its own under $CKPTCTL_RAYS_ML, or `.rays-ml`, that finds the Ray
of `tests/judge/install_rays.py` through a `.pth` file, so that the Ray itself stays as it is.
"""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

from tests.judge.judge import READY_MARKER, REPOSITORY, rays_folder

# What each Ray worked with in its time. Ray 2.6 trains boosted trees by packages of its own; its
# and Ray 2.54's data blocks are made for the pandas of before 3.
WANTED: dict[str, tuple[str, ...]] = {
    "2.6.3": (
        "torch==2.13.0",
        "xgboost<2",
        "lightgbm<4",
        "xgboost_ray",
        "lightgbm_ray",
        "pytorch-lightning<2.1",
        "scikit-learn<1.4",
    ),
    "2.40.0": ("torch==2.13.0", "xgboost", "lightgbm", "lightning", "scikit-learn<1.6"),
    "2.54.1": ("torch==2.13.0", "xgboost", "lightgbm", "lightning", "scikit-learn", "pandas<3"),
}
# Its workers find the `pkg_resources` of the Ray's own environment too, and two kinds of it do not
# go together; torch asks for a newer one, and does without.
WITHOUT_DEPENDENCIES = {"2.6.3": ("setuptools<66",)}
_PINNED = ("numpy", "pandas", "pyarrow", "pydantic", "ray")


def extras_folder() -> Path:
    """Where they are, or will be."""
    return Path(os.environ.get("CKPTCTL_RAYS_ML") or REPOSITORY / ".rays-ml")


def ensure(version: str) -> None:
    """Install what one Ray is to have, if it has not got it."""
    folder = extras_folder() / f"ray-{version}"
    if (folder / READY_MARKER).is_file():
        return
    ray = rays_folder() / f"ray-{version}"
    venv.create(folder, with_pip=True)
    (packages,) = ray.glob("lib/python3*/site-packages")
    (own,) = folder.glob("lib/python3*/site-packages")
    (own / "zz-ray.pth").write_text(f"{packages}\n")
    python = str(folder / "bin" / "python")
    freeze = [python, "-m", "pip", "freeze"]
    frozen = subprocess.run(freeze, capture_output=True, text=True, check=True)
    asked = {name.partition("<")[0].partition("=")[0] for name in WANTED[version]}
    pins = [
        line
        for line in frozen.stdout.splitlines()
        if line.partition("==")[0].lower() in _PINNED and line.partition("==")[0] not in asked
    ]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *WANTED[version], *pins], check=True)
    if own_way := WITHOUT_DEPENDENCIES.get(version):
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--no-deps", *own_way], check=True
        )
    (folder / READY_MARKER).write_text(version + "\n")
