"""What a new record of the driver holds, in the value language of `codec.values`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import cast

from ckptctl.codec.values import CopyFrom, New, Value, to_json
from ckptctl.model.experiment import RecordShape


def record_value(shape: RecordShape, path: str, metrics: Mapping[str, object]) -> object:
    """The JSON form of a record of the checkpoint at `path` with these metrics.

    The identity of the checkpoint is made from its path, so that the same plan is the same
    bytes; Ray uses it for names of temporary folders only (Ray 2.54 ``train/_checkpoint.py``).
    """
    identity = int.from_bytes(hashlib.sha256(path.encode(errors="surrogatepass")).digest()[:16])
    checkpoint = New(
        global_=shape.checkpoint_class,
        state={
            "path": path,
            "filesystem": CopyFrom(shape.filesystem_pointer),
            "_uuid": New(global_="uuid:UUID", state={"int": identity}),
        },
    )
    return to_json(
        New(
            global_=shape.result_class,
            state={"checkpoint": checkpoint, "metrics": result_values(metrics)},
        )
    )


def result_values(result: Mapping[str, object]) -> dict[str, Value]:
    """A result of the log as values; what JSON holds is a value already."""
    return {key: _value(value) for key, value in result.items()}


def _value(value: object) -> Value:
    if isinstance(value, Mapping):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    return cast("Value", value)
