from __future__ import annotations

import pytest

from ckptctl.errors import UsageError
from ckptctl.model import rays


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.54.1", (2, 54, 1)), ("26", (26,)), (" 2.60.0rc1 ", (2, 60, 0)), ("3.0.0.dev0", (3, 0, 0))],
)
def test_versions_are_numbers(text: str, version: rays.Version) -> None:
    assert rays.parse_version(text) == version


@pytest.mark.parametrize("text", ["", "nightly", "2.", ".2", "2.x", "v2.54", "٢.٤"])
def test_what_is_no_version_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="not a version"):
        rays.parse_version(text)


@pytest.mark.parametrize(
    ("name", "lacking", "having"),
    [
        ("ray.tune:Checkpoint", (2, 40, 0), (2, 41, 0)),
        ("ray.train:SyncConfig", (2, 6, 3), (2, 7)),
        ("ray.cloudpickle.cloudpickle:_class_setstate", (2, 9, 3), (2, 10, 0)),
    ],
)
def test_names_that_ray_moved(name: str, lacking: rays.Version, having: rays.Version) -> None:
    assert rays.missing([name, "os:system"], rays.RAY_HOMES, lacking) == (name,)
    assert rays.missing([name, "os:system"], rays.RAY_HOMES, having) == ()


def test_fields_come_and_go() -> None:
    assert rays.storage_fields((2, 9, 3)) == {"storage_local_path"}
    assert rays.storage_fields((2, 10)) == {"_timestamp"}
    counts = [len(rays.snapshot_fields((2, n))) for n in (40, 41, 53, 54, 55, 56, 60)]
    assert counts == [0, 1, 1, 5, 6, 8, 8]
