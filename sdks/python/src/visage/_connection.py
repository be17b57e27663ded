"""How the clients connect to the service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Union
from urllib.parse import urlsplit

import grpc

Pem = Union[bytes, "os.PathLike[str]"]
"""PEM text, or the path of a PEM file."""

CHANNEL_OPTIONS = (
    # The clients retry by themselves; a retry policy from DNS would multiply the attempts. gRPC still repeats calls
    # that the service has not seen.
    ("grpc.service_config_disable_resolution", 1),
    # By default gRPC waits up to two minutes before it connects to a restarted service, and calls fail meanwhile.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)

_PORTS = {"http": 80, "https": 443}


def target_from_address(address: str) -> str:
    """Returns `host:port` of an `http://` or `https://` URL. Raises ValueError for anything else."""
    url = urlsplit(address)
    if url.scheme not in _PORTS or not url.hostname:
        raise ValueError("The address must be a URL such as http://localhost:8080 or https://faces.example.org.")
    if url.path.strip("/") or url.query or url.fragment or url.username or url.password:
        raise ValueError("The address must have no path, query or user name.")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{host}:{url.port or _PORTS[url.scheme]}"


def credentials_from_options(
    address: str, ca: Optional[Pem], client_certificate: Optional[Pem], client_key: Optional[Pem]
) -> Optional[grpc.ChannelCredentials]:
    """Returns the TLS credentials of an `https://` address, None for `http://`. Raises ValueError if the options
    contradict each other, and OSError if a file cannot be read."""
    if (client_certificate is None) != (client_key is None):
        raise ValueError("client_certificate and client_key must be given together.")
    if urlsplit(address).scheme == "https":
        return grpc.ssl_channel_credentials(_read(ca), _read(client_key), _read(client_certificate))
    if ca is not None or client_certificate is not None:
        raise ValueError("Certificates need an address that starts with https://.")
    return None


def metadata_from_key(api_key: Optional[str]) -> tuple[tuple[str, str], ...]:
    """Returns the metadata that authenticates a call. Raises ValueError if the key cannot be a header."""
    if api_key is None:
        return ()
    if not api_key or not all("!" <= character <= "~" for character in api_key):
        # Most often it was read from a file and ends with a line break. The message must not contain the key.
        raise ValueError("The API key must be ASCII text without spaces and line breaks.")
    return (("authorization", f"Bearer {api_key}"),)


def _read(pem: Optional[Pem]) -> Optional[bytes]:
    return pem if pem is None or isinstance(pem, bytes) else Path(pem).read_bytes()
