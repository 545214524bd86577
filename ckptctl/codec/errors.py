"""What can go wrong while reading or editing a record.

CodecError(ValueError)
├── RecordError            JSON, JSON lines or CSV that cannot be read
├── PointerError           a pointer that does not parse, or leads nowhere
└── PickleError(.offset)   a pickle that cannot be read or edited
    ├── Truncated          the bytes end too early
    ├── Malformed          the bytes are no pickle
    ├── LimitExceeded      longer, deeper or larger than the limits allow
    ├── Unsupported        a protocol or an opcode we do not handle
    └── EditError          an edit that was refused, or failed its proof
"""

from __future__ import annotations


class CodecError(ValueError):
    """A record could not be read or edited."""


class RecordError(CodecError):
    """Text that is no JSON or CSV, or that goes beyond what we read."""


class PointerError(CodecError):
    """A pointer that does not parse, or whose value is not there."""


class PickleError(CodecError):
    """A pickle could not be read or edited; ``offset`` is the byte where."""

    def __init__(self, message: str, offset: int = -1) -> None:
        super().__init__(message if offset < 0 else f"{message} (at byte {offset})")
        self.offset = offset


class Truncated(PickleError):
    """The bytes end before the pickle does."""


class Malformed(PickleError):
    """The bytes are not a pickle that any Python would load."""


class LimitExceeded(PickleError):
    """More bytes, opcodes, digits, nodes or levels than the limits allow."""


class Unsupported(PickleError):
    """A protocol or opcode that cannot be read or edited here."""


class EditError(PickleError):
    """The edit is refused: not possible, ambiguous, or not proven harmless."""
