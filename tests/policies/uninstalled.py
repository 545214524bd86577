"""Whether what the integration leaves in files can be read by Ray alone."""

from __future__ import annotations

from pathlib import Path

_NAMES = (b"ckptctl.integrations", b"ckptctl.integrations".hex().encode(), b"msgspec")


def mentions(experiment: Path) -> list[str]:
    """The files of an experiment, its checkpoints aside, that a reader would need ckptctl for."""
    files = [path for path in experiment.glob("*") if path.is_file()]
    return [path.name for path in files if any(n in path.read_bytes() for n in _NAMES)]
