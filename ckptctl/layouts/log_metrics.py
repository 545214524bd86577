"""The metrics of results that are alike, cut out of their text without taking it apart.

The results of an experiment have the same keys in the same places. Once these are known, metrics
are the text between them, which Ray wrote as everybody writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import starmap
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_records import load_json
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.metrics import NOT_METRICS, flatten, pack, packed

_FEW = 64
"""Results that are taken apart before it pays to know what they are like."""
_KINDS = 8
"""How often results may turn out to be of another kind before they count as all different."""
_MOST_KEYS = 200
_DEEPEST = 4
_SCALARS = (int, float, str, bool, type(None))
_encode, _encode_all = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_lines


class NotAlikeError(ValueError):
    """A result whose metrics cannot be cut out."""


class LogMetrics:
    """Reads the metrics out of the results of one experiment."""

    def __init__(self) -> None:
        self._kind: _Kind | None = None
        self._strange = 0
        """Results since the last kind that are not of it."""
        self._kinds = 0

    def of(self, line: bytes) -> Metrics:
        """The metrics of the result on a line; none where it holds no result."""
        if self._kind is not None:
            try:
                return self._kind.read(line)
            except (ValueError, TypeError, AttributeError):
                pass  # it is of another kind
        try:
            result = load_json(line)
        except RecordError:
            return {}
        if not isinstance(result, Mapping):
            return {}
        self._strange += 1
        if self._strange >= _FEW and self._kinds < _KINDS:
            self._strange = 0
            self._kinds += 1
            self._kind = _kind_of(result)
        return pack(flatten(result))

    def texts_of(self, lines: bytes) -> list[bytes]:
        """The metrics of the results on some lines, each as JSON.

        Raises:
            NotAlikeError: they are not of one kind that is known.
        """
        if self._kind is None:
            raise NotAlikeError
        try:
            return self._kind.texts_of(lines)
        except (ValueError, TypeError, AttributeError):
            raise NotAlikeError from None


class _Kind:
    """Reads results of one kind; it raises where one is of another."""

    def __init__(self, shape: type[Struct], places: Mapping[str, str]) -> None:
        decoder = msgspec.json.Decoder(shape)
        self._decode, self._decode_all = decoder.decode, decoder.decode_lines
        self._told = attrgetter(*places.values())
        self._flat = msgspec.defstruct(
            "Flat",
            [(f"f{n}", Any, UNSET) for n in range(len(places))],
            rename={f"f{n}": name for n, name in enumerate(places)},
            gc=False,
        )

    def read(self, line: bytes) -> Metrics:
        """The metrics of the result on a line."""
        text = _encode(self._flat(*self._told(self._decode(line))))
        # A metric may be an object or a list in another result.
        if text.count(b"{") != 1 or b"[" in text:
            raise NotAlikeError
        return packed(text)

    def texts_of(self, lines: bytes) -> list[bytes]:
        """The same as JSON for a result on each line."""
        texts = _encode_all(list(starmap(self._flat, map(self._told, self._decode_all(lines)))))
        found = BytesIO(texts).readlines()
        if texts.count(b"{") != len(found) or b"[" in texts:
            raise NotAlikeError
        return found


def _kind_of(result: Mapping[str, object]) -> _Kind | None:
    """What reads results with the keys of this one."""
    try:
        shape = _shape(result, 0)
    except NotAlikeError:
        return None
    found = list(_places(result, "", "", 0))
    places = dict(found)
    # One name may stand for two: `a/b`, and `b` in `a`.
    if len(places) < len(found) or not 1 < len(places) <= _MOST_KEYS:
        return None
    return _Kind(shape, places)


def _places(
    result: Mapping[str, object], prefix: str, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    """The name of each metric, and which attribute of the decoded result it is."""
    for number, (key, value) in enumerate(result.items()):
        name, attribute = f"{prefix}{key}", f"{path}f{number}"
        if not depth and key in NOT_METRICS:
            continue
        if isinstance(value, Mapping):
            yield from _places(value, f"{name}/", f"{attribute}.", depth + 1)
        elif isinstance(value, _SCALARS):
            yield name, attribute


def _shape(result: Mapping[str, object], depth: int) -> type[Struct]:
    """The structure that results of this kind are decoded into."""
    if depth > _DEEPEST or "" in result or "_type" in result:
        raise NotAlikeError
    fields: list[tuple[str, Any, Any]] = []
    for number, (key, value) in enumerate(result.items()):
        kind: Any = Raw
        if depth or key not in NOT_METRICS:
            if isinstance(value, Mapping):
                kind = _shape(value, depth + 1)
            elif not isinstance(value, _SCALARS):
                kind = list  # which is no metric; whatever else stands there is
        fields.append((f"f{number}", kind, UNSET))
    return msgspec.defstruct(
        "Shape",
        fields,
        rename={f"f{number}": key for number, key in enumerate(result)},
        forbid_unknown_fields=True,
        gc=False,
    )
