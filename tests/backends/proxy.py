"""A proxy that counts requests, and that delays, refuses, cuts and resets some of them.

    proxy.py --to PORT --log FILE [--delay-ms N] [--refuse N] [--reset N] [--cut N] [--slow N]

It listens on a free port of 127.0.0.1, which is its first line of output. Every request is one
JSON line of the log. ``--refuse 7`` answers every 7th request with a 503 before it reaches the
server, ``--reset 50`` breaks every 50th connection after the server has done its work (so that
the answer is lost), ``--cut`` ends an answer with content half-way, ``--slow`` sends it in
pieces.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import struct
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

_REFUSAL = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)


@dataclass
class Head:
    """The beginning of a request or an answer."""

    first: str
    lines: list[bytes]

    def value(self, name: str) -> str:
        for line in self.lines:
            key, _, value = line.decode("latin1").partition(":")
            if key.strip().lower() == name:
                return value.strip()
        return ""

    def without(self, name: str) -> bytes:
        kept = [line for line in self.lines if not line.lower().startswith(name.encode() + b":")]
        return self.first.encode("latin1") + b"\r\n" + b"".join(kept) + b"\r\n"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = text[:-2].splitlines(keepends=True)
    return Head(first.decode("latin1").rstrip("\r\n"), lines)


async def read_body(reader: asyncio.StreamReader, head: Head, *, empty: bool = False) -> bytes:
    """The body as it came, its chunks included."""
    if empty:
        return b""
    if "chunked" in head.value("transfer-encoding").lower():
        found = b""
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            found += line + await reader.readexactly(size + 2)
            if size == 0:
                return found
    return await reader.readexactly(int(head.value("content-length") or 0))


def operation(first: str, head: Head) -> str:
    """What a request asks for."""
    method, target, _ = first.split(" ", 2)
    parts = urlsplit(target)
    query = parse_qs(parts.query, keep_blank_values=True)
    path = parts.path
    if path.startswith(("/storage/v1", "/upload/", "/download/")):
        return gcs_operation(method, path, query)
    if head.value("x-amz-copy-source"):
        return "COPY_PART" if "partNumber" in query else "COPY"
    if method == "POST" and "delete" in query:
        return "DELETE_BATCH"
    if method == "GET" and "list-type" in query:
        return "LIST"
    if "uploads" in query or "uploadId" in query:
        return f"UPLOAD_{method}"
    return method


def gcs_operation(method: str, path: str, query: dict[str, list[str]]) -> str:
    if "/rewriteTo/" in path:
        return "REWRITE"
    if path.startswith("/upload"):
        return "PUT"
    if re.search(r"/b/[^/]+/o/?$", path):
        return "LIST"
    if method == "GET":
        return "GET" if query.get("alt") == ["media"] else "HEAD"
    return method


class Proxy:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.log = open(options.log, "w", buffering=1)  # noqa: SIM115 - as long as the process
        self.requests = 0
        self.answers = 0

    def note(self, head: Head, body: bytes) -> None:
        _, target, _ = head.first.split(" ", 2)
        record = {"op": operation(head.first, head), "path": unquote(target)}
        if record["op"] == "DELETE_BATCH":
            record["keys"] = str(body.count(b"<Key>"))
        for name in ("if-match", "if-none-match", "x-amz-copy-source-if-match"):
            if head.value(name):
                record[name] = head.value(name)
        if record["op"] == "REWRITE":
            record["body"] = body.decode()
        self.log.write(json.dumps(record) + "\n")

    def is_nth(self, every: int, number: int) -> bool:
        return every > 0 and number % every == 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            while head := await read_head(reader):
                if head.value("expect"):
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await read_body(reader, head)
                self.note(head, body)
                self.requests += 1
                if self.options.delay_ms:
                    await asyncio.sleep(self.options.delay_ms / 1000)
                if self.is_nth(self.options.refuse, self.requests):
                    writer.write(
                        b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(_REFUSAL)
                    )
                    if not head.first.startswith("HEAD"):
                        writer.write(_REFUSAL)
                    await writer.drain()
                    continue
                upstream = upstream or await asyncio.open_connection("127.0.0.1", self.options.to)
                upstream[1].write(head.without("expect") + body)
                if not await self.answer(head, upstream[0], writer):
                    return
        except (ConnectionError, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            if upstream:
                upstream[1].close()

    async def answer(
        self, asked: Head, upstream: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = await read_head(upstream)
        if head is None:
            return False
        status = head.first.split(" ")[1]
        empty = asked.first.startswith("HEAD") or status in ("204", "304")
        body = await read_body(upstream, head, empty=empty)
        self.answers += 1
        if self.is_nth(self.options.reset, self.answers):
            reset(writer)
            return False
        content = bool(body) and asked.first.startswith("GET")
        writer.write(head.without("nothing"))
        if content and self.is_nth(self.options.cut, self.answers):
            writer.write(body[: len(body) // 2])
            await writer.drain()
            return False
        if content and self.is_nth(self.options.slow, self.answers):
            for start in range(0, len(body), max(1, len(body) // 5)):
                writer.write(body[start : start + max(1, len(body) // 5)])
                await writer.drain()
                await asyncio.sleep(0.05)
        else:
            writer.write(body)
        await writer.drain()
        return True


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection in the way that is no orderly end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--log", required=True)
    for name in ("delay-ms", "refuse", "reset", "cut", "slow"):
        parser.add_argument(f"--{name}", type=int, default=0)
    proxy = Proxy(parser.parse_args())
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
