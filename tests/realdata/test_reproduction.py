"""The papers' numbers beside those that the real files give: every number has the outcome that is named here."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks import recipe as recipes
from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.recipe import SHIPPED
from benchmark_assets.benchmarks.reproduction import (
    ADMITTED,
    DIGITS,
    EQUAL,
    EXPLAINED,
    NEEDS,
    QUOTED,
    added,
    reproduce,
    shipped,
)
from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.scan import scan
from benchmark_assets.pairwise.totals import contracts, import_totals, scores_of_totals
from benchmark_assets.reporting.published import summary
from benchmark_assets.selection.funnel import LISTED, duplicates, selection
from benchmark_assets.understanding import board, stored
from benchmark_assets.understanding.task_scores import CHANCE, chances
from benchmark_assets.understanding.tasks import import_tasks, read_samples
from resources.catalogue import schema
from resources.home import PROJECT
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse
from tests.realdata.published import imported

pytestmark = pytest.mark.realdata

OUTPUTS, TEXTS, FILES = (NEEDS[kind] for kind in ("outputs", "texts", "files"))

CHANCE_ROW = "Chance (see the text)"
CUT, OPTIMIZER = ADMITTED["print"], ADMITTED["optimizer"]


def store(warehouse: Warehouse, tables: Mapping[str, pl.DataFrame]) -> None:
    """Store rows; columns that they lack are null."""
    for name, frame in tables.items():
        missing = {column: pl.lit(None, kind) for column, kind in schema(name).items() if column not in frame.columns}
        rows = frame.with_columns(**missing).select(*schema(name), fingerprint=pl.lit(""))
        warehouse.write([Replacement(name, rows, None)], run_id="test")


def test_the_chance_rows_of_dharmabench(realdata: Path, warehouse: Warehouse) -> None:
    """No file of SDT is here, and no mean of seven tasks without it; the models' answers are not public."""
    assert added(warehouse) == {}
    codes, _ = import_tasks(
        warehouse, sorted((PROJECT / "warehouse/benchmarks/dharmabench/tasks").glob("*.yaml")), realdata / "dharmabench"
    )
    content, _ = read_samples(warehouse, codes)
    store(warehouse, {"task_sample": content.samples, "task_span": content.spans})
    golds = stored.golds(warehouse, pl.DataFrame({"task": codes}))
    rows = [chances(gold, content.samples.filter(task=gold.task.task, split="train")) for gold in golds]
    store(warehouse, {"task_chance": pl.concat([pl.DataFrame(schema=CHANCE), *rows])})
    marks = pl.DataFrame(schema=board.ALL_MARKS)
    store(
        warehouse, {"understanding_board": board.board(stored.all_scores(warehouse), marks, stored.groups(warehouse))}
    )

    assert list(added(warehouse)) == ["dharmabench"]
    found = reproduce(warehouse, "dharmabench", read(shipped()["dharmabench"]), shipped()["dharmabench"].parent)
    ours = found.filter(row=CHANCE_ROW).select("column", "published", pl.col("value").round(4), "outcome")
    assert ours.rows() == [
        ("SMDS", "55.60", 55.6098, CUT), ("QUDS", "12.25", 12.25, DIGITS), ("RCMS", "50.00", 50, DIGITS),
        ("RCDS", "48.75", 48.75, DIGITS), ("VPCS", "50.00", 50, DIGITS), ("MCS", "10.00", 10, DIGITS),
        ("Avg", "37.77", 37.7683, DIGITS),
        ("SDT", "45.42", None, FILES), ("QUDT", "60.09", 60.0985, CUT), ("RCMT", "50.00", 50, DIGITS),
        ("VPCT", "50.00", 50, DIGITS), ("AACT", "50.00", 50, DIGITS), ("SCCT", "50.00", 50, DIGITS),
        ("THCT", "7.69", 7.6923, DIGITS), ("Avg.", "44.74", None, FILES),
    ]  # fmt: skip
    others = found.filter(pl.col("row") != CHANCE_ROW)
    assert set(others["outcome"]) == {OUTPUTS}
    assert (len(found), len(others)) == (302, 287)


def test_the_scores_of_palibench_come_from_the_published_scores(
    realdata: Path, warehouse: Warehouse, tmp_path: Path
) -> None:
    """Of seven systems from scores of passages; the rest from scores over all passages, which ten systems have."""
    store(warehouse, {"published_summary": summary(imported(realdata, tmp_path / "recipe"))})
    found = reproduce(warehouse, "palibench", read(shipped()["palibench"]), shipped()["palibench"].parent)
    ours = found.drop_nulls("value").with_columns(
        pl.col("value").round(4), basis=pl.col("origin").str.extract("basis '([^']+)'")
    )
    assert ours.select("paper_table", "row", "column", "published", "value", "outcome", "basis").rows() == [
        ("5", "All", "drift", "0.043", 0.0426, DIGITS, "passages"),
        ("5", "All", "drift ±", "0.019", 0.0185, EXPLAINED, "passages"),
        ("6", "Gemini 3 Pro", "sim_best", "0.946", 0.946, DIGITS, "passages"),
        ("6", "Gemini 3 Pro", "chrF++", "68.5", 68.4702, DIGITS, "all passages"),
        ("6", "Gemini 3 Pro", "BLEU", "63.3", 63.312, DIGITS, "all passages"),
        ("6", "Gemini 3 Pro", "Length ratio", "1.006", 1.0065, DIGITS, "passages"),
        ("6", "Gemini 3 Pro", "Outlier rate", "3.4%", 3.4118, DIGITS, "passages"),
        ("6", "DeepSeek v3.2", "sim_best", "0.939", 0.9394, DIGITS, "passages"),
        ("6", "DeepSeek v3.2", "Outlier rate", "6.7%", 6.7059, DIGITS, "passages"),
        ("6", "Kimi K2.5", "sim_best", "0.934", 0.9339, DIGITS, "all passages"),
        ("6", "GPT-5.2", "sim_best", "0.933", 0.9329, DIGITS, "passages"),
        ("6", "GPT-5.2", "Length ratio", "1.117", 1.1165, DIGITS, "passages"),
        ("6", "GPT-5.2", "Outlier rate", "7%", 7.4706, DIGITS, "passages"),
        ("6", "Qwen3 235B", "Outlier rate", "19%", 19.1176, DIGITS, "passages"),
        ("6", "Grok 4.1 Fast", "sim_best", "0.915", 0.9153, DIGITS, "passages"),
        ("6", "LLaMA 3.3 70B", "sim_best", "0.888", 0.8877, DIGITS, "all passages"),
        ("6", "LLaMA 3.3 70B", "Outlier rate", "40.3%", 40.2941, DIGITS, "all passages"),
        ("7", "Claude Opus 4.5", "Sujato", "48.6%", 48.6471, DIGITS, "passages"),
        ("7", "Gemini 3 Pro", "Sujato", "42.1%", 42.0588, DIGITS, "passages"),
        ("7", "Gemini 3 Pro", "Bodhi", "44.5%", 44.5294, DIGITS, "passages"),
        ("7", "DeepSeek v3.2", "Bodhi", "74%", 73.4706, EXPLAINED, "passages"),
        *(("8", "Gemini 3 Pro", column, "1", 1, EQUAL, "all passages")
          for column in ("sim_best", "chrF++", "BLEU", "Length", "Outlier rate")),
        ("8", "GPT-5.2", "sim_best", "6", 6, EQUAL, "all passages"),
        ("8", "GPT-5.2", "COMET_avg", "5", 5, EQUAL, "all passages"),
        ("8", "GPT-5.2", "Length", "10", 10, EQUAL, "all passages"),
    ]  # fmt: skip
    others = found.filter(pl.col("value").is_null())
    assert Counter(others.select("paper_table", "outcome").rows()) == {
        ("1", QUOTED): 6, ("1", FILES): 1, ("2", TEXTS): 1, ("3", TEXTS): 4, ("4", FILES): 1, ("4", TEXTS): 9,
        ("thresholds", QUOTED): 4, ("after deduplication", QUOTED): 4, ("5", TEXTS): 6, ("7", FILES): 1,
    }  # fmt: skip


def test_published_scores_over_all_passages_agree_with_those_of_passages(realdata: Path, tmp_path: Path) -> None:
    rows = summary(imported(realdata, tmp_path / "recipe")).select("basis", "system", "measure", "value")
    pairs = rows.filter(basis="passages").join(rows.filter(basis="all passages"), on=["system", "measure"])
    assert Counter(pairs["measure"]) == dict.fromkeys(
        ["sim_best", "comet_avg", "length_ratio", "length_offset", "outlier_rate"], 7
    )
    assert (pairs["value"] - pairs["value_right"]).abs().max() < 1e-12  # type: ignore[operator]


@pytest.mark.parametrize(
    ("folder", "numbers"),
    [
        ("suttacentral", [(4003, EQUAL), (4003, EQUAL), (1874, EQUAL), (174, EQUAL), (1700, EQUAL)]),
        ("bilara", [(3819, EXPLAINED), (3819, EXPLAINED), (1866, EXPLAINED), (172, EXPLAINED), (1694, EXPLAINED)]),
    ],
)
def test_the_near_duplicates_of_palibench(
    folder: str, numbers: list[tuple[int, str]], realdata: Path, warehouse: Warehouse
) -> None:
    """In two states of the Pali texts, among the passages that pass the other filters by the published record."""
    recipe = recipes.read(SHIPPED / "palibench")
    corpora = {each.name: each for each in recipe.corpora.values() if each.name != "palibench"}
    whole = {name: each.model_copy(update={"root": realdata / folder, "references": {
        translator: text for translator, text in each.references.items() if not text.layout
    }}) for name, each in corpora.items()}  # fmt: skip
    sources = scan(whole.values()).source.select("passage", "text", "listed")
    filters = {name: each.filters or Filters() for name, each in whole.items()}
    passing = sources.select("passage", reasons=pl.lit([], pl.List(pl.String)))
    repeated = duplicates(passing.filter(CORPUS == "palibench-duplicates"), sources.filter(LISTED), filters)
    selected = selection(sources.select("passage"), passing, repeated, sources)
    nothing = {name: "" for name, kind in schema("corpus").items() if kind == pl.String}
    described = [nothing | {"corpus": name, "filters": each.model_dump_json()} for name, each in filters.items()]
    store(warehouse, {"near_duplicate": repeated, "selection": selected, "corpus": pl.DataFrame(described)})
    found = reproduce(warehouse, "palibench", read(shipped()["palibench"]), shipped()["palibench"].parent).drop_nulls(
        "value"
    )
    assert found.select("paper_table", "row").rows() == [
        ("1", "Passages"), ("4", "Starting corpus"), ("4", "After filtering"), ("4", "Near-duplicate Pali passages"),
        ("4", "Final benchmark dataset"),
    ]  # fmt: skip
    assert found.select("value", "outcome").rows() == numbers


def test_the_anchors_of_jp_tl_bench(realdata: Path, warehouse: Warehouse) -> None:
    """From the published totals: the judgments themselves are not here, and so neither are the other slices."""
    file = realdata / "jp-tl-bench/baseset/v1.0/scores_overall.json"
    report = pl.DataFrame(json.loads(file.read_text(encoding="utf-8")))
    import_totals(warehouse, SHIPPED / "jp-tl-bench/totals.csv", "jp-tl-bench@1.0.0")
    totals = warehouse.read("anchor_total")
    overall = totals.filter(slice="overall").select("anchor", "matches", "wins")
    assert sorted(overall.rows()) == sorted(report.select("model", "matches", "wins").rows())
    directions = (
        totals.filter(pl.col("slice").is_in(["en-ja", "ja-en"]))
        .group_by("anchor")
        .agg(pl.sum("matches"), pl.sum("wins"))
    )
    assert sorted(directions.rows()) == sorted(overall.rows())
    (contract,) = contracts(warehouse).values()
    store(warehouse, {"anchor_score": scores_of_totals(totals, contract)})
    found = reproduce(warehouse, "jp-tl-bench", read(shipped()["jp-tl-bench"]), shipped()["jp-tl-bench"].parent)
    assert Counter(found.select("paper_table", "outcome").rows()) == {
        ("items", EQUAL): 4, ("items", EXPLAINED): 3, ("items", FILES): 2, ("2", DIGITS): 34, ("2", EXPLAINED): 6,
        ("report", EQUAL): 40, ("report", DIGITS): 12, ("report", OPTIMIZER): 40, ("report", CUT): 8,
        ("report, EN→JA", EQUAL): 40, ("report, EN→JA", DIGITS): 14, ("report, EN→JA", OPTIMIZER): 40,
        ("report, EN→JA", CUT): 6,
        ("report, JA→EN", EQUAL): 40, ("report, JA→EN", DIGITS): 12, ("report, JA→EN", OPTIMIZER): 40,
        ("report, JA→EN", CUT): 8,
        ("tokens", FILES): 3, ("tokens", QUOTED): 2, ("3", DIGITS): 21, ("3", EXPLAINED): 3,
        ("4", OUTPUTS): 12, ("5", OUTPUTS): 40, ("F, EN→JA", OUTPUTS): 256, ("F, JA→EN", OUTPUTS): 256,
    }  # fmt: skip
    rows = found.filter(outcome=EXPLAINED)
    admitted = found.filter(pl.col("outcome").is_in([CUT, OPTIMIZER]))
    of_reports = admitted.filter(pl.col("paper_table").str.starts_with("report"))
    largest = of_reports.group_by("column").agg(pl.col("difference").abs().max())
    assert {column: f"{difference:.0e}" for column, difference in largest.iter_rows()} == {
        "win_rate": "1e-14", "LT": "8e-07", "EN": "4e-06",
    }  # fmt: skip
    values = rows.select("row", "column", "published", pl.col("value").round(4), "paper_table")
    assert values.filter(pl.col("paper_table").is_in(["2", "3"])).drop("paper_table").rows() == [
        ("microsoft/Phi-4-mini-instruct", "LT", "0.99", 0.9756), ("augmxnt/shisa-7b-v1", "Win Rate", "21.44%", 21.2883),
        ("augmxnt/shisa-7b-v1", "LT", "0.68", 0.6701),
        ("meta-llama/Llama-3.2-3B-Instruct", "Win Rate", "19.24%", 19.2459),
        ("Rakuten/RakutenAI-2.0-mini-instruct", "Win Rate", "14.23%", 14.2184),
        ("SakanaAI/TinySwallow-1.5B", "Win Rate", "2.51%", 2.6709),
        ("gemini-2.5-pro", "JA→EN", "9.89", 9.9355), ("LFM2-2.6B", "EN→JA", "5.22", 4.9128),
        ("LFM2-2.6B", "JA→EN", "2.97", 2.7881),
    ]  # fmt: skip
