"""The literary protocol on the 46 real chunks: judges answer by rule once, their recording after that."""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.provider.transport import record
from resources.warehouse import Warehouse
from tests.literary.conftest import prefers
from tests.provider.server import Server, dumps
from tests.support import CONSTRUCTION, CORE, LetterEmbedder, materialized, write_outputs

pytestmark = pytest.mark.realdata

VERSUS = ["aspect_vote", "head_to_head"]
SEATS = {"exact": "meaning", "stylist": "prose"}
WORKS = {"botchan_morri": "ja", "hongloumeng_joly": "zh"}


def whole(human: str) -> str:
    """The human translation, with other line breaks."""
    return "\n".join(human.split())


def half(human: str) -> str:
    """It breaks off in the middle."""
    words = human.split()
    return " ".join(words[: len(words) // 2])


def without_a_sentence(human: str) -> str:
    """Its second sentence is missing, or the end of the only one."""
    first, stop, rest = human.partition(". ")
    return first + stop + rest.partition(". ")[2] if stop else half(human)


MODELS = {"whole": whole, "half": half, "gap": without_a_sentence}


def judgements(pairs: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """What two judges say of each pair: the longer text is better where a twentieth is missing; in prose, a third."""
    for human, outputs in pairs.items():
        for output, (judge, share) in product(outputs, {"exact": 0.95, "stylist": 0.67}.items()):
            for a, b in ((output, human), (human, output)):
                shorter = min(len(a), len(b)) < share * max(len(a), len(b))
                longer = "A" if len(a) > len(b) else "B"
                yield f"{judge}|{a}|{b}", [prefers(longer if shorter else "unsure")]


@pytest.fixture
def chunks(realdata: Path) -> dict[str, list[dict[str, Any]]]:
    """The chunks of each work, by name of a corpus."""
    found = {}
    for name in WORKS:
        lines = (realdata / f"literary/{name}.jsonl").read_text(encoding="utf-8").splitlines()
        found[name.partition("_")[0]] = [json.loads(line) for line in lines]
    return found


def write_registry(path: Path, endpoint: Mapping[str, Any]) -> None:
    content = {
        "endpoints": {"judges": endpoint}, "families": dict.fromkeys(MODELS, "rule"),
        "judges": {name: {"endpoint": "judges", "id": name, "family": "referee"} for name in SEATS},
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    path.write_text(json.dumps(content, default=str), encoding="utf-8")


def take_in(chunks: Mapping[str, list[dict[str, Any]]], warehouse: Warehouse, folder: Path) -> None:
    """Import both works, each a corpus, and what the models made of them."""
    for (name, own), language in zip(chunks.items(), WORKS.values(), strict=True):
        (folder / name).mkdir()
        lines = [
            {"passage_id": each["chunk_id"], "lang": language, "source": each["source"],
             "previous": each["prev_context"][-80:], "next": each["next_context"][:80],
             "references": {"human": each["human"]}}
            for each in own
        ]  # fmt: skip
        (folder / name / f"{name}.jsonl").write_text("\n".join(map(dumps, lines)), encoding="utf-8")
        seats = [{"judge": judge, "aspect": aspect} for judge, aspect in SEATS.items()]
        description = {
            "name": name, "layout": "jsonl", "root": f"{name}.jsonl", "literary": {"human": "human", "ensemble": seats},
            "source": {"language": language, "licence": "public domain"},
            "references": {"human": {"language": "en", "licence": "public domain"}}, "examination": {"passages": 0},
        }  # fmt: skip
        (folder / name / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
        register(warehouse, folder / name / "corpus.yaml")


def test_the_protocol_with_recorded_judges(
    chunks: dict[str, list[dict[str, Any]]], warehouse: Warehouse, instance: dg.DagsterInstance, server: Server,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A translation that is the human one is at parity, one that breaks off far below; a replay says the same."""
    registry, ledger = tmp_path / "models.yaml", tmp_path / "ledger.sqlite"
    monkeypatch.setenv("VARIORUM_MODELS", str(registry))
    write_registry(registry, {"url": server.url})
    take_in(chunks, warehouse, tmp_path)

    def location(ledger: Path) -> dg.Definitions:
        provider = Provider(registry_path=str(registry), ledger_path=str(ledger))
        resources = {"warehouse": warehouse, "provider": provider, "embedder": LetterEmbedder()}
        return build_definitions(rooms=CORE, resource_overrides=resources)

    definitions = location(ledger)
    runs.look(definitions, instance)
    passages = [f"{name}/{each['chunk_id']}" for name, own in chunks.items() for each in own]
    assert len(passages) == 46
    ends = min(passages), max(passages)
    materialized(definitions, [*CONSTRUCTION, "glossary", "reference"], *ends)
    for (model, rule), (name, own) in product(MODELS.items(), chunks.items()):
        texts = {each["chunk_id"]: rule(each["human"]) for each in own}
        import_outputs(warehouse, write_outputs(tmp_path / f"{model}.jsonl", texts), name, model)
    instance.add_dynamic_partitions("model", sorted(MODELS))
    humans = [each["human"] for own in chunks.values() for each in own]
    pairs = {human.strip(): [half(human), without_a_sentence(human)] for human in humans}
    server.configure(answer="judge", judgements=dict(judgements(pairs)))

    def compare(definitions: dg.Definitions, *also: str) -> list[tuple[Any, ...]]:
        rows = min(MODELS), max(MODELS)
        materialized(definitions, [*also, *VERSUS], f"{rows[0]}|{ends[0]}", f"{rows[1]}|{ends[1]}")
        materialized(definitions, ["literary_score"], *rows)
        columns = ["model", "corpus", "aspect", "chunks", "works", "machine", "unsure", "human", "score"]
        return warehouse.read("literary_score", columns=[*columns, "score_low", "score_high"]).rows()

    scores = compare(definitions, "model_output")
    asked = len(server.log())
    assert asked == 46 * 2 * len(SEATS) * 2  # of three models one needs no judge; seats; orders
    assert len(warehouse.read("aspect_vote")) == 46 * 3 * len(SEATS) * 2
    found = {(model, corpus, aspect): numbers for model, corpus, aspect, *numbers in scores}
    assert len(found) == 3 * 2 * 3
    for corpus, own in chunks.items():
        number = len(own)
        assert found["whole", corpus, ""] == pytest.approx([number, 1, 0, number, 0, 50, 50, 50])
        assert found["half", corpus, ""] == [number, 1, 0, 0, number, 0, 0, 0]
        _, _, machine, unsure, human, score, low, high = found["gap", corpus, ""]
        assert (machine, unsure + human) == (0, number)
        assert low <= score <= high < 50
        assert score == 50 * unsure / number
        assert found["gap", corpus, "prose"][5] > found["gap", corpus, "meaning"][5]

    assert due(definitions, instance, dg.AssetKey("aspect_vote")).rows.is_empty()
    recording = tmp_path / "judges.jsonl"
    recording.write_text(
        "\n".join(line for judge in SEATS for line in record(SqliteLedger(ledger), judge)), encoding="utf-8"
    )
    write_registry(registry, {"recording": recording})
    assert compare(location(tmp_path / "another.sqlite")) == scores
    assert len(server.log()) == asked
    study = pl.DataFrame({"study": ["aspect_vote"]})
    assert {item.split("|")[0] for item in warehouse.read("study_call", study, ["item"])["item"]} == set(SEATS)
