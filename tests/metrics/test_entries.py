import dagster as dg
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sacrebleu.metrics.ter import TER

from benchmark_assets.automation.due import due
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics.entries import BY_KIND, METRICS, means, score_settings, scores
from benchmark_assets.metrics.measures import MEASURES
from benchmark_assets.partitions import range_tags
from resources import catalogue
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.support import CORE, MODELS, PASSAGES, LetterEmbedder

OUTPUTS = pl.DataFrame(
    {
        "model": ["m", "m", "m", "n"],
        "passage": ["x/1", "x/2", "x/3", "x/1"],
        "text": ["the cat sat", "a mouse", "alone", "道可道"],
        "tokenizer": ["13a", "13a", "13a", "zh"],
    }
)
REFERENCES = pl.DataFrame(
    {
        "passage": ["x/1", "x/1", "x/2"],
        "translator": ["ann", "ben", "ann"],
        "text": ["a cat sat", "the dog 道 非道", "one mouse"],
    }
)
SOURCES = pl.DataFrame({"passage": ["x/1", "x/2", "x/3"], "text": ["feles", "mus", ""]})


def test_ter_is_sacrebleus_against_all_references() -> None:
    rows, spans = scores({"ter": None}, OUTPUTS, REFERENCES, SOURCES, ["model", "passage"])
    assert spans.is_empty()
    assert rows.select("model", "passage", "metric").rows() == [
        (*key, "ter") for key in OUTPUTS.select("model", "passage").rows()
    ]
    first = TER().sentence_score("the cat sat", ["a cat sat", "the dog 道 非道"]).score
    second = TER().sentence_score("a mouse", ["one mouse"]).score
    cut = TER().sentence_score("道 可 道", ["a cat sat", "the dog 道 非 道"]).score
    assert rows["score"].to_list() == [first, second, None, cut]
    assert [text.endswith("|cut before by zh") for text in rows["signature"]] == [False, False, False, True]
    assert rows["signature"][0].startswith("TER|nrefs:var|case:lc|tok:tercom|")


def test_translators_are_scored_against_the_others() -> None:
    candidates = REFERENCES.with_columns(tokenizer=pl.lit("13a")).rename({"translator": "own"})
    rows, _ = scores({"ter": None}, candidates, REFERENCES, SOURCES, ["passage", "own"])
    expected = [
        TER().sentence_score(*pair).score
        for pair in (("a cat sat", ["the dog 道 非道"]), ("the dog 道 非道", ["a cat sat"]))
    ]
    assert rows["score"].to_list() == [*expected, None]


def test_stored_scores_of_the_same_texts_and_signature_are_kept() -> None:
    on = ["model", "passage"]
    rows, spans = scores({"ter": None}, OUTPUTS, REFERENCES, SOURCES, on)
    marked = rows.with_columns(score=pl.col("score") + 1000)
    changed = OUTPUTS.with_columns(text=pl.when(pl.col("passage") == "x/2").then(pl.lit("one")).otherwise("text"))
    again, _ = scores({"ter": None, "second": None}, changed, REFERENCES, SOURCES, on, marked, spans)
    found = {(*key, metric): score for *key, metric, score in again.select(*on, "metric", "score").iter_rows()}
    assert len(again) == 8
    assert found["m", "x/1", "ter"] > 1000  # kept
    assert found["m", "x/2", "ter"] == TER().sentence_score("one", ["one mouse"]).score  # its text changed
    assert found["m", "x/1", "second"] < 1000  # another metric
    other = REFERENCES.with_columns(text=pl.col("text") + "!")
    assert (scores({"ter": None}, OUTPUTS, other, SOURCES, on, marked, spans)[0]["score"].drop_nulls() < 1000).all()


def test_without_metrics_no_partition_applies(tmp_path: object) -> None:
    warehouse = DuckDBWarehouse(path=f"{tmp_path}/w.duckdb")
    partitions = pl.DataFrame({"model": ["m"], "passage": ["x/1"]})
    assert score_settings(warehouse, {}, partitions).is_empty()
    two = score_settings(warehouse, {"ter": None, "k": Comet(checkpoint="a/b", kind="kiwi")}, partitions)
    ter, _ = scores({"ter": None}, OUTPUTS, REFERENCES, SOURCES, ["passage"])
    assert two["settings"].item() == f"k: a/b|unbabel-comet 2.2.7; ter: {ter['signature'][0]}"


def test_means_have_the_interval_of_units_within_the_range() -> None:
    rows = pl.DataFrame(
        {
            "kind": "model", "system": "m", "passage": [f"x/{i}" for i in range(13)], "metric": "ter",
            "score": [*[float(i % 3) for i in range(12)], None], "signature": "TER|…",
            "unit": [str(i // 2) for i in range(13)], "unit_kind": "documents",
        }
    )  # fmt: skip
    row = means({"ter": None}, rows).row(0, named=True)
    assert (row["corpus"], row["kind"], row["system"], row["metric"], row["passages"]) == ("x", "model", "m", "ter", 12)
    assert_allclose(row["value"], 1.0)
    assert 0 <= row["value_low"] < 1 < row["value_high"]
    assert row["signature"].startswith("TER|…; mean over passages; 95 % intervals")
    assert row["signature"].endswith("; units: documents")
    few = means({"ter": None}, rows.head(4)).row(0, named=True)
    assert (few["value_low"], few["value_high"]) == (None, None)
    zero = means({"ter": None}, rows.with_columns(score=pl.when(pl.col("unit") == "0").then(9.0).otherwise(0.0)))
    assert zero["value_low"].item() == 0
    assert means({"ter": None}, rows.clear()).is_empty()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_entries_agree_with_the_catalogue_and_the_measures(metric: object) -> None:
    entry = BY_KIND[metric.name]  # type: ignore[attr-defined]
    for table in (entry.table, entry.human_table):
        columns = catalogue.table(table).columns
        if entry.score is not None:
            assert columns["score"].unit == "measure"
        else:
            least, most = columns[entry.name].least, columns[entry.name].most
            assert least is None or least <= entry.least or entry.least == float("-inf")
            assert most is None or most >= entry.most or entry.most == float("inf")
    for measure in MEASURES:
        if measure.name == entry.name:
            assert measure.better == entry.better


def test_every_kind_of_checkpoint_has_an_entry() -> None:
    assert set(EXAMPLES) - {"comet"} | {"ter"} == {metric.name for metric in METRICS if metric.score is not None}
    assert set(catalogue.shared()["metric"].values) - {"human_spread"} <= set(BY_KIND)


def test_assets_score_outputs_and_translators_once_a_metric_is_named(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    names = ["segment_metric", "human_metric", "metric_summary"]
    assert all(due(built, instance, dg.AssetKey(name)).rows.is_empty() for name in names)
    resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "metrics": {"ter": None}}
    named = build_definitions(rooms=CORE, resource_overrides=resources)
    counts = {name: len(due(named, instance, dg.AssetKey(name)).rows) for name in names}
    assert counts == {"segment_metric": 6, "human_metric": 3, "metric_summary": 1}
    job = named.resolve_implicit_global_asset_job_def()
    partitions = {
        "segment_metric": range_tags(f"{MODELS[0]}|{PASSAGES[0]}", f"{MODELS[-1]}|{PASSAGES[-1]}"),
        "human_metric": range_tags(PASSAGES[0], PASSAGES[-1]),
        "metric_summary": {},
    }
    for name, tags in partitions.items():
        part = job.get_subset(asset_selection={dg.AssetKey(name)})
        assert part.execute_in_process(instance=instance, tags=tags).success
    assert len(warehouse.read("segment_metric")) == 6
    assert len(warehouse.read("human_metric")) == 9
    assert warehouse.read("metric_span").is_empty()
    board = warehouse.read("metric_summary")
    assert set(board.select("kind", "system").iter_rows()) == {
        *(("model", model) for model in MODELS), *(("human", translator) for translator in ("ann", "ben", "cleo"))
    }  # fmt: skip
    assert set(board["passages"]) == {3}
    # Once it is named no more, its rows are removed.
    job = built.resolve_implicit_global_asset_job_def().get_subset(asset_selection={dg.AssetKey("segment_metric")})
    assert job.execute_in_process(instance=instance, tags=partitions["segment_metric"]).success
    assert warehouse.read("segment_metric").is_empty()
