"""Journals of other versions: an older one is read, and a newer one refused in a sentence.

`kept/journal-format-N` was written by the first version of that format, by a rename of the
corpus experiment `ray-2.54.1-function_topk` that was killed before its first step. A format that
is added gets a folder of its own here, and none is ever removed or changed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptctl.codec.edit import apply_edits
from ckptctl.executor import fresh
from ckptctl.journal.records import JOURNAL_FORMAT
from ckptctl.model.plan import PLAN_FORMAT
from tests.fuzz.run import tree
from tests.security.verbs import TEMPLATE, change, run
from tests.support import copy_of

KEPT = Path(__file__).parent / "kept"
NAME = "ray-2.54.1-function_topk"
FORMATS = sorted(p.name for p in KEPT.iterdir())


@pytest.fixture(autouse=True)
def real_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the product, which other tests here stand in for."""
    monkeypatch.setattr(fresh, "apply_edits", apply_edits)
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")


def put(tmp_path: Path, kept: str) -> Path:
    """The experiment as the killed rename left it."""
    place = copy_of(NAME, tmp_path / "kept")
    shutil.copytree(KEPT / kept, place / ".ckptctl" / "journal")
    return place


def test_every_format_has_a_kept_journal() -> None:
    assert [f"journal-format-{n}" for n in range(1, JOURNAL_FORMAT + 1)] == FORMATS


@pytest.mark.parametrize("kept", FORMATS)
def test_an_older_journal_can_be_finished_and_taken_back(tmp_path: Path, kept: str) -> None:
    place, other = put(tmp_path, kept), copy_of(NAME, tmp_path / "now")
    before = tree(place)
    assert "CKP901" in run("scan", place).out
    assert "rename" in run("history", place).out
    assert change("rename", other, "--to", TEMPLATE).code == 0
    assert run("resume", place, "--yes").code == 0
    assert tree(place) == tree(other) != before
    assert change("undo", place).code == 0
    assert tree(place) == before


@pytest.mark.parametrize("kept", FORMATS)
def test_an_older_pending_journal_can_be_taken_back_at_once(tmp_path: Path, kept: str) -> None:
    place = put(tmp_path, kept)
    before = tree(place)
    assert change("undo", place).code == 0
    assert tree(place) == before
    assert "undone" in run("history", place).out


def newer_journal(value: dict[str, object]) -> None:
    value["format"] = JOURNAL_FORMAT + 1


def newer_plan(value: dict[str, object]) -> None:
    plan = value["plan"]
    assert isinstance(plan, dict)
    plan["format"] = PLAN_FORMAT + 1


@pytest.mark.parametrize("newer", [newer_journal, newer_plan])
def test_a_newer_journal_is_refused_in_a_sentence(
    tmp_path: Path, newer: Callable[[dict[str, object]], None]
) -> None:
    place = put(tmp_path, FORMATS[-1])
    path = next(place.glob(".ckptctl/journal/*/plan.json"))
    value = json.loads(path.read_text())
    newer(value)
    path.write_text(json.dumps(value))
    before = tree(place), path.read_bytes()
    for words in (
        ("resume", "--yes"),
        ("undo", "--yes"),
        ("rename", "--to", TEMPLATE, "--yes"),
    ):
        said = run(words[0], place, *words[1:])
        assert said.code == 11, said
        assert "is newer than this ckptctl, which reads up to" in said.err, said
    assert run("history", place, "--prune", "--yes").code in (0, 11)
    listed = run("history", place)
    assert "is newer than this ckptctl" in listed.out + listed.err
    assert "CKP901" in run("scan", place).out
    assert (tree(place), path.read_bytes()) == before


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "list", "deep", "number", "binary"])
@pytest.mark.parametrize("file", ["plan.json", "commit.json"])
def test_history_tells_of_a_damaged_journal(tmp_path: Path, file: str, damage: str) -> None:
    place = copy_of(NAME, tmp_path)
    assert change("rename", place, "--to", TEMPLATE).code == 0
    [path] = place.glob(f".ckptctl/journal/*/{file}")
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[: len(data) // 2],
            "empty": b"",
            "text": b"hello",
            "list": b"[]",
            "deep": b"[" * 100_000,
            "number": b'{"format": ' + b"9" * 5000 + b"}",
            "binary": bytes(range(256)),
        }[damage]
    )
    before = tree(place)
    if file == "commit.json":
        listed = run("history", place)
        assert "damaged" in listed.out + listed.err
    assert run("scan", place).code in (0, 1)
    said = change("undo", place)
    assert said.code == 11 and "damaged" in said.err and str(path.name) in said.err, said
    assert run("history", place, "--prune", "--yes").code in (0, 11)
    assert tree(place) == before and path.exists()


def test_a_link_in_the_place_of_an_entry_is_a_damaged_journal(tmp_path: Path) -> None:
    place = put(tmp_path, FORMATS[-1])
    [entry] = place.glob(".ckptctl/journal/0*")
    moved = entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(moved)
    before = tree(place), tree(moved)
    assert "CKP901" in run("scan", place).out
    assert "a link or a file, not a folder" in run("history", place).out
    for words in (("resume",), ("undo",), ("rename", "--to", TEMPLATE)):
        said = run(words[0], place, *words[1:], "--yes")
        assert said.code == 11, said
        assert "a link or a file, not a folder" in said.err
    assert (tree(place), tree(moved)) == before


def test_a_journal_that_is_a_link_is_never_written_to(tmp_path: Path) -> None:
    place = put(tmp_path, FORMATS[-1])
    shutil.rmtree(place / ".ckptctl")
    (place / ".ckptctl").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (place / ".ckptctl/journal").symlink_to(tmp_path / "elsewhere")
    before = tree(place)
    said = run("rename", place, "--to", TEMPLATE, "--yes")
    assert said.code == 10, said
    assert tree(place) == before and not list((tmp_path / "elsewhere").iterdir())
