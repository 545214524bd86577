"""Install the Rays that judge: python tests/judge/install_rays.py VERSION...

Each goes into a virtual environment of its own, `ray-VERSION` under $CKPTCTL_RAYS or `.rays` of
the repository. One that is there already is only verified.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
READY_MARKER = "ckptctl-judge-ready"

# What each Ray worked with in its time, from that version on; their own requirements name no upper
# bounds. numpy and pandas: extensions built for the next major version fail to load. pyarrow: how
# it pickles a file system is part of the state files. setuptools: old Rays import pkg_resources,
# which later ones dropped. pydantic: Ray before 2.10 takes 1 only, and Train V2 imports it without
# asking for it.
CONSTRAINTS: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((2, 50), ()),
    ((2, 44), ("numpy<2.4", "pandas<2.4", "pyarrow<22", "setuptools<81", "pydantic<2.12")),
    ((2, 32), ("numpy<2.2", "pandas<2.3", "pyarrow<19", "setuptools<76", "pydantic<2.11")),
    ((2, 10), ("numpy<2", "pandas<2.3", "pyarrow<17", "setuptools<71", "pydantic<2.8")),
    ((2, 0), ("numpy<2", "pandas<2.2", "pyarrow==14.0.2", "setuptools<70", "pydantic<2")),
)


def constraints_for(version: str) -> tuple[str, ...]:
    major, minor = (int(part) for part in version.split(".")[:2])
    return next(wanted for since, wanted in CONSTRAINTS if (major, minor) >= since)


def verify(folder: Path, version: str) -> str | None:
    """Why this is no Ray of that version, or None if it is."""
    python = folder / "bin" / "python"
    if not python.exists():
        return "no virtual environment"
    done = subprocess.run(
        [python, "-c", "import ray, ray.tune, tensorboardX; print(ray.__version__)"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    found = done.stdout.strip()
    return None if found == version else f"Ray {found} is installed there"


def install(folder: Path, version: str) -> None:
    venv.create(folder, with_pip=True)
    wanted = [f"ray[tune]=={version}", *constraints_for(version)]
    python, uv = folder / "bin" / "python", Path(sys.executable).with_name("uv")
    if _starts(uv):
        # A tenth of the time that pip takes.
        command = [str(uv), "pip", "install", "--python", str(python)]
    else:
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    subprocess.run([*command, "--quiet", *wanted], check=True)


def _starts(program: Path) -> bool:
    """Whether a program is there and can be started, which some machines forbid."""
    try:
        return (
            subprocess.run([program, "--version"], check=False, capture_output=True).returncode == 0
        )
    except OSError:
        return False


def ensure(folder: Path, version: str) -> str:
    """Install and verify one version, and say what was done."""
    marker = folder / READY_MARKER
    if marker.is_file():
        return "ready"
    if verify(folder, version) is None:
        marker.write_text(version + "\n")
        return "verified"
    try:
        install(folder, version)
    except subprocess.CalledProcessError as error:
        return f"FAILED: {Path(error.cmd[0]).name} ended with {error.returncode}"
    problem = verify(folder, version)
    if problem is not None:
        return f"FAILED: {problem}"
    marker.write_text(version + "\n")
    return "installed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    versions: list[str] = parser.parse_args().versions
    rays = Path(os.environ.get("CKPTCTL_RAYS") or REPOSITORY / ".rays")
    rays.mkdir(parents=True, exist_ok=True)
    failed = False
    for version in versions:
        outcome = ensure(rays / f"ray-{version}", version)
        failed |= outcome.startswith("FAILED")
        print(f"ray-{version}: {outcome}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
