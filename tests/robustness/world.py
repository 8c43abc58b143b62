"""A small corpus, a paid model and an endpoint of vectors, for commands in processes of their own."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import polars as pl

from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Server, serve
from tests.resources import endpoint
from tests.support import write_corpus

MODEL = "alpha"


class World(NamedTuple):
    """What commands work on."""

    folder: Path
    corpus: Path
    server: Server
    variables: dict[str, str]

    @property
    def home(self) -> Path:
        """The home of the commands."""
        return self.folder / "home"

    def restore(self) -> None:
        """Make the home what its copy in `imported` is, and let the server forget what it has seen."""
        shutil.rmtree(self.home)
        shutil.copytree(self.folder / "imported", self.home, symlinks=True)
        self.server.configure()
        self.server.clear()

    def attempts(self) -> pl.DataFrame:
        """The attempts that the ledger lists."""
        return SqliteLedger(self.home / "ledger.sqlite").attempts()


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Servers, a registry and a corpus; the home does not exist yet."""
    corpus = write_corpus(folder / "corpus")
    with serve() as server, endpoint.serve() as vectors:
        registry = {
            "endpoints": {"local": {"url": server.url}, "vectors": {"url": vectors.url}},
            "models": {
                MODEL: {"endpoint": "local", "id": MODEL, "price": {"input": 1, "output": 1}, "batch_tokens": 1}
            },
            "embedders": {"tiny": {"endpoint": "vectors", "model": "tiny"}},
            "embedder": "tiny",
            "budget": {"run": 1, "day": 1},
        }
        (folder / "models.yaml").write_text(json.dumps(registry), encoding="utf-8")
        variables = {"VARIORUM_MODELS": str(folder / "models.yaml"), "VARIORUM_PLOTS": "off"}
        yield World(folder, corpus, server, variables)
