from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from pydantic import PrivateAttr

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import Embedder, EndpointEmbedder
from resources.embedding_cache import embed_unique
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.resources.endpoint import embedding, numbered, reply, serve

MANY = [f"text {i}" for i in range(2500)]  # more than are stored at once


class Recorder(Embedder):
    """Embeds a text by its letters and remembers what it was asked; `breaks_after` texts it gives out."""

    name: str = "recorder"
    dimensions: int = 4
    then_dimensions: int = 0
    breaks_after: int = 1_000_000
    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def signature(self) -> str:
        return self.name

    @property
    def asked(self) -> list[str]:
        return self._asked

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        if len(self._asked) >= self.breaks_after:
            raise BadInput(self.name, "", "out of order", "switch it on")
        dimensions = self.then_dimensions if self._asked and self.then_dimensions else self.dimensions
        self._asked.extend(texts)
        raw = np.ones((len(texts), dimensions))
        raw[:, 0] = [sum(map(ord, text)) % 97 for text in texts]
        yield list(range(len(texts))), raw, [None if "?" in text else len(text) > 20 for text in texts]


def stored(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.read("embedding", columns=["embedder", "text_hash", "vector"])


def test_every_distinct_text_is_embedded_once(warehouse: Warehouse) -> None:
    embedder = Recorder()
    vectors = embed_unique(["b", "a", "b", "", "a"], embedder, warehouse, "run")
    assert sorted(embedder.asked) == ["", "a", "b"]
    assert vectors["text"].to_list() == ["b", "a", ""]
    assert vectors.schema["vector"] == pl.Array(pl.Float32, 4)
    assert_allclose(vectors["vector"].to_numpy(), Recorder().embed(["b", "a", ""]).vectors)


def test_known_texts_cost_nothing_also_when_the_warehouse_is_opened_anew(warehouse: Warehouse) -> None:
    texts = ["one", "two", "a text that was cut by the model", "can it tell?"]
    first = embed_unique(texts, Recorder(), warehouse, "run")
    again = Recorder()
    second = embed_unique(texts, again, DuckDBWarehouse(path=warehouse.name), "another run")
    assert again.asked == []
    assert second.equals(first)
    assert second["cut"].to_list() == [False, False, True, None]


def test_only_new_texts_are_embedded(warehouse: Warehouse) -> None:
    embed_unique(["one", "two"], Recorder(), warehouse, "run")
    embedder = Recorder()
    vectors = embed_unique(["three", "two", "one", "four"], embedder, warehouse, "run")
    assert sorted(embedder.asked) == ["four", "three"]
    assert_allclose(vectors["vector"].to_numpy(), Recorder().embed(["three", "two", "one", "four"]).vectors)


def test_an_embedder_of_another_signature_embeds_anew_and_beside(warehouse: Warehouse) -> None:
    embed_unique(["one"], Recorder(), warehouse, "run")
    other = Recorder(name="other", dimensions=7)
    assert embed_unique(["one"], other, warehouse, "run")["vector"].dtype.shape == (7,)  # type: ignore[attr-defined]
    assert other.asked == ["one"]
    assert sorted(stored(warehouse)["embedder"]) == ["other", "recorder"]


@pytest.mark.parametrize("texts", [["one", "two"], ["two"]])
def test_a_dimension_that_differs_from_the_stored_one_is_refused(warehouse: Warehouse, texts: list[str]) -> None:
    embed_unique(["one"], Recorder(), warehouse, "run")
    before = stored(warehouse)
    with pytest.raises(BadInput, match="returned 5 dimensions instead of 4; delete this embedder's rows"):
        embed_unique(texts, Recorder(dimensions=5), warehouse, "run")
    assert stored(warehouse).equals(before)


def test_a_dimension_that_changes_on_the_way_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(BadInput, match="returned 5 dimensions instead of 4"):
        embed_unique(MANY, Recorder(then_dimensions=5), warehouse, "run")
    assert stored(warehouse)["vector"].list.len().unique().to_list() == [4]


def test_what_was_embedded_before_a_failure_is_kept(warehouse: Warehouse) -> None:
    broken = Recorder(breaks_after=1)
    with pytest.raises(BadInput, match="out of order"):
        embed_unique(MANY, broken, warehouse, "run")
    mended = Recorder()
    vectors = embed_unique(MANY, mended, warehouse, "run")
    assert len(broken.asked) > 0
    assert sorted(broken.asked + mended.asked) == sorted(MANY)
    assert vectors["text"].to_list() == MANY
    assert_allclose(vectors["vector"].to_numpy(), Recorder().embed(MANY).vectors)


def test_nothing_to_embed_asks_nothing_and_stores_nothing(warehouse: Warehouse) -> None:
    embedder = Recorder()
    vectors = embed_unique([], embedder, warehouse, "run")
    assert vectors.columns == ["text", "vector", "cut"]
    assert vectors.is_empty()
    assert embedder.asked == []
    assert stored(warehouse).is_empty()


class Rival(Recorder):
    """A machine with another CPU, whose last digits differ; while it computes, another machine stores its vectors."""

    warehouse: Warehouse

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        embed_unique([text for text in texts if "shared" in text], Recorder(), self.warehouse, "other")
        for positions, raw, cut in super()._batches(texts):
            yield positions, raw * (1 + 1e-6 * np.arange(4)), cut


@pytest.mark.parametrize("kind", ["warehouse", "postgres_warehouse"])
def test_the_vector_that_was_stored_first_is_the_value_for_all(kind: str, request: pytest.FixtureRequest) -> None:
    chosen: Warehouse = request.getfixturevalue(kind)
    rival = embed_unique(["shared", "own"], Rival(warehouse=chosen), chosen, "run")
    first = Recorder().embed(["shared", "own"]).vectors
    assert (rival["vector"][0] == pl.Series(first[0])).all()
    assert not (rival["vector"][1] == pl.Series(first[1])).all()
    assert embed_unique(["shared", "own"], Recorder(), chosen, "later").equals(rival)


def test_a_server_that_moves_to_another_port_keeps_its_vectors(warehouse: Warehouse) -> None:
    for _ in range(2):
        with serve() as endpoint:
            embed_unique(["one"], EndpointEmbedder(base_url=endpoint.url, model="m"), warehouse, "run")
    assert endpoint.asked == []


def test_vectors_under_a_signature_with_a_port_are_renamed_and_not_asked_for_again(warehouse: Warehouse) -> None:
    with serve() as endpoint:
        embedder = EndpointEmbedder(base_url=endpoint.url, model="m")
        first = embed_unique(["one", "two"], embedder, warehouse, "run")
        rows = warehouse.read("embedding").drop("run_id", "updated_at")
        old = rows.with_columns(embedder=pl.lit(embedder.former), served_model=pl.lit(None, pl.String))
        warehouse.write([Replacement("embedding", old, None)], "run")
        endpoint.asked.clear()
        assert embed_unique(["one", "two"], embedder, warehouse, "run").equals(first)
        assert endpoint.asked == []
    assert stored(warehouse)["embedder"].unique().to_list() == [embedder.signature]


def test_vectors_of_two_models_are_not_mixed_under_one_signature(warehouse: Warehouse) -> None:
    with serve() as endpoint:
        embed_unique(["one"], EndpointEmbedder(base_url=endpoint.url, model="m"), warehouse, "run")
        endpoint.answer = lambda request: reply(numbered([embedding(text) for text in request["input"]]), model="large")
        with pytest.raises(BadInput, match="'large' answers, but the stored vectors come from 'tiny'"):
            embed_unique(["two"], EndpointEmbedder(base_url=endpoint.url, model="m"), warehouse, "run")
        assert len(stored(warehouse)) == 1
        named = EndpointEmbedder(base_url=endpoint.url, model="m", served="large")
        embed_unique(["one", "two"], named, warehouse, "run")
    served = warehouse.read("embedding", columns=["embedder", "served_model"]).unique().sort("served_model")
    assert served["served_model"].to_list() == ["large", "tiny"]
    assert served["embedder"].n_unique() == 2
