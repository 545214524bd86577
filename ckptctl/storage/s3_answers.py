"""What the client of S3 raises, as answers."""

from __future__ import annotations

from ckptctl.storage.service import Answer

_NO_CREDENTIALS = frozenset(
    {
        "CredentialRetrievalError",
        "InvalidConfigError",
        "NoAuthTokenError",
        "NoCredentialsError",
        "PartialCredentialsError",
        "ProfileNotFound",
        "SSOTokenLoadError",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
    }
)
_UNREACHABLE = frozenset(
    {
        "ConnectTimeoutError",
        "ConnectionError",
        "EndpointConnectionError",
        "ProxyConnectionError",
        "ReadTimeoutError",
        "SSLError",
    }
)


def answer_of(error: Exception) -> Answer:
    """The answer behind what was raised; bugs of our own stay what they are."""
    import botocore.exceptions as known

    if isinstance(error, Answer):
        return error
    if isinstance(error, known.ClientError):
        told = error.response.get("Error", {})
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return Answer(int(status), str(told.get("Code", "")), str(told.get("Message", "")))
    name, text = type(error).__name__, str(error)
    if name in _NO_CREDENTIALS:
        return Answer(0, "NoCredentials", text)
    if name in _UNREACHABLE:
        return Answer(0, "Unreachable", text)
    if isinstance(error, known.ParamValidationError | known.InvalidEndpointConfigurationError):
        return Answer(0, "BadRequest", text)
    if isinstance(error, known.BotoCoreError | OSError | EOFError) or _is_of_aiohttp(error):
        return Answer(0, "Cut", text or name)
    raise error


def _is_of_aiohttp(error: Exception) -> bool:
    import aiohttp

    return isinstance(error, aiohttp.ClientError)
