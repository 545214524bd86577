"""Damage to real experiments that knows what it damages.

Each mutation takes a file (or a name) of an experiment and a source of chance, and gives the
experiment that comes out: bytes, JSON values, opcodes of pickles wherever they are nested, cells
and lines of logs, and the names of files and folders.
"""

from __future__ import annotations

import json
import os
import pickletools
import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

HEX_PICKLE = re.compile(r"80[0-5][0-9a-f](?:[0-9a-f]{2})+")
_DEEP = 3000
NAMES = (
    "..",
    ".",
    "",
    "../../outside",
    "/etc/passwd",
    "checkpoint_000001\n",
    "checkpoint_\x1b[31mred\x1b[0m",
    "checkpoint_[bold]x[/bold]",
    "checkpoint_" + "9" * 400,
    "checkpoint_-1",
    "checkpoint_٣",
    "checkpoint_000001/../../x",
    "\udcff",
    "\x00",
    "checkpoint_" + "x" * 240,
    "file:///etc/passwd",
    "s3://bucket/x",
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, float("nan"), float("inf"), float("-inf"), 1e308, 5e-324),
    *(2**31, 2**63, -(2**63) - 1, 2**64, 10**300, "0", "nan", " ", "\ud800", "\u202e", "true"),
    *([], {}, [[]], {"": None}, [None] * 3, {"_type": "CLOUDPICKLE_FALLBACK", "value": "80054e2e"}),
    *({"_type": "CLOUDPICKLE_FALLBACK", "value": 7}, {"_type": None}, {"__proto__": {}}, *NAMES),
)
RAW = (
    "1" * 5000,
    "-" + "9" * 400 + ".0e-9999",
    "1e999999",
    "[" * _DEEP + "]" * _DEEP,
    '{"a":' * _DEEP + "1" + "}" * _DEEP,
    '{"a": 1, "a": 2}',
    '"' + "x" * 100_000 + '"',
    "NaN",
    "-Infinity",
    "nul",
    "'single'",
    '"\\ud800"',
    '"\\u0000"',
    "01",
    "+1",
    "1.",
    "",
)
"""JSON texts put where a value was, some of them none."""
SNIPPETS = (
    b"cos\nsystem\n(S'true'\ntR",
    b"\x8c\x02os\x8c\x06system\x93",
    b"}",
    b"]",
    b")",
    b"N",
    b"(",
    b"0",
    b"2",
    b"b",
    b"R",
    b"\x81",
    b"\x94",
    b"h\x00",
    b"j\xff\xff\xff\x7f",
    b"\x8a\x09" + b"\xff" * 8 + b"\x7f",
    b"\x8b\xff\xff\xff\x7f",
    b"\x96" + struct.pack("<Q", 1 << 40),
    b"\x95" + struct.pack("<Q", 1 << 60),
    b"Q",
    b"\x82\x01",
    b"G" + struct.pack(">d", float("nan")),
    b"\x80\x05",
    b".",
)


def mutate_bytes(data: bytes, rng: Random) -> bytes:
    """Flip, cut, double, insert or truncate; what is there means nothing."""
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.choice((1, 1, 2, 8, 64, 1024)))
    kind = rng.randrange(6)
    if kind == 0 and data:
        at = min(at, len(data) - 1)
        return data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]
    if kind == 1:
        return data[:at] + data[to:]
    if kind == 2:
        return data[:to] + data[at:to] * rng.choice((1, 2, 50)) + data[to:]
    if kind == 3:
        return (
            data[:at]
            + rng.choice((rng.randbytes(4), b"\0" * 64, b"\n", b'"', b"\xff\xfe"))
            + data[at:]
        )
    return data[:at]


def mutate_json(text: str, rng: Random) -> str:
    """Change one value of a JSON text, however deep, in its nested texts and pickles too."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return mutate_bytes(text.encode(errors="surrogatepass"), rng).decode(errors="replace")
    hole = "\ufdd0hole\ufdd0"
    changed, raw = _change(value, rng, hole)
    made = json.dumps(changed, indent=2 if text.startswith(("{\n", "[\n")) else None)
    return made if raw is None else made.replace(json.dumps(hole), raw)


def _change(value: Any, rng: Random, hole: str) -> tuple[Any, str | None]:
    """A value with one change in it; with a text for the `hole` that it leaves, or None."""
    if isinstance(value, dict | list) and value and rng.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = rng.choice(keys)
        if rng.random() < 0.08:
            return _rearranged(value, key, rng), None
        inner, raw = _change(value[key], rng, hole)
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = inner
        return copy, raw
    if isinstance(value, str) and rng.random() < 0.85:
        if value[:1] in "{[" and len(value) > 1:
            return mutate_json(value, rng), None
        if HEX_PICKLE.fullmatch(value):
            return mutate_pickle(bytes.fromhex(value), rng).hex(), None
    if rng.random() < 0.25:
        return hole, rng.choice(RAW)
    return rng.choice(VALUES), None


def _rearranged(value: Any, key: Any, rng: Random) -> Any:
    if isinstance(value, list):
        copy = list(value)
        kind = rng.randrange(4)
        if kind == 0:
            del copy[key]
        elif kind == 1:
            copy.insert(key, copy[rng.randrange(len(copy))])
        elif kind == 2:
            copy.reverse()
        else:
            copy = copy * 40
        return copy
    kind = rng.randrange(3)
    if kind == 0:
        return {k: v for k, v in value.items() if k != key}
    if kind == 1:
        return {(rng.choice(NAMES) if k == key else k): v for k, v in value.items()}
    other = rng.choice(list(value))
    return {**value, key: value[other], other: value[key]}


def mutate_pickle(data: bytes, rng: Random) -> bytes:
    """Drop, double, swap or replace opcodes, or their arguments."""
    try:
        found = [(op, arg, pos) for op, arg, pos in pickletools.genops(data)]
    except Exception:  # noqa: BLE001  whatever the standard library makes of it
        return mutate_bytes(data, rng)
    ends = [pos for _, _, pos in found[1:]] + [len(data)]
    pieces = [data[pos:end] for (_, _, pos), end in zip(found, ends, strict=True)]
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(pieces))
        kind = rng.randrange(7)
        if kind == 0:
            pieces[at] = b""
        elif kind == 1:
            pieces.insert(at, pieces[rng.randrange(len(pieces))])
        elif kind == 2:
            other = rng.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 3:
            pieces[at] = rng.choice(SNIPPETS)
        elif kind == 4:
            pieces.insert(at, rng.choice(SNIPPETS))
        elif kind == 5 and len(pieces[at]) > 1:
            pieces[at] = pieces[at][:1] + rng.randbytes(len(pieces[at]) - 1)
        else:
            pieces[at] = _text(rng.choice(NAMES))
    return b"".join(pieces)


def _text(value: str) -> bytes:
    raw = value.encode(errors="surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def mutate_lines(data: bytes, rng: Random) -> bytes:
    """Change a row of a log: its place, or a value in it."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return mutate_bytes(data, rng)
    at = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif kind == 2:
        lines[at] = mutate_bytes(lines[at], rng)
    else:
        text = lines[at].decode(errors="replace")
        lines[at] = (
            mutate_json(text, rng) + "\n" if text.startswith("{") else _cells(text, rng)
        ).encode(errors="surrogatepass")
    return b"".join(lines)


def _cells(text: str, rng: Random) -> str:
    cells = text.rstrip("\r\n").split(",")
    cells[rng.randrange(len(cells))] = str(rng.choice(VALUES))
    return ",".join(cells) + "\r\n"


Change = Callable[[Path, Sequence[str], Random], str]
"""Does something to an experiment in a folder, of these files; says what."""


def content(folder: Path, files: Sequence[str], rng: Random) -> str:
    """Another content of a record."""
    records = [f for f in files if _is_record(f)]
    path = rng.choice(records if records and rng.random() < 0.95 else list(files))
    full = folder / path
    data = full.read_bytes()
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = _mutated(path, data, rng)
    full.write_bytes(data)
    return f"content of {path}"


def _mutated(path: str, data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.15:
        return mutate_bytes(data, rng)
    name = path.rpartition("/")[2]
    if name in ("result.json", "progress.csv"):
        return mutate_lines(data, rng)
    if name.endswith(".json"):
        return mutate_json(data.decode(errors="replace"), rng).encode(errors="surrogatepass")
    return mutate_pickle(data, rng) if data[:1] == b"\x80" else mutate_bytes(data, rng)


def _is_record(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith(("experiment_state", "checkpoint_manager", ".tune", ".metadata")) or (
        name in ("result.json", "progress.csv", "tuner.pkl", "params.json")
    )


def name(folder: Path, files: Sequence[str], rng: Random) -> str:
    """Another name of a file or folder, or something else under its name."""
    path = rng.choice(list(files))
    while "/" in path and rng.random() < 0.5:
        path = path.rpartition("/")[0]
    full = folder / path
    kind = rng.randrange(6)
    if kind == 0:
        chosen = [n for n in NAMES if n.strip(".") and "/" not in n and "\0" not in n]
        new = full.with_name(rng.choice(chosen))
        if len(os.fsencode(new.name)) <= 255 and not os.path.lexists(new):
            full.rename(new)
        return f"name of {path}"
    aside = folder.parent / "aside"
    full.rename(aside)
    if kind == 1:
        full.symlink_to(rng.choice((".", "..", full.name, "/", "nowhere", str(aside))))
    elif kind == 2:
        os.mkfifo(full)
    elif kind == 3:
        full.mkdir()
    elif kind == 4:
        full.write_bytes(b"")
    return f"{('', 'link', 'FIFO', 'folder', 'empty file', 'nothing')[kind]} at {path}"


CHANGES: tuple[tuple[Change, int], ...] = ((content, 6), (name, 1))
