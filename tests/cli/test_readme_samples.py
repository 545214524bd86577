"""What the README shows at a terminal is what a terminal shows, line for line and in order."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.conftest import at_terminal

ROOT = Path(__file__).parents[2]
SHOWN = "~/ray_results/tune_lr"
BLOCKS = [
    block
    for block in re.findall(
        r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    if SHOWN in block and len(block.splitlines()) > 2
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The experiment of the demo, as if its driver had been killed an hour ago."""
    place = tmp_path / "ray_results" / "tune_lr"
    shutil.copytree(ROOT / "ckptctl" / "demo" / "tune_lr", place)
    then = time.time() - 3600
    for path in (place, *place.rglob("*")):
        os.utime(path, (then, then))
    return place


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_samples_are_real(place: Path) -> None:
    """One after the other, as a reader would type them."""
    assert [block.split()[2] for block in BLOCKS] == ["scan", "reindex", "rename"]
    for block in BLOCKS:
        command, *sample = block.splitlines()
        _, _, *words = shlex.split(command)
        arguments = [str(place) if word == SHOWN else word for word in words]
        answer = at_terminal(arguments, typed="y\n", columns=116)
        printed = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", answer.out).replace(str(place), SHOWN)
        lines = iter([squeezed(line) for line in re.split(r"[\r\n]", printed)])
        for line in map(squeezed, sample):
            if line and line != "…":
                assert line in lines, f"{line!r} is not printed, or not there"
