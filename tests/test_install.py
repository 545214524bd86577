"""Installed by pip, pipx and uv, from the repository and from a wheel, it works and is whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.support import corpus

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CLEAN = "ray-2.54.1-function_topk"

# Workers of xdist would each gather the dependencies for themselves.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("install")]


def run(*command: object, **more: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git would check out."""
    target = tmp_path_factory.mktemp("repository") / "ckptctl"
    listed = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    wanted = ("ckptctl/", "man/", "completions/", "README", "LICENSE", "CHANGELOG", "pyproject")
    for name in listed.split("\0"):
        if name.startswith(wanted) and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, repository)
    run(sys.executable, "-m", "pip", *build)
    (found,) = folder.glob("ckptctl-*.whl")
    return found


@pytest.fixture(scope="module")
def house(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that it depends on, gathered once."""
    folder = tmp_path_factory.mktemp("house")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "-w", folder, wheel, "hatchling", "pip")
    (folder / wheel.name).unlink(missing_ok=True)
    return folder


def test_the_wheel_holds_what_is_needed_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    data = f"{wheel.name.rpartition('-py3')[0]}.data/data/share"
    for name in (
        "ckptctl/py.typed",
        "ckptctl/schemas/scan.schema.json",
        f"{data}/man/man1/ckptctl.1",
        f"{data}/bash-completion/completions/ckptctl",
        f"{data}/zsh/site-functions/_ckptctl",
        f"{data}/fish/vendor_completions.d/ckptctl.fish",
    ):
        assert name in names
    assert any(name.startswith("ckptctl/demo/tune_lr/") for name in names)
    homes = {name.split("/")[0].removesuffix(".dist-info").removesuffix(".data") for name in names}
    assert homes == {"ckptctl", wheel.name.rpartition("-py3")[0]}
    assert not [n for n in names if "__pycache__" in n or n.endswith(".toml")]


HOW = ["pip-wheel", "pip-repository", "pipx-wheel", "pipx-repository", "uv-wheel", "uv-repository"]


def install(how: str, what: Path, house: Path, place: Path) -> tuple[Path, Path]:
    """Install into `place`; the command, and the folder that its shared files lie in."""
    links = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(house), "PIP_EXTRA_INDEX_URL": ""}
    if how == "pip":
        run(sys.executable, "-m", "venv", place / "venv")
        run(place / "venv/bin/python", "-m", "pip", "install", "--quiet", what, **links)
        return place / "venv/bin/ckptctl", place / "venv/share"
    if how == "pipx":
        homes = {"PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(place / "bin")}
        homes |= {"PIPX_MAN_DIR": str(place / "man"), "USE_EMOJI": "0"}
        run(BIN / "pipx", "install", "--python", sys.executable, what, **homes, **links)
        assert (place / "man/man1/ckptctl.1").exists()
        return place / "bin/ckptctl", place / "pipx/venvs/ckptctl/share"
    homes = {"UV_TOOL_DIR": str(place / "uv"), "UV_TOOL_BIN_DIR": str(place / "bin")}
    homes |= {"UV_CACHE_DIR": str(place / "cache"), "UV_PYTHON": sys.executable}
    options = ("--no-index", "--find-links", house, "--no-config")
    run(BIN / "uv", "tool", "install", "--quiet", *options, what, **homes)
    return place / "bin/ckptctl", place / "uv/ckptctl/share"


@pytest.mark.parametrize("how", HOW)
def test_it_works_however_it_is_installed(
    how: str, wheel: Path, repository: Path, house: Path, tmp_path: Path
) -> None:
    tool, _, form = how.partition("-")
    what = wheel if form == "wheel" else repository
    command, share = install(tool, what, house, tmp_path)
    assert run(command, "--version").startswith("ckptctl ")
    assert run(command, "demo", tmp_path / "demo").count("done and verified") == 3
    assert "clean" in run(command, "scan", corpus(CLEAN))
    assert (share / "man/man1/ckptctl.1").is_file()
    assert (share / "fish/vendor_completions.d/ckptctl.fish").is_file()


def test_the_step_of_the_action_installs(repository: Path, house: Path, tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = [s for s in action["runs"]["steps"] if s["name"] == "Install"]
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    path = os.pathsep.join([str(tmp_path / "venv/bin"), os.environ["PATH"]])
    links = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(house), "PIP_EXTRA_INDEX_URL": ""}
    run("bash", "-ec", step["run"], PATH=path, GITHUB_ACTION_PATH=str(repository), **links)
    assert run(tmp_path / "venv/bin/ckptctl", "--version").startswith("ckptctl ")
