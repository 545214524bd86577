"""The names of checkpoint folders: what they tell, and which ones are safe."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache

__all__ = [
    "MAX_NAME_BYTES",
    "PREFIX",
    "NameKind",
    "check_name",
    "fold",
    "index_of",
    "kind_of",
    "natural_key",
    "portable",
    "ray_name",
]

PREFIX = "checkpoint_"
"""Without it ``Result.from_path`` does not see a folder (Ray 2.6 to 2.60)."""

MAX_NAME_BYTES = 255
"""What common file systems allow for one name, in bytes of UTF-8."""

_ECRYPTFS_BYTES = 143
_ARTIFACT_CHARACTERS = 128

_DATE = r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(?:\.\d+)?"
_RAY_INDEX = re.compile(r"checkpoint_(\d{6,})", re.ASCII)
_TAGGED = re.compile(r"checkpoint_(\d+)(?:-.*)?", re.ASCII | re.DOTALL)
_DATED = re.compile(rf"checkpoint_{_DATE}(?:-.*)?", re.ASCII | re.DOTALL)
_TEMPORARY = re.compile(r"checkpoint_(?:tmp[0-9a-f]{6}|-\d+|tmp_[0-9a-f-]{32,36})", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_KEPT = 1 << 14
"""Names whose facts are kept: the trials of an experiment repeat them."""
_MAX_DIGITS = 255
"""No folder name is longer; it also keeps ``int`` far from its own limit on digits."""

_WINDOWS_CHARACTERS = frozenset('<>:"|?*')
_WINDOWS_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
)
_STORE_CHARACTERS = frozenset("{}^%`[]~#&$@;, ")
_ARTIFACT_NAME = re.compile(r"[A-Za-z0-9._-]*")


class NameKind(StrEnum):
    """Which convention a folder's name follows."""

    RAY_INDEX = "ray-index"
    """``checkpoint_%06d``, the only form that Ray Tune itself writes."""
    TAGGED = "tagged"
    """``checkpoint_<digits>`` of another width, or with ``-…`` behind the digits."""
    DATE = "date"
    """``checkpoint_2026-11-30_10-37-15.123456``, the default of Ray Train V2."""
    TEMPORARY = "temporary"
    """What an interrupted save of Ray 2.6 and before leaves behind."""
    OTHER = "other"


@lru_cache(_KEPT)
def kind_of(name: str) -> NameKind:
    """The convention that `name` follows."""
    if _TEMPORARY.fullmatch(name):
        return NameKind.TEMPORARY
    if _DATED.fullmatch(name):
        return NameKind.DATE
    if _RAY_INDEX.fullmatch(name):
        return NameKind.RAY_INDEX
    return NameKind.TAGGED if _TAGGED.fullmatch(name) else NameKind.OTHER


@lru_cache(_KEPT)
def index_of(name: str) -> int | None:
    """The leading number of ``checkpoint_<digits>`` or ``checkpoint_<digits>-…``.

    None for every other name, also for date names, whose year is not an index.
    """
    if name[:11] == PREFIX and name.isascii() and name[11:].isdigit() and len(name) < _MAX_DIGITS:
        return int(name[11:])  # as nearly always
    found = _TAGGED.fullmatch(name)
    if found is None or _DATED.fullmatch(name) or len(found[1]) > _MAX_DIGITS:
        return None
    return int(found[1])


def ray_name(index: int) -> str:
    """The name that Ray Tune gives to the checkpoint of this index (Ray 2.6 to 2.60)."""
    if index < 0:
        raise ValueError(f"an index is not negative: {index}")
    return f"{PREFIX}{index:06d}"


@lru_cache(_KEPT)
def natural_key(name: str) -> tuple[tuple[tuple[str, int], ...], str]:
    """A sort key by which 9 comes before 10; names that differ never have the same key."""
    parts = _DIGITS.split(name)
    numbers = (int(d) if len(d) <= _MAX_DIGITS else 10**_MAX_DIGITS for d in parts[1::2])
    return (*zip(parts[0::2], numbers, strict=False), (parts[-1], -1)), name


def fold(name: str) -> str:
    """Equal for names that a disk ignoring case and Unicode form takes for the same."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def check_name(name: str) -> tuple[str, ...]:
    """Why no checkpoint folder may get this name; empty where it may.

    Each reason fits behind "the name": ``holds a path separator``.
    """
    if not name:
        return ("is empty",)
    reasons: list[str] = []
    if "/" in name or "\\" in name:
        reasons.append("holds a path separator")
    kinds = set() if name.isprintable() else {unicodedata.category(c) for c in name}
    if kinds & {"Cc", "Zl", "Zp"}:
        reasons.append("holds a control character")
    if "Cs" in kinds:
        reasons.append("holds a character that UTF-8 cannot write")
    if name.startswith("."):
        reasons.append("begins with a dot")
    if (size := len(name.encode("utf-8", "surrogatepass"))) > MAX_NAME_BYTES:
        reasons.append(f"is {size} bytes long, more than the {MAX_NAME_BYTES} a disk allows")
    # Ray 2.6 passes over everything that begins so, whatever follows.
    if kind_of(name) is NameKind.TEMPORARY or name.startswith("checkpoint_tmp"):
        reasons.append("is one that Ray gives to temporary folders")
    return tuple(reasons)


@lru_cache(_KEPT)
def portable(name: str) -> tuple[str, ...]:
    """Where this name makes trouble, one phrase each; empty for a name that works everywhere.

    Each phrase fits behind "the name". Windows: Microsoft's rules on naming files. Object stores:
    the characters that Amazon S3's guide on object keys asks to avoid or to handle, but for ``=``
    and ``+``, which work there. Registries: Weights & Biases and MLflow.
    """
    return (*check_name(name), *_windows(name), *_stores(name), *_registries(name))


def _windows(name: str) -> list[str]:
    problems = [
        f"holds {_shown(c)}, which Windows refuses" for c in sorted(_WINDOWS_CHARACTERS & set(name))
    ]
    if name.endswith((" ", ".")):
        problems.append("ends in a space or a dot, which Windows drops")
    if name.partition(".")[0].rstrip().casefold() in _WINDOWS_DEVICES:
        problems.append("is a device on Windows")
    return problems


def _stores(name: str) -> list[str]:
    problems: list[str] = []
    if strange := sorted(_STORE_CHARACTERS & set(name)):
        shown = " ".join(_shown(c) for c in strange)
        problems.append(f"holds {shown}, which object stores and URLs treat specially")
    if not name.isascii():
        problems.append("holds characters outside ASCII, which some object stores refuse")
    return problems


def _registries(name: str) -> list[str]:
    problems: list[str] = []
    if not _ARTIFACT_NAME.fullmatch(name):
        problems.append("holds characters that artifact registries refuse")
    size = len(name.encode("utf-8", "surrogatepass"))
    if _ECRYPTFS_BYTES < size <= MAX_NAME_BYTES:
        problems.append(f"is {size} bytes long, more than the 143 of an encrypted home folder")
    elif len(name) > _ARTIFACT_CHARACTERS:
        problems.append(f"is {len(name)} characters long, more than the 128 of artifact registries")
    return problems


def _shown(character: str) -> str:
    return "a space" if character == " " else f"'{character}'"
