"""Chunks and lines put to a model: what it is asked, what is taken of a reply, what a retry asks for."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.registry import register, registered
from benchmark_assets.corpus.scan import scan
from benchmark_assets.translation.passage_questions import TRIES, Output, translating
from benchmark_assets.translation.requests import ChunkRequest, LinesRequest, Request, chunk_item, chunk_template
from benchmark_assets.translation.systems import CalledSystem, Systems, language_names
from resources import prompts
from resources.provider.asking import TRIES_OF_LENGTH
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.warehouse import Replacement, Warehouse
from tests.corpus.support import write_lines
from tests.provider.server import Seen, Server
from tests.provider.support import NO_BUDGET, model

GLOSSARY = [{"term": "猫", "translation": "the Cat", "gender": "masculine"}]
TEXT = "吾輩は猫である。\n\n　名前は「まだ」無い。\n吾輩は猫である。"
SAID = {"translation": 'I am the Cat.\n\n"No name," he said.'}


def item_of(seen: Seen) -> Any:
    """The JSON object of a request."""
    assert seen.body is not None
    return json.loads(seen.body["messages"][-1]["content"])


def output(ledger: Ledger, request: Request) -> Output:
    async def ask() -> list[Output]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await request.outputs(client.ask)

    (found,) = asyncio.run(ask())
    assert (found.passage, found.batch) == ("story/cat:1", "story/cat:1")
    return found


def chunk(server: Server, previous: str = "昔、", **endpoint: Any) -> ChunkRequest:
    template = chunk_template(
        model(server.url, endpoint, temperature=1), prompts.load("chunk"), language_names("ja", "en")
    )
    return ChunkRequest(template, "story/cat:1", chunk_item(TEXT, previous, "次に", GLOSSARY))


def lines(server: Server) -> LinesRequest:
    template = translating(model(server.url), prompts.load("translate"), language_names("ja", "en"))
    return LinesRequest(template, "story/cat:1", "cat:1", TEXT)


def judged(server: Server, *contents: Mapping[str, Any] | str, **settings: Any) -> None:
    """Have the server answer with these contents, one after another."""
    said = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in contents]
    server.configure(answer="judge", judgements={"m": said}, keep_bodies=True, **settings)


def test_a_chunk_is_asked_for_with_its_contexts_and_its_glossary(server: Server, ledger: Ledger) -> None:
    judged(server, SAID)
    found = output(ledger, chunk(server, structured="schema"))
    assert (found.text, found.parsing, found.error) == (SAID["translation"], "strict", None)
    (seen,) = server.log()
    assert item_of(seen) == {"previous": "昔、", "text": TEXT, "next": "次に", "glossary": GLOSSARY}
    assert seen.body is not None
    assert "from Japanese into English" in seen.body["messages"][0]["content"]
    assert seen.body["response_format"]["json_schema"]["schema"]["required"] == ["translation"]
    assert output(ledger, chunk(server, structured="schema")) == found  # out of the ledger
    assert len(server.log()) == 1


@pytest.mark.parametrize(
    ("script", "contents", "asked", "text", "said"),
    [
        (["missing_key"], [SAID], 2, SAID["translation"], ""),
        (["fenced"], [SAID], 1, SAID["translation"], ""),
        ([], [{"translation": " "}], TRIES, None, "empty or not a string"),
        ([], ["I am glad to help."], TRIES, None, "no JSON"),
        (["length"] * 9, [SAID], TRIES_OF_LENGTH, None, "cut off"),
        (["ok", "ok", "length"], [{"translation": ""}], TRIES, None, "cut off"),
        (["bad_request"], [SAID], 1, None, "rejected"),
    ],
)
def test_a_reply_without_a_translation_is_asked_for_again_and_no_longer_than_it_pays(
    server: Server, ledger: Ledger, script: list[str], contents: list[Any], asked: int, text: str | None, said: str
) -> None:
    judged(server, *contents, script=script)
    found = output(ledger, chunk(server))
    assert (len(server.log()), found.text) == (asked, text)
    assert said in (found.error or "")


def test_a_refused_chunk_is_a_result(server: Server, ledger: Ledger) -> None:
    judged(server, SAID, script=["refusal"])
    found = output(ledger, chunk(server))
    assert (found.refusal, found.text, found.error) == ("I cannot help with that.", None, None)
    assert len(server.log()) == 1


def test_lines_are_asked_for_alone_and_joined_as_they_stood(server: Server, ledger: Ledger) -> None:
    server.configure(keep_bodies=True, answers={"cat:1.4": "I am\n a cat."}, script=["ok", "fenced"])
    found = output(ledger, lines(server))
    assert found.text == "EN: 吾輩は猫である。\n\nEN: 名前は「まだ」無い。\nI am a cat."
    assert found.parsing == "repaired"
    assert [item_of(seen) for seen in server.log()] == [
        {"cat:1.1": "吾輩は猫である。"}, {"cat:1.3": "名前は「まだ」無い。"}, {"cat:1.4": "吾輩は猫である。"}
    ]  # fmt: skip


def test_of_a_line_that_fails_the_chunk_has_the_error_and_a_retry_asks_for_what_is_missing(
    server: Server, ledger: Ledger
) -> None:
    server.configure(by_key={"cat:1.3": "bad_request"})
    found = output(ledger, lines(server))
    assert found.text is None
    assert "rejected" in (found.error or "")
    server.configure()
    server.clear()
    assert (output(ledger, lines(server)).text or "").count("EN: ") == 3
    assert [seen.keys for seen in server.log()] == [["cat:1.3"], ["cat:1.4"]]


def test_of_a_line_that_is_refused_the_chunk_has_the_refusal(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={"cat:1.3": "refusal"})
    found = output(ledger, lines(server))
    assert (found.text, found.refusal) == (None, "I cannot help with that.")


class Deployment:
    """Two chunks, one of them with a glossary, in a literary corpus beside one that is none; models `ours` and
    `baseline` at the server."""

    def __init__(self, folder: Path, warehouse: Warehouse, url: str) -> None:
        self.warehouse, self._path = warehouse, folder / "models.yaml"
        self._endpoints = {"server": {"url": url}}
        self.registry()
        for name, literary in (("story", {"human": "ando"}), ("plain", {})):
            content = {
                "name": name, "layout": "jsonl", "root": f"{name}.jsonl", "literary": literary,
                "source": {"language": "ja", "licence": "CC0-1.0"},
                "references": {"ando": {"language": "en", "licence": "CC0-1.0"}},
            }  # fmt: skip
            records = [
                {"passage_id": f"cat:{number}", "lang": "ja", "source": source, "references": {"ando": "A cat."},
                 "previous": previous, "next": following}
                for number, source, previous, following in ((1, TEXT, "", "終り"), (2, "終り。", "猫である。", ""))
            ]  # fmt: skip
            write_lines(folder / f"{name}.jsonl", records)
            (folder / f"{name}.yaml").write_text(json.dumps(content), encoding="utf-8")
            register(warehouse, folder / f"{name}.yaml")
        provider = Provider(registry_path=str(self._path), ledger_path=str(folder / "ledger.sqlite"))
        self._systems = Systems(warehouse=warehouse, provider=provider)
        sources = scan(registered(warehouse)).source.with_columns(fingerprint=pl.lit("f"))
        warehouse.write([Replacement("source_text", sources, None)], run_id="test")
        terms = pl.DataFrame(
            [("story/cat:1", "猫", "the Cat", "masculine", "file", True, True, "f")], orient="row",
            schema=["passage", "term", "translation", "gender", "origin", "in_source", "in_human", "fingerprint"],
        )  # fmt: skip
        warehouse.write([Replacement("glossary", terms, terms.select("passage"))], run_id="test")

    def registry(self, **settings: Any) -> None:
        """Write the registry, with these settings of both models."""
        own = {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}, "in_flight": 1, **settings}
        content = {
            "endpoints": self._endpoints, "models": {"ours": own, "baseline": {**own, "lines": True}},
            "embedders": {"minilm": {}}, "embedder": "minilm",
        }  # fmt: skip
        self._path.write_text(json.dumps(content), encoding="utf-8")

    def system(self, name: str) -> CalledSystem:
        found = self._systems.system(name)
        assert isinstance(found, CalledSystem)
        return found

    def sources(self, corpus: str) -> dict[str, str]:
        rows = self.warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage", "text"])
        return dict(sorted(rows.iter_rows()))


@pytest.fixture
def deployment(tmp_path: Path, warehouse: Warehouse, server: Server) -> Deployment:
    return Deployment(tmp_path, warehouse, server.url)


def test_a_literary_corpus_is_translated_chunk_by_chunk_or_line_by_line(deployment: Deployment, server: Server) -> None:
    story, plain = deployment.sources("story"), deployment.sources("plain")
    judged(server, {"translation": "One."}, {"translation": "Two."})
    ours, baseline = deployment.system("ours"), deployment.system("baseline")
    assert (ours.estimate(story).calls, baseline.estimate(story).calls, ours.estimate(plain).calls) == (2, 4, 1)
    found = {output.passage: output.text for output in ours.translate(story, "run")}
    assert found == {"story/cat:1": "One.", "story/cat:2": "Two."}
    assert [item_of(seen) for seen in server.log()] == [
        {"previous": "", "text": TEXT, "next": "終り", "glossary": GLOSSARY},
        {"previous": "猫である。", "text": "終り。", "next": "", "glossary": []},
    ]
    assert ours.estimate(story).recorded == 2

    server.configure()
    server.clear()
    found = {output.passage: output.text for output in baseline.translate(story, "run")}
    assert found["story/cat:2"] == "EN: 終り。"
    assert len(server.log()) == 4
    assert (baseline.estimate(story).recorded, baseline.estimate(plain).recorded) == (4, 0)
    server.clear()
    assert len(list(baseline.translate(plain, "run"))) == 2
    assert [seen.keys for seen in server.log()] == [["cat:1", "cat:2"]]  # a corpus that is not literary: as ever


def test_the_form_of_asking_is_part_of_what_determines_an_output(deployment: Deployment) -> None:
    passages = ["story/cat:1", "plain/cat:1"]
    ours, baseline = (deployment.system(name).fingerprints(passages) for name in ("ours", "baseline"))
    assert ours["plain/cat:1"] == baseline["plain/cat:1"]
    assert len({ours["story/cat:1"], baseline["story/cat:1"], ours["plain/cat:1"]}) == 3
    deployment.registry(temperature=0.5)
    changed = deployment.system("ours").fingerprints(passages)
    assert all(changed[passage] != ours[passage] for passage in passages)


def test_a_context_and_a_glossary_are_part_of_the_question(server: Server) -> None:
    def question(request: ChunkRequest) -> Question:
        return request.questions()[0]

    assert question(chunk(server)).key == question(chunk(server)).key
    assert question(chunk(server)).key != question(chunk(server, previous="")).key
