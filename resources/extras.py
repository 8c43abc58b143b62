"""Packages of the extras of pyproject.toml, which only some homes need.

Here: whether they are installed, and the error that names the extra. Not here: what uses them.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from resources.errors import BadInput

SERVER = "adbc_driver_postgresql", "dagster_postgres", "psycopg"
"""Packages of the extra `server` that Dagster does not bring. Only homes in a database need them."""

TRANSFORMERS = "sentence_transformers", "torch", "transformers"
"""Packages of the extra `models` that run sentence-transformers models."""

TRAINING = "accelerate", "torch", "transformers"
"""Packages of the extra `models` that fine-tune encoders."""


def require(extra: str, packages: Sequence[str], where: str, key: str, problem: str) -> None:
    """Check that packages of an extra are installed.

    Raises
    ------
    BadInput
        If one is missing. `where` and `key` name what asks for them, and `problem` says how.
    """
    if missing := [name for name in packages if not installed(name)]:
        problem = f"{problem}, but packages are not installed: {', '.join(missing)}"
        raise BadInput(where, key, problem, f"pip install 'variorum[{extra}]'")


@cache
def installed(package: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(package) is not None
