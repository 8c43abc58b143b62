"""Consensus of systems, from stored vectors."""

from hashlib import blake2b

import pytest

from benchmark_assets import views
from resources.warehouse import Warehouse
from tests.audit.stored import put

VECTORS = {"one": [1.0, 0.0], "two": [0.0, 1.0], "three": [0.6, 0.8]}


def test_an_output_is_compared_with_those_of_the_other_models(warehouse: Warehouse) -> None:
    outputs = [("m", "c/1", "one"), ("n", "c/1", "two"), ("o", "c/1", "three"), ("m", "c/2", "one"), ("p", "c/1", "")]
    rows = [dict(zip(("model", "passage", "text"), row, strict=True)) for row in outputs]
    put(warehouse, "model_output", *rows)
    keys = [{key: row[key] for key in ("model", "passage")} for row in rows]
    put(warehouse, "drift_score", *({**key, "embedder": "e"} for key in keys))
    hashes = {text: blake2b(text.encode(), digest_size=16).hexdigest() for text in VECTORS}
    put(
        warehouse, "embedding",
        *({"embedder": "e", "text_hash": hashes[text], "vector": vector} for text, vector in VECTORS.items()),
        {"embedder": "other", "text_hash": hashes["one"], "vector": [0.0, -1.0]},
    )  # fmt: skip
    found = views.read(warehouse, "peer_consensus")
    assert found.select("model", "passage", "peers").rows() == [("m", "c/1", 2), ("n", "c/1", 2), ("o", "c/1", 2)]
    assert found["similarity"].to_list() == pytest.approx([0.3, 0.4, 0.7])
    assert set(found["embedder"]) == {"e"}
