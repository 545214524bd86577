"""What the trainable of Ray 2.6 and before left inside each checkpoint: ``.tune_metadata``.

It is written after the user's files, so its absence tells of an interrupted save (Ray 2.6
``tune/trainable/util.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ckptctl.codec.errors import CodecError
from ckptctl.codec.pickle_reader import decode
from ckptctl.codec.values import New, Sealed, Value
from ckptctl.layouts.base import Source
from ckptctl.layouts.pickled import Pickled
from ckptctl.model.bookkeeping import Claim, Provenance, Witness
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import RecordKind, RecordRole, Unreadable
from ckptctl.model.metrics import flatten

METADATA_NAME = ".tune_metadata"


class TrainableNote(Struct, frozen=True, kw_only=True):
    """The trainable's own word on one checkpoint."""

    iteration: Claim[int] | None
    metrics: Metrics
    ray_version: str | None
    last_result: Pickled

    def result(self) -> Mapping[str, object] | None:
        """The result as it was saved, but for objects that are not plain values."""
        value = self.last_result.value()
        plain = _plain_only(value)
        return plain if isinstance(plain, dict) else None


def _plain_only(value: Value) -> Value:
    match value:
        case dict():
            return {k: _plain_only(v) for k, v in value.items() if not isinstance(v, New | Sealed)}
        case list():
            return [_plain_only(item) for item in value if not isinstance(item, New | Sealed)]
    return value


def read_note(source: Source, folder: str) -> TrainableNote | None:
    """The note inside `folder`; None where it cannot be read, which is then a problem."""
    path = f"{folder}/{METADATA_NAME}"
    data = source.read(path, RecordKind.PICKLE, RecordRole.CHECKPOINT_METADATA)
    if data is None:
        return None
    try:
        root = Pickled(decode(data).root)
    except CodecError as error:
        source.problems.append(
            Unreadable(
                file=path,
                reason=str(error),
                empty=not data,
                role=RecordRole.CHECKPOINT_METADATA,
            )
        )
        return None
    iteration, result = root.whole("iteration"), root.at("last_result").plain()
    return TrainableNote(
        iteration=None
        if iteration is None
        else Claim(
            value=iteration,
            witness=Witness.TRAINABLE,
            provenance=Provenance(file=path, pointer="#iteration"),
        ),
        metrics=flatten(result) if isinstance(result, Mapping) else {},
        ray_version=root.text("ray_version"),
        last_result=root.at("last_result"),
    )
