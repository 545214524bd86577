"""What the versions of Ray and pyarrow can load: the classes, functions and fields that moved.

Read in Ray 2.6.3 to 2.60.0 (among them 2.9.3 and 2.10.0, 2.40.0 and 2.41.0, and each of 2.51 to
2.57) and in pyarrow 14, 16.1, 17, 18.1 and 26.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ckptctl.errors import UsageError

Version = tuple[int, ...]

_VERSION = re.compile(r"(\d{1,6}(?:\.\d{1,6})*)(?:\.?(?:a|b|rc|dev|post)\d*)?", re.ASCII)

RAY_WITH_TRIAL_DATA: Version = (2, 7)
"""Tune's state keeps trials under `trial_data` since, and under `checkpoints` before."""
RAY_COUNTS_THE_LAST: Version = (2, 8)
"""The recorded counter is the last index used since; in 2.7 it is the next one."""
RAY_WITH_TRAIN_V2: Version = (2, 41)


class Home(Struct, frozen=True, kw_only=True):
    """Names that a module has in some versions only."""

    module: str
    names: frozenset[str]
    since: Version = ()
    until: Version | None = None
    """The first version without them."""

    def lacks(self, version: Version) -> bool:
        """Whether `version` has not got them."""
        return version < self.since or (self.until is not None and version >= self.until)


_CONFIGS = frozenset({"Checkpoint", "CheckpointConfig", "FailureConfig", "RunConfig"})
_SETTERS = frozenset({"_class_setstate", "_function_setstate"})

RAY_HOMES = (
    Home(module="ray.train", names=_CONFIGS | {"SyncConfig"}, since=(2, 7)),
    Home(module="ray.tune", names=_CONFIGS, since=(2, 41)),
    # `cloudpickle_fast` is still there since, and hands over to `cloudpickle`.
    Home(module="ray.cloudpickle.cloudpickle", names=_SETTERS, since=(2, 10)),
)
PYARROW_HOMES = (
    Home(module="pyarrow._fs", names=frozenset({"FileSystem._from_uri"}), since=(17,)),
    Home(module="pyarrow._fs", names=frozenset({"LocalFileSystem._reconstruct"}), until=(17,)),
)

_STORAGE_FIELDS = (
    Home(module="", names=frozenset({"storage_local_path"}), since=(2, 7), until=(2, 10)),
    Home(module="", names=frozenset({"_timestamp"}), since=(2, 10)),
)
"""What ``StorageContext`` asks of itself when a run goes on."""

_SNAPSHOT_FIELDS = (
    Home(module="", names=frozenset({"checkpoint_results"}), since=RAY_WITH_TRAIN_V2),
    Home(
        module="",
        names=frozenset(
            {
                "checkpoint_report_indices",
                "current_report_index",
                "pending_training_results",
                "pending_validation_specs",
            }
        ),
        since=(2, 54),
    ),
    Home(module="", names=frozenset({"validated_checkpoint_dir_names"}), since=(2, 55)),
    Home(
        module="",
        names=frozenset(
            {
                "failed_validation_checkpoint_dir_names",
                "timed_out_validation_checkpoint_dir_names",
            }
        ),
        since=(2, 56),
    ),
)
"""What a snapshot of Train V2 cannot be loaded without; fields that are too many do no harm."""


def parse_version(text: str) -> Version:
    """The numbers of a version, ``2.54.1`` or ``2.54``.

    Raises:
        UsageError: it is no version.
    """
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"not a version: {text}", hint="give numbers, such as 2.54 or 2.54.1")
    return tuple(map(int, found[1].split(".")))


def missing(names: Iterable[str], homes: tuple[Home, ...], version: Version) -> tuple[str, ...]:
    """Those of `names` (``module:name``) that are known to be missing in `version`."""
    lost = {f"{h.module}:{n}" for h in homes if h.lacks(version) for n in h.names}
    return tuple(sorted(lost.intersection(names)))


def storage_fields(version: Version) -> frozenset[str]:
    """What every trial's ``StorageContext`` must have for this Ray."""
    return frozenset(_wanted(_STORAGE_FIELDS, version))


def snapshot_fields(version: Version) -> frozenset[str]:
    """What a snapshot of Train V2 must have for this Ray."""
    return frozenset(_wanted(_SNAPSHOT_FIELDS, version))


def _wanted(fields: tuple[Home, ...], version: Version) -> Iterator[str]:
    for field in fields:
        if not field.lacks(version):
            yield from field.names
