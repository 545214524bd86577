from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from ckptctl.checker import check
from ckptctl.errors import UsageError
from ckptctl.model.experiment import Experiment, RecordRole, Unreadable
from ckptctl.model.finding import Finding
from ckptctl.rules.needs import needs
from tests.rules.builders import STATE, a_trial, claims, commands, experiment

NEW = frozenset({"_timestamp", "storage_fs_path"})
OLD = frozenset({"storage_local_path", "storage_fs_path"})


def written(
    *names: str, fields: Iterable[str] = NEW, layout: str = "ray-tune", index: int | None = 3
) -> Experiment:
    whole = experiment(a_trial(3, index=index), layout=layout)
    return replace(whole, state_fields=frozenset(fields), globals={STATE: frozenset(names)})


def found(
    what: Experiment, for_ray: str | None = None, for_pyarrow: str | None = None
) -> tuple[Finding, ...]:
    return check(what, select=("CKP207",), for_ray=for_ray, for_pyarrow=for_pyarrow)


def test_a_class_that_the_other_ray_lacks_is_told() -> None:
    state = written("ray.tune:CheckpointConfig", "ray.train:SyncConfig", "user:ray.tune")
    (finding,) = found(state, "2.40")
    assert finding.message == (
        "Ray 2.40 has no ray.tune:CheckpointConfig: a restore would start the experiment from "
        "scratch"
    )
    assert claims(finding) == [("trial", "ray.tune:CheckpointConfig")]
    assert commands([finding]) == [None]
    assert found(state, "2.41.0") == found(state, "2.60.0") == ()


def test_old_homes_are_still_there() -> None:
    assert found(written("ray.train:CheckpointConfig"), "2.60.0") == ()
    fast = "ray.cloudpickle.cloudpickle_fast:_function_setstate"
    assert found(written(fast), "2.54.1") == ()
    setter = written("ray.cloudpickle.cloudpickle:_function_setstate", fields=OLD)
    assert len(found(setter, "2.9.3")) == 1


def test_pyarrow_made_its_filesystems_anew() -> None:
    local = written("pyarrow._fs:LocalFileSystem._reconstruct")
    (finding,) = found(local, "2.54.1", "17.0.0")
    assert finding.message.startswith("pyarrow 17.0.0 has no pyarrow._fs:LocalFileSystem")
    assert commands([finding]) == [None]
    assert found(local, None, "16.1") == ()
    uri = written("pyarrow._fs:FileSystem._from_uri")
    assert len(found(uri, None, "14")) == 1
    assert found(written("pyarrow._s3fs:S3FileSystem._reconstruct"), None, "26") == ()


def test_fields_that_were_added_are_told() -> None:
    (finding,) = found(written(fields=OLD), "2.54.1")
    assert finding.message == "Ray 2.54.1 does not go on with a StorageContext without _timestamp"
    assert [f.message[-18:] for f in found(written(fields=NEW), "2.9.3")] == ["storage_local_path"]


def test_a_snapshot_wants_what_its_ray_wants() -> None:
    fields = {"checkpoint_results", "checkpoint_report_indices", "current_report_index"}
    fields |= {"pending_training_results", "pending_validation_specs"}
    run = written(fields=fields, layout="ray-train-v2", index=None)
    assert found(run, "2.54.1") == found(run, "2.46") == ()
    assert "without validated_checkpoint_dir_names" in found(run, "2.55")[0].message
    assert "failed_validation_checkpoint_dir_names," in found(run, "2.60.0")[0].message
    assert found(run, "2.40")[0].message == "Ray 2.40 has no Train V2"
    assert commands(found(run, "2.40")) == [None]


def test_a_counter_that_means_the_last_is_not_for_ray_2_7() -> None:
    both = NEW | OLD
    assert "takes the index for the next one" in found(written(fields=both), "2.7.2")[0].message
    assert found(written(fields=both, index=-1), "2.7.2") == ()
    assert found(written(fields=both), "2.8.1") == ()
    assert found(written(fields=both, layout="ray-tune-2.7"), "2.7.2") == ()


def test_between_2_6_and_2_7_nothing_can_be_carried_over() -> None:
    legacy = written("ray.air.config:CheckpointConfig", layout="ray-legacy", index=None)
    assert found(legacy, "2.6.3") == ()
    for findings in (found(legacy, "2.9.3", "26"), found(written("ray.tune:RunConfig"), "2.6")):
        (finding,) = findings
        assert "keeps trials in another form" in finding.message
        assert finding.remedy is not None
        assert (finding.remedy.command, finding.remedy.note) == (
            None,
            "go on with the Ray and pyarrow that wrote it",
        )


def test_nothing_is_asked_without_a_version_or_told_without_a_state() -> None:
    state = written("ray.tune:CheckpointConfig", fields=())
    assert found(state) == ()
    torn = Unreadable(file=STATE, reason="it is cut off", role=RecordRole.STATE)
    assert found(replace(state, problems=(torn,)), "2.40") == ()
    assert found(replace(state, globals={}), "2.40") == ()


def test_a_version_must_be_one() -> None:
    for text in ("", "latest", "2.x", "-2", "9" * 20):
        with pytest.raises(UsageError):
            list(needs(written(), text, None))
    assert list(needs(written(), " 2.60.0rc1 ", "26.0.0.dev1")) == []
