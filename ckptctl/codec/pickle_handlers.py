"""The handlers of all opcodes, by opcode."""

from __future__ import annotations

from ckptctl.codec import pickle_object_ops, pickle_text_ops, pickle_value_ops
from ckptctl.codec.pickle_machine import HANDLERS

__all__ = ["HANDLERS"]

# Importing them is what registers their handlers.
_REGISTERED = (pickle_object_ops, pickle_text_ops, pickle_value_ops)
