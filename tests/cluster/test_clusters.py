"""Real clusters of Dask and Ray, in which workers are killed half-way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckptctl import api
from ckptctl.errors import ClusterError
from ckptctl.integrations.dask.cluster import DaskCluster
from tests.backends.conftest import Bucket
from tests.backends.upload import experiment, objects, put
from tests.cluster import struck
from tests.judge.judge import MissingRay
from tests.policies.jobs import python_of
from tests.support import CORPUS, corpus

REPOSITORY = Path(__file__).parents[2]
RAY = "2.54.1"
NAME = "ray-2.54.1-class_freq"
DELAY = 40
"""Milliseconds before the bucket answers, in which a worker is killed."""

WITHOUT = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ckptctl":
            raise ModuleNotFoundError("No module named 'ckptctl'", name="ckptctl")

sys.meta_path.insert(0, Nothing())
"""
OLDER = "import ckptctl._version\nckptctl._version.__version__ = '0.0.9'\n"


def ckptctl(*words: str, python: str = sys.executable, **more: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [python, "-m", "ckptctl", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **more},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def filled(s3: Bucket) -> Iterator[tuple[Bucket, Path]]:
    """An experiment in a bucket that answers slowly, and the log of what it is asked."""
    put(s3, experiment(struck.TRIALS, struck.CHECKPOINTS, struck.FILES))
    before = objects(s3)
    yield s3, s3.through(delay_ms=DELAY).log
    s3.use()
    assert {path: data for path, data in objects(s3).items() if ".ckptctl" not in path} == before


def judge(told: dict[str, Any], log: Path) -> None:
    """What was seen is what is seen without clusters, and workers did end half-way."""
    asked = [json.loads(line)["op"] for line in log.read_text().splitlines()]
    assert told["same"]
    assert told["killed in scan"] == 2, "at the listing, and at the logs"
    usual, disturbed = told["requests"]
    assert disturbed > usual, "what was lost was asked for again"
    assert told["applied"] and not told["notes"]
    assert told["killed"] > 2 and told["killed in all"] > told["killed"]
    assert len(told["names"]) == struck.TRIALS * struck.CHECKPOINTS
    assert all("-0." in name for name in told["names"])
    assert told["undone"]
    made = 2 * struck.TRIALS * struck.CHECKPOINTS * struck.FILES
    assert asked.count("COPY") > made, "copies that were made were found again"


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_workers_of_dask_that_end_half_way_change_nothing(filled: tuple[Bucket, Path]) -> None:
    import dask.config
    from distributed import Client, LocalCluster

    bucket, log = filled
    with (
        pytest.MonkeyPatch.context() as patch,
        # Dask gives a worker up that is just being started again 15 s after it was once lost.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as own,
        Client(own),
    ):
        for module, name, size in struck.SMALL:
            patch.setattr(module, name, size)
        cluster = DaskCluster()
        told = struck.seen(bucket.url, cluster, log)
        cluster.close()
        assert own.workers, "a cluster of somebody else's stays"
    judge(told, log)


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_a_unit_that_ends_each_worker_is_given_up(filled: tuple[Bucket, Path]) -> None:
    import dask.config
    from distributed import Client, LocalCluster

    bucket, log = filled
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as own,
        Client(own),
    ):
        for module, name, size in struck.SMALL:
            patch.setattr(module, name, size)
        with pytest.raises(ClusterError, match="each worker that began it ended"):
            api.scan(bucket.url, executor=struck.Struck(DaskCluster(), log))


def test_a_cluster_whose_last_worker_is_gone_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from distributed import Client, LocalCluster

    from ckptctl.integrations.dask import cluster

    monkeypatch.setattr(cluster, "_BEAT", 0.2)
    monkeypatch.setattr(cluster, "_ALONE", 1.0)
    monkeypatch.setattr(cluster, "_PATIENCE", 2.0)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as own,
        Client(own) as client,
    ):
        dask = DaskCluster()
        assert dask.count == 1
        client.retire_workers()
        with (
            pytest.raises(ClusterError, match="has had no worker for 1 s"),
            dask.run([b"unit"]) as answers,
        ):
            next(answers)


def test_dask_is_started_for_a_call_and_answers_the_same() -> None:
    alone = ckptctl("scan", "--json", str(CORPUS))
    began = time.monotonic()
    assert ckptctl("scan", "--json", str(CORPUS), "--executor", "dask") == alone
    print(f"{time.monotonic() - began:.1f} s")


@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_an_interrupt_at_a_terminal_ends_the_call_and_nothing_else_is_said(
    filled: tuple[Bucket, Path],
) -> None:
    bucket, log = filled
    process = subprocess.Popen(
        [sys.executable, "-m", "ckptctl", "scan", "--deep", bucket.url, "--executor", "dask"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # A worker reads logs.
    while '"GET"' not in log.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted: nothing was applied" in err and "Traceback" not in err


@contextlib.contextmanager
def worker_of(address: str, folder: Path, customized: str) -> Iterator[None]:
    """A worker of Dask that begins with some code of ours."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(customized)
    words = ["worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_a_worker_that_is_not_as_it_has_to_be_is_told(tmp_path: Path) -> None:
    from distributed import LocalCluster

    place = str(corpus(NAME))
    with LocalCluster(n_workers=0, dashboard_address=None) as own:
        address = own.scheduler_address
        for name, code, why in (
            ("without", WITHOUT, "has no ckptctl: No module named 'ckptctl'"),
            ("older", OLDER, "has ckptctl 0.0.9, and this is "),
        ):
            with worker_of(address, tmp_path / name, code):
                code_, out, err = ckptctl(
                    *("scan", place, "--executor", "dask"), DASK_SCHEDULER_ADDRESS=address
                )
            assert (code_, out) == (10, "")
            assert why in err and "pip install ckptctl==" in err and "Traceback" not in err


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import dask.config

    from ckptctl.integrations.dask import cluster

    monkeypatch.setattr(cluster, "_PATIENCE", 1.0)
    with (
        dask.config.set({"scheduler-address": "tcp://127.0.0.1:9"}),
        pytest.raises(ClusterError, match=r"cannot reach the Dask scheduler at tcp://127\.0\.0\.1"),
    ):
        api.scan(str(corpus(NAME)), executor=DaskCluster())


@pytest.fixture
def ray(tmp_path: Path) -> str:
    """The Python of a Ray that has ckptctl and what it needs, behind what Ray has itself."""
    try:
        python = python_of(RAY)
    except MissingRay as error:
        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    own = [path for path in sys.path if path.endswith("site-packages")]
    code = f"import sys\nsys.path += {[str(REPOSITORY), *own]!r}\n"
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(code)
    return str(python)


@pytest.mark.judge
@pytest.mark.backends
@pytest.mark.xdist_group("backends")
def test_workers_of_ray_that_end_half_way_change_nothing(
    filled: tuple[Bucket, Path], ray: str, tmp_path: Path
) -> None:
    bucket, log = filled
    file = tmp_path / "told.json"
    done = subprocess.run(
        [ray, "-m", "tests.cluster.struck", bucket.url, str(log), str(file)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "path")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(file.read_text())
    judge(told, log)
    code, lines, errors = told["joined"]
    assert (code, lines) == (0, struck.TRIALS), errors
    assert told["stays"], "a cluster of somebody else's stays"


@pytest.mark.judge
def test_ray_is_started_for_a_call_and_answers_the_same(ray: str, tmp_path: Path) -> None:
    alone = ckptctl("scan", "--json", str(CORPUS))
    words = ("scan", "--json", str(CORPUS), "--executor", "ray")
    code, out, err = ckptctl(*words, python=ray, PYTHONPATH=str(tmp_path / "path"))
    assert (code, out) == alone[:2], err
