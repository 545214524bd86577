"""Names made to mislead: shown escaped in every format, moved and moved back as they are."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.fuzz.run import tree
from tests.security.verbs import FORMATS, TEMPLATE, change, run
from tests.support import copy_of

NAMES = {
    "newline": "checkpoint_000009\nerror: all is lost",
    "carriage_return": "checkpoint_000009\rchecked",
    "escape": "checkpoint_\x1b[2J\x1b[31mred\x1b[0m",
    "title": "checkpoint_\x1b]0;owned\x07",
    "bell_and_delete": "checkpoint_\x07\x7f\x08",
    "c1": "checkpoint_\x9b31m",
    "markup": "checkpoint_[bold red]x[nothing]",
    "html": "checkpoint_<script>alert(1)<",
    "workflow_command": "checkpoint_::error::x%0A",
    "direction": "checkpoint_\u202egnp.\u2066",
    "not_utf8": "checkpoint_\udcff\udc80",
    "spaces": "checkpoint_   ",
    "tabs": "checkpoint_\t000001\t",
    "quotes": "checkpoint_'\"`$(touch x)`;&|",
    "long": "checkpoint_" + "9" * 244,
    "wide": "checkpoint_" + "\u4e00" * 81,
    "dash": "--yes",
    "like_ours": ".ckptctl-0123456789abcdef~",
}
RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\r", "\x08", "\x7f", "\udcff")


def put(folder: Path, name: str) -> None:
    made = folder / name
    made.mkdir()
    (made / name).write_bytes(b"payload")


def crowd(place: Path, names: Iterable[str]) -> None:
    """Put names wherever a folder or file can be."""
    trial = next(p for p in place.iterdir() if p.is_dir())
    for folder in (place, trial, next(trial.glob("checkpoint_*"))):
        for name in names:
            put(folder, name)


@pytest.mark.parametrize("form", FORMATS)
def test_no_name_reaches_a_terminal_as_it_is(tmp_path: Path, form: str) -> None:
    place = copy_of("ray-2.54.1-function_topk", tmp_path)
    crowd(place, NAMES.values())
    for name in NAMES.values():
        shutil.copytree(
            place / next(p.name for p in place.iterdir() if "02a88" in p.name), tmp_path / name
        )
    for words in (("scan", tmp_path, "--format", form, "-v"), ("scan", place, "--format", form)):
        said = run(*words)
        assert said.code == 1
        shown = said.out.replace("\r\n", "\n") + said.err
        assert [raw for raw in RAW if raw in shown] == []
        assert "\nerror: all is lost" not in shown
        assert "all is lost" in shown


@pytest.mark.parametrize("case", NAMES)
def test_such_names_are_moved_and_moved_back(tmp_path: Path, case: str) -> None:
    made = copy_of("ray-2.54.1-function_topk", tmp_path)
    crowd(made, [NAMES[case]])
    place = tmp_path / NAMES[case] / "exp"
    place.parent.mkdir()
    shutil.move(made, place)
    before = tree(place)
    changed = 0
    for words in (
        ("rename", "--to", TEMPLATE, "--on-missing", "skip"),
        ("reindex", "--unsafe", "--quarantine"),
    ):
        done = change(words[0], place, *words[1:])
        assert done.code in (0, 14), done
        if tree(place) != before:
            changed += 1
            assert change("undo", place).code == 0
        assert tree(place) == before
    assert changed
