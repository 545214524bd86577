"""What goes wrong on storage, as one sentence and a hint."""

from __future__ import annotations

import errno

from ckptctl.errors import LocationError

_CAUSES: dict[int, tuple[str, str | None]] = {
    errno.ENOENT: ("not there", "check the spelling"),
    errno.ENOTDIR: ("not a folder", None),
    errno.EISDIR: ("a folder, not a file", None),
    errno.EACCES: ("no permission", "check who owns it and who may write there"),
    errno.EPERM: ("no permission", "check who owns it and who may write there"),
    errno.EROFS: ("the file system is read-only", "mount it writable or work on a copy"),
    errno.ENOSPC: ("no space left", "make room there and try again"),
    errno.EDQUOT: ("the quota is used up", "make room there and try again"),
    errno.EXDEV: ("the two names lie on different devices", "move it by hand, then reindex"),
    errno.ENAMETOOLONG: ("the name is too long", None),
    errno.ELOOP: ("a symbolic link leads in a circle", None),
    errno.EIO: ("the device reports an error", "check the disk before you go on"),
    errno.ESTALE: ("the network file system lost it", "mount it again and try again"),
}


def trouble(error: BaseException, what: str, location: str, path: str = "") -> LocationError:
    """The error of a driver or of the operating system in our own words.

    Args:
        error: what was raised.
        what: what was being done, as in ``cannot write``.
        location: the store's location, without credentials.
        path: relative to it.
    """
    cause, hint = _cause(error)
    subject = f"{location}: {path}" if path else location
    return LocationError(f"{what} {subject}: {cause}", hint=hint, location=location)


def cause_of(error: BaseException) -> str:
    """What went wrong, in a few words."""
    return _cause(error)[0]


def _cause(error: BaseException) -> tuple[str, str | None]:
    if isinstance(error, NotImplementedError):
        return "the driver cannot do this", None
    if isinstance(error, OSError):
        number = error.errno if error.errno is not None else _number(error)
        if number in _CAUSES:
            return _CAUSES[number]
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__), None


def _number(error: OSError) -> int:
    """Drivers raise the classes of Python without a number."""
    for kind, number in (
        (FileNotFoundError, errno.ENOENT),
        (PermissionError, errno.EACCES),
        (IsADirectoryError, errno.EISDIR),
        (NotADirectoryError, errno.ENOTDIR),
    ):
        if isinstance(error, kind):
            return number
    return 0
