"""Copies without the client's overhead, which for small objects is most of the work.

botocore spends a millisecond on each request: it looks up the endpoint, checks parameters and
asks its handlers. All of that comes out the same for every copy in a bucket. So the first copy
goes the client's way and is watched; the others are signed and sent as that one was, over the
client's own connections. Whatever looks unusual goes the client's way again.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ckptctl.storage.s3_answers import answer_of
from ckptctl.storage.service import Answer, Conflict

_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/]+/\d{8}/([^/]+)/([^/]+)/aws4_request, "
    r"SignedHeaders=([^,]+), Signature=[0-9a-f]{64}"
)
_ETAG = re.compile(rb"<CopyObjectResult.*<ETag>(?:&quot;|&#34;|\")?([^<&\"]+)", re.DOTALL)
_CODE = re.compile(rb"<Error>.*<Code>([^<]+)</Code>", re.DOTALL)
_OWN = frozenset(
    {
        "host",
        "if-none-match",
        "x-amz-copy-source",
        "x-amz-copy-source-if-match",
        "x-amz-date",
        "x-amz-security-token",
        "x-amz-storage-class",
    }
)
"""Headers that are made anew; any other one that was signed is sent as it was."""
_SAFE = "/~"
_OK, _CONFLICT, _BUSY, _BROKEN = 200, 412, 429, 500


class _Way(Struct, frozen=True, kw_only=True):
    """How a copy was sent."""

    start: str
    """The URL up to the key."""
    region: str
    service: str
    fixed: tuple[tuple[str, str], ...]
    """Signed headers that are the same each time."""


class Shortcut:
    """Sends copies as the client sent the first one."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._way: _Way | None = None
        self._watching: asyncio.Event | None = None

    async def copy(
        self,
        client: Any,  # noqa: ANN401
        source: str,
        key: str,
        told: Mapping[str, str],
    ) -> str | None:
        """The ETag of the copy; None where the client has to do it.

        Args:
            client: of aiobotocore.
            source: a key of the bucket.
            key: another one.
            told: headers with the conditions, and with the class.

        Raises:
            Conflict: a condition did not hold.
            Answer: it failed, and is worth another try.
        """
        if self._watching is not None:
            await self._watching.wait()
        if self._way is None:
            return None
        try:
            credentials = await client._request_signer._credentials.get_frozen_credentials()  # noqa: SLF001
            send = client._endpoint.http_session.send  # noqa: SLF001
        except AttributeError:
            self._way = None
            return None
        copied = quote(f"{self._bucket}/{source}", safe=_SAFE)
        headers = {**dict(self._way.fixed), **told, "x-amz-copy-source": copied}
        url = self._way.start + quote(key, safe=_SAFE)
        status, body = await _sent(send, url, _signed(self._way, url, headers, credentials))
        return _etag(status, body)

    async def watched(self, client: Any, key: str, copy: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
        """Copy the client's way, and remember what that was if it is not known yet."""
        if self._watching is not None:
            return await copy()
        self._watching = asyncio.Event()
        seen: list[_Way | None] = []

        def look(request: Any, **_: object) -> None:  # noqa: ANN401
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                seen.append(_way(request, key))

        client.meta.events.register("before-send.s3.CopyObject", look)
        try:
            return await copy()
        finally:
            client.meta.events.unregister("before-send.s3.CopyObject", look)
            self._way = next((way for way in seen if way), None)
            self._watching.set()


def _way(request: Any, key: str) -> _Way | None:  # noqa: ANN401
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    found = _SIGNATURE.fullmatch(headers["authorization"])
    end = quote(key, safe=_SAFE)
    if found is None or not request.url.endswith(f"/{end}"):
        return None
    region, service, names = found.groups()
    fixed = tuple((name, headers[name]) for name in names.split(";") if name not in _OWN)
    start = request.url[: -len(end)]
    return _Way(start=start, region=region, service=service, fixed=fixed)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _signed(way: _Way, url: str, headers: dict[str, str], credentials: Any) -> dict[str, str]:  # noqa: ANN401
    """The headers with a signature: AWS Signature Version 4 for an empty body."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = urlsplit(url)
    every = {**headers, "host": parts.netloc, "x-amz-date": now}
    if credentials.token:
        every["x-amz-security-token"] = credentials.token
    names = sorted(every)
    lines = [f"{name}:{' '.join(every[name].split())}" for name in names]
    content = every.get("x-amz-content-sha256", hashlib.sha256(b"").hexdigest())
    asked = "\n".join(("PUT", parts.path, "", *lines, "", ";".join(names), content))
    scope = f"{now[:8]}/{way.region}/{way.service}/aws4_request"
    digest = hashlib.sha256(asked.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}"
    key = _signing_key(credentials.secret_key, now[:8], way.region, way.service)
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    every["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    del every["host"]  # the connection sends its own
    return every


@lru_cache(maxsize=4)
def _signing_key(secret: str, *parts: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (*parts, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


async def _sent(send: Any, url: str, headers: dict[str, str]) -> tuple[int, bytes]:  # noqa: ANN401
    from botocore.awsrequest import AWSPreparedRequest, HeadersDict

    try:
        request = AWSPreparedRequest("PUT", url, HeadersDict(headers), b"", stream_output=False)
        answer = await send(request)
        return int(answer.status_code), bytes(await answer.content)
    except Exception as error:  # botocore and aiohttp raise what they like
        raise answer_of(error) from error


def _etag(status: int, body: bytes) -> str | None:
    if status == _CONFLICT:
        raise Conflict
    if status == _OK and (found := _ETAG.search(body)):
        return found.group(1).decode()
    code = _CODE.search(body)
    if status == _OK:
        # What goes wrong after a while is told in an answer that began well.
        raise Answer(_BROKEN if code else 0, code.group(1).decode() if code else "Cut")
    if status == _BUSY or status >= _BROKEN:
        raise Answer(status, code.group(1).decode() if code else "")
    return None
