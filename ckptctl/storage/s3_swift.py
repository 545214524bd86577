"""Copies through obstore, where it is installed: a fifth of the client's work for each.

botocore spends most of a millisecond on a request, which for small objects is most of a move.
obstore has no condition on what is copied, and does not tell what it copied: what was made so
is compared in a listing afterwards. Whatever is unusual, or fails, goes the client's way.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from typing import Any

from ckptctl.storage.service import Answer, Blob, Conflict

LARGEST = 256 << 20
"""Bytes; a larger object takes the service longer than the client."""
_ABSENT = 404
_ORDINARY = frozenset({"addressing_style", "signature_version", "payload_signing_enabled"})
"""Settings of the client that make no difference here, or are carried over."""
_SYSTEM = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_FAILURES = 8
"""In a row, after which the client does everything."""
_FRESH = timedelta(minutes=5)
"""How long credentials are used before the client is asked again, which renews them."""


class Swift:
    """Copies within one bucket."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._store: Any = None
        self._is_open = False
        self._failures = 0

    async def copy(self, client: Any, source: Blob, key: str) -> bool:  # noqa: ANN401
        """Copy to where nothing is; False where the client has to do it.

        Args:
            client: of aiobotocore, whose settings and credentials are used.
            source: what to copy; any content that is there now is.
            key: where to.

        Raises:
            Answer: nothing is at `source`.
            Conflict: something is at `key`.
        """
        if not (_is_plain(source) and _is_simple(source.key) and _is_simple(key)):
            return False
        if not self._is_open:
            self._store, self._is_open = _opened(client, self._bucket), True
        if self._store is None or self._failures == _FAILURES:
            return False
        from obstore import copy_async
        from obstore.exceptions import AlreadyExistsError

        try:
            await copy_async(self._store, source.key, key, overwrite=False)
        except AlreadyExistsError as error:
            raise Conflict from error
        except FileNotFoundError as error:
            raise Answer(_ABSENT, "NoSuchKey") from error
        except Exception:  # noqa: BLE001 - the client knows better what it is
            self._failures += 1
            return False
        self._failures = 0
        return True


def _is_plain(source: Blob) -> bool:
    """Whether a copy by name alone is the same in everything, and can be told to be."""
    return source.size <= LARGEST and source.digest is not None and not source.kept


def _is_simple(key: str) -> bool:
    """Whether obstore takes a key as it is."""
    parts = key.split("/")
    return key.isprintable() and "\\" not in key and not {"", ".", ".."} & set(parts)


def _trusts_the_usual(endpoint: str, verify: object) -> bool:
    """Whether obstore, which asks the system whom to trust, trusts no one else."""
    if endpoint.startswith("http://") or verify is True:
        return True
    usual = ssl.get_default_verify_paths()
    known = (usual.cafile, usual.openssl_cafile, *_SYSTEM)
    return isinstance(verify, str) and os.path.realpath(verify) in {
        os.path.realpath(path) for path in known if path
    }


def _opened(client: Any, bucket: str) -> Any:  # noqa: ANN401
    try:
        from obstore.store import S3Store
    except ImportError:
        return None
    try:
        config, endpoint = client.meta.config, client.meta.endpoint_url
        usual = not set(config.s3 or {}) - _ORDINARY
        signed = client._request_signer._credentials is not None  # noqa: SLF001
        session = client._endpoint.http_session  # noqa: SLF001
        plain = session._cert_file is None and _trusts_the_usual(endpoint, session._verify)  # noqa: SLF001
        region = client.meta.region_name or "us-east-1"
    except AttributeError:
        return None
    if not (usual and signed and plain) or config.proxies or ":" in bucket:
        return None

    async def credentials() -> Any:  # noqa: ANN401
        now = await client._request_signer._credentials.get_frozen_credentials()  # noqa: SLF001
        return {
            "access_key_id": now.access_key,
            "secret_access_key": now.secret_key,
            "token": now.token,
            "expires_at": datetime.now(UTC) + _FRESH,
        }

    return S3Store(
        bucket,
        endpoint=endpoint,
        region=region,
        client_options={
            "connect_timeout": "5s",
            "timeout": "60s",
            "allow_http": endpoint.startswith("http://"),
        },
        copy_if_not_exists="header: if-none-match: *",
        # Who called us tries again, and knows how fast.
        retry_config={"max_retries": 0},
        credential_provider=credentials,
    )
