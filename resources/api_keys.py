"""API keys: read from the environment and from nowhere else."""

import os

from resources.errors import BadInput


def api_key(where: str, variable: str) -> str:
    """The key in an environment variable; a placeholder where `variable` is '', for servers that need no key.

    Raises
    ------
    BadInput
        If the variable is not set, or its value cannot be sent in an HTTP header.
    """
    key = os.environ.get(variable) if variable else "none"
    if not key:
        raise BadInput(where, variable, "is not set", "export the key of the endpoint")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise BadInput(where, variable, "contains whitespace or another illegal character", "export the key alone")
    return key
