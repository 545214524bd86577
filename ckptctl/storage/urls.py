"""URLs and the stores that they open; the driver of a scheme is imported on first use."""

from __future__ import annotations

import os
from typing import Any

from ckptctl.errors import LocationError
from ckptctl.storage.fsspec_store import FsspecStore
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.service import Service
from ckptctl.storage.store import Store
from ckptctl.storage.trouble import trouble

_S3 = frozenset({"s3", "s3a"})
_GCS = frozenset({"gs", "gcs"})
_DRIVERS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs"}


def open_url(url: str, *, scheme: str, location: str) -> Store:
    """The store of a URL.

    Raises:
        LocationError: there is no driver, nothing is there, or it may not be read.
    """
    fs, path = _connect(url, scheme, location)
    store: FsspecStore | ObjectStore
    if scheme in _S3 | _GCS:
        bucket, _, base = path.strip("/").partition("/")
        root = f"{scheme}://{bucket}/{base}".rstrip("/")
        store = ObjectStore(_service(fs, scheme, bucket), base, root=root, location=location)
    else:
        store = FsspecStore(fs, path, scheme=scheme, location=location)
    store.require_folder()
    return store


def _service(fs: Any, scheme: str, bucket: str) -> Service:  # noqa: ANN401
    if scheme in _S3:
        from ckptctl.storage.s3 import S3

        return S3(fs, bucket)
    from ckptctl.storage.gcs import Gcs

    return Gcs(fs, bucket)


def _connect(url: str, scheme: str, location: str) -> tuple[Any, str]:
    if scheme in _GCS and os.environ.get("STORAGE_EMULATOR_HOST"):
        # gcsfs asks an emulator over gRPC for a bucket's kind, and waits a minute for it.
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    import fsspec

    try:
        fs, path = fsspec.core.url_to_fs(url, use_listings_cache=False, **_options(scheme))
    except ImportError as error:
        raise LocationError(
            f"cannot open {location}: the driver for {scheme}:// is not installed",
            hint=f"install {_DRIVERS.get(scheme, f'the fsspec driver for {scheme}')}",
            location=location,
        ) from error
    except ValueError as error:
        known = scheme in fsspec.available_protocols()
        cause = "not a URL of its kind" if known else f"no driver knows {scheme}://"
        raise LocationError(
            f"cannot open {location}: {cause}",
            hint="check the spelling; `file`, `s3` and `gs` always work",
            location=location,
        ) from error
    except Exception as error:  # drivers raise what they like
        raise trouble(error, "cannot open", location) from error
    return fs, str(path)


def _options(scheme: str) -> dict[str, Any]:
    if scheme not in _S3:
        return {}
    import fsspec.config

    from ckptctl.storage.s3 import options

    return options(fsspec.config.conf.get("s3", {}))
