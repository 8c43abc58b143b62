"""API keys, which are read from environment variables only."""

import os

from resources.errors import BadInput

USUAL = 8
"""Number of characters that every usual key exceeds."""


def api_key(where: str, variable: str) -> str:
    """Return the API key from an environment variable, or a placeholder if `variable` is '' (a server without keys).

    Parameters
    ----------
    where
        The endpoint, for error messages.

    Raises
    ------
    BadInput
        If the variable is not set, or its value cannot be sent in an HTTP header.
    """
    key = os.environ.get(variable) if variable else "none"
    if not key:
        raise BadInput(where, variable, "is not set", "set it to the API key of the endpoint")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise BadInput(where, variable, "contains whitespace or another illegal character", "set it to the bare key")
    return key


def without_key(text: str, key: str) -> str:
    """A text of an endpoint, with any echo of its key replaced by '...'. Shorter keys than usual might be words."""
    return text.replace(key, "...") if len(key) > USUAL else text
