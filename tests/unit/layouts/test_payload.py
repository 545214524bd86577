"""Files that are cut off say so by their headers, and nothing odd makes trouble."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import BinaryIO

import pytest

from ckptctl.errors import LocationError
from ckptctl.layouts import payload
from ckptctl.layouts.payload import why_torn


def torn(path: str, data: bytes) -> str | None:
    return why_torn(path, len(data), lambda: io.BytesIO(data))


def a_zip(*names: str, size: int = 4096) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"\x01" * size)
    return stream.getvalue()


def safetensors(header: object, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


TENSOR = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {"a": "b"}}
WHOLE = a_zip("archive/data.pkl", "archive/data/0")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("model.pt", WHOLE),
        ("model.pt", b"#!/prefix\n" + b"\x80\x02\x8a\x0a" + bytes(99)),
        ("model.ckpt", a_zip()),
        ("weights.npz", WHOLE),
        ("model.bin", b"anything"),
        ("model.safetensors", safetensors(TENSOR, bytes(8))),
        ("model.safetensors", safetensors({}, b"")),
        ("state.json", b'{"loss": NaN}'),
        ("state.json", "\ufeff{}".encode()),
        ("state.json", b"[" * 100_000),
        ("rank.txt", b""),
        ("data", b"PK\x03\x04"),
    ],
)
def test_whole_files_pass(path: str, data: bytes) -> None:
    assert torn(path, data) is None


@pytest.mark.parametrize(
    ("path", "data", "why"),
    [
        ("a/model.pt", WHOLE[:-40], "is a zip that is cut off"),
        ("model.pt", WHOLE[:5], "is a zip that is cut off"),
        ("model.pt", b"", "has zero bytes"),
        ("model.pt", bytes(4096), "begins with zero bytes"),
        ("model.npz", b"not at all", "is no zip, though it is called one"),
        ("model.safetensors", b"\x01\0", "is cut off within the length"),
        ("model.safetensors", bytes(8), "has no header"),
        ("model.safetensors", safetensors(TENSOR, bytes(4)), "is cut off: 8 bytes of tensors"),
        ("model.safetensors", safetensors(TENSOR, b"")[:20], "is cut off within its header"),
        ("model.safetensors", safetensors(b"nothing", b""), "has a header that cannot be read"),
        ("model.safetensors", safetensors([1], b""), "has a header that cannot be read"),
        ("model.safetensors", safetensors({"w": {"data_offsets": 3}}, b""), "cannot be read"),
        ("state.json", b'{"loss": 0.1, "it', "is JSON that is cut off after 17 bytes"),
        ("state.json", b'{"a": 1', "is JSON that is cut off"),
        ("state.json", b"{'a': 1}", "is not JSON at line 1, column 2"),
        ("state.json", bytes(10), "holds nothing but zero bytes"),
        ("state.json", b"\xff\xfe\xff\xd8", "is"),
    ],
)
def test_torn_files_say_what_is_missing(path: str, data: bytes, why: str) -> None:
    told = torn(path, data)
    assert told is not None
    assert told.startswith(why) or why in told


def test_every_cut_of_a_zip_is_found() -> None:
    data = a_zip("data.pkl", size=40)
    assert all(torn("m.pt", data[:end]) for end in range(len(data)))


def test_every_cut_of_safetensors_is_found() -> None:
    data = safetensors(TENSOR, bytes(8))
    assert all(torn("m.safetensors", data[:end]) for end in range(len(data)))


def hostile() -> list[bytes]:
    """Zips whose directory lies, in ways that `zipfile` answers with all kinds of errors."""
    end = WHOLE.rindex(b"PK\x05\x06")
    found = []
    for offset, value in [(12, 2**32 - 1), (16, 2**32 - 1), (12, 0), (16, 7), (10, 65535)]:
        damaged = bytearray(WHOLE)
        struct.pack_into("<I", damaged, end + offset, value)
        found.append(bytes(damaged))
    first = WHOLE.index(b"PK\x01\x02")
    for offset in range(4, 46):
        damaged = bytearray(WHOLE)
        damaged[first + offset] ^= 0xFF
        found.append(bytes(damaged))
    found.append(WHOLE + WHOLE)
    found.append(b"PK\x03\x04" + bytes(100) + WHOLE)
    return found


def test_a_zip_that_lies_about_itself_is_judged_or_left_alone() -> None:
    for data in hostile():
        torn("m.pt", data)


def test_a_member_that_is_not_where_the_directory_says() -> None:
    damaged = bytearray(WHOLE)
    damaged[:4] = b"PK\x03\x04"
    second = WHOLE.index(b"PK\x03\x04", 1)
    damaged[second : second + 4] = bytes(4)
    assert "is not where its directory says" in str(torn("m.pt", bytes(damaged)))


class Counted(io.BytesIO):
    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def test_of_a_big_zip_only_the_directory_is_read() -> None:
    stream = Counted(a_zip("data.pkl", "data/0", size=3_000_000))
    assert why_torn("m.pt", len(stream.getvalue()), lambda: stream) is None
    assert stream.taken < 100_000


def test_what_would_take_too_much_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "MAX_HEADER", 64)
    monkeypatch.setattr(payload, "MAX_JSON", 4)
    assert torn("m.pt", a_zip(*(f"m/{n}" for n in range(100)))) is None
    assert torn("m.safetensors", safetensors({str(n): {} for n in range(99)}, b"")) is None
    assert torn("state.json", b'{"a": 1') is None
    monkeypatch.undo()
    monkeypatch.setattr(payload, "MAX_MEMBERS", 1)
    assert torn("m.pt", WHOLE) is None


def test_what_cannot_be_opened_is_not_called_torn() -> None:
    def closed() -> BinaryIO:
        raise LocationError("cannot read")

    assert why_torn("m.pt", 9, closed) is None
