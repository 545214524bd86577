"""With workers, every answer is byte for byte the one without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from ckptctl import api, liveness
from ckptctl.cli.main import main
from ckptctl.cluster import Answer, copies
from ckptctl.errors import ApplyError, ClusterError, StalePlanError
from tests.backends.conftest import Bucket
from tests.backends.servers import Weed
from tests.backends.upload import experiment, objects, put, put_folder
from tests.cluster.here import Here
from tests.support import CORPUS, DAMAGED, HEALTHY, copy_of, corpus

TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"


def answer(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words])
    captured = capfd.readouterr()
    assert "bug" not in captured.err
    return code, captured.out


@pytest.mark.parametrize("name", [*HEALTHY, *DAMAGED])
def test_a_scan_of_the_corpus(name: str, here: Here, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["scan", "--json"], ["scan", "--deep", "-v"]):
        alone = answer(capfd, *words, str(corpus(name)))
        assert alone[1]
        assert answer(capfd, *words, str(corpus(name)), "--executor", "dask") == alone


def test_a_scan_of_many_experiments(here: Here, capfd: pytest.CaptureFixture[str]) -> None:
    alone = answer(capfd, "scan", "--json", str(CORPUS))
    assert answer(capfd, "scan", "--json", str(CORPUS), "--executor", "dask") == alone


def test_a_scan_of_a_trial(here: Here, capfd: pytest.CaptureFixture[str]) -> None:
    trial = next(p for p in corpus("ray-2.54.1-class_freq").iterdir() if p.is_dir())
    alone = answer(capfd, "scan", "--json", str(trial))
    assert answer(capfd, "scan", "--json", str(trial), "--executor", "dask") == alone


def test_what_a_disk_can_hold(
    here: Here, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = copy_of("ray-2.54.1-class_freq", tmp_path)
    trial = next(p for p in place.iterdir() if p.is_dir())
    odd = Path(os.fsdecode(os.fsencode(place) + b"/odd_\xff"))
    (odd / "checkpoint_000000").mkdir(parents=True)
    (odd / "result.json").write_text('{"training_iteration": 1}\n')
    (place / "link").symlink_to(trial)
    os.mkfifo(trial / "pipe")
    (trial / "checkpoint_000099").mkdir()
    log = trial / "result.json"
    log.write_text(log.read_text() + '{"cut off')
    alone = answer(capfd, "scan", "--json", str(place))
    assert "cut off" in alone[1] and "odd_" in alone[1]
    assert answer(capfd, "scan", "--json", str(place), "--executor", "dask") == alone


def test_files_that_are_torn(here: Here, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = copy_of("ray-2.54.1-class_freq", tmp_path)
    trial = next(p for p in place.iterdir() if p.is_dir())
    folders = sorted(p for p in trial.iterdir() if p.is_dir())
    for folder in folders:
        (folder / "model.json").write_text("{}")
    (folders[0] / "model.json").write_text('{"cut off')
    (folders[1] / "weights.npz").write_bytes(b"PK\x03\x04 and no end")
    alone = answer(capfd, "scan", "--json", "--deep", str(place))
    assert "model.json" in alone[1] and "weights.npz" in alone[1]
    assert answer(capfd, "scan", "--json", "--deep", str(place), "--executor", "dask") == alone
    assert here.functions["payloads:look_into"] == 1
    plain = answer(capfd, "scan", "--json", str(place), "--executor", "dask")
    assert plain != alone and here.functions["payloads:look_into"] == 1


@pytest.mark.parametrize("name", ["ray-2.54.1-class_freq", "killed--ray-2.54.1"])
def test_plans_and_picks(name: str, here: Here, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["latest", "--json"],
        ["best", "--json", "--metric", "loss", "--mode", "min"],
        ["policy", "--json"],
        ["reindex", "--dry-run", "--json"],
        ["rename", "--to", TEMPLATE, "--dry-run", "--json"],
    ):
        alone = answer(capfd, *words, str(corpus(name)))
        assert alone[1]
        assert answer(capfd, *words, str(corpus(name)), "--executor", "dask") == alone


def test_a_variable_names_the_executor(
    here: Here, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKPTCTL_EXECUTOR", "dask")
    code, _ = answer(capfd, "latest", str(corpus("ray-2.54.1-class_freq")))
    assert code == 0 and here.done


def test_an_executor_that_there_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "/nowhere", "--executor", "spark"]) == 2
    assert "choose one of local, ray, dask" in capfd.readouterr().err


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
@pytest.mark.parametrize("name", ["ray-2.6.3-class_freq", "ray-2.54.1-function_topk"])
def test_a_scan_of_a_bucket(
    bucket: Bucket,
    here: Here,
    name: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What was uploaded a moment ago looks like a run that goes on, and how long ago is told.
    monkeypatch.setattr(liveness, "QUIET_PERIOD", -60.0)
    put_folder(bucket, corpus(name), "one")
    put(bucket, ((f"another/{path}", data) for path, data in experiment(5, 3, 2)))
    alone = answer(capfd, "scan", "--json", bucket.url)
    assert '"experiments": 2' in alone[1]
    proxy = bucket.through()
    assert answer(capfd, "scan", "--json", bucket.url, "--executor", "dask") == alone
    assert proxy.counts()["LIST"] > 3, "the listing was divided"


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
@pytest.mark.parametrize("times", [1, 2])
def test_copies_in_a_bucket_and_the_way_back(
    bucket: Bucket, here: Here, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit that is done twice takes the copies of before as its own."""
    monkeypatch.setattr(copies, "_OBJECTS", 7)
    here.times = times
    put(bucket, experiment(4, 5, 3))
    before = objects(bucket)
    [found] = api.scan(bucket.url)
    plan = api.plan_rename(found, template=TEMPLATE)
    assert api.apply(plan, allow_live=True, executor="dask").verified
    done = here.done
    assert done >= 4 * 5 * 3 / 7
    after = {path for path in objects(bucket) if ".ckptctl" not in path}
    assert len(after) == len(before) and not after & {p for p in before if "/checkpoint_" in p}
    assert api.undo(bucket.url, allow_live=True, executor="dask").verified
    assert here.done > done
    left = {path: data for path, data in objects(bucket).items() if ".ckptctl" not in path}
    assert left == before


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_a_cluster_that_is_lost_leaves_an_apply_to_go_on_or_back(
    s3: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(Here):
        def _answers(self, sent: Iterable[bytes]) -> Iterator[Answer]:
            for answer in super()._answers(sent):
                if self.done == 3:
                    raise ClusterError("the cluster is lost")
                yield answer

    monkeypatch.setattr(copies, "_OBJECTS", 7)
    put(s3, experiment(4, 5, 3))
    before = objects(s3)
    [found] = api.scan(s3.url)
    plan = api.plan_rename(found, template=TEMPLATE)
    for go_on in (False, True):
        with pytest.raises(ApplyError, match="the cluster is lost") as raised:
            api.apply(plan, allow_live=True, executor=Lost())
        assert "ckptctl resume" in str(raised.value.hint)
        if go_on:
            assert api.resume(s3.url, executor=Here()).verified
        assert api.undo(s3.url, allow_live=True).verified
        left = {path: data for path, data in objects(s3).items() if ".ckptctl" not in path}
        assert left == before


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_what_lies_where_a_copy_is_to_be_stops_the_apply(s3: Bucket) -> None:
    put(s3, experiment(2, 3, 2))
    [found] = api.scan(s3.url)
    plan = api.plan_rename(found, template=TEMPLATE)
    target = f"{plan.moves[-1].target}/part-1.bin"

    def around(do: Callable[[], Answer]) -> Answer:
        put(s3, [(target, b"of somebody else")])
        return do()

    before = objects(s3)
    with pytest.raises(StalePlanError, match="exists"):
        api.apply(plan, allow_live=True, executor=Here(around=around))
    left = {path: data for path, data in objects(s3).items() if ".ckptctl" not in path}
    assert left == before | {target: b"of somebody else"}


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_workers_that_see_another_bucket_are_told(s3: Bucket, divided: None) -> None:
    files = dict(experiment(6, 3, 2))
    put(s3, files.items())
    last = [path for path in files if path.startswith("train_fn_00005/")]

    def around(do: Callable[[], Answer]) -> Answer:
        assert isinstance(s3.server, Weed)
        for path in last:
            s3.server.client.delete_object(Bucket="test", Key=f"{s3.place}/{path}")
        try:
            return do()
        finally:
            put(s3, ((path, files[path]) for path in last))

    with pytest.raises(ClusterError, match=r"what begins with \S+/train_fn_0000\S+ is not all"):
        api.scan(s3.url, executor=Here(around=around))
