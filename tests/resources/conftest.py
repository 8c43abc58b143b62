"""What tests of several resources start from."""

import socket
from collections.abc import Iterator

import polars as pl
import pytest

from resources.warehouse import Warehouse
from tests.resources.warehouses import replace, sources


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def stored(warehouse: Warehouse) -> pl.DataFrame:
    """Three passages of two corpora, as they are before a test writes."""
    replace(warehouse, sources("x/1", "x/2", "y/1"), run_id="before")
    return warehouse.read("source_text")
