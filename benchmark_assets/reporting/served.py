"""What a page of the web server is made from."""

from hashlib import blake2b
from importlib.metadata import version
from typing import NamedTuple

from resources.provider.provider import Provider
from resources.warehouse import Warehouse


class ServedHome(NamedTuple):
    """The stores of a home whose pages are served. With `private`, pages have the restricted texts; with
    `read_only`, neither our pages nor Dagster's can start or change anything."""

    warehouse: Warehouse
    provider: Provider
    private: bool
    read_only: bool = False


def version_of(*parts: bytes) -> str:
    """Name of the version of a page that depends on `parts` and on the software."""
    return blake2b(b"\0".join([version("variorum").encode(), *parts]), digest_size=8).hexdigest()
