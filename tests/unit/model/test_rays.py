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


def versions(rows: tuple[rays.RayRow | rays.PyarrowRow, ...]) -> list[str]:
    return [row.version for row in rows]


def test_the_table_has_the_rays_that_were_asked_for() -> None:
    asked = ["2.7.2", "2.8.1", "2.9.3", "2.24.0", "2.40.0", "2.46.0", "2.48.0", "2.54.1", "2.60.0"]
    assert [v for v in versions(rays.rays()) if v in asked] == asked
    numbers = [rays.parse_version(row.version) for row in rays.rays()]
    assert numbers == sorted(numbers)
    assert all(rays.pyarrow_rows(row.pyarrow) for row in rays.rays())


def test_patches_of_a_release_are_taken_to_be_alike() -> None:
    assert versions(rays.ray_rows("2.54")) == versions(rays.ray_rows("2.54.0")) == ["2.54.1"]
    assert versions(rays.pyarrow_rows("26")) == versions(rays.pyarrow_rows("26.3")) == ["26.0.1"]


def test_between_two_rows_both_are_asked() -> None:
    assert versions(rays.ray_rows("2.30.0")) == ["2.24.0", "2.40.0"]
    assert versions(rays.pyarrow_rows("15.0.1")) == ["14.0.2", "16.1.0"]


@pytest.mark.parametrize("text", ["2.6.3", "1.13", "3.0.0"])
def test_outside_of_the_table_nothing_is_guessed(text: str) -> None:
    with pytest.raises(UsageError, match=f"nothing is known of Ray {text}") as raised:
        rays.ray_rows(text)
    assert "2.7.2" in str(raised.value.hint)
    assert "2.60.0" in str(raised.value.hint)


def test_a_version_has_to_say_which_release_it_means() -> None:
    with pytest.raises(UsageError, match="which Ray 2"):
        rays.ray_rows("2")


@pytest.mark.parametrize(
    ("name", "lacking", "having", "there"),
    [
        ("ray.tune:RunConfig", "2.40.0", "2.60.0", "ray.train:RunConfig"),
        ("ray.tune:Checkpoint", "2.24.0", "2.54.1", "ray.train:Checkpoint"),
        (
            "ray.cloudpickle.cloudpickle:_class_setstate",
            "2.9.3",
            "2.24.0",
            "ray.cloudpickle.cloudpickle_fast:_class_setstate",
        ),
        (
            "ray.cloudpickle.cloudpickle:_function_setstate",
            "2.7.2",
            "2.60.0",
            "ray.cloudpickle.cloudpickle_fast:_function_setstate",
        ),
    ],
)
def test_names_that_moved_are_found(name: str, lacking: str, having: str, there: str) -> None:
    (old,), (new,) = rays.ray_rows(lacking), rays.ray_rows(having)
    assert old.lacks(name)
    assert not new.lacks(name)
    assert old.moved(name) == there
    assert not old.lacks(there)


def test_what_nobody_wrote_is_neither_there_nor_missing() -> None:
    (row,) = rays.ray_rows("2.60.0")
    assert not row.lacks("user.module:Thing")
    assert not rays.known_name("user.module:Thing")
    assert row.moved("user.module:Thing") is None


def test_fields_come_and_go() -> None:
    storage = "ray.train._internal.storage:StorageContext"
    held = {row.version: set(row.fields[storage]) for row in rays.rays() if storage in row.fields}
    assert held["2.7.2"] == {"storage_local_path", "storage_path"}
    assert held["2.9.3"] == {"storage_local_path"}
    assert held["2.24.0"] == held["2.60.0"] == {"_timestamp"}


def test_only_ray_2_7_counts_the_next() -> None:
    assert [row.version for row in rays.rays() if row.counts_next] == ["2.7.2"]


def test_snapshots_grow() -> None:
    required = {
        row.version: sum(not default.known for default in row.snapshot.values())
        for row in rays.rays()
        if row.snapshot is not None
    }
    assert required["2.46.0"] == required["2.48.0"] == 2
    assert (required["2.54.1"], required["2.60.0"]) == (5, 8)
    assert rays.ray_rows("2.40.0")[0].snapshot is None


def test_pyarrow_made_the_filesystem_of_a_disk_anew() -> None:
    (old,), (new,) = rays.pyarrow_rows("16.1.0"), rays.pyarrow_rows("18.1.0")
    assert [call.name for call in old.local] == ["pyarrow._fs:LocalFileSystem._reconstruct"] * 2
    assert [call.args for call in new.local] == [("file:///_",), ("file:///_?use_mmap",)]
    assert new.lacks(old.local[0].name)
    assert old.lacks(new.local[0].name)
    s3 = "pyarrow._s3fs:S3FileSystem._reconstruct"
    assert "tls_ca_file_path" in rays.pyarrow_rows("26")[0].takes[s3] - new.takes[s3]
