"""`ckptctl --version -v`: what a report of a fault should hold."""

from __future__ import annotations

from collections.abc import Iterator

DRIVERS = ("fsspec", "s3fs", "gcsfs", "obstore", "adlfs", "sshfs")
"""What reaches storage, by the name of its distribution."""


def versions() -> Iterator[str]:
    """One line each for ckptctl, Python, and the drivers that are installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from ckptctl._version import __version__

    yield f"ckptctl {__version__}"
    yield f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in DRIVERS:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
