"""Applies plans, finishes and takes back applies: the only code that changes an experiment."""

from ckptctl.executor.apply import apply, resume, undo
from ckptctl.executor.inverse import entry_to_undo, inverse_plan
from ckptctl.executor.prune import prunable, prune
from ckptctl.executor.work import Clock, Progress

__all__ = [
    "Clock",
    "Progress",
    "apply",
    "entry_to_undo",
    "inverse_plan",
    "prunable",
    "prune",
    "resume",
    "undo",
]
