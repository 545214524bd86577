"""Which copies go through obstore, and what becomes of those that cannot."""

from __future__ import annotations

import asyncio
import ssl
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from ckptctl.storage import s3_swift
from ckptctl.storage.s3_swift import LARGEST, Swift
from ckptctl.storage.service import Answer, Blob, Conflict

SOURCE = Blob(key="exp/a/f", size=10, version="ab", digest="md5:ab")


def client(**other: Any) -> Any:
    told: dict[str, Any] = {
        "s3": {"addressing_style": "path"},
        "proxies": None,
        "endpoint_url": "http://127.0.0.1:9",
        "region_name": "us-east-1",
        "verify": True,
        "credentials": object(),
        **other,
    }
    config = SimpleNamespace(s3=told["s3"], proxies=told["proxies"])
    meta = SimpleNamespace(
        config=config, endpoint_url=told["endpoint_url"], region_name=told["region_name"]
    )
    session = SimpleNamespace(_verify=told["verify"], _cert_file=None)
    return SimpleNamespace(
        meta=meta,
        _endpoint=SimpleNamespace(http_session=session),
        _request_signer=SimpleNamespace(_credentials=told["credentials"]),
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What obstore was asked to copy."""
    found: list[tuple[str, str]] = []

    async def copy_async(_: object, source: str, key: str, *, overwrite: bool) -> None:
        assert not overwrite
        found.append((source, key))

    monkeypatch.setattr("obstore.copy_async", copy_async)
    return found


def copied(source: Blob, key: str, **other: Any) -> bool:
    return asyncio.run(Swift("bucket").copy(client(**other), source, key))


def test_a_plain_object_goes_through_obstore(asked: list[tuple[str, str]]) -> None:
    assert copied(SOURCE, "exp/b/f é?#%+=[x]")
    assert asked == [("exp/a/f", "exp/b/f é?#%+=[x]")]


@pytest.mark.parametrize(
    "source",
    [
        replace(SOURCE, size=LARGEST + 1),
        replace(SOURCE, version="ab-2", digest=None),  # of an upload in parts
        replace(SOURCE, kept=(("StorageClass", "STANDARD_IA"),)),
        replace(SOURCE, key="exp//a"),
        replace(SOURCE, key="exp/../a"),
        replace(SOURCE, key="exp/./a"),
        replace(SOURCE, key="exp/a/"),  # stands for a folder
        replace(SOURCE, key="exp/a\nb"),
        replace(SOURCE, key="exp/a\\b"),
    ],
)
def test_what_is_unusual_is_left_to_the_client(asked: list[tuple[str, str]], source: Blob) -> None:
    assert not copied(source, "exp/b/f")
    assert source.key == SOURCE.key or not copied(SOURCE, source.key)
    assert asked == []


@pytest.mark.parametrize(
    "other",
    [
        {"proxies": {"http": "http://proxy"}},
        {"s3": {"use_accelerate_endpoint": True}},
        {"endpoint_url": "https://s3", "verify": False},
        {"endpoint_url": "https://s3", "verify": "/ca.pem"},
        {"credentials": None},
    ],
)
def test_a_client_with_settings_of_its_own_does_it_itself(
    asked: list[tuple[str, str]], other: dict[str, Any]
) -> None:
    assert not copied(SOURCE, "exp/b/f", **other)
    assert asked == []


def test_another_client_than_is_known_does_it_itself() -> None:
    assert s3_swift._opened(SimpleNamespace(), "bucket") is None


def test_without_obstore_the_client_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    assert not copied(SOURCE, "exp/b/f")


def test_how_a_copy_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    from obstore.exceptions import AlreadyExistsError

    def failing(error: Exception) -> None:
        async def copy_async(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("obstore.copy_async", copy_async)

    failing(AlreadyExistsError("there"))
    with pytest.raises(Conflict):
        copied(SOURCE, "exp/b/f")
    failing(FileNotFoundError("gone"))
    with pytest.raises(Answer) as caught:
        copied(SOURCE, "exp/b/f")
    assert caught.value.status == 404
    failing(RuntimeError("503"))
    assert not copied(SOURCE, "exp/b/f")


def test_what_fails_again_and_again_is_not_tried_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    async def copy_async(*_: object, **__: object) -> None:
        tried.append(1)
        raise RuntimeError

    monkeypatch.setattr("obstore.copy_async", copy_async)
    swift = Swift("bucket")
    for _ in range(20):
        assert not asyncio.run(swift.copy(client(), SOURCE, "exp/b/f"))
    assert len(tried) == 8


@pytest.mark.parametrize("verify", [True, ssl.get_default_verify_paths().openssl_cafile])
def test_the_systems_own_trust_is_the_usual(verify: object) -> None:
    assert s3_swift._trusts_the_usual("https://s3", verify)
    assert not s3_swift._trusts_the_usual("https://s3", False)
