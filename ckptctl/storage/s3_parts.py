"""Copies of objects that are too large for one request: an upload in parts, none of them sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from ckptctl.storage.retrying import Pace, retrying
from ckptctl.storage.service import Answer, Blob

PART = 256 << 20
"""Bytes; larger where that would be more than 10,000 of them."""
_MOST_PARTS = 10_000
_AT_ONCE = 8


class InParts(Struct, frozen=True, kw_only=True):
    """Copies within one bucket."""

    call: Callable[..., Awaitable[Any]]
    """A method of the client by name, with what it is told; Conflict where a condition fails."""
    bucket: str
    size: int = PART

    async def copy(
        self, source: Blob, key: str, kept: Mapping[str, Any], condition: Mapping[str, Any]
    ) -> str:
        """The ETag of the copy; a copy that fails leaves nothing behind.

        Args:
            source: what to copy, and only if it still is this.
            key: where to.
            kept: what the copy is told, since an upload keeps nothing by itself.
            condition: on what is at `key`.
        """
        begun = await self.call("create_multipart_upload", Key=key, **kept)
        upload = {"Key": key, "UploadId": begun["UploadId"]}
        try:
            parts = await self._parts(source, upload)
            told = {**upload, **condition, "MultipartUpload": {"Parts": parts}}
            return await self._completed(told, source)
        except BaseException:
            with suppress(Answer):
                await asyncio.shield(self.call("abort_multipart_upload", **upload))
            raise

    async def _completed(self, told: Mapping[str, Any], source: Blob) -> str:
        try:
            found = await retrying(lambda: self.call("complete_multipart_upload", **told), Pace(1))
        except Answer as error:
            if error.code != "NoSuchUpload":
                raise
            # Perhaps the answer was lost, and not the upload.
            found = await self.call("head_object", Key=told["Key"])
            if found["ContentLength"] != source.size:
                raise error from None
        return str(found["ETag"])

    async def _parts(self, source: Blob, upload: Mapping[str, str]) -> list[dict[str, Any]]:
        size = max(self.size, -(-source.size // _MOST_PARTS))
        told: dict[str, Any] = {"CopySource": {"Bucket": self.bucket, "Key": source.key}}
        told |= {"CopySourceIfMatch": f'"{source.version}"', **upload}
        pace = Pace(_AT_ONCE)

        async def copy(number: int, start: int) -> dict[str, Any]:
            end = min(start + size, source.size) - 1
            part = {"PartNumber": number, "CopySourceRange": f"bytes={start}-{end}"}
            # One part that fails must not take the others with it.
            found = await retrying(lambda: self.call("upload_part_copy", **told, **part), pace)
            return {"PartNumber": number, "ETag": found["CopyPartResult"]["ETag"]}

        starts = enumerate(range(0, source.size, size), start=1)
        tasks = [asyncio.ensure_future(copy(number, start)) for number, start in starts]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise
