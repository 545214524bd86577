"""Where the tests' real experiments are, and how to get a copy that may be changed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
HEALTHY = sorted(p.name for p in (CORPUS / "healthy").iterdir())
DAMAGED = sorted(p.name for p in (CORPUS / "damaged").iterdir())


def corpus(name: str) -> Path:
    """The corpus experiment of this name, healthy or damaged; not to be changed."""
    for kind in ("healthy", "damaged"):
        path = CORPUS / kind / name
        if path.is_dir():
            return path
    raise FileNotFoundError(name)


def copy_of(name: str, target: Path) -> Path:
    """A copy of a corpus experiment under `target`, with its own name."""
    path = target / name
    shutil.copytree(corpus(name), path)
    return path


def truth(name: str) -> dict[str, Any]:
    """What an independent reader found in a corpus experiment."""
    document: dict[str, Any] = json.loads((CORPUS / "truth" / f"{name}.json").read_text())
    return document


def is_tune(name: str) -> bool:
    """Whether a corpus experiment is of Ray Tune 2.7 or newer."""
    return "ray-2.6.3" not in name and "train_v2" not in name and "lightning_v2" not in name


def listed_folder(place: int | str) -> str:
    """The path of a folder that is listed, which may be given by its descriptor."""
    return place if isinstance(place, str) else os.path.realpath(f"/dev/fd/{place}")
