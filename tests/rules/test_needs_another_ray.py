from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from ckptctl.checker import check
from ckptctl.errors import UsageError
from ckptctl.migration.needs import needs
from ckptctl.model.experiment import (
    Experiment,
    RecordFile,
    RecordKind,
    RecordRole,
    Unreadable,
)
from ckptctl.model.finding import Finding
from ckptctl.model.pickles import Pickle, StateKeys, StoredCall, StoredObject
from tests.rules.builders import STATE, a_trial, claims, commands, experiment

STORAGE = "ray.train._internal.storage:StorageContext"
NEW = frozenset({"_timestamp", "storage_fs_path"})
OLD = frozenset({"storage_local_path", "storage_fs_path"})
LOCAL_OLD = StoredCall(
    name="pyarrow._fs:LocalFileSystem._reconstruct", args=({"use_mmap": False},), pointer="s#fs"
)
LOCAL_NEW = StoredCall(name="pyarrow._fs:FileSystem._from_uri", args=("file:///_",), pointer="s#fs")


def written(
    *names: str,
    fields: Iterable[str] = NEW,
    layout: str = "ray-tune",
    index: int | None = 3,
    calls: tuple[StoredCall, ...] = (),
    file: str = STATE,
    runner: Iterable[str] = ("_session_str", "_start_time"),
) -> Experiment:
    whole = experiment(a_trial(3, index=index), layout=layout)
    storage = StoredObject(
        name=STORAGE,
        fields=frozenset(fields),
        pointer="trial_data/0/0#storage#",
        plain={"storage_fs_path": "/r", "current_checkpoint_index": index or 0},
    )
    held = Pickle(
        file=file,
        pointer="trial_data/0/0#storage#",
        names=frozenset((*names, *(call.name for call in calls))),
        objects=(storage,) if fields else (),
        calls=calls,
    )
    tuner = RecordFile(
        path="tuner.pkl", kind=RecordKind.PICKLE, role=RecordRole.TUNER, sha256="0", size=1
    )
    keys = StateKeys(file=STATE, pointer="runner_data", part="runner", keys=frozenset(runner))
    return replace(
        whole,
        state_fields=frozenset(fields),
        pickles=(held,),
        state_keys=(keys,),
        records=(*whole.records, tuner),
        counter_means_next=layout == "ray-tune-2.7",
    )


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
    (evidence,) = finding.evidence
    assert (evidence.file, evidence.pointer) == (
        STATE,
        "trial_data/0/0#storage#~4/ray.tune:CheckpointConfig",
    )
    assert commands([finding]) == [f"ckptctl migrate {state.location} --to-ray 2.40"]
    assert found(state, "2.48.0") == found(state, "2.60.0") == ()


def test_what_is_missing_in_the_settings_of_the_run_makes_a_restore_raise() -> None:
    (finding,) = found(written("ray.tune:RunConfig", file="tuner.pkl"), "2.40")
    assert finding.message == "Ray 2.40 has no ray.tune:RunConfig: a restore would raise"


def test_old_homes_are_still_there() -> None:
    assert found(written("ray.train:CheckpointConfig"), "2.60.0") == ()
    fast = "ray.cloudpickle.cloudpickle_fast:_function_setstate"
    assert found(written(fast), "2.54.1") == ()
    setter = written("ray.cloudpickle.cloudpickle:_function_setstate", fields=OLD)
    assert len(found(setter, "2.9.3")) == 1


def test_pyarrow_made_its_filesystems_anew() -> None:
    local = written(calls=(LOCAL_OLD,))
    (finding,) = found(local, "2.54.1", "18")
    assert finding.message.startswith("pyarrow 18.1.0 has no pyarrow._fs:LocalFileSystem")
    assert commands([finding]) == [
        f"ckptctl migrate {local.location} --to-ray 2.54.1 --to-pyarrow 18"
    ]
    assert found(local, None, "16.1") == ()
    assert len(found(written(calls=(LOCAL_NEW,)), None, "14")) == 1
    assert found(written("pyarrow._s3fs:S3FileSystem._reconstruct"), None, "26") == ()


def test_a_ray_is_asked_about_with_the_pyarrow_of_its_time() -> None:
    (finding,) = found(written(calls=(LOCAL_OLD,)), "2.54.1")
    assert finding.message.startswith("pyarrow 26.0.1 has no pyarrow._fs:LocalFileSystem")
    assert found(written(calls=(LOCAL_OLD,)), "2.54.1", "14") == ()


def test_keywords_that_pyarrow_did_not_take_yet_are_told() -> None:
    keywords = {"anonymous": True, "tls_ca_file_path": ""}
    s3 = StoredCall(
        name="pyarrow._s3fs:S3FileSystem._reconstruct", args=(keywords,), pointer="s#fs"
    )
    state = written(calls=(s3,))
    assert found(state, "2.60.0") == ()
    (finding,) = found(state, "2.40.0")
    assert "does not take pyarrow._s3fs:S3FileSystem._reconstruct with tls_ca" in finding.message


def test_fields_that_were_added_are_told() -> None:
    (finding,) = found(written(fields=OLD), "2.54.1")
    assert finding.message == (
        "Ray 2.54.1 does not go on with a StorageContext without _timestamp: a restore would "
        "start the experiment from scratch"
    )
    assert finding.evidence[0].pointer == "trial_data/0/0#storage#_timestamp"
    (other,) = found(written(fields=NEW), "2.9.3")
    assert "without storage_local_path:" in other.message


def test_keys_that_the_state_of_a_run_has_to_have_are_told() -> None:
    fields = OLD | {"storage_path"}
    (finding,) = found(written(fields=fields), "2.8.1")
    assert "the state of the run without launch_web_server" in finding.message
    whole = written(fields=fields, runner=("_session_str", "_start_time", "launch_web_server"))
    assert found(whole, "2.8.1") == ()


def test_a_snapshot_wants_what_its_ray_wants() -> None:
    fields = {"checkpoint_results", "checkpoint_report_indices", "current_report_index"}
    fields |= {"pending_training_results", "pending_validation_specs", "latest_checkpoint_result"}
    run = written(fields=fields, layout="ray-train-v2", index=None)
    assert found(run, "2.54.1") == found(run, "2.46") == ()
    (finding,) = found(run, "2.60.0")
    assert "does not load a snapshot without failed_validation_checkpoint" in finding.message
    assert "validated_checkpoint_dir_names: a restore would raise" in finding.message
    assert found(run, "2.40")[0].message == "Ray 2.40 has no Train V2: a restore would raise"
    assert commands(found(run, "2.40")) == [None]


def test_a_counter_that_means_the_last_is_not_for_ray_2_7() -> None:
    both, keys = NEW | OLD | {"storage_path"}, ("_session_str", "_start_time", "launch_web_server")

    def state(**how: object) -> Experiment:
        return written(fields=both, runner=keys, **how)  # type: ignore[arg-type]

    assert "takes the index for the next one" in found(state(), "2.7.2")[0].message
    assert found(state(index=-1), "2.7.2") == ()
    assert found(state(), "2.8.1") == ()
    assert found(state(layout="ray-tune-2.7"), "2.7.2") == ()


def test_between_2_6_and_2_7_nothing_can_be_carried_over() -> None:
    legacy = written("ray.air.config:CheckpointConfig", layout="ray-legacy", index=None)
    (finding,) = found(legacy, "2.9.3", "26")
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
    assert found(replace(state, pickles=()), "2.40") == ()


def test_between_two_rays_that_agree_the_answer_is_theirs() -> None:
    old = written("ray.train:CheckpointConfig", calls=(LOCAL_NEW,))
    assert found(old, "2.50") == ()
    moved = written("ray.tune:CheckpointConfig", calls=(LOCAL_NEW,))
    assert found(moved, "2.50") == ()


def test_between_two_rays_that_do_not_agree_nothing_is_guessed() -> None:
    with pytest.raises(UsageError, match=r"nothing is known of Ray 2\.30") as raised:
        found(written(calls=(LOCAL_OLD,)), "2.30")
    assert "2.24.0, 2.40.0" in str(raised.value.hint)


def test_a_version_must_be_one() -> None:
    for text in ("", "latest", "2.x", "-2", "9" * 20, "2.6.3"):
        with pytest.raises(UsageError):
            needs(written(), text, None)
    assert needs(written(), " 2.60.0rc1 ", "26.0.0.dev1") == ()
