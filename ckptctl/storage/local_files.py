"""Durable primitives of a local file system: rename without replacing, write, sync."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS = frozenset({errno.EPERM, errno.EMLINK, *_NO_SUCH_CALL})
_COUNTER = itertools.count()


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    """Linux's rename that refuses an existing target; 0 or an errno comes back."""
    import ctypes

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None

    def call(source: bytes, target: bytes) -> int:
        if function(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_NOREPLACE) == 0:
            return 0
        return ctypes.get_errno()

    return call


def rename_noreplace(source: str, target: str) -> None:
    """Rename a file or folder; FileExistsError where `target` exists, even empty."""
    call = _renameat2()
    if call is not None:
        number = call(os.fsencode(source), os.fsencode(target))
        if number == 0:
            return
        # Some file systems (older NFS, some FUSE) refuse the flag, not the rename.
        if number not in _NO_SUCH_CALL:
            raise OSError(number, os.strerror(number), source, None, target)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target)
    os.rename(source, target)


def open_unlinked(path: str, flags: int) -> int | None:
    """Open a file that lies exactly at an absolute path, with no link on the way; None for others.

    The system itself tells where the open file lies, which costs one call instead of one for each
    folder above it, and leaves no moment in which a folder could be exchanged for a link.
    """
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.readlink(f"/proc/self/fd/{handle}") == path:
            return handle
    except OSError:  # no such folder but on Linux
        pass
    os.close(handle)
    return None


def read_all(handle: int, limit: int | None) -> bytes:
    """The content of an open file, up to one byte more than `limit`."""
    most = os.fstat(handle).st_size + 1 if limit is None else limit + 1
    parts: list[bytes] = []
    while most > 0:
        size = os.fstat(handle).st_size
        part = os.read(handle, min(most, max(size + 1, 1 << 16)))
        if part:
            parts.append(part)
        # As long as it is told to be; some file systems tell of none, and know when they are asked.
        if not part or 0 < size == len(part):
            break
        most -= len(part)
        if limit is None:
            most = max(most, 1)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable; a folder that is gone needs nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot sync a folder, and need not.
        if error.errno not in _NO_SUCH_CALL:
            raise
    finally:
        os.close(handle)


def make_folders(path: str) -> list[str]:
    """Make a folder and its missing parents; the ones made come back, outermost first."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    made: list[str] = []
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError as error:
            if not os.path.isdir(folder):
                raise NotADirectoryError(errno.ENOTDIR, folder) from error
        else:
            made.append(folder)
    return made


def remove_if_empty(path: str) -> None:
    """Remove a folder, unless something is in it or it is gone."""
    try:
        os.rmdir(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise


def beside(path: str) -> str:
    """The name under which `replace_file` writes what will become `path`.

    No reader of experiments matches it, and it follows from the name alone, so that what
    a crash leaves behind can be found and removed.
    """
    import hashlib  # a scan needs none of it

    folder, name = os.path.split(path)
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    return os.path.join(folder, f".ckptctl-{digest}~")


def replace_file(path: str, data: bytes) -> None:
    """Replace a regular file's content atomically and durably, keeping mode and owner."""
    before = os.stat(path)
    new = beside(path)
    with suppress(FileNotFoundError):
        os.unlink(new)
    try:
        handle = _write_new(new, data, mode=0o600)
        try:
            _keep_attributes(path, handle, before)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise
    sync_folder(os.path.dirname(path))


def _keep_attributes(path: str, handle: int, before: os.stat_result) -> None:
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give a file away; others keep at least its group where they can.
        for owner in (before.st_uid, -1):
            with suppress(PermissionError):
                os.fchown(handle, owner, before.st_gid)
                break
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path):
                os.setxattr(handle, name, os.getxattr(path, name))
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def create_file(path: str, data: bytes) -> bool:
    """Write a new file whose content is durable before its name is seen; False if it exists."""
    if os.path.lexists(path):
        return False
    new = _unused_name(os.path.dirname(path))
    try:
        handle = _write_new(new, data, mode=0o666)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        made = _publish(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise
    if made:
        sync_folder(os.path.dirname(path))
    else:
        os.unlink(new)
    return made


def _publish(new: str, path: str) -> bool:
    """A link cannot replace anything, on any file system that has links."""
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        os.unlink(new)
        return True
    try:
        rename_noreplace(new, path)
    except FileExistsError:
        return False
    return True


def _unused_name(folder: str) -> str:
    unique = f"{os.getpid()}-{threading.get_ident()}-{next(_COUNTER)}"
    return os.path.join(folder, f".ckptctl-{unique}~")


def _write_new(path: str, data: bytes, *, mode: int) -> int:
    """Write a file that must not exist, and return it open."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    except BaseException:
        os.close(handle)
        raise
    return handle
