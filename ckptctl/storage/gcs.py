"""Google Cloud Storage by its JSON interface, through the session of gcsfs."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ckptctl.storage import service
from ckptctl.storage.service import (
    ABSENT,
    Answer,
    Blob,
    Conflict,
    Content,
    Deleted,
    Limits,
    TooLong,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# A rewrite has no limit: what takes long is gone on with by a token.
LIMITS = Limits(single_copy=1 << 62, deletions=100)
_TOLD = "name,size,generation,crc32c,md5Hash,updated"
# What a write replaces along with the content; a rewrite that is told nothing of them takes the
# default class of the bucket.
_KEPT = (
    "cacheControl",
    "contentDisposition",
    "contentEncoding",
    "contentLanguage",
    "contentType",
    "customTime",
    "metadata",
    "storageClass",
)
_HEADERS = {
    "cacheControl": "Cache-Control",
    "contentDisposition": "Content-Disposition",
    "contentEncoding": "X-Goog-Stored-Content-Encoding",
    "contentLanguage": "Content-Language",
    "contentType": "Content-Type",
    "customTime": "X-Goog-Custom-Time",
    "storageClass": "X-Goog-Storage-Class",
}
_FIELDS = f"nextPageToken,items({_TOLD},{','.join(_KEPT)})"
_ASKED = f"{_TOLD},{','.join(_KEPT)}"
_BOUNDARY = "ckptctl-9f2c4d1b7e"
_PLAIN = "identity"
_NOT_MODIFIED, _MISSING, _PRECONDITION = 304, 404, 412


class Gcs:
    """One bucket."""

    def __init__(self, fs: Any, bucket: str, *, limits: Limits = LIMITS) -> None:  # noqa: ANN401
        self._fs = fs
        self._bucket = bucket
        self._limits = limits

    @property
    def limits(self) -> Limits:
        """What the service takes in one request."""
        return self._limits

    async def page(
        self, prefix: str, token: str | None, most: int, after: str | None = None
    ) -> tuple[list[Blob], str | None]:
        """One request for a page of the listing."""
        told = {"prefix": prefix, "maxResults": str(most), "fields": _FIELDS}
        if token is not None:
            told["pageToken"] = token
        elif after is not None:
            told["startOffset"] = f"{after}\0"  # which is the next key that there could be
        found = await self._listed(told)
        return [_blob(item) for item in found.get("items", ())], found.get("nextPageToken") or None

    async def folders(self, prefix: str, after: str, most: int) -> list[str]:
        """One request for a page of the listing."""
        told = {
            "prefix": prefix,
            "delimiter": "/",
            "startOffset": after,
            "maxResults": str(most),
            "fields": "prefixes",
        }
        return list((await self._listed(told)).get("prefixes", ()))

    async def _listed(self, told: dict[str, str]) -> Any:  # noqa: ANN401 - as JSON has it
        try:
            return await self._json("GET", f"b/{quote(self._bucket)}/o", told)
        except Answer as error:
            if error.status == _MISSING:
                raise Answer(_MISSING, "NoSuchBucket", error.message) from error
            raise

    async def head(self, key: str) -> Blob | None:
        """One GET of what is known about it."""
        try:
            return _blob(await self._json("GET", self._object(key), {"fields": _ASKED}))
        except Answer as error:
            if error.status == _MISSING and not _is_about_bucket(error):
                return None
            raise

    async def get(
        self, key: str, *, limit: int | None = None, start: int = 0, length: int | None = None
    ) -> Content:
        """One GET; the size is looked at before the content is read."""
        headers = {}
        if start or length is not None:
            end = "" if length is None else str(start + length - 1)
            headers["Range"] = f"bytes={start}-{end}"
        async with self._answer("GET", self._object(key), {"alt": "media"}, headers) as answer:
            told = answer.headers
            whole = told.get("Content-Range", "").rpartition("/")[2]
            size = int(whole or told.get("Content-Length") or -1)
            if limit is not None and size > limit:
                raise TooLong
            data = await answer.read()
        return Content(data=data, blob=_blob_of(key, told, size if size >= 0 else len(data)))

    async def put(
        self, key: str, data: bytes, *, expect: str | None = None, like: Blob | None = None
    ) -> Blob:
        """One upload with its metadata, on condition."""
        about = {"name": key, **(dict(like.kept) if like else {})}
        told = {"uploadType": "multipart", "fields": _ASKED}
        if expect is not None:
            told["ifGenerationMatch"] = "0" if expect == ABSENT else expect
        kind = str(about.get("contentType", "application/octet-stream"))
        body = b"".join(
            (
                f"--{_BOUNDARY}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode(),
                json.dumps(about).encode(),
                f"\r\n--{_BOUNDARY}\r\nContent-Type: {kind}\r\n\r\n".encode(),
                data,
                f"\r\n--{_BOUNDARY}--\r\n".encode(),
            )
        )
        headers = {"Content-Type": f"multipart/related; boundary={_BOUNDARY}"}
        path = f"{self._fs._location}/upload/storage/v1/b/{quote(self._bucket)}/o"  # noqa: SLF001
        return _blob(await self._json("POST", path, told, headers, body))

    async def copy(self, source: Blob, key: str) -> Blob:
        """One rewrite, gone on with by its token where it takes long."""
        about = json.dumps(dict(source.kept)).encode()
        told = {"ifGenerationMatch": "0", "ifSourceGenerationMatch": source.version}
        path = f"{self._object(source.key)}/rewriteTo/{self._object(key)}"
        headers = {"Content-Type": "application/json"}
        while True:
            found = await self._json("POST", path, told, headers, about)
            if found.get("done"):
                return _blob(found["resource"])
            told["rewriteToken"] = found["rewriteToken"]

    async def delete(self, blobs: Sequence[Blob]) -> Deleted:
        """One request an object, side by side."""
        some = asyncio.Semaphore(self._limits.requests)

        async def one(blob: Blob) -> Answer | Conflict | None:
            async with some:
                return await self._delete(blob)

        answers = await asyncio.gather(*(one(blob) for blob in blobs))
        pairs = list(zip(blobs, answers, strict=True))
        errors = [answer for answer in answers if isinstance(answer, Answer)]
        return Deleted(
            changed=tuple(blob for blob, answer in pairs if isinstance(answer, Conflict)),
            failed=tuple(blob for blob, answer in pairs if isinstance(answer, Answer)),
            error=errors[-1] if errors else None,
        )

    async def comparable(self, blob: Blob) -> bool:
        """CRC32C is of the content, however it was written and encrypted."""
        return True

    async def _delete(self, blob: Blob) -> Answer | Conflict | None:
        told = {"ifGenerationMatch": blob.version} if blob.version else {}
        try:
            async with self._answer("DELETE", self._object(blob.key), told):
                return None
        except Conflict as conflict:
            return conflict
        except Answer as error:
            return None if error.status == _MISSING and not _is_about_bucket(error) else error

    def _object(self, key: str) -> str:
        return f"b/{quote(self._bucket)}/o/{quote(key, safe='')}"

    async def _json(
        self,
        method: str,
        path: str,
        told: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Any:  # noqa: ANN401
        async with self._answer(method, path, told, headers, body) as answer:
            return json.loads(await answer.read())

    @asynccontextmanager
    async def _answer(
        self,
        method: str,
        path: str,
        told: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> AsyncIterator[Any]:
        """One request; `Answer` where it fails, `Conflict` where a precondition does."""
        import aiohttp

        fs = self._fs
        url = path if path.startswith("http") else fs.base + path
        try:
            await fs._set_session()  # noqa: SLF001
            signed = fs._get_headers(dict(headers or {}))  # noqa: SLF001
            async with fs.session.request(
                method,
                _exactly(url),
                params=fs._get_params(dict(told)),  # noqa: SLF001
                headers=signed,
                data=body,
                timeout=aiohttp.ClientTimeout(total=None, connect=5, sock_read=service.SILENCE),
            ) as answer:
                if answer.status in (_PRECONDITION, _NOT_MODIFIED):
                    raise Conflict
                if answer.status >= 400:
                    raise _refusal(answer.status, await answer.read())
                yield answer
        except (Answer, Conflict, TooLong):
            raise
        except Exception as error:
            raise _answer_of(error) from error


def _exactly(url: str) -> Any:  # noqa: ANN401
    """Keep the quoted slashes of a key as they are."""
    import yarl

    return yarl.URL(url, encoded=True)


def _answer_of(error: Exception) -> Answer:
    import aiohttp
    import google.auth.exceptions as google

    text = str(error) or type(error).__name__
    if isinstance(error, google.TransportError):
        return Answer(0, "Unreachable", text)
    if isinstance(error, google.GoogleAuthError):
        return Answer(0, "NoCredentials", text)
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ServerTimeoutError):
        return Answer(0, "Unreachable", text)
    if isinstance(error, aiohttp.ClientError | OSError | ValueError):
        return Answer(0, "Cut", text)
    raise error


def _refusal(status: int, body: bytes) -> Answer:
    try:
        told = json.loads(body)["error"]
        reason = (told.get("errors") or [{}])[0].get("reason", "")
        return Answer(status, str(reason), str(told.get("message", "")))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return Answer(status, "", body[:200].decode("utf-8", "replace"))


def _is_about_bucket(error: Answer) -> bool:
    return "bucket" in error.message.lower()


def _blob(item: Mapping[str, Any]) -> Blob:
    updated = item.get("updated")
    return Blob(
        key=item["name"],
        size=int(item.get("size", 0)),
        version=str(item.get("generation", "")),
        modified=datetime.fromisoformat(updated).timestamp() if updated else None,
        digest=_digest(item),
        kept=tuple((name, item[name]) for name in _KEPT if item.get(name)),
    )


def _digest(item: Mapping[str, Any]) -> str | None:
    """MD5 where there is one, which is what others tell too; composed objects have none."""
    if md5 := item.get("md5Hash"):
        return f"md5:{base64.b64decode(md5).hex()}"
    return f"crc32c:{item['crc32c']}" if item.get("crc32c") else None


def _blob_of(key: str, headers: Mapping[str, str], size: int) -> Blob:
    """The same from the headers of a content."""
    kept: dict[str, object] = {
        name: headers[header]
        for name, header in _HEADERS.items()
        if headers.get(header, _PLAIN) != _PLAIN
    }
    start = "x-goog-meta-"
    own = {h[len(start) :].lower(): v for h, v in headers.items() if h.lower().startswith(start)}
    if own:
        kept["metadata"] = own
    return Blob(
        key=key,
        size=size,
        version=headers.get("X-Goog-Generation", ""),
        kept=tuple(kept.items()),
    )
