"""`--deep` and required files: what is not whole is found, and left out of every choice."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Copy

CLEAN = "ray-2.54.1-function_topk"


@pytest.fixture
def place(copy: Copy) -> Path:
    """An experiment whose checkpoints hold a zip each, the newest of the first trial cut off."""
    found = copy(CLEAN)
    for folder in found.glob("*/checkpoint_*"):
        with zipfile.ZipFile(folder / "weights.pt", "w") as archive:
            archive.writestr("data.pkl", b"\x80\x02N.")
    (torn,) = found.glob("function_02a88_00000*/checkpoint_000007/weights.pt")
    torn.write_bytes(torn.read_bytes()[:-30])
    return found


def test_only_a_deep_scan_looks_into_files(ckptctl: Call, place: Path) -> None:
    assert ckptctl("scan", place).code == 0
    answer = ckptctl("scan", place, "--deep")
    assert answer.code == 1
    assert "checkpoint_000007 is not whole: weights.pt is a zip that is cut off: " in answer.out
    assert "; it is the latest" in answer.out
    assert "1 checkpoint cannot be loaded whole" in answer.out


def test_a_torn_checkpoint_is_neither_latest_nor_best(ckptctl: Call, place: Path) -> None:
    assert ckptctl("latest", place, "--trial", "*00000").out.endswith("checkpoint_000007\n")
    answer = ckptctl("latest", place, "--trial", "*00000", "--deep")
    assert not answer.out.endswith("checkpoint_000007\n")


def test_a_torn_checkpoint_is_moved_aside_and_comes_back(ckptctl: Call, place: Path) -> None:
    assert ckptctl("reindex", place, "--quarantine", "--check").code == 0
    answer = ckptctl("reindex", place, "--quarantine", "--deep", "--yes")
    assert answer.code == 0
    assert "is partial (weights.pt is torn) and moves to .ckptctl/quarantine/" in answer.out
    assert not list(place.glob("function_02a88_00000*/checkpoint_000007"))
    assert ckptctl("scan", place, "--deep", "--fail-on", "warning").code == 0
    assert ckptctl("undo", place, "--yes").code == 0
    assert list(place.glob("function_02a88_00000*/checkpoint_000007"))


def test_required_files_come_from_the_settings(
    ckptctl: Call, copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(CLEAN)
    names = {p.name for p in place.glob("*/checkpoint_*/*")}
    file = tmp_path / "ckptctl.toml"
    monkeypatch.chdir(tmp_path)
    file.write_text(f'[checkpoint]\nrequired = ["{min(names)}"]\n')
    assert ckptctl("scan", place).code == 0
    file.write_text('[checkpoint]\nrequired = ["optimizer*.pt"]\n')
    answer = ckptctl("scan", place, "--json")
    assert answer.code == 1
    assert {f["code"] for f in answer.json["findings"] if f["severity"] == "error"} == {"CKP302"}
    assert "it lacks optimizer*.pt" in answer.json["findings"][-1]["message"]
    assert ckptctl("latest", place).code == 1


def test_every_corpus_experiment_is_whole_when_looked_into(ckptctl: Call, copy: Copy) -> None:
    for name in (CLEAN, "ray-2.54.1-lightning_v2", "ray-2.6.3-function_topk"):
        place = copy(name)
        plain = ckptctl("scan", place, "--json").json["findings"]
        assert ckptctl("scan", place, "--json", "--deep").json["findings"] == plain
