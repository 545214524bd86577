"""What Lightning left in a checkpoint about its callbacks, read from the file without torch.

A Lightning checkpoint is a torch zip: one small pickle, ``<prefix>/data.pkl``, and the tensors
beside it (seen in files of Lightning 2.0 to 2.6 and torch 2.13). Of a file of any size the
directory at its end, that pickle and a few numbers of four or eight bytes are read.
"""

from __future__ import annotations

import ast
import math
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from ckptctl.codec.errors import CodecError
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_reader import decode, plain
from ckptctl.errors import CkptctlError
from ckptctl.layouts.payload import MAX_MEMBERS, UNREADABLE, Budget, Open, TooMuch
from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.stages import Lightning, Saver, Stopper

MAX_PICKLE: Final = 8 * 1024 * 1024
"""Bytes of a ``data.pkl`` that are read; a larger one is passed over."""
_LIMITS = Limits(max_bytes=MAX_PICKLE, max_ops=1_000_000)
_NOT_READABLE: Final = (
    *UNREADABLE,
    TooMuch,
    OSError,
    MemoryError,
    CkptctlError,
    CodecError,
    NotImplementedError,
    RuntimeError,  # of zipfile, for a file that is encrypted
)
_MAX_KEY = 4096
_MAX_CALLBACKS = 64
_MAX_NUMBER = 64
"""Bytes of a stored number; those of one tensor of a score are four or eight."""
_FORMS = {
    "FloatStorage": "<f",
    "DoubleStorage": "<d",
    "HalfStorage": "<e",
    "LongStorage": "<q",
    "IntStorage": "<i",
}


def read_lightning(path: str, size: int, open_file: Open) -> Lightning | None:
    """What a file says about Lightning; None where it is none of Lightning's, or not readable."""
    try:
        with open_file() as stream, zipfile.ZipFile(Budget(stream, size)) as archive:
            return _read(path, archive)
    except _NOT_READABLE:
        return None


def _read(path: str, archive: zipfile.ZipFile) -> Lightning | None:
    members = {m.filename: m for m in archive.infolist()}
    if len(members) > MAX_MEMBERS:
        return None
    named = [n for n in members if n.count("/") == 1 and n.endswith("/data.pkl")]
    if len(named) != 1:
        return None
    data = _stored(archive, members[named[0]], MAX_PICKLE)
    root = None if data is None else decode(data, _LIMITS).root
    if not isinstance(root, dict) or not isinstance(root.get("callbacks"), dict):
        return None
    version = root.get("pytorch-lightning_version")
    if not isinstance(version, str):
        return None
    numbers = _Numbers(archive, members, named[0].partition("/")[0])
    callbacks = tuple(_callbacks(root["callbacks"]))
    return Lightning(
        file=path,
        version=version,
        epoch=_whole(root.get("epoch")),
        global_step=_whole(root.get("global_step")),
        savers=tuple(_saver(c, path, numbers) for c in callbacks if c.saves),
        stoppers=tuple(_stopper(c, path) for c in callbacks if c.stops),
    )


def _stored(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes | None:
    """The bytes of a member that is kept as it is, which is how torch keeps all of them."""
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > most:
        return None
    with archive.open(member) as stream:
        return stream.read(most)


class _Callback(Struct, frozen=True, kw_only=True):
    """The state of one callback, and what its key says about how it was made."""

    key: str
    name: str
    made: Mapping[str, object]
    state: Mapping[object, object]

    @property
    def saves(self) -> bool:
        return "best_k_models" in self.state or self.name.endswith("ModelCheckpoint")

    @property
    def stops(self) -> bool:
        return self.name.endswith("EarlyStopping")

    def provenance(self, path: str) -> Provenance:
        return Provenance(file=path, pointer=f"callbacks/{self.key}")

    def text(self, name: str) -> str | None:
        value = self.made.get(name, self.state.get(name))
        return value if isinstance(value, str) and value else None

    def whole(self, name: str) -> int | None:
        return _whole(self.made.get(name, self.state.get(name)))


def _callbacks(states: Mapping[object, object]) -> Iterator[_Callback]:
    for key, state in list(states.items())[:_MAX_CALLBACKS]:
        if isinstance(key, str) and isinstance(state, dict):
            name, made = _taken_apart(key)
            yield _Callback(key=key, name=name, made=made, state=state)


def _taken_apart(key: str) -> tuple[str, Mapping[str, object]]:
    """Lightning writes ``ModelCheckpoint{'monitor': 'val_loss', 'mode': 'min', …}``."""
    name, brace, rest = key.partition("{")
    if not brace or len(key) > _MAX_KEY:
        return name, {}
    try:
        made = ast.literal_eval(brace + rest)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return name, {}
    if not isinstance(made, dict):
        return name, {}
    return name, {k: v for k, v in made.items() if isinstance(k, str)}


def _saver(callback: _Callback, path: str, numbers: _Numbers) -> Saver:
    kept = callback.state.get("best_k_models")
    interval = callback.made.get("train_time_interval")
    return Saver(
        name=callback.name,
        provenance=callback.provenance(path),
        monitor=callback.text("monitor"),
        mode=callback.text("mode"),
        keeps=len(kept) if isinstance(kept, dict) and kept else None,
        every_n_epochs=callback.whole("every_n_epochs"),
        every_n_train_steps=callback.whole("every_n_train_steps"),
        interval=None if interval is None else str(interval)[:_MAX_KEY],
        best=numbers.value(callback.state.get("best_model_score")),
    )


def _stopper(callback: _Callback, path: str) -> Stopper:
    return Stopper(
        provenance=callback.provenance(path),
        monitor=callback.text("monitor"),
        mode=callback.text("mode"),
        patience=callback.whole("patience"),
    )


class _Numbers(Struct):
    """Tensors of one number, whose bytes lie beside the pickle."""

    archive: zipfile.ZipFile
    members: Mapping[str, zipfile.ZipInfo]
    prefix: str
    left: int = _MAX_CALLBACKS

    def value(self, node: object) -> float | None:
        """The number that a value is, or that a tensor without dimensions holds."""
        if isinstance(node, int | float) and not isinstance(node, bool):
            return _finite(node)
        match node:
            case Opaque(name="torch._utils:_rebuild_tensor_v2", args=(Opaque() as stored, *_)):
                found = self._stored(stored)
                return None if found is None else _finite(found)
        return None

    def _stored(self, node: Opaque) -> float | None:
        match node.args:
            case (("storage", Opaque() as kind, str(key), str(), int(count)),) if count == 1:
                form = _FORMS.get(kind.last_name)
            case _:
                return None
        member = self.members.get(f"{self.prefix}/data/{key}")
        if form is None or member is None or self.left <= 0 or self._is_big_endian():
            return None
        self.left -= 1
        data = _stored(self.archive, member, _MAX_NUMBER)
        if data is None or len(data) != struct.calcsize(form):
            return None
        return float(struct.unpack(form, data)[0])

    def _is_big_endian(self) -> bool:
        member = self.members.get(f"{self.prefix}/byteorder")
        return member is not None and _stored(self.archive, member, _MAX_NUMBER) == b"big"


def _finite(number: float) -> float | None:
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _whole(value: object) -> int | None:
    found = plain(value)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
