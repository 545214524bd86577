"""Parts of a listing, which whoever can open the same location can make."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct

from ckptctl.storage.folders import Folder


class Part(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part: folders on a disk, a range of keys in a bucket."""

    folders: tuple[str, ...] = ()
    """Paths of what is walked, with all that is below."""
    after: str | None = None
    """The range begins behind this key, or with the first one."""
    until: str | None = None
    """It ends with this key, or with the last one."""
    first: str = ""
    """What its first key begins with."""

    @property
    def begin(self) -> str:
        """What it begins with, for messages."""
        return self.folders[0] if self.folders else self.first


class Division(Struct, frozen=True, kw_only=True):
    """A listing that is divided."""

    known: Folder
    """What was listed on the way: the folders above those of the parts."""
    parts: tuple[Part, ...]
    """What is left, in order of path."""


@runtime_checkable
class Divisible(Protocol):
    """A store whose listing can be made in parts."""

    def divide(self, most: int) -> Division | None:
        """Divide the listing into about so many parts; None where that is not worth it."""

    def list_part(self, part: Part) -> Folder | None:
        """List one part, each folder in its place; None where it is not what it was."""
