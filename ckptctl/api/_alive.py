"""Why trials seem to be running, with what ckptctl itself wrote left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ckptctl.errors import LocationError
from ckptctl.model.experiment import Experiment, RecordFile

if TYPE_CHECKING:
    from ckptctl.journal.store import OwnWrites
    from ckptctl.storage.store import Reader


def why_alive(
    experiment: Experiment, now: float, quiet_period: float, *, unknown: bool = False
) -> Mapping[str, str]:
    """As `liveness.why_alive`; the journal is read only where something has changed lately.

    Raises:
        LocationError: the journal cannot be read.
        JournalError: it is damaged.
    """
    from ckptctl import liveness
    from ckptctl.journal.store import own_writes
    from ckptctl.storage.location import open_reader

    found = liveness.why_alive(experiment, now, quiet_period, unknown=unknown)
    if not found:
        return found
    reader = open_reader(experiment.location)
    own = own_writes(reader)
    known = _digested(experiment, reader, own, now - quiet_period)
    return liveness.why_alive(known, now, quiet_period, own.digests, own.moved, unknown=unknown)


def _digested(experiment: Experiment, reader: Reader, own: OwnWrites, since: float) -> Experiment:
    """The experiment with the digests of new records that a scan has no need to read.

    A migration rewrites such files: ``tuner.pkl``, the state of a searcher.
    """

    def records() -> Iterator[RecordFile]:
        for record in experiment.records:
            is_new = record.modified is not None and record.modified > since
            if record.sha256 or not is_new or record.path not in own.files:
                yield record
                continue
            try:
                data = reader.read_bytes(record.path)
            except LocationError:  # gone by now
                yield record
            else:
                yield replace(record, sha256=hashlib.sha256(data).hexdigest())

    return replace(experiment, records=tuple(records()))
