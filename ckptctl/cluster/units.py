"""Units as bytes, and what a worker does with them."""

from __future__ import annotations

import importlib
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar, get_type_hints

import msgspec
from msgspec import Raw, Struct

from ckptctl import errors
from ckptctl._version import __version__
from ckptctl.cluster.workers import Answer, Workers
from ckptctl.errors import CkptctlError, ClusterError, InternalError

S = TypeVar("S")
T = TypeVar("T")

_HOME = "ckptctl.cluster."


class _Unit(Struct, frozen=True, kw_only=True):
    """A unit on its way to a worker."""

    version: str
    """Of the ckptctl that sends it; another one may not understand the rest."""
    function: str
    """``module:name`` below this package."""
    item: Raw


class _Done(Struct, frozen=True, kw_only=True):
    """What came of a unit."""

    where: str
    version: str = __version__
    result: Raw = Raw(b"\xc0")
    """Of nothing, unless there is one."""
    failure: _Failure | None = None


class _Failure(Struct, frozen=True, kw_only=True):
    """An error of ours, told in words."""

    kind: str
    message: str
    hint: str | None
    location: str | None
    changed: tuple[str, ...] = ()


_encode = msgspec.msgpack.Encoder().encode
_decode_unit = msgspec.msgpack.Decoder(_Unit).decode
_decode_done = msgspec.msgpack.Decoder(_Done).decode


def perform(data: bytes) -> bytes:
    """Do a unit, on a worker.

    An error of ours comes back as an answer; another one is a bug, and raised.
    """
    unit = _decode_unit(data)
    if unit.version != __version__:
        return _encode(_Done(where=here()))
    module, _, name = unit.function.partition(":")
    function = getattr(importlib.import_module(_HOME + module), name)
    try:
        result = function(msgspec.msgpack.decode(unit.item, type=_taken(function)))
    except CkptctlError as error:
        return _encode(_Done(where=here(), failure=_told(error)))
    return _encode(_Done(where=here(), result=Raw(_encode(result))))


@contextmanager
def on_workers(
    workers: Workers, function: Callable[[S], T], items: Iterable[S], location: str
) -> Iterator[Iterator[tuple[T, str]]]:
    """What a function of this package gives for each item, in their order, and where it did.

    An item with text that is none, as a name on a disk may be, does not travel: it is done here.
    When the context is left, nothing is on its way any more.

    Raises:
        ClusterError: a worker has no ckptctl, or not this one.
        CkptctlError: what the function raised.
    """
    module = function.__module__.removeprefix(_HOME)
    decode = msgspec.msgpack.Decoder(get_type_hints(function)["return"]).decode
    ours: deque[S | None] = deque()

    def sent() -> Iterator[bytes]:
        for item in items:
            name = f"{module}:{function.__name__}"
            try:
                raw = _encode(item)
                ours.append(None)
            except UnicodeEncodeError:
                name, raw = f"units:{nothing.__name__}", _encode(None)
                ours.append(item)
            yield _encode(_Unit(version=__version__, function=name, item=Raw(raw)))

    def results(answers: Iterator[Answer]) -> Iterator[tuple[T, str]]:
        for answer in answers:
            if isinstance(answer, str):
                raise _not_installed(workers, answer, location)
            done = _decode_done(answer)
            if done.version != __version__:
                raise _another_version(workers, done, location)
            if done.failure is not None:
                _raise(done.failure)
            own = ours.popleft()
            yield (decode(done.result), done.where) if own is None else (function(own), here())

    with workers.run(sent()) as answers:
        yield results(answers)


def nothing(item: None) -> None:
    """Hold the place of an item that does not travel."""


def here() -> str:
    """This process, as messages name it."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _taken(function: Callable[..., object]) -> Any:  # noqa: ANN401
    """The type of what a function takes."""
    return next(iter(get_type_hints(function).values()))


def _told(error: CkptctlError) -> _Failure:
    def plain(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode()

    return _Failure(
        kind=type(error).__name__,
        message=plain(error.message),
        hint=error.hint and plain(error.hint),
        location=error.location and plain(error.location),
        changed=tuple(plain(what) for what in getattr(error, "changed", ())),
    )


def _raise(failure: _Failure) -> NoReturn:
    kind = getattr(errors, failure.kind, InternalError)
    more = {"changed": failure.changed} if kind is errors.StalePlanError else {}
    raise kind(failure.message, hint=failure.hint, location=failure.location, **more)


def _not_installed(workers: Workers, answer: str, location: str) -> ClusterError:
    host, _, why = answer.partition(": ")
    return ClusterError(
        f"cannot work on {location}: the {workers.name} worker on {host} has no ckptctl: {why}",
        hint=f"run `pip install ckptctl=={__version__}` on every worker, or use --executor local",
        location=location,
    )


def _another_version(workers: Workers, done: _Done, location: str) -> ClusterError:
    return ClusterError(
        f"cannot work on {location}: the {workers.name} worker {done.where} has ckptctl"
        f" {done.version}, and this is {__version__}",
        hint=f"run `pip install ckptctl=={__version__}` on every worker, or use --executor local",
        location=location,
    )
