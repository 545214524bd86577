"""Paths and URLs as people write them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fsspec
import pytest

from ckptctl.errors import LocationError
from ckptctl.storage.location import open_reader, open_store, parent_of, parse, redact


@pytest.mark.parametrize(
    ("text", "scheme", "path"),
    [
        ("/a/b", "file", "/a/b"),
        ("/a/b/", "file", "/a/b"),
        ("~/x", "file", os.path.expanduser("~/x")),
        ("rel/x", "file", os.path.abspath("rel/x")),
        ("file:///a%20b", "file", "/a b"),
        ("file://localhost/a", "file", "/a"),
        ("local:///a", "file", "/a"),
        ("s3://bucket/x", "s3", "s3://bucket/x"),
        ("S3://bucket/x", "s3", "S3://bucket/x"),
        ("memory://x", "memory", "memory://x"),
        ("C:/not/a/scheme", "file", os.path.abspath("C:/not/a/scheme")),
    ],
)
def test_a_location_is_taken_apart(text: str, scheme: str, path: str) -> None:
    place = parse(text)
    assert (place.scheme, place.path, place.text) == (scheme, path, text)
    assert place.is_local == (scheme == "file")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://KEY:SEC/RET@bucket/x", "s3://bucket/x"),
        ("sftp://user:pass@host:22/x", "sftp://host:22/x"),
        ("sftp://user@host/x", "sftp://user@host/x"),
        ("sftp://host:22/a@b", "sftp://host:22/a@b"),
        ("s3://b/x?access_key=AK&secret_key=S&region=eu", None),
        ("https://h/x?X-Amz-Signature=abc#f", "https://h/x?X-Amz-Signature=***#f"),
        ("/plain/path?token=x", "/plain/path?token=x"),
    ],
)
def test_credentials_are_never_shown(text: str, shown: str | None) -> None:
    expected = shown or "s3://b/x?access_key=***&secret_key=***&region=eu"
    assert redact(text) == expected
    assert parse(text).text == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "without a name"),
        ("   ", "without a name"),
        ("simplecache::s3://b/x", "chain"),
        ("file://host/x", "another host"),
    ],
)
def test_what_cannot_be_a_location_is_refused(text: str, message: str) -> None:
    with pytest.raises(LocationError, match=message):
        parse(text)


def test_a_missing_path_is_one_sentence_and_a_hint(tmp_path: Path) -> None:
    with pytest.raises(LocationError) as caught:
        open_store(str(tmp_path / "gone"))
    assert caught.value.message == f"cannot open {tmp_path}/gone: not there"
    assert caught.value.hint == "check the spelling"


def test_a_file_is_no_location(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/location_file", b"x")
    for text in (str(tmp_path / "f"), "memory://location_file"):
        with pytest.raises(LocationError, match="a file, not a folder"):
            open_store(text)
    fs.rm_file("/location_file")


def test_a_missing_url_and_an_unknown_scheme_are_location_errors() -> None:
    with pytest.raises(LocationError, match=r"cannot open memory://no/where: not there"):
        open_store("memory://no/where")
    with pytest.raises(LocationError, match=r"no driver knows nosuch://"):
        open_store("nosuch://x")


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(LocationError) as caught:
        open_store("abfs://container/x")
    assert "not installed" in caught.value.message
    assert caught.value.hint == "install adlfs"


def test_the_text_of_a_location_stays_as_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exp").mkdir()
    monkeypatch.chdir(tmp_path)
    store = open_store("./exp/")
    assert (store.location, store.root) == ("./exp/", str(tmp_path / "exp"))
    assert open_reader("exp").location == "exp"


def test_a_bucket_like_root_is_named_as_records_name_it() -> None:
    fs = fsspec.filesystem("memory")
    fs.makedirs("/location/exp", exist_ok=True)
    store = open_store("memory://location/exp/")
    assert (store.location, store.root) == ("memory://location/exp/", "memory://location/exp")
    fs.rm("/location", recursive=True)


def test_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parent_of("a/b/") == ("a", "b")
    assert parent_of("b") == (".", "b")
    assert parent_of(".") == (str(tmp_path.parent), tmp_path.name)
    assert parent_of("/a") == ("/", "a")
    assert parent_of("/") is None
    assert parent_of("~") == (
        os.path.dirname(os.path.expanduser("~")),
        os.path.basename(os.path.expanduser("~")),
    )
    assert parent_of("s3://bucket/a/b") == ("s3://bucket/a", "b")
    assert parent_of("s3://bucket") is None


@pytest.mark.parametrize(
    ("location", "modules"),
    [("'/'", ["fsspec", "s3fs", "gcsfs"]), ("'memory://'", ["s3fs", "gcsfs", "aiohttp"])],
)
def test_drivers_are_imported_on_first_use_only(location: str, modules: list[str]) -> None:
    code = (
        f"import sys; from ckptctl.storage.location import open_store; open_store({location});"
        f"sys.exit(any(m in sys.modules for m in {modules}))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
