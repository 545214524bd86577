from __future__ import annotations

from collections.abc import Mapping

import pytest

from ckptctl.layouts.folders import Folder, checkpoint_folders, compare_siblings
from ckptctl.layouts.strays import part_of
from ckptctl.layouts.tree import Tree
from ckptctl.model.checkpoint import CheckpointState, Stray
from ckptctl.storage.store import Entry


def folders_of(*contents: Mapping[str, float]) -> tuple[Folder, ...]:
    """Folders 0, 1, 2, … with these files and the times of their last change."""
    entries = [
        Entry(path=f"checkpoint_{n:06d}/{name}", is_dir=False, size=1, modified=at)
        for n, files in enumerate(contents)
        for name, at in files.items()
    ]
    return compare_siblings({"": checkpoint_folders(Tree(entries), "")})[""]


def named(*names: str) -> dict[str, float]:
    return {name: 100.0 + n for n, name in enumerate(names)}


def test_a_name_that_no_sibling_has_is_a_stray() -> None:
    *others, last = folders_of(named("a", "b"), named("a", "b"), {"old": 7.0, "a": 9.0, "b": 8.0})
    assert last.strays == (Stray(path="old", modified=7.0),)
    assert (last.begun, last.modified) == (8.0, 9.0)
    assert last.state is CheckpointState.COMPLETE
    assert not any(f.strays for f in others)


def test_files_called_by_a_step_of_their_own_are_none() -> None:
    steps = [named("state.json", f"model-{n:06d}.pt", f"x/epoch={n}.pt") for n in (5, 10, 15)]
    assert not any(f.strays for f in folders_of(*steps))


def test_a_second_file_in_one_part_is_one() -> None:
    single = [named(f"ckpt-loss={loss}.pt", "state") for loss in ("-0.5", "1e-05")]
    double = {"state": 9.0, "ckpt-loss=0.31.pt": 7.0, "ckpt-loss=0.25.pt": 8.0}
    *_, last = folders_of(*single, double)
    older = Stray(path="ckpt-loss=0.31.pt", modified=7.0, twin="ckpt-loss=0.25.pt")
    assert last.strays == (older,)
    assert not any(f.strays for f in folders_of(*single, double, double | {"more": 1.0})[:3])


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (["shard_0.bin"], ["shard_0.bin", "shard_1.bin"]),
        (["rank-0-of-1.pt"], ["rank-0-of-2.pt", "rank-1-of-2.pt"]),
        (
            ["model-00001-of-00001.safetensors"],
            [f"model-{n:05d}-of-00003.safetensors" for n in (1, 2, 3)],
        ),
    ],
)
def test_a_save_by_more_workers_has_none(few: list[str], many: list[str]) -> None:
    assert not any(f.strays for f in folders_of(named(*few), named(*few), named(*many)))


def test_the_markers_of_ray_are_nobodys() -> None:
    marked = named("a", ".tune_metadata", ".metadata.json")
    assert not any(f.strays for f in folders_of(named("a"), named("a"), marked))


def test_too_few_siblings_tell_nothing() -> None:
    assert not any(f.strays or f.begun for f in folders_of(named("a"), named("a", "b")))


def test_parts_are_names_without_numbers() -> None:
    assert part_of("x/epoch=3-step=30-loss=-1.5e-3.ckpt") == "x/epoch=#-step=#-loss=#.ckpt"
    assert part_of("model-7.pt") == "model-#.pt"
