"""Index policies that the caller wrote: imported on their word only."""

from __future__ import annotations

import importlib
import os
import sys

from ckptctl.cli._settings import Settings
from ckptctl.errors import UsageError
from ckptctl.model.policies import ByFunction, Policy


def policy(by: str | None, settings: Settings) -> str | Policy | None:
    """Take a policy's name as it is, and look a function up from the working folder."""
    if by is None:
        return None
    if ":" not in by:
        return settings.policy(by)
    module, _, name = by.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"--by {by}: {error}", hint="module:function is looked up from the working folder"
        ) from error
    if not callable(function):
        raise UsageError(f"--by {by}: {name} is not a function")
    return ByFunction(name=by, function=function)
