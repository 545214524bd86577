"""Locations as people write them, and the stores that they open."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

from msgspec import Struct

from ckptctl.errors import LocationError
from ckptctl.storage.local_store import LocalStore
from ckptctl.storage.store import Reader, Store
from ckptctl.storage.wrappers import ReadOnly

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_CHAIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")
_LOCAL = frozenset({"file", "local"})
# After ``user:`` comes a password, unless it is the port of a host without a user.
_PASSWORD = re.compile(r"(?<=://)[^/?#@:]*:(?!\d+(?:/|$))[^@]*@")
_SECRET = re.compile(
    r"([?&][^=&#]*(?:key|secret|token|passw|pwd|signature|credential|auth)[^=&#]*=)[^&#]*",
    re.IGNORECASE,
)


class Location(Struct, frozen=True, kw_only=True):
    """A path or a URL, taken apart."""

    text: str
    """As the user wrote it, without credentials: for messages and commands."""
    scheme: str
    """In lower case; ``file`` for every local path."""
    path: str
    """Local: an absolute path. Else the URL as written, credentials included: never shown."""

    @property
    def is_local(self) -> bool:
        """Whether it is on a file system of this machine."""
        return self.scheme == "file"


def redact(text: str) -> str:
    """A URL without passwords and secret query values; anything else as it is."""
    if not _SCHEME.search(text):
        return text
    return _SECRET.sub(r"\1***", _PASSWORD.sub("", text))


def parse(text: str) -> Location:
    """Take a path or a URL apart.

    Raises:
        LocationError: it is empty, or a chain of URLs.
    """
    if not text.strip():
        raise LocationError("cannot open a location without a name")
    if _CHAIN.match(text):
        shown = redact(text)
        raise LocationError(
            f"cannot open {shown}: a chain of file systems is not supported",
            hint="name the innermost URL alone",
            location=shown,
        )
    found = _SCHEME.match(text)
    scheme = found.group(1).lower() if found else "file"
    if scheme in _LOCAL:
        return Location(text=text, scheme="file", path=_local_path(text))
    return Location(text=redact(text), scheme=scheme, path=text)


def _local_path(text: str) -> str:
    found = _SCHEME.match(text)
    if not found:
        return os.path.abspath(os.path.expanduser(text))
    rest = text[found.end() :]
    host, slash, path = rest.partition("/")
    if host not in ("", "localhost"):
        raise LocationError(
            f"cannot open {text}: {host} is another host",
            hint="write file:/// and an absolute path",
            location=text,
        )
    return os.path.abspath(unquote(slash + path, errors="surrogateescape"))


def open_store(location: str | Location) -> Store:
    """Open a location for reading and writing.

    Raises:
        LocationError: it is missing, no folder, may not be read, or has no driver.
    """
    place = parse(location) if isinstance(location, str) else location
    if place.is_local:
        return LocalStore.open(place.path, location=place.text)
    from ckptctl.storage.urls import open_url

    return open_url(place.path, scheme=place.scheme, location=place.text)


def open_reader(location: str | Location) -> Reader:
    """Open a location for reading only. Raises the same as `open_store`."""
    return ReadOnly(open_store(location))


def parent_of(location: str) -> tuple[str, str] | None:
    """The folder around a location, as text to open, and the location's own name in it."""
    place = parse(location)
    if not place.is_local:
        found = _SCHEME.match(location)
        rest = location[found.end() if found else 0 :].partition("?")[0].rstrip("/")
        above, slash, name = rest.rpartition("/")
        return (f"{place.scheme}://{above}", name) if slash and name and above else None
    name = os.path.basename(place.path)
    if not name:
        return None
    plain = location.rstrip("/")
    if "://" in plain or plain.startswith("~") or os.path.basename(plain) != name:
        return os.path.dirname(place.path), name
    return os.path.dirname(plain) or ".", name
