"""Busy, broken and dying services, and those that refuse."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ckptctl import api
from ckptctl.cli.main import main
from ckptctl.storage import service
from tests.backends.conftest import Bucket, MakeBucket, clear_clients
from tests.backends.servers import Weed, free_port, running
from tests.backends.test_scan import findings
from tests.backends.upload import experiment, objects, put, put_folder
from tests.support import corpus

TEMPLATE = "checkpoint_{index:06d}-{loss:.6f}"


def rename(url: str) -> int:
    return main(["rename", url, "--to", TEMPLATE, "--yes", "--json"])


def payloads(bucket: Bucket) -> dict[str, bytes]:
    return {key: data for key, data in objects(bucket).items() if "part-" in key}


def named(url: str) -> set[str]:
    [found] = api.scan(url)
    return {f"{t.dirname}/{c.name}" for t in found.trials for c in t.checkpoints}


def test_a_rename_ends_right_where_every_seventh_answer_is_a_refusal(bucket: Bucket) -> None:
    put(bucket, experiment(trials=3, checkpoints=12, files=3, size=3000))
    before = payloads(bucket)
    proxy = bucket.through(refuse=7, reset=50)
    assert rename(bucket.url) == 0
    bucket.use()
    after = payloads(bucket)
    assert sorted(after.values()) == sorted(before.values()) and not after.keys() & before.keys()
    assert {key.rpartition("/")[0] for key in after} == named(bucket.url)
    assert len(proxy.requests()) > 7 * 20
    assert all("-0." in key for key in after)


def test_a_scan_survives_answers_that_are_slow_or_cut_off(bucket: Bucket) -> None:
    name = "ray-2.54.1-function_topk"
    put_folder(bucket, corpus(name), name)
    expected = findings(str(corpus(name)))
    bucket.through(cut=3, slow=2, delay_ms=5)
    assert findings(f"{bucket.url}/{name}") == expected


def test_a_server_that_dies_half_way_is_waited_for(
    tmp_path: Path, make_bucket: MakeBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mortal"
    folder.mkdir()
    with running(server := Weed(folder)):
        bucket = Bucket(server, "place", tmp_path, monkeypatch, [])
        bucket.use()
        put(bucket, experiment(trials=3, checkpoints=30, files=3, size=5000))
        before = payloads(bucket)
        bucket.through(delay_ms=100)  # or it may be done between two looks
        with ckptctl("rename", bucket.url, "--to", TEMPLATE, "--yes") as renaming:
            while len(payload_names(server)) < len(before) + 30:
                assert renaming.poll() is None, "it was done too soon"
            server.kill()
            bucket.proxies.pop().kill()
            assert renaming.wait(60) == 13
        bucket.use()
        began = time.monotonic()
        with ckptctl("resume", bucket.url, "--yes") as resuming:
            assert resuming.wait(60) == 10
        assert time.monotonic() - began < 10
        server.start()
        server.wait_ready()
        assert set(payloads(bucket).values()) == set(before.values())
        with ckptctl("resume", bucket.url, "--yes") as resuming:
            assert resuming.wait(60) == 0
        after = payloads(bucket)
        assert (
            sorted(after.values()) == sorted(before.values()) and not after.keys() & before.keys()
        )


def payload_names(server: Weed) -> set[str]:
    found = server.client.list_objects_v2(Bucket="test", Prefix="place/")
    names = (item["Key"].removeprefix("place/") for item in found.get("Contents", ()))
    return {name for name in names if "part-" in name}


def ckptctl(*arguments: str) -> subprocess.Popen[bytes]:
    """The command as a process of its own, whose lock is dead once it has ended."""
    command = [sys.executable, "-m", "ckptctl", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2])


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(capsys.readouterr().err.splitlines()[-1])["error"]
    return error


def ends_quickly(*arguments: str) -> int:
    began = time.monotonic()
    code = main([*arguments, "--json"])
    assert time.monotonic() - began < 10
    return code


def test_a_missing_bucket_is_one_sentence(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{bucket.scheme}://no-such-bucket-here/exp"
    assert ends_quickly("scan", url) == 10
    error = told(capsys)
    assert error["message"] == f"cannot open {url}: no such bucket" and error["hint"]


def test_a_missing_prefix_is_one_sentence(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends_quickly("scan", bucket.url) == 10
    error = told(capsys)
    assert error["message"] == f"cannot open {bucket.url}: not there" and error["hint"]


def test_an_object_is_no_folder(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    put(bucket, [("exp", b"x")])
    assert ends_quickly("scan", f"{bucket.url}/exp") == 10
    assert "a file, not a folder" in told(capsys)["message"]


@pytest.mark.parametrize(
    ("key", "secret"), [("testkey", "wrong-secret-value"), ("nobodys-key", "testsecret")]
)
def test_wrong_credentials_are_one_sentence_without_them(
    s3: Bucket,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    key: str,
    secret: str,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    clear_clients()
    assert ends_quickly("scan", s3.url) == 10
    text = capsys.readouterr().err
    assert "the credentials are not accepted" in text and "check the credentials" in text
    assert key not in text and secret not in text


def test_no_credentials_are_one_sentence(
    s3: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    clear_clients()
    assert ends_quickly("scan", s3.url) == 10
    assert "no credentials" in told(capsys)["message"]


def test_a_reader_may_scan_and_not_rename(
    s3: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(s3, experiment(trials=1, checkpoints=2, files=1))
    before = objects(s3)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "rokey")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "rosecret")
    clear_clients()
    assert ends_quickly("scan", s3.url, "--fail-on", "never") == 0
    capsys.readouterr()
    assert rename(s3.url) == 10
    error = told(capsys)
    assert "no permission" in error["message"] and error["hint"]
    assert objects(s3) == before


def test_a_service_that_does_not_answer_is_one_sentence(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket.use(f"http://127.0.0.1:{free_port()}")
    assert ends_quickly("scan", bucket.url) == 10
    error = told(capsys)
    assert error["message"] == f"cannot open {bucket.url}: the service does not answer"
    assert error["hint"] == "check the endpoint and the network"


@pytest.mark.parametrize(("scheme", "driver"), [("s3", "s3fs"), ("gs", "gcsfs")])
def test_a_missing_driver_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scheme: str, driver: str
) -> None:
    module = sys.modules["fsspec.registry"]
    monkeypatch.setattr(module, "_registry", {})
    monkeypatch.setattr(module, "registry", {})
    monkeypatch.setitem(sys.modules, driver, None)
    assert ends_quickly("scan", f"{scheme}://bucket/exp") == 10
    error = told(capsys)
    assert f"the driver for {scheme}:// is not installed" in error["message"]
    assert error["hint"] == f"install {driver}"


def test_a_service_that_falls_silent_is_not_waited_for_without_end(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(service, "SILENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        bucket.use(f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert main(["scan", bucket.url]) == 10
    assert "the service does not answer" in capsys.readouterr().err
