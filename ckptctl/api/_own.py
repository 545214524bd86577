"""What ckptctl wrote itself, held against what is there: it is no sign of a run that goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ckptctl.errors import LocationError
from ckptctl.model.experiment import Experiment, RecordFile

if TYPE_CHECKING:
    from ckptctl.journal.store import OwnWrites
    from ckptctl.storage.store import Reader


def digested(experiment: Experiment, reader: Reader, own: OwnWrites) -> Experiment:
    """The experiment, with the digests of what the journal names and a scan has no need to read.

    A migration rewrites such files: ``tuner.pkl``, the state of a searcher.
    """

    def records() -> Iterator[RecordFile]:
        for record in experiment.records:
            if record.sha256 or record.path not in own.files:
                yield record
                continue
            try:
                data = reader.read_bytes(record.path)
            except LocationError:  # gone by now
                yield record
            else:
                yield replace(record, sha256=hashlib.sha256(data).hexdigest())

    return replace(experiment, records=tuple(records()))
