"""llama.cpp, with a model of 270 million parameters, as translator, judge and embedder of a home."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from resources.duckdb_warehouse import DuckDBWarehouse
from tests.peers.environments import Peer
from tests.processes import free_port, started, variorum
from tests.support import SOURCES, TRANSLATIONS, write_corpus

PEER = "xllamacpp"
pytestmark = pytest.mark.peer


@contextmanager
def served(peer: Peer, folder: Path, kind: str) -> Iterator[str]:
    """The URL of a server for chat or embeddings."""
    port = free_port()
    program = str(Path(__file__).with_name("llama_server.py"))
    command = [str(peer.programs / "python"), program, str(folder / f"{kind}.gguf"), str(port), kind]
    url = f"http://127.0.0.1:{port}"
    with started(command, f"{url}/health", folder / f"{kind}.log", os.environ):
        yield f"{url}/v1"


def test_a_model_translates_judges_and_embeds(
    peer: Peer, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """gemma-3-270m (Q4_K_M) by `variorum evaluate`, with reply schemas and `/embeddings`."""
    sources, translations = {"doc2": SOURCES["doc2"]}, {name: {"doc2": of["doc2"]} for name, of in TRANSLATIONS.items()}
    corpus = write_corpus(tmp_path / "corpus", sources, translations)
    corpus.write_text(json.dumps(json.loads(corpus.read_text()) | {"rubric": {"judges": ["judge"]}}))
    with served(peer, tmp_path, "chat") as chat, served(peer, tmp_path, "embeddings") as embeddings:
        settings = {"endpoint": "chat", "id": "gemma", "max_tokens": 300, "price": {"input": 0, "output": 0}}
        registry = {
            "endpoints": {
                "chat": {"url": chat, "dialect": "llama.cpp", "structured": "schema", "in_flight": 1},
                "vectors": {"url": embeddings},
            },
            "models": {"gemma": settings | {"family": "google"}},
            "judges": {"judge": settings | {"family": "another"}},
            "embedders": {"gemma": {"endpoint": "vectors", "model": "gemma"}},
            "embedder": "gemma",
        }
        (tmp_path / "models.yaml").write_text(json.dumps(registry))
        models = {"VARIORUM_MODELS": str(tmp_path / "models.yaml")}
        variorum(tmp_path / "home", "import", "corpus", str(corpus), code=0, **models)
        shown = variorum(tmp_path / "home", "evaluate", "gemma", code=0, **models).stdout
    assert "gemma" in shown
    warehouse = DuckDBWarehouse(path=str(tmp_path / "home/variorum.duckdb"))
    outputs = warehouse.read("model_output")
    assert outputs["passage"].sort().to_list() == ["tiny/doc2:1"]
    assert all(outputs["text"])
    vectors = np.array(warehouse.read("embedding")["vector"].to_list())
    assert vectors.shape[1] == 640
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    votes = warehouse.read("rubric_vote")
    assert votes.select("model", "judge").rows() == [("gemma", "judge")]
    calls = warehouse.read("model_call")
    assert calls["cost"].to_list() == [0.0] * len(calls)
    record_property(
        "result",
        f"{len(outputs)} outputs, {len(vectors)} vectors of 640 dimensions, a mark by the judge; {len(calls)} calls, "
        "costs known",
    )
