"""The papers' numbers beside those that the real files give: every number has the outcome that is named here."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.recipe import SHIPPED
from benchmark_assets.benchmarks.reproduction import (
    ABSENT,
    DIGITS,
    EQUAL,
    EXPLAINED,
    NEEDS,
    QUOTED,
    added,
    reproduce,
    shipped,
)
from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.scan import scan
from benchmark_assets.pairwise.totals import contracts, import_totals, scores_of_totals
from benchmark_assets.reporting.agreement import agreement
from benchmark_assets.reporting.closest import closest
from benchmark_assets.reporting.comparability import MADE
from benchmark_assets.reporting.leaderboard import rank, summaries
from benchmark_assets.selection.funnel import duplicates, funnel, selection
from benchmark_assets.understanding import board, stored
from benchmark_assets.understanding.chance import CHANCE, chances
from benchmark_assets.understanding.tasks import import_tasks, read_samples
from resources.catalogue import schema
from resources.home import PROJECT
from resources.warehouse import Replacement, Warehouse
from tests.corpus.support import describe
from tests.realdata.published import TRANSLATORS, published_scores

pytestmark = pytest.mark.realdata

CHANCE_ROW = "Chance (see the text)"


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
    found = reproduce(warehouse, "dharmabench", read(shipped()["dharmabench"]))
    ours = found.filter(row=CHANCE_ROW).select("column", "published", pl.col("value").round(4), "outcome")
    assert ours.rows() == [
        ("SMDS", "55.60", 55.6098, EXPLAINED), ("QUDS", "12.25", 12.25, DIGITS), ("RCMS", "50.00", 50, DIGITS),
        ("RCDS", "48.75", 48.75, DIGITS), ("VPCS", "50.00", 50, DIGITS), ("MCS", "10.00", 10, DIGITS),
        ("Avg", "37.77", 37.7683, DIGITS),
        ("SDT", "45.42", None, ABSENT), ("QUDT", "60.09", 60.0985, EXPLAINED), ("RCMT", "50.00", 50, DIGITS),
        ("VPCT", "50.00", 50, DIGITS), ("AACT", "50.00", 50, DIGITS), ("SCCT", "50.00", 50, DIGITS),
        ("THCT", "7.69", 7.6923, DIGITS), ("Avg.", "44.74", None, ABSENT),
    ]  # fmt: skip
    others = found.filter(pl.col("row") != CHANCE_ROW)
    assert set(others["outcome"]) == {NEEDS}
    assert (len(found), len(others)) == (302, 287)


def test_the_scores_of_palibench_come_from_the_published_scores_of_passages(
    realdata: Path, warehouse: Warehouse
) -> None:
    """LLaMA's scores are not here, and corpus scores of BLEU and chrF++ cannot be had from scores of passages."""
    field = published_scores(realdata)
    models = summaries(field, "system").rename({"system": "model"})
    board = rank(models, models.clear().rename({"model": "translator"}), pl.DataFrame(schema=MADE))
    passages = field.filter(system="openai/gpt-5.2")
    references = passages.select("passage").join(pl.DataFrame({"translator": TRANSLATORS}), how="cross")
    nothing = pl.DataFrame(
        schema={**dict.fromkeys(["passage", "translator", "other"], pl.String), "similarity": pl.Float64}
    )
    envelopes = passages.select("passage", reference_count=pl.lit(3), human_spread="human_variance")
    store(warehouse, {
        "leaderboard": board, "closest_share": closest(field, references),
        "translator_agreement": agreement(nothing, envelopes, passages.select("passage", "unit", "unit_kind")),
    })  # fmt: skip
    found = reproduce(warehouse, "palibench", read(shipped()["palibench"]))
    ours = found.drop_nulls("value").with_columns(pl.col("value").round(4))
    assert ours.select("paper_table", "row", "column", "published", "value", "outcome").rows() == [
        ("5", "All", "drift", "0.043", 0.0426, DIGITS), ("5", "All", "drift ±", "0.019", 0.0185, EXPLAINED),
        ("6", "Gemini 3 Pro", "sim_best", "0.946", 0.946, DIGITS),
        ("6", "Gemini 3 Pro", "Length ratio", "1.006", 1.0065, DIGITS),
        ("6", "Gemini 3 Pro", "Outlier rate", "3.4%", 3.4118, DIGITS),
        ("6", "DeepSeek v3.2", "Outlier rate", "6.7%", 6.7059, DIGITS),
        ("6", "GPT-5.2", "sim_best", "0.933", 0.9329, DIGITS),
        ("6", "GPT-5.2", "Length ratio", "1.117", 1.1165, DIGITS),
        ("7", "Claude Opus 4.5", "Sujato", "48.6%", 48.6471, DIGITS),
        ("7", "Gemini 3 Pro", "Sujato", "42.1%", 42.0588, DIGITS),
        ("7", "Gemini 3 Pro", "Bodhi", "44.5%", 44.5294, DIGITS),
    ]  # fmt: skip
    others = found.filter(pl.col("value").is_null())
    assert Counter(others.select("paper_table", "outcome").rows()) == {
        ("1", QUOTED): 6, ("1", ABSENT): 1, ("2", NEEDS): 1, ("3", NEEDS): 4, ("4", ABSENT): 1, ("4", NEEDS): 9,
        ("thresholds", QUOTED): 4, ("after deduplication", QUOTED): 4, ("5", NEEDS): 6, ("6", NEEDS): 4,
    }  # fmt: skip


def test_the_near_duplicates_of_palibench(realdata: Path, warehouse: Warehouse, tmp_path: Path) -> None:
    """Among the passages that pass the other filters by the published record: these filters need all translations."""
    root, name = realdata / "suttacentral", "palibench-construction"
    description = describe(tmp_path / f"{name}.yaml", "bilara", root, ["sujato"], language="pli", edition="ms")
    sources = scan([load(description)]).source.select("passage", "passage_id", "text")
    metadata = json.loads((realdata / "palibench/metadata/metadata.json").read_text(encoding="utf-8"))
    dropped = {each for kind, ids in metadata["dropped_passages"].items() if kind != "duplicate" for each in ids}
    failed = (
        pl.when(pl.col("passage_id").is_in(dropped))
        .then(pl.lit(["incomplete"]))
        .otherwise(pl.lit([], pl.List(pl.String)))
    )
    measured = sources.select("passage", reasons=failed)
    repeated = duplicates(measured, sources, {name: Filters()})
    selected = selection(sources, measured, repeated)
    store(warehouse, {"near_duplicate": repeated, "funnel": funnel(selected, [name])})
    found = reproduce(warehouse, "palibench", read(shipped()["palibench"])).drop_nulls("value")
    assert found.select("paper_table", "row", "published", "value", "outcome").rows() == [
        ("1", "Passages", "4,003", 4003, EQUAL), ("4", "Starting corpus", "4,003", 4003, EQUAL),
        ("4", "Near-duplicate Pali passages", "174", 174, EQUAL),
        ("4", "Final benchmark dataset", "1,700", 1700, EQUAL),
    ]  # fmt: skip


def test_the_anchors_of_jp_tl_bench(realdata: Path, warehouse: Warehouse) -> None:
    """From the published totals: the judgments themselves are not here, and so neither are the other slices."""
    file = realdata / "jp-tl-bench/baseset/v1.0/scores_overall.json"
    report = pl.DataFrame(json.loads(file.read_text(encoding="utf-8")))
    import_totals(warehouse, SHIPPED / "jp-tl-bench/totals.csv", "jp-tl-bench@1.0.0")
    totals = warehouse.read("anchor_total")
    overall = totals.filter(slice="overall").select("anchor", "matches", "wins")
    assert sorted(overall.rows()) == sorted(report.select("model", "matches", "wins").rows())
    directions = totals.filter(pl.col("slice") != "overall").group_by("anchor").agg(pl.sum("matches"), pl.sum("wins"))
    assert sorted(directions.rows()) == sorted(overall.rows())
    (contract,) = contracts(warehouse).values()
    store(warehouse, {"anchor_score": scores_of_totals(totals, contract)})
    found = reproduce(warehouse, "jp-tl-bench", read(shipped()["jp-tl-bench"]))
    assert Counter(found.select("paper_table", "outcome").rows()) == {
        ("items", EQUAL): 1, ("items", EXPLAINED): 2, ("items", NEEDS): 6, ("2", DIGITS): 34, ("2", EXPLAINED): 6,
        ("report", EQUAL): 40, ("report", DIGITS): 12, ("report", EXPLAINED): 48,
        ("report, EN→JA", EQUAL): 40, ("report, EN→JA", DIGITS): 14, ("report, EN→JA", EXPLAINED): 46,
        ("report, JA→EN", EQUAL): 40, ("report, JA→EN", DIGITS): 12, ("report, JA→EN", EXPLAINED): 48,
        ("tokens", NEEDS): 3, ("tokens", QUOTED): 2, ("3", DIGITS): 5, ("3", EXPLAINED): 3, ("3", NEEDS): 16,
        ("4", NEEDS): 12, ("5", NEEDS): 40, ("F, EN→JA", NEEDS): 256, ("F, JA→EN", NEEDS): 256,
    }  # fmt: skip
    rows = found.filter(outcome=EXPLAINED)
    of_reports = rows.filter(pl.col("paper_table").str.starts_with("report"))
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
