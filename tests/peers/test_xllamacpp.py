"""llama.cpp, with a model of 270 million parameters, as translator, judge and embedder of a home."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmark_assets.examination.reports import reports, with_choices
from benchmark_assets.vital_signs.assets import Sentinels
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.keys import KEYS
from resources.provider.asking import TRIES, TRIES_OF_LENGTH
from resources.provider.registry import Examination
from resources.warehouse import Warehouse
from tests.pairwise.arena import Arena, made_arena
from tests.peers.environments import Peer
from tests.processes import free_port, started, variorum
from tests.support import SOURCES, TRANSLATIONS, write_corpus

PEER = "xllamacpp"
pytestmark = pytest.mark.peer
WHOLE = pl.DataFrame({key: [""] for key in KEYS})
TEMPERATURES = {"steady": 0, "warm": 0.7, "hot": 1}
"""Temperatures of the judges. Panels take no judges of one family, so that each has a name of its own as family."""


@contextmanager
def served(peer: Peer, folder: Path, kind: str) -> Iterator[str]:
    """The URL of a server for chat or embeddings."""
    port = free_port()
    program = str(Path(__file__).with_name("llama_server.py"))
    command = [str(peer.programs / "python"), program, str(folder / f"{kind}.gguf"), str(port), kind]
    url = f"http://127.0.0.1:{port}"
    with started(command, f"{url}/health", folder / f"{kind}.log", os.environ):
        yield f"{url}/v1"


@pytest.fixture(scope="module")
def evaluated(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Warehouse of a home with one passage, which the model has translated, embedded and judged."""
    folder = tmp_path_factory.mktemp("llama")
    sources, translations = {"doc2": SOURCES["doc2"]}, {name: {"doc2": of["doc2"]} for name, of in TRANSLATIONS.items()}
    corpus = write_corpus(folder / "corpus", sources, translations)
    judging = {"rubric": {"judges": ["steady"]}, "audit": {"judges": list(TEMPERATURES)}}
    corpus.write_text(json.dumps(json.loads(corpus.read_text()) | judging))
    with served(peer, folder, "chat") as chat, served(peer, folder, "embeddings") as embeddings:
        settings = {"endpoint": "chat", "id": "gemma", "max_tokens": 300, "price": {"input": 0, "output": 0}}
        registry = {
            "endpoints": {
                "chat": {"url": chat, "dialect": "llama.cpp", "structured": "schema", "in_flight": 1},
                "vectors": {"url": embeddings},
            },
            "models": {"gemma": settings | {"family": "google"}},
            "judges": {name: settings | {"family": name, "temperature": heat} for name, heat in TEMPERATURES.items()},
            "embedders": {"gemma": {"endpoint": "vectors", "model": "gemma"}},
            "embedder": "gemma",
        }
        models = folder / "models.yaml"
        models.write_text(json.dumps(registry))
        variorum(folder / "home", "import", "corpus", str(corpus), VARIORUM_MODELS=str(models))
        shown = variorum(folder / "home", "evaluate", "gemma", "--accept", VARIORUM_MODELS=str(models)).stdout
    assert "gemma" in shown
    return DuckDBWarehouse(path=str(folder / "home/variorum.duckdb"))


def test_a_model_translates_judges_and_embeds(
    evaluated: Warehouse, record_property: Callable[[str, object], None]
) -> None:
    """gemma-3-270m (Q4_K_M) by `variorum evaluate`, with reply schemas and `/embeddings`."""
    outputs = evaluated.read("model_output")
    assert outputs["passage"].sort().to_list() == ["tiny/doc2:1"]
    assert all(outputs["text"])
    vectors = np.array(evaluated.read("embedding")["vector"].to_list())
    assert vectors.shape[1] == 640
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    votes = evaluated.read("rubric_vote")
    assert votes.select("model", "judge").rows() == [("gemma", "steady")]
    calls = evaluated.read("model_call")
    assert calls["cost"].to_list() == [0.0] * len(calls)
    record_property(
        "result",
        f"an output, {len(vectors)} vectors of 640 dimensions, a mark by the judge; {len(calls)} calls, costs known",
    )


def test_a_small_model_fails_as_judge_of_every_study(
    peer: Peer, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The examinations of the model as judge of pairs, of a seat, of a panel, of a rubric and of error spans."""
    made_arena(tmp_path)
    arena, alone = Arena(tmp_path, ""), {"judges": ["comparer"]}
    literary = {"human": "ann", "ensemble": [{"judge": "comparer", "aspect": "meaning"}]}
    with served(peer, tmp_path, "chat") as chat:
        judge = {"endpoint": "chat", "id": "gemma", "family": "google", "max_tokens": 500}
        arena.registry.write_text(json.dumps({
            "endpoints": {"chat": {"url": chat, "dialect": "llama.cpp", "structured": "schema", "in_flight": 1}},
            "judges": {"comparer": judge | {"price": {"input": 0, "output": 0}}},
            "embedders": {"minilm": {}}, "embedder": "minilm",
        }))  # fmt: skip
        arena.examinable(rubric=alone, audit=alone, spans=alone, literary=literary)
        rows = Sentinels(arena.warehouse, arena.systems).compute(WHOLE, "run").tables["sentinel"]
    cards = reports(with_choices(rows), Examination()).sort("purpose")
    for card in cards.iter_rows(named=True):
        print(card)
    assert sorted(cards["purpose"]) == ["aspect_vote", "comparison", "judge_vote", "rubric_vote", "span_vote"]
    assert set(cards["verdict"]) == {"failed"}
    calls = ", ".join(f"{purpose} {number}" for purpose, number in cards.select("purpose", "calls").iter_rows())
    record_property("result", f"fails each after few calls: {calls}")


def test_a_model_is_the_panel(evaluated: Warehouse, record_property: Callable[[str, object], None]) -> None:
    """The model as three judges of a panel (temperatures 0, 0.7 and 1). Most of its replies contradict themselves."""
    votes = evaluated.read("judge_vote", columns=["judge", "label", "abstention"])
    calls = evaluated.read("model_call").filter(purpose="judge")
    asked = dict(evaluated.read("study_call").filter(study="judge_vote").select("item", "asked").iter_rows())
    assert votes["judge"].sort().to_list() == sorted(asked) == sorted(TEMPERATURES)
    assert sum(asked.values()) == len(calls)
    for judge, label, abstention in votes.iter_rows():
        truncated = calls.filter(model=judge, outcome="length").height
        assert bool(label) != bool(abstention)
        settled = asked[judge] == TRIES or truncated == TRIES_OF_LENGTH
        assert label or settled or judge == "steady"  # at temperature 0, equal replies are not asked for again
    (verdict,) = evaluated.read("verdict").iter_rows(named=True)
    abstained = votes["label"].null_count()
    assert (verdict["judges"], verdict["abstained"]) == (len(votes), abstained)
    assert abstained < 2 or verdict["label"] == "UNCERTAIN"
    seconds = np.median((calls["received"] - calls["asked"]).dt.total_milliseconds()) / 1000
    record_property(
        "result",
        f"{len(calls)} questions, {seconds:.1f} s each; {len(votes) - abstained} of {len(votes)} judges give a label, "
        f"the others abstain, as no reply is usable; verdict {verdict['label']}",
    )
