"""Nothing that may be passed on, logged or shown by Dagster has a run of words of a restricted text.

The texts consist of words that occur nowhere else, so that any run of them is found, in whatever order.
"""

import csv
import io
import json
import logging
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import polars as pl
import pytest
from dagster._serdes import serialize_value

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.adjudication import judging
from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.error_spans.judging import read_annotation
from benchmark_assets.literary import glossary_file
from benchmark_assets.literary.ensemble import read_preference
from benchmark_assets.literary.extraction import read_terms
from benchmark_assets.literary.pairs import export_pairs, import_pairs
from benchmark_assets.pairwise.comparing import read_answer
from benchmark_assets.pairwise.rubric import read_mark
from benchmark_assets.people import assets as people
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.pearmut import Plan, write_campaign
from benchmark_assets.people.sample import export_items, restricted_texts
from benchmark_assets.reporting import latex, shared_task
from benchmark_assets.reporting.export import export
from benchmark_assets.reporting.reader.writing import write_blind, write_reader
from benchmark_assets.reporting.report import writing
from benchmark_assets.reporting.report.examples import examples_page
from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, RunFailedError
from resources.folders import PRIVATE
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.corpus.disguises import DISGUISES
from tests.corpus.support import describe, edit, read_back, write_lines
from tests.processes import here
from tests.support import CORE, SOURCES, TRANSLATIONS, LetterEmbedder, made_home, write_corpus, write_outputs
from tests.systems import provider

RUN = re.compile(r"(?:\bzq[a-z]+\W+){5}zq[a-z]+", re.IGNORECASE)
"""Six words of a restricted text in a row: as many as count as shared."""

DAMAGES = ("whole", "cut", "recased", "reordered", "half")
HONEST = "honest"
OTHERWISE = "came in other words from a person who had never seen that other book or its author."
_WORDS = product("abcdefghij", repeat=3)


def secret() -> str:
    """A text of 40 words in five sentences."""
    sentences = [" ".join(f"zq{''.join(letters)}" for letters in islice(_WORDS, 8)) for _ in range(5)]
    return ". ".join(sentence.capitalize() for sentence in sentences) + "."


SECRETS = {document: {segment: secret() for segment in segments} for document, segments in SOURCES.items()}
PASSAGES = {
    "doc1:1": " ".join([*SECRETS["doc1"].values()][:2]), "doc1:2": SECRETS["doc1"]["doc1:2.1"],
    "doc2:1": SECRETS["doc2"]["doc2:1.1"],
}  # fmt: skip
SECRET = PASSAGES["doc1:2"]


class World(NamedTuple):
    """A home after an update over the restricted text, its log, and the message of a scan of a faulty file."""

    home: Path
    folder: Path
    corpus: Path
    warehouse: Warehouse
    instance: dg.DagsterInstance
    log: str
    failure: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder, log = tmp_path_factory.mktemp("restricted"), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger("variorum").setLevel(logging.DEBUG)
    with pytest.MonkeyPatch.context() as patch:
        home = made_home(patch, folder)
        warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
        corpus = described(folder)
        register(warehouse, corpus)
        resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "provider": provider(home)}
        definitions = build_definitions(rooms=[*CORE, adjudication, people], resource_overrides=resources)
        with dg.DagsterInstance.get() as instance, warehouse.kept_open():
            runs.look(definitions, instance)
            for model, texts in outputs().items():
                import_outputs(warehouse, write_outputs(folder / f"{model}.jsonl", texts), "tiny", model)
            instance.add_dynamic_partitions("model", [*outputs()])
            runs.update(definitions, instance)
            failure = faulty_scan(definitions, instance, corpus)
            judged(warehouse)
            logging.getLogger().removeHandler(handler)
            yield World(home, folder, corpus, warehouse, instance, log.getvalue(), failure)


def described(folder: Path) -> Path:
    """A literary corpus with the restricted translation `cleo`, and a glossary that quotes it."""
    corpus = write_corpus(folder / "corpus", translations=TRANSLATIONS | {"cleo": SECRETS})
    content = json.loads(corpus.read_text(encoding="utf-8"))
    content["references"]["cleo"] |= {"licence": "all rights reserved", "restricted": True}
    content["literary"] = {"human": "ann", "glossary": "glossary.csv"}
    corpus.write_text(json.dumps(content), encoding="utf-8")
    sheet = f"passage,term,translation,gender\ntiny/doc1:2,Sol,{SECRET},\n"
    (folder / "corpus/glossary.csv").write_text(sheet, encoding="utf-8")
    return corpus


def outputs() -> dict[str, dict[str, str]]:
    """Outputs of a model for each damage, and of an honest one."""
    chance = random.Random(1)
    damaged = {name: {passage: DISGUISES[name](text, chance) for passage, text in PASSAGES.items()} for name in DAMAGES}
    return damaged | {HONEST: {passage: f"Honestly, {passage} {OTHERWISE}" for passage in PASSAGES}}


def faulty_scan(definitions: dg.Definitions, instance: dg.DagsterInstance, corpus: Path) -> str:
    """The message of a scan of a file that has the text where segments are named; the file is mended afterwards."""
    path = corpus.parent / "translation/en/cleo/doc2_translation-en-cleo.json"
    before = path.read_text(encoding="utf-8")
    edit(path, {SECRET: SECRET, SECRET.upper(): 5})
    with pytest.raises(RunFailedError) as failure:
        runs.look(definitions, instance)
    path.write_text(before, encoding="utf-8")
    return str(failure.value)


def judged(warehouse: Warehouse) -> None:
    """Remarks of judges and annotators that quote the text in every way, about the outputs of all models."""
    keys = [{"model": model, "passage": f"tiny/{passage}"} for model in outputs() for passage in PASSAGES]
    quotations = [outputs()[DAMAGES[n % len(DAMAGES)]]["doc1:2"] for n in range(len(keys))]
    label = {"label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "high"}
    remarks = ("cause", "evidence", "problem_phrase", "correction", "abstention")
    pairs = list(zip(keys, quotations, strict=True))
    put(warehouse, "judge_vote", *(
        {**key, "judge": "j", **label, **dict.fromkeys(remarks, quotation)} for key, quotation in pairs
    ))  # fmt: skip
    put(warehouse, "human_label", *({**key, "annotator": "p", **label, "notes": words} for key, words in pairs))
    put(warehouse, "rubric_vote", *({**key, "judge": "j", "mark": 3, "justification": words} for key, words in pairs))
    place = {"place": 1, "side": "output", "category": "other", "severity": "minor"}
    put(warehouse, "error_span", *({**key, "judge": "j", **place, "text": words} for key, words in pairs))
    put(warehouse, "refusal", {"model": "shy", "passage": "tiny/doc1:2", "words": SECRET})
    put(warehouse, "worked_example", *(
        {"corpus": "tiny", "rule": "split panel", "place": n % 5 + 1, **key, "why": "split"}
        for n, key in enumerate(keys)
    ))  # fmt: skip


def written(folder: Path) -> str:
    """The content of all files of a folder, with their names; Parquet is decoded. Files in `PRIVATE` do not count."""
    paths = [path for path in folder.rglob("*") if path.is_file() and PRIVATE not in path.parts]
    texts = [
        pl.read_parquet(path).write_json() if path.suffix == ".parquet" else path.read_text(encoding="utf-8")
        for path in paths
    ]
    return "\n".join([*map(str, paths), *texts])


def told(call: Callable[[], object]) -> str:
    """The message of a call that fails."""
    with pytest.raises(BadInput) as fault:
        call()
    assert all(str(each) in str(fault.value) for each in fault.value.faults)
    return str(fault.value)


def package(world: World, out: Path) -> str:
    export(world.warehouse, out, "tiny")
    return written(out)


def private_package(world: World, out: Path) -> str:
    export(world.warehouse, out, "tiny", private=True)
    return written(out)


def test_set(world: World, out: Path) -> str:
    done = shared_task.write(world.warehouse, out, "tiny")
    assert (done.systems, done.withheld) == ([HONEST], len(DAMAGES) * len(PASSAGES))
    return written(out)


def pages(world: World, out: Path) -> str:
    done = write_reader(world.warehouse, out, "tiny")
    assert (done.outputs, done.withheld) == ((len(DAMAGES) + 1) * len(PASSAGES) + 1, len(DAMAGES) * len(PASSAGES))
    return written(out)


def report(world: World, out: Path) -> str:
    return writing.write(world.warehouse, out, ["tiny"])


def papers(world: World, out: Path) -> str:
    latex.write(world.warehouse, out, "tiny")
    return written(out)


def examples(world: World, _: Path) -> str:
    return examples_page(world.warehouse, "tiny")


def pairs_sheet(world: World, out: Path) -> str:
    sent = export_pairs(world.warehouse, out, "tiny", "mori")
    assert sent.pairs == len(PASSAGES)  # the pairs of the honest model
    return out.read_text(encoding="utf-8")


def blind_page(world: World, out: Path) -> str:
    assert write_blind(world.warehouse, out, "tiny", "mori").restricted
    return written(out)


def annotation(world: World, out: Path) -> str:
    assert export_items(world.warehouse, out, "tiny", ["mori"]).restricted
    return written(out)


def campaign(world: World, out: Path) -> str:
    return told(lambda: write_campaign(world.warehouse, out, "tiny", ["mori"], Plan()))


def events(world: World, _: Path) -> str:
    """Every event and log message that Dagster has, with metadata, of all runs."""
    found = world.instance.get_runs()
    assert {run.status for run in found} == {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE}
    entries = [serialize_value(entry) for run in found for entry in world.instance.all_logs(run.run_id)]
    assert any("AssetMaterialization" in entry for entry in entries)
    return "\n".join(entries)


def snapshots(world: World, _: Path) -> str:
    """What Dagster keeps of the definitions, and of each run besides its events."""
    found = [run for run in world.instance.get_runs() if run.job_snapshot_id]
    jobs = {run.job_snapshot_id: world.instance.get_job_snapshot(run.job_snapshot_id or "") for run in found}
    return "\n".join(map(serialize_value, [*jobs.values(), *found]))


def log(world: World, _: Path) -> str:
    assert "partitions" in world.log
    return f"{world.log}\n{world.failure}"


def commands(world: World, _: Path) -> str:
    done = [
        here(world.home, *words)
        for words in (["status"], ["stale", "--all"], ["status", "--models"], ["costs"], ["trace", "tiny"])
    ]
    return "\n".join(each.output + each.stderr for each in done)


SURFACES = [
    package, private_package, test_set, pages, report, papers, examples, pairs_sheet, blind_page, annotation, campaign,
    events, snapshots, log, commands,
]  # fmt: skip
test_set.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.__name__)
def test_no_run_of_a_restricted_text_is_on_a_surface(
    world: World, tmp_path: Path, surface: Callable[[World, Path], str]
) -> None:
    content = surface(world, tmp_path / "out")
    assert content
    assert not RUN.search(content), RUN.findall(content)[:3]


def test_a_private_surface_has_every_damaged_copy(world: World, tmp_path: Path) -> None:
    """The search finds what is there."""
    export(world.warehouse, tmp_path / "out", "tiny", private=True)
    found = [json.loads(line) for line in (tmp_path / "out" / PRIVATE / "outputs.jsonl").read_text().splitlines()]
    assert {(each["model"], each["passage_id"]) for each in found} == set(product(DAMAGES, PASSAGES))
    assert all(RUN.search(each["translation"]) for each in found)
    assert RUN.search(examples_page(world.warehouse, "tiny", private=True))


def test_a_package_lists_what_it_leaves_out(world: World, tmp_path: Path) -> None:
    export(world.warehouse, tmp_path / "out", "tiny")
    rows = pl.read_csv(tmp_path / "out/withheld.csv").with_columns(pl.col(pl.String).fill_null(""))
    copies = rows.filter(part="outputs")
    assert set(copies.select("model", "passage_id").iter_rows()) == set(product(DAMAGES, PASSAGES))
    pattern = r"copies a restricted text \(cleo\); (letters in a row: \d+|share of (a passage|the output): \d+%)"
    assert copies["reason"].str.contains(f"^{pattern}$").all()
    texts = rows.filter(part="references.jsonl")
    assert texts.select("passage_id", "translator", "reason").rows() == [
        (passage, "cleo", "restricted, licence: all rights reserved") for passage in PASSAGES
    ]
    quoting = rows.filter(pl.col("reason").str.contains("may quote"))
    assert {"judge_vote", "human_label", "rubric_vote", "error_span", "glossary", "refusal"} <= set(quoting["part"])
    assert set(quoting.filter(part="judge_vote").select("model", "passage_id", "judge").iter_rows()) == set(
        product(outputs(), PASSAGES, ["j"])
    )
    assert set(rows["part"]) - set(quoting["part"]) == {"outputs", "references.jsonl"}
    meanings = pl.read_csv(tmp_path / "out/dictionary.csv").filter(table="withheld")
    assert meanings["column"].to_list() == rows.columns
    records = json.loads((tmp_path / "out/croissant.json").read_text())["recordSet"]
    assert [len(each["field"]) for each in records if each["name"] == "withheld"] == [len(rows.columns)]


def test_an_output_that_copies_a_text_without_alignment_is_withheld(world: World, tmp_path: Path) -> None:
    """The text of the whole document counts where no part of it is known to translate the passage."""
    content = json.loads(world.corpus.read_text(encoding="utf-8"))
    closed = {"language": "en", "licence": "all rights reserved", "restricted": True, "layout": "text"}
    try:
        world.corpus.write_text(json.dumps(content | {"references": content["references"] | {"dora": closed}}))
        text = f"Before it. {outputs()[HONEST]['doc1:1']} And more words, of the rest of the document that dora wrote."
        put(world.warehouse, "prose", {"corpus": "tiny", "document": "doc1", "translator": "dora", "text": text})
        export(world.warehouse, tmp_path / "out", "tiny")
    finally:
        world.corpus.write_text(json.dumps(content))
        put(world.warehouse, "prose")
    rows = pl.read_csv(tmp_path / "out/withheld.csv").filter(part="outputs", model=HONEST)
    assert rows["passage_id"].to_list() == [*PASSAGES]  # whichever passage they are outputs for
    assert rows["reason"][0].startswith("copies a restricted text (dora); ")


def test_an_item_whose_output_copies_a_text_that_is_not_shown_is_restricted(world: World) -> None:
    def names(candidate: str) -> list[str]:
        return restricted_texts(world.warehouse, "tiny", [SheetItem("i", "doc1:2", "Sol oritur.", {}, candidate)])

    assert names(outputs()[HONEST]["doc1:2"]) == []
    assert all(names(outputs()[damage]["doc1:2"]) == ["outputs that copy a restricted text"] for damage in DAMAGES)


# Messages about faults.


def sheet(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def quarantined(world: World, path: Path) -> str:
    """The reasons why the labels in a file are not imported, as the command prints them."""
    import_labels(world.warehouse, [path])
    reasons = world.warehouse.read("label_quarantine", pl.DataFrame({"file": [str(path)]}))["reason"]
    assert len(reasons)
    return "\n".join(reasons)


def label_sheet(world: World, path: Path) -> str:
    item = world.warehouse.read("triage")["item"][0]
    header = ("item", "annotator", "label", "error_category", "severity")
    return quarantined(world, sheet(path, header, (item, "p", SECRET, "NONE", "none"), (SECRET, "p", "x", "y", "z")))


def corpus_faults(path: Path, layout: str) -> str:
    _, faults = read_back(describe(path.with_name("described") / "x.yaml", layout, path, ["cleo"]))
    assert faults
    return "\n".join(map(str, faults))


def table_without_header(world: World, path: Path) -> str:
    return corpus_faults(sheet(path.with_suffix(".tsv"), (SECRET, "x", "y"), ("doc:1", "x", SECRET)), "table")


def table_with_texts_for_ids(world: World, path: Path) -> str:
    header, row = ("segment_id", "source", "cleo"), (SECRET, "doc:1", "x")
    return corpus_faults(sheet(path.with_suffix(".csv"), header, row), "table")


def lines_with_texts_for_ids(world: World, path: Path) -> str:
    path = path.with_suffix(".jsonl")
    write_lines(path, [{"passage_id": SECRET, "lang": "la", "source": "x", SECRET: 1, "references": {SECRET: "x"}}])
    return corpus_faults(path, "jsonl")


def outputs_file(world: World, path: Path, *records: Mapping[str, Any]) -> str:
    write_lines(path.with_suffix(".jsonl"), records)
    return told(lambda: import_outputs(world.warehouse, path.with_suffix(".jsonl"), "tiny", "late"))


def outputs_with_texts_for_ids(world: World, path: Path) -> str:
    return outputs_file(world, path, {"passage_id": SECRET, "translation": "x"})


def outputs_with_texts_for_keys(world: World, path: Path) -> str:
    return outputs_file(world, path, {"passage_id": "doc1:1", "translation": "x", SECRET: "x"})


def pairs_with_texts(world: World, path: Path) -> str:
    header = ("pair", "source", "previous", "next", "A", "B", "better", "note")
    file = sheet(path, header, (SECRET, "", "", "", "", "", "A", ""))
    other = sheet(path.with_suffix(".2.csv"), header, ("x", "", "", "", "", "", SECRET, ""))
    return "\n".join(told(partial(import_pairs, world.warehouse, file)) for file in (file, other))


def glossary_with_texts(world: World, path: Path) -> str:
    header = ("passage", "term", "translation", "gender")
    no_passage, no_gender = (SECRET, "a", "b", ""), ("tiny/doc1:1", "a", "b", SECRET)
    twice = ("tiny/doc1:1", SECRET, "b", "")
    messages = []
    for rows in ([no_passage], [no_gender], [twice, twice]):
        messages.append(told(partial(glossary_file.read, sheet(path, header, *rows), "tiny")))
    return "\n".join(messages)


FAULTY = [
    label_sheet, table_without_header, table_with_texts_for_ids, lines_with_texts_for_ids, outputs_with_texts_for_ids,
    outputs_with_texts_for_keys, pairs_with_texts, glossary_with_texts,
]  # fmt: skip


@pytest.mark.parametrize("import_faulty", FAULTY, ids=lambda function: function.__name__)
def test_messages_about_files_quote_less_than_a_run(
    world: World, tmp_path: Path, import_faulty: Callable[[World, Path], str]
) -> None:
    message = import_faulty(world, tmp_path / "file.csv")
    assert not RUN.search(message), message
    assert re.search("zq[a-z]+ zq[a-z]+", message, re.IGNORECASE), message  # but tells which value is meant


REPLIES: list[tuple[Callable[[Mapping[str, Any]], object], dict[str, Any]]] = [
    (read_answer, {"answer": SECRET}),
    (read_answer, {"answer": [SECRET]}),
    (read_mark, {"mark": SECRET, "perfect": True}),
    (read_mark, {"mark": 3, "perfect": SECRET}),
    (read_preference, {"better": SECRET}),
    (read_terms, {"terms": [{"term": "a", "translation": "b", "gender": SECRET}]}),
    (read_annotation, {"errors": [], "score": SECRET}),
    (read_annotation, {"errors": [{"text": "a", "category": SECRET, "severity": "minor"}], "score": 1}),
    (read_annotation, {"errors": [{"text": "a", "category": "other", "severity": SECRET}], "score": 1}),
    (judging.read_answer, {"label": SECRET}),
]


@pytest.mark.parametrize(("read", "values"), REPLIES)
def test_reasons_for_unusable_replies_quote_less_than_a_run(
    read: Callable[[Mapping[str, Any]], object], values: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="zq") as fault:
        read(values)
    assert not RUN.search(str(fault.value))
