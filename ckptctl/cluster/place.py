"""A location as workers open it, and whether they see there what we see."""

from __future__ import annotations

import os

from msgspec import Struct

from ckptctl.cluster.units import here
from ckptctl.errors import ClusterError, LocationError
from ckptctl.storage.location import Location, open_store, parse
from ckptctl.storage.store import Store

HINT = (
    "workers need the location as this process has it: on a file system that all share, or in a"
    " bucket that their own environment may open; or use --executor local"
)


class Place(Struct, frozen=True, kw_only=True):
    """A location, and what tells its folder from another one of this name."""

    location: Location
    marks: tuple[int, ...]


def place_of(location: str) -> Place:
    """A location that can be opened here."""
    place = parse(location)
    return Place(location=place, marks=_marks(place))


def open_place(place: Place) -> Store:
    """The store of a location, on a worker.

    Raises:
        ClusterError: it cannot be opened there, or another folder has its name.
    """
    try:
        store = open_store(place.location)
        marks = _marks(place.location)
    except (LocationError, OSError) as error:
        why = error.message if isinstance(error, LocationError) else str(error)
        raise unseen(place.location, here(), why) from error
    # A shared file system keeps the number of a folder, or at least its time, on all machines.
    if place.marks and not any(map(int.__eq__, place.marks, marks)):
        raise unseen(place.location, here(), "another folder has its name there")
    return store


def unseen(location: Location, where: str, why: str) -> ClusterError:
    """The error where a worker does not see what is there."""
    return ClusterError(
        f"cannot work on {location.text}: a worker does not see it: {where}: {why}",
        hint=HINT,
        location=location.text,
    )


def _marks(location: Location) -> tuple[int, ...]:
    """Of a folder on a disk; the name of a bucket is its own everywhere."""
    if not location.is_local:
        return ()
    info = os.stat(location.path)
    return info.st_ino, info.st_mtime_ns
