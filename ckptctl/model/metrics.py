"""Reported metrics, flat, without the bookkeeping that Ray adds to each result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from ckptctl.model.checkpoint import Metrics, MetricValue

NOT_METRICS = frozenset(
    {
        "config",
        "checkpoint_dir_name",
        "checkpoint_path",
        "date",
        "done",
        "experiment_id",
        "experiment_tag",
        "hostname",
        "node_ip",
        "pid",
        "should_checkpoint",
        "trial_id",
    }
)
"""Top-level keys of a result that say where and how it ran, not how well (Ray 2.54
``tune/trainable/trainable.py`` ``get_auto_filled_metrics``, and the checkpoint's own name)."""

_MAX_LEAVES = 10_000
SCALARS = frozenset({int, float, str, bool, type(None)})
_MAX_DEPTH = 50


def flatten(result: Mapping[Any, Any]) -> dict[str, MetricValue]:
    """The scalars of a result, nested keys joined by ``/``; containers of other kinds are left out.

    A result holds at most 10,000 of them here, and none deeper than 50 levels.
    """
    flat: dict[str, MetricValue] = {}
    _fill(flat, result, "", 0)
    return flat if len(flat) <= _MAX_LEAVES else dict(islice(flat.items(), _MAX_LEAVES))


@lru_cache(64)
def one_of(key: str) -> Callable[[bytes], Any]:
    """What reads the value of one key out of the text of an object: UNSET where it has none.

    All else is passed over. It raises ValueError where the text is no such object.
    """
    decode = _decoder_of(key).decode
    return lambda text: decode(text).value


@lru_cache(64)
def all_of(key: str) -> Callable[[bytes], list[Any]]:
    """The same for a text with an object on each line."""
    decode = _decoder_of(key).decode_lines
    return lambda text: [found.value for found in decode(text)]


def _decoder_of(key: str) -> msgspec.json.Decoder[Any]:
    one = msgspec.defstruct("One", [("value", Any, UNSET)], rename={"value": key}, gc=False)
    return msgspec.json.Decoder(one)


@lru_cache(4)
def _unpack(text: bytes) -> dict[str, MetricValue]:
    """For readers only. A copy asks for one key after the other."""
    found: dict[str, MetricValue] = _decode(text)
    return found


class Packed(Mapping[str, MetricValue]):
    """Metrics as the text of a JSON object, a third of what they take as values.

    They are taken apart when somebody looks. What writes JSON may take the text as it is.
    """

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text

    def values_by_name(self) -> dict[str, MetricValue]:
        """All of them, taken apart."""
        return dict(_unpack(self.text))

    def __getitem__(self, key: str) -> MetricValue:
        return _unpack(self.text)[key]

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as Mapping has it
        """A metric, or another value."""
        value = one_of(key)(self.text)
        return default if value is UNSET else value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and one_of(key)(self.text) is not UNSET

    def __iter__(self) -> Iterator[str]:
        return iter(_unpack(self.text))

    def items(self) -> Any:  # noqa: ANN401 - as Mapping has it
        """Names and values."""
        return _unpack(self.text).items()

    def __len__(self) -> int:
        return len(_unpack(self.text))

    def __bool__(self) -> bool:
        return self.text != b"{}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed) and self.text == other.text:
            return True
        return isinstance(other, Mapping) and dict(_unpack(self.text)) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]


def packed(text: bytes) -> Packed:
    """The metrics that a text tells.

    Raises:
        ValueError: they cannot be taken apart: a number in it is larger than any float.
    """
    _decode(text)
    return Packed(text)


class ResultTexts(Protocol):
    """Results by the number of their line, of which most are never looked into."""

    def metrics(self, number: int) -> Metrics:
        """The metrics of one of them."""

    def texts_of(self, numbers: Sequence[int]) -> Sequence[bytes | Metrics]:
        """The metrics of some of them, as lines of JSON where they can be cut out as such."""

    def values_of(self, metric: str, numbers: Sequence[int]) -> Sequence[Any]:
        """One metric of some of them: UNSET where a result has not got it."""


class Logged(Mapping[str, MetricValue]):
    """Metrics that are still in the result log, and are read when somebody looks."""

    __slots__ = ("line", "texts")

    def __init__(self, texts: ResultTexts, line: int) -> None:
        self.texts, self.line = texts, line

    def read(self) -> Metrics:
        """The metrics themselves."""
        return self.texts.metrics(self.line)

    def __getitem__(self, key: str) -> MetricValue:
        return self.read()[key]

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as Mapping has it
        """A metric, or another value."""
        return self.read().get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self.read()

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def items(self) -> Any:  # noqa: ANN401 - as Mapping has it
        """Names and values."""
        return self.read().items()

    def __len__(self) -> int:
        return len(self.read())

    def __bool__(self) -> bool:
        return bool(self.read())

    def __eq__(self, other: object) -> bool:
        return self.read() == (other.read() if isinstance(other, Logged) else other)

    __hash__ = None  # type: ignore[assignment]


def read_all(metrics: Sequence[Metrics]) -> list[Metrics]:
    """The same with what is still in a log read from there, all of one log at once."""
    return list(map(_read, metrics, texts_of(metrics)))


def _read(metrics: Metrics, told: bytes | Metrics) -> Metrics:
    if not isinstance(metrics, Logged):
        return metrics
    try:
        return packed(told.rstrip()) if isinstance(told, bytes) else told
    except ValueError:
        return metrics.read()


def texts_of(metrics: Sequence[Metrics]) -> list[bytes | Metrics]:
    """The same as JSON where they are text already, or can be cut out of a log."""
    found: list[bytes | Metrics] = []
    for texts, own, lines in _by_log(metrics):
        if texts is None:
            found += [m.text if isinstance(m, Packed) else m for m in own]
        else:
            found += texts.texts_of(lines)
    return found


def values_of(metric: str, metrics: Sequence[Metrics]) -> list[Any]:
    """One metric of each: UNSET where it has not got it."""
    found: list[Any] = []
    for texts, own, lines in _by_log(metrics):
        if texts is None:
            found += [m.get(metric, UNSET) for m in own]
        else:
            found += texts.values_of(metric, lines)
    return found


def _by_log(
    metrics: Sequence[Metrics],
) -> Iterator[tuple[ResultTexts | None, Sequence[Metrics], list[int]]]:
    """Runs of metrics that are in one log, with their lines, or in none."""
    first = _texts(metrics[0]) if metrics else None
    if first is not None:
        lines = [m.line for m in metrics if type(m) is Logged and m.texts is first]
        if len(lines) == len(metrics):  # as in nearly all trials
            yield first, metrics, lines
            return
    for texts, alike in groupby(metrics, _texts):
        own = list(alike)
        yield texts, own, [m.line for m in own if isinstance(m, Logged)]


def _texts(metrics: Metrics) -> ResultTexts | None:
    return metrics.texts if isinstance(metrics, Logged) else None


_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def pack(flat: Mapping[str, MetricValue]) -> Metrics:
    """The same packed, where their text says the same as the values, as nearly always."""
    if isinstance(flat, (Packed, Logged)):
        return flat
    for value in flat.values():
        # Those with an exponent are written in several ways, and some in none.
        if isinstance(value, float) and not (
            0.0001 <= value < 1e16 or value == 0 or 0.0001 <= -value < 1e16
        ):
            return flat
    try:
        return Packed(_encode(flat))
    except (ValueError, TypeError, OverflowError):
        return flat  # it has half a character, or a number of more than 64 bits


def _fill(flat: dict[str, MetricValue], values: Mapping[Any, Any], prefix: str, depth: int) -> None:
    """Add the scalars of `values`. It runs once for every save: the usual types come first."""
    for key, value in values.items():
        if not depth and key in NOT_METRICS:
            continue
        name = prefix + key if type(key) is str else _name(prefix, key)
        if not name:
            continue
        kind = type(value)
        if kind in SCALARS:
            flat[name] = value
        elif kind is dict or isinstance(value, Mapping):
            if depth < _MAX_DEPTH and value.get("_type") != "CLOUDPICKLE_FALLBACK":
                _fill(flat, value, f"{name}/", depth + 1)
        elif isinstance(value, (int, float, str)):
            flat[name] = value


def _name(prefix: str, key: object) -> str:
    return f"{prefix}{key}" if isinstance(key, (str, int, float)) else ""


def whole_number(value: object) -> int | None:
    """`value` as an int where it is a whole number, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def real_number(value: object) -> float | int | None:
    """`value` where it is a number, and no whole one that is too large for a float, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        float(value)
    except OverflowError:
        return None
    return value


def finite_number(value: object) -> float | int | None:
    """The same without infinity and what is not a number."""
    number = real_number(value)
    return number if number is not None and math.isfinite(number) else None
