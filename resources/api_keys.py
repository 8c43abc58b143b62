"""API keys: they come out of the environment, and nowhere else."""

import os

from resources.errors import BadInput


def api_key(where: str, variable: str) -> str:
    """The key that an environment variable holds; a word that no server minds where `variable` is ''.

    Raises
    ------
    BadInput
        Where the variable is not set, or holds what no HTTP header can.
    """
    key = os.environ.get(variable) if variable else "none"
    if not key:
        raise BadInput(where, variable, "is not set", "export the key of the endpoint")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise BadInput(where, variable, "holds a space, a line end or the like", "export the key alone")
    return key
