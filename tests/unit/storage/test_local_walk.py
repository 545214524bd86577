from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

import pytest

from ckptctl.storage import local_walk
from ckptctl.storage.folders import Folder
from ckptctl.storage.local_walk import walk


def _nested(parent: Path, name: str, levels: int) -> None:
    """Folders within one another, made from one to the next as no path would reach."""
    place = os.open(parent, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=place)
        inner = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("model.pt", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)


def _chain(folder: Folder) -> list[Folder]:
    found = [folder]
    while found[-1].folders:
        (inner,) = found[-1].folders.values()
        found.append(inner)
    return found


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _refuse(monkeypatch: pytest.MonkeyPatch, name: str, error: OSError) -> None:
    """Have a folder of this name not be opened."""
    real = os.open

    def refusing(path: str, flags: int, dir_fd: int | None = None) -> int:
        if path == name:
            raise error
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)


def test_folders_deeper_than_are_kept_open_are_all_listed(tmp_path: Path) -> None:
    _nested(tmp_path, "d", 3 * local_walk._OPEN)
    before = _open_files()
    chain = _chain(walk(str(tmp_path)))
    assert len(chain) == 3 * local_walk._OPEN + 1
    assert chain[-1].names == ("model.pt",)
    assert not any(folder.unreadable for folder in chain)
    assert _open_files() == before


def test_what_no_path_reaches_is_told_and_hides_nothing_else(tmp_path: Path) -> None:
    _nested(tmp_path, "d" * 200, 30)
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "result.json").write_text("{}\n")
    try:
        found = walk(str(tmp_path))
        assert found.folders["trial"].names == ("result.json",)
        chain = _chain(Folder(folders={"d": found.folders["d" * 200]}))
        assert chain[-1].unreadable == "the path is too long"
        assert 4096 - 201 < len(str(tmp_path)) + 201 * (len(chain) - 1) <= 4096 + 201
        assert found.census is not None
        assert found.census.odd
    finally:
        shutil.rmtree(tmp_path / ("d" * 200))


def test_a_folder_that_a_link_takes_the_place_of_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "checkpoint_000000").mkdir(parents=True)
    root = tmp_path / "experiment"
    (root / "trial").mkdir(parents=True)
    real = os.open

    def exchanging(path: str, flags: int, dir_fd: int | None = None) -> int:
        if path == "trial":
            (root / "trial").rmdir()
            (root / "trial").symlink_to(elsewhere)
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchanging)
    found = walk(str(root))
    assert (root / "trial").is_symlink()
    assert not found.folders["trial"].folders


def test_a_folder_that_may_not_be_read_is_closed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "checkpoint_000000").mkdir(parents=True)
    before = _open_files()
    _refuse(monkeypatch, "b", PermissionError(13, "Permission denied"))
    found = walk(str(tmp_path))
    assert found.folders["b"].unreadable == "no permission"
    assert [list(found.folders[n].folders) for n in ("a", "c")] == [["checkpoint_000000"]] * 2
    assert _open_files() == before


def test_few_descriptors_are_enough(tmp_path: Path) -> None:
    _nested(tmp_path, "d", 60)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    try:
        # What is open already counts, and its numbers may have gaps.
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(left) + 4, hard))
        for place in left:
            os.close(place)
        chain = _chain(walk(str(tmp_path)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(chain) == 61
    assert chain[-1].names == ("model.pt",)


def test_a_disk_that_fails_is_told_and_nothing_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trial" / "checkpoint_000000").mkdir(parents=True)
    before = _open_files()
    _refuse(monkeypatch, "checkpoint_000000", OSError(5, "Input/output error"))
    with pytest.raises(OSError, match="Input/output"):
        walk(str(tmp_path))
    assert _open_files() == before
