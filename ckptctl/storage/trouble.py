"""What goes wrong on storage, as one sentence and a hint."""

from __future__ import annotations

import errno

from ckptctl.errors import LocationError
from ckptctl.storage.service import Answer

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

_NOT_FOUND = 404
_KEYS = "check the credentials that this environment has for it"
_DENIED = ("no permission", "check what these credentials may do there")
_WRONG_KEYS = ("the credentials are not accepted", _KEYS)
_EXPIRED = ("the credentials have expired", "log in again, or renew the token")
_BUSY = ("the service is throttling", "try again in a while")
_ELSEWHERE = ("the bucket is in another region", "name its region, for S3 with AWS_REGION")
_ANSWERS: dict[str, tuple[str, str | None]] = {
    "NoSuchBucket": ("no such bucket", "check its name, and the endpoint it is asked for at"),
    "NoCredentials": ("no credentials", "log in, or set those of the service in the environment"),
    "Unreachable": ("the service does not answer", "check the endpoint and the network"),
    "Cut": ("the connection broke off", "check the network and try again"),
    "AccessDenied": _DENIED,
    "InvalidAccessKeyId": _WRONG_KEYS,
    "InvalidToken": _WRONG_KEYS,
    "SignatureDoesNotMatch": _WRONG_KEYS,
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestTimeTooSkewed": ("the clock of this machine is wrong", "set it and try again"),
    "AuthorizationHeaderMalformed": _ELSEWHERE,
    "PermanentRedirect": _ELSEWHERE,
    "InvalidObjectState": ("it is archived", "restore it from the archive first"),
    "SlowDown": _BUSY,
    "301": _ELSEWHERE,
    "401": _WRONG_KEYS,
    "403": _DENIED,
    "404": ("not there", "check the spelling"),
    "429": _BUSY,
    "503": _BUSY,
    "507": ("no space left", "make room there and try again"),
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


def refused(answer: Answer, what: str, location: str, path: str = "") -> LocationError:
    """What a storage service answered, in our own words; arguments as of `trouble`."""
    cause, hint = _of_answer(answer)
    subject = f"{location}: {path}" if path else location
    return LocationError(f"{what} {subject}: {cause}", hint=hint, location=location)


def _of_answer(answer: Answer) -> tuple[str, str | None]:
    if "bucket" in answer.message.lower() and answer.status == _NOT_FOUND:
        return _ANSWERS["NoSuchBucket"]
    for key in (answer.code, str(answer.status)):
        if key in _ANSWERS:
            return _ANSWERS[key]
    text = (answer.message or answer.code or f"status {answer.status}").strip().splitlines()
    return text[0], None


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
