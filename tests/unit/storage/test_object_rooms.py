"""Trying again, pacing, streams in pieces, signatures: the small rooms of stores of objects."""

from __future__ import annotations

import asyncio
import gc
import io
import threading
from typing import Any, cast

import pytest

from ckptctl.errors import LocationError
from ckptctl.storage import retrying as trying
from ckptctl.storage.loop import each, wait_for
from ckptctl.storage.ranged import Ranged
from ckptctl.storage.retrying import Pace, is_transient, retrying
from ckptctl.storage.service import Answer
from ckptctl.storage.together import together
from ckptctl.storage.trouble import refused

BUSY = Answer(503, "SlowDown")


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_FIRST", 0.0)


class Flaky:
    """Fails so many times, and then answers."""

    def __init__(self, error: Answer, times: int) -> None:
        self.error, self.left, self.calls = error, times, 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error
        return "done"


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("error", "most"),
    [
        (BUSY, trying.TRIES),
        (Answer(500, "InternalError"), trying.TRIES),
        (Answer(0, "Cut"), trying.TRIES),
        (Answer(0, "Unreachable"), trying.TRIES_TO_REACH),
        (Answer(403, "AccessDenied"), 1),
        (Answer(404, "NoSuchKey"), 1),
    ],
)
def test_a_call_is_made_as_often_as_it_has_a_chance(error: Answer, most: int) -> None:
    flaky = Flaky(error, 1000)
    with pytest.raises(Answer):
        asyncio.run(retrying(flaky, Pace(4)))
    assert flaky.calls == most
    assert is_transient(error) == (most > 1)
    if most > 1:
        flaky = Flaky(error, most - 1)
        assert asyncio.run(retrying(flaky, Pace(4))) == "done"


@pytest.mark.usefixtures("no_waiting")
def test_throttling_makes_room_smaller_and_success_larger() -> None:
    async def run() -> tuple[int, int, int]:
        pace, now, most = Pace(8), 0, [0]

        async def call() -> None:
            nonlocal now
            now += 1
            most[-1] = max(most[-1], now)
            await asyncio.sleep(0)
            now -= 1

        async def many() -> None:
            await asyncio.gather(*(retrying(call, pace) for _ in range(40)))

        await many()
        for _ in range(20):
            pace.slower()
        most.append(0)
        await asyncio.gather(*(retrying(call, pace) for _ in range(2)))
        most.append(0)
        for _ in range(5):
            await many()
        return most[0], most[1], most[2]

    at_first, throttled, again = asyncio.run(run())
    assert at_first == 8 and throttled == 1 and again == 8


def test_results_come_as_they_are_ready_and_the_first_error_ends_it() -> None:
    given_up: list[int] = []

    async def call(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        try:
            await asyncio.sleep(0 if number < 3 else 30)
        except asyncio.CancelledError:
            given_up.append(number)
            raise
        return number

    found: list[int] = []
    with pytest.raises(ValueError, match="three"), each(range(8), call, most=8) as results:
        found.extend(results)
    assert set(found) <= {0, 1, 2}
    assert sorted(given_up) == [4, 5, 6, 7]


def test_what_is_on_its_way_is_given_up_with_the_caller() -> None:
    begun = threading.Event()
    ended: list[str] = []

    async def call(number: int) -> int:
        if number == 0:
            return 0
        begun.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("given up")
            raise
        return number

    with each(range(2), call, most=2) as results:
        assert next(results) == 0 and begun.wait(5)
    assert ended == ["given up"]


def test_an_error_that_ends_a_process_passes_through_the_loop() -> None:
    class Gone(BaseException):
        pass

    async def call() -> None:
        raise Gone

    with pytest.raises(Gone):
        wait_for(call())


@pytest.mark.parametrize("at_once", [1, 4])
def test_results_of_many_are_in_order(at_once: int) -> None:
    with together(lambda n: n * n, range(20), at_once) as results:
        assert list(results) == [n * n for n in range(20)]


def test_calls_that_have_begun_end_with_the_context_and_no_others_begin() -> None:
    begun, ended = list[int](), list[int]()
    both, go_on = threading.Barrier(3), threading.Event()

    def call(number: int) -> int:
        if number in (1, 2):
            begun.append(number)
            both.wait(5)
            go_on.wait(5)
            ended.append(number)
        return number

    with together(call, range(99), 3) as results:
        assert next(results) == 0
        both.wait(5)
        threading.Timer(0.1, go_on.set).start()
    assert sorted(begun) == sorted(ended) == [1, 2]


def test_the_garbage_collector_may_come_upon_results_while_a_thread_starts() -> None:
    """It did, in the middle of a scan: it waited for threads that waited for it."""
    go_on, ended = threading.Event(), list[int]()

    def call(number: int) -> int:
        if number:
            go_on.wait(5)
            ended.append(number)
        return number

    with together(call, range(99), 2) as results:
        assert next(results) == 0
        held = [results]
        held.append(cast(Any, held))  # only the collector can end what refers to itself
        del results, held
        gc.collect()
        assert not ended, "the collector did not wait for it"
        go_on.set()
    assert ended == [1]


class Pieces:
    """Bytes that are fetched, and how."""

    def __init__(self, data: bytes) -> None:
        self.data, self.asked, self.version = data, list[tuple[int, int]](), "1"

    def __call__(self, start: int, length: int) -> tuple[bytes, int, str]:
        self.asked.append((start, length))
        return self.data[start : start + length], len(self.data), self.version


def test_a_stream_asks_for_larger_pieces_where_they_follow_one_another() -> None:
    pieces = Pieces(bytes(range(256)) * 4096)
    stream = io.BufferedReader(cast(io.RawIOBase, Ranged(pieces)), 1)
    assert stream.read() == pieces.data
    lengths = [length for _, length in pieces.asked]
    assert lengths[:4] == [64 << 10, 128 << 10, 256 << 10, 512 << 10] and len(lengths) < 8
    stream.seek(5)
    assert stream.read(3) == pieces.data[5:8]
    assert pieces.asked[-1] == (5, 64 << 10)
    assert stream.seek(-1, io.SEEK_CUR) == 7 and stream.seek(0, io.SEEK_END) == len(pieces.data)
    assert stream.read(1) == b""


def test_a_stream_is_of_one_version() -> None:
    pieces = Pieces(b"x" * 200_000)
    stream = Ranged(pieces)
    stream.read(10)
    pieces.version = "2"
    stream.seek(150_000)
    with pytest.raises(LocationError, match="changed while it was read"):
        stream.read(10)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Answer(404, "NoSuchBucket"), "no such bucket"),
        (Answer(404, "", "The specified bucket does not exist."), "no such bucket"),
        (Answer(404, "notFound"), "not there"),
        (Answer(403, "AccessDenied"), "no permission"),
        (Answer(403, "SignatureDoesNotMatch"), "the credentials are not accepted"),
        (Answer(401, "required"), "the credentials are not accepted"),
        (Answer(400, "ExpiredToken"), "the credentials have expired"),
        (Answer(503, "SlowDown"), "the service is throttling"),
        (Answer(429, "rateLimitExceeded"), "the service is throttling"),
        (Answer(0, "Unreachable"), "the service does not answer"),
        (Answer(0, "NoCredentials"), "no credentials"),
        (Answer(403, "InvalidObjectState"), "it is archived"),
        (Answer(418, "Odd", "I am a teapot\nreally"), "I am a teapot"),
    ],
)
def test_answers_are_one_sentence(answer: Answer, cause: str) -> None:
    error = refused(answer, "cannot read", "s3://b/exp", "x")
    assert error.message == f"cannot read s3://b/exp: x: {cause}"
