"""Pages of a listing, taken apart four times as fast as botocore does it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

OBJECTS = "CkptctlObjects"
"""Where an answer holds what it lists."""
_ITEM = "Contents"
_EVENT = "before-parse.s3.ListObjectsV2"


def register(client: Any) -> None:  # noqa: ANN401
    """Have a client of aiobotocore hand out its listings so."""
    client.meta.events.register(_EVENT, _take_apart, unique_id="ckptctl-listing")


def objects(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a page lists, whoever took it apart."""
    found: list[Mapping[str, Any]] = answer.get(OBJECTS, answer.get(_ITEM, []))
    return found


def _take_apart(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    if response_dict.get("status_code") != 200:
        return
    try:
        root = ET.fromstring(response_dict["body"])  # noqa: S314 - see above
    except ET.ParseError:
        return  # botocore knows what to say
    start = root.tag.rpartition("}")[0]
    name = f"{start}}}" if start else ""
    encoded = root.findtext(f"{name}EncodingType") == "url"
    items = root.findall(name + _ITEM)
    customized_response_dict[OBJECTS] = [_item(item, name, encoded=encoded) for item in items]
    root[:] = [child for child in root if child.tag != name + _ITEM]
    response_dict["body"] = ET.tostring(root)


def _item(item: ET.Element, name: str, *, encoded: bool) -> dict[str, Any]:
    told = {child.tag[len(name) :]: child.text or "" for child in item}
    key = told["Key"]
    # Encoded as in a form, so that a plus stands for a space.
    return {
        "Key": unquote(key.replace("+", " ")) if encoded else key,
        "Size": told.get("Size", 0),
        "ETag": told.get("ETag", ""),
        "LastModified": datetime.fromisoformat(told["LastModified"]),
        "StorageClass": told.get("StorageClass", ""),
    }
