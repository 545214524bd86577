"""S3 and what speaks its language, through the client of s3fs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from ckptctl._version import __version__
from ckptctl.storage import service
from ckptctl.storage.s3_answers import answer_of
from ckptctl.storage.s3_listing import objects, register
from ckptctl.storage.s3_parts import PART, InParts
from ckptctl.storage.s3_swift import Swift
from ckptctl.storage.service import (
    ABSENT,
    UNTOLD,
    Answer,
    Blob,
    Conflict,
    Content,
    Deleted,
    Limits,
    TooLong,
)

_GIB = 1 << 30
# A service deletes the objects of one request one after the other; it takes 1,000.
LIMITS = Limits(
    single_copy=5 * _GIB,
    deletions=250,
    deletions_a_request=250,
    deletions_at_once=4,
    requests=192,
)
_STANDARD = "STANDARD"
_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
_CONFLICTS = frozenset({"PreconditionFailed", "412"})
_NOT_KNOWN = frozenset({"NotImplemented", "MalformedXML"})
# What a write replaces along with the content, as the answers and the requests both call it.
_HEADERS = (
    "CacheControl",
    "ContentDisposition",
    "ContentEncoding",
    "ContentLanguage",
    "ContentType",
    "Metadata",
    "SSEKMSKeyId",
    "ServerSideEncryption",
    "StorageClass",
    "WebsiteRedirectLocation",
)


_USUAL: tuple[object, ...] = ("", _STANDARD, {}, 0)


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """How s3fs is to be opened: we try again ourselves, and use more connections."""
    config = {
        "max_pool_connections": LIMITS.requests + 2,
        "retries": {"total_max_attempts": 1, "mode": "standard"},
        "connect_timeout": 5,
        "read_timeout": service.SILENCE,
        # Else it is put together anew for every request.
        "user_agent": f"ckptctl/{__version__}",
    }
    return {"config_kwargs": {**config, **given.get("config_kwargs", {})}}


class S3:
    """One bucket."""

    def __init__(self, fs: Any, bucket: str, *, limits: Limits = LIMITS, part: int = PART) -> None:  # noqa: ANN401
        self._fs = fs
        self._bucket = bucket
        self._limits = limits
        self._in_parts = InParts(call=self._conditional, bucket=bucket, size=part)
        self._conditional_copies = True
        self._conditional_batches = True
        self._swift = Swift(bucket)

    @property
    def limits(self) -> Limits:
        """What S3 takes in one request."""
        return self._limits

    async def page(
        self, prefix: str, token: str | None, most: int, after: str | None = None
    ) -> tuple[list[Blob], str | None]:
        """One request for a page of the listing."""
        more = {} if token is None else {"ContinuationToken": token}
        if token is None and after is not None:
            more["StartAfter"] = after
        found = await self._call("list_objects_v2", Prefix=prefix, MaxKeys=most, **more)
        blobs = [_blob(item["Key"], item) for item in objects(found)]
        return blobs, found.get("NextContinuationToken") if found.get("IsTruncated") else None

    async def folders(self, prefix: str, after: str, most: int) -> list[str]:
        """One request for a page of the listing."""
        found = await self._call(
            "list_objects_v2", Prefix=prefix, Delimiter="/", StartAfter=after, MaxKeys=most
        )
        return [item["Prefix"] for item in found.get("CommonPrefixes", ())]

    async def head(self, key: str) -> Blob | None:
        """One HEAD."""
        try:
            return _blob(key, await self._call("head_object", Key=key))
        except Answer as error:
            if error.status == 404 and error.code != "NoSuchBucket":
                return None
            raise

    async def get(
        self, key: str, *, limit: int | None = None, start: int = 0, length: int | None = None
    ) -> Content:
        """One GET; the size is looked at before the content is read."""
        part = {}
        if start or length is not None:
            end = "" if length is None else str(start + length - 1)
            part["Range"] = f"bytes={start}-{end}"
        found = await self._call("get_object", Key=key, **part)
        async with found["Body"] as body:
            blob = _blob(key, found)
            if limit is not None and blob.size > limit:
                body.close()
                raise TooLong
            try:
                data = await body.read()
            except Exception as error:
                raise answer_of(error) from error
        if len(data) != found["ContentLength"]:
            raise Answer(0, "Cut", "the answer was cut off")
        return Content(data=data, blob=blob)

    async def put(
        self, key: str, data: bytes, *, expect: str | None = None, like: Blob | None = None
    ) -> Blob:
        """One PUT, on condition; tags have to be asked for where there are some."""
        told: dict[str, Any] = dict(like.kept) if like else {}
        if told.pop("TagCount", 0):
            told["Tagging"] = await self._tags(key)
        if expect is not None:
            told |= {"IfNoneMatch": "*"} if expect == ABSENT else {"IfMatch": f'"{expect}"'}
        found = await self._conditional("put_object", Key=key, Body=data, **told)
        return _blob(key, {**found, "ContentLength": len(data)})

    async def copy(self, source: Blob, key: str) -> Blob:
        """One COPY, or an upload in parts where the object is too large for that.

        The version is UNTOLD where obstore made it.
        """
        if source.size > self._limits.single_copy:
            return await self._copy_in_parts(source, key)
        usual = self._conditional_copies and not self._fs.req_kw
        if usual and await self._swift.copy(await self._client(), source, key):
            return Blob(key=key, size=source.size, version=UNTOLD)
        etag = await self._copy(source, key)
        return _blob(key, {"ETag": etag, "Size": source.size})

    async def _copy(self, source: Blob, key: str) -> str:
        told = self._only_if_new() | _classes(source)
        told["CopySource"] = {"Bucket": self._bucket, "Key": source.key}
        told["CopySourceIfMatch"] = f'"{source.version}"'
        try:
            found = await self._conditional("copy_object", Key=key, **told)
        except Answer as error:
            if not self._without_conditions(error):
                raise
            return await self._copy(source, key)
        return str(found["CopyObjectResult"]["ETag"])

    async def delete(self, blobs: Sequence[Blob]) -> Deleted:
        """One request, whatever the number."""
        if len(blobs) == 1:
            return await self._delete_one(blobs[0])
        try:
            found = await self._call("delete_objects", Delete=self._batch(blobs))
        except Answer as error:
            if error.code not in _NOT_KNOWN or not self._conditional_batches:
                raise
            self._conditional_batches = False
            return await self.delete(blobs)
        by_key = {blob.key: blob for blob in blobs}
        changed, failed, last = [], [], None
        for item in found.get("Errors", ()):
            blob, code = by_key[item["Key"]], str(item.get("Code"))
            if code in _CONFLICTS:
                changed.append(blob)
            elif code not in _MISSING:
                failed.append(blob)
                last = Answer(200, code, str(item.get("Message", "")))
        return Deleted(changed=tuple(changed), failed=tuple(failed), error=last)

    async def comparable(self, blob: Blob) -> bool:
        """Encrypted with keys of its own, even the same content has another ETag each time."""
        try:
            found = await self._call("head_object", Key=blob.key)
        except Answer:
            return False
        how = str(found.get("ServerSideEncryption", ""))
        return not (how.startswith("aws:kms") or "SSECustomerAlgorithm" in found)

    def _batch(self, blobs: Sequence[Blob]) -> dict[str, Any]:
        objects = []
        for blob in blobs:
            one = {"Key": blob.key}
            if self._conditional_batches and blob.version:
                one["ETag"] = f'"{blob.version}"'
            objects.append(one)
        return {"Objects": objects, "Quiet": True}

    async def _delete_one(self, blob: Blob) -> Deleted:
        told = {"IfMatch": f'"{blob.version}"'} if blob.version else {}
        try:
            await self._call("delete_object", Key=blob.key, **told)
        except Answer as error:
            if error.code in _CONFLICTS:
                return Deleted(changed=(blob,))
            if error.code == "NoSuchBucket" or error.status != 404:
                raise
        return Deleted()

    def _only_if_new(self) -> dict[str, Any]:
        return {"IfNoneMatch": "*"} if self._conditional_copies else {}

    def _without_conditions(self, error: Answer) -> bool:
        """Services that know no conditions on a copy are asked without, from now on."""
        if error.code not in _NOT_KNOWN or not self._conditional_copies:
            return False
        self._conditional_copies = False
        return True

    async def _copy_in_parts(self, source: Blob, key: str) -> Blob:
        head = await self._call("head_object", Key=source.key)
        kept = {name: head[name] for name in _HEADERS if name in head}
        if head.get("TagCount"):
            kept["Tagging"] = await self._tags(source.key)
        etag = await self._in_parts.copy(source, key, kept, self._only_if_new())
        return _blob(key, {"ETag": etag, "Size": source.size})

    async def _tags(self, key: str) -> str:
        from urllib.parse import urlencode

        found = await self._call("get_object_tagging", Key=key)
        return urlencode([(tag["Key"], tag["Value"]) for tag in found["TagSet"]])

    async def _conditional(self, method: str, **told: Any) -> Any:  # noqa: ANN401
        try:
            return await self._call(method, **told)
        except Answer as error:
            if error.code in _CONFLICTS:
                raise Conflict from error
            raise

    async def _client(self) -> Any:  # noqa: ANN401
        try:
            await self._fs.set_session()
            return _quickened(await self._fs.get_s3(self._bucket))
        except Exception as error:  # botocore and aiohttp raise what they like
            raise answer_of(error) from error

    async def _call(self, method: str, **told: Any) -> Any:  # noqa: ANN401
        client = await self._client()
        try:
            told = _known(client, method, {**self._fs.req_kw, **told})
            return await getattr(client, method)(Bucket=self._bucket, **told)
        except Exception as error:  # botocore and aiohttp raise what they like
            raise answer_of(error) from error


def _known(client: Any, method: str, told: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """What this version of the client knows: conditions came to it one by one."""
    operation = "".join(word.capitalize() for word in method.split("_"))
    shape = client.meta.service_model.operation_model(operation).input_shape
    return {name: value for name, value in told.items() if name in shape.members}


def _quickened(client: Any) -> Any:  # noqa: ANN401
    """Most of the time of a listing goes into taking it apart, and into guessing times."""
    if not getattr(client, "_ckptctl_times", False):
        register(client)
        with suppress(AttributeError):
            factory = client._endpoint._response_parser_factory  # noqa: SLF001
            factory.set_parser_defaults(timestamp_parser=_time)
        client._ckptctl_times = True  # noqa: SLF001
    return client


def _time(value: object) -> datetime:
    if isinstance(value, str) and value[:1].isdecimal() and "T" in value:
        return datetime.fromisoformat(value)
    from botocore.utils import parse_timestamp

    found: datetime = parse_timestamp(value)
    return found


def _blob(key: str, found: Mapping[str, Any]) -> Blob:
    version = str(found.get("ETag", "")).strip('"')
    size = found.get("Size", found.get("ContentLength", 0))
    if "ContentRange" in found:
        size = str(found["ContentRange"]).rpartition("/")[2]
    modified = found.get("LastModified")
    names = (*_HEADERS, "TagCount")
    return Blob(
        key=key,
        size=int(size),
        version=version,
        modified=modified.timestamp() if modified else None,
        # An ETag with a dash is of an upload in parts, and depends on their sizes.
        digest=f"md5:{version}" if version and "-" not in version else None,
        kept=tuple((name, found[name]) for name in names if found.get(name, "") not in _USUAL),
    )


def _classes(source: Blob) -> dict[str, Any]:
    """A copy keeps everything by itself but its class."""
    return {name: value for name, value in source.kept if name == "StorageClass"}
