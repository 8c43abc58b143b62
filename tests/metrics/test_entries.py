import dagster as dg
import polars as pl
import pytest
from sacrebleu.metrics.ter import TER

from benchmark_assets.automation.due import due
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics.entries import BY_NAME, KINDS, METRICS
from benchmark_assets.metrics.further import Named, named, score_settings, scores
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.partitions import range_tags
from benchmark_assets.sensitivity import assets as sensitivity
from resources import catalogue
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.provider.registry import MetricEntry
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
TERM = Named(KINDS["ter"])


def test_ter_is_sacrebleus_against_all_references() -> None:
    rows, spans = scores({"ter": TERM}, OUTPUTS, REFERENCES, SOURCES, ["model", "passage"])
    assert spans.is_empty()
    assert rows.select("model", "passage", "metric").rows() == [
        (*key, "ter") for key in OUTPUTS.select("model", "passage").rows()
    ]
    first = TER().sentence_score("the cat sat", ["a cat sat", "the dog 道 非道"]).score
    second = TER().sentence_score("a mouse", ["one mouse"]).score
    cut = TER().sentence_score("道 可 道", ["a cat sat", "the dog 道 非 道"]).score
    assert rows["score"].to_list() == [first, second, None, cut]
    assert [text.endswith("|cut before by zh+planes2-3") for text in rows["signature"]] == [False, False, False, True]
    assert rows["signature"][0].startswith("TER|nrefs:var|case:lc|tok:tercom|")


def test_translators_are_scored_against_the_others() -> None:
    candidates = REFERENCES.with_columns(tokenizer=pl.lit("13a")).rename({"translator": "own"})
    rows, _ = scores({"ter": TERM}, candidates, REFERENCES, SOURCES, ["passage", "own"])
    expected = [
        TER().sentence_score(*pair).score
        for pair in (("a cat sat", ["the dog 道 非道"]), ("the dog 道 非道", ["a cat sat"]))
    ]
    assert rows["score"].to_list() == [*expected, None]


def test_stored_scores_of_the_same_texts_and_signature_are_kept() -> None:
    on = ["model", "passage"]
    rows, spans = scores({"ter": TERM}, OUTPUTS, REFERENCES, SOURCES, on)
    marked = rows.with_columns(score=pl.col("score") + 1000)
    changed = OUTPUTS.with_columns(text=pl.when(pl.col("passage") == "x/2").then(pl.lit("one")).otherwise("text"))
    errors = pl.DataFrame([("m", passage, "ter") for passage in ("x/1", "x/2")], [*on, "metric"], orient="row")
    errors = pl.concat([spans, errors], how="diagonal")
    again, kept = scores({"ter": TERM, "second": TERM}, changed, REFERENCES, SOURCES, on, marked, errors)
    assert kept.select(on).rows() == [("m", "x/1")]
    found = {(*key, metric): score for *key, metric, score in again.select(*on, "metric", "score").iter_rows()}
    assert len(again) == 8
    assert found["m", "x/1", "ter"] > 1000  # kept
    assert found["m", "x/2", "ter"] == TER().sentence_score("one", ["one mouse"]).score  # its text changed
    assert found["m", "x/1", "second"] < 1000  # another metric
    other = REFERENCES.with_columns(text=pl.col("text") + "!")
    assert (scores({"ter": TERM}, OUTPUTS, other, SOURCES, on, marked, spans)[0]["score"].drop_nulls() < 1000).all()


def test_without_metrics_no_partition_applies(tmp_path: object) -> None:
    warehouse = DuckDBWarehouse(path=f"{tmp_path}/w.duckdb")
    partitions = pl.DataFrame({"model": ["m"], "passage": ["x/1"]})
    assert score_settings(warehouse, {}, partitions).is_empty()
    two = score_settings(
        warehouse, {"ter": TERM, "k": Named(KINDS["kiwi"], Comet(checkpoint="a/b", kind="kiwi"))}, partitions
    )
    ter, _ = scores({"ter": TERM}, OUTPUTS, REFERENCES, SOURCES, ["passage"])
    assert two["settings"].item() == f"k: a/b|unbabel-comet 2.2.7; ter: {ter['signature'][0]}"


DIRECTIONS = {
    "sim_best": 1, "sim_centroid": 1, "drift": -1, "drift_adjusted": -1, "drift_euclidean": -1, "chrf": 1, "bleu": 1,
    "chrf_mean": 1, "bleu_mean": 1, "length_ratio": 0, "comet_avg": 1, "comet_best": 1, "length_offset": -1,
    "length_error": -1, "outlier_rate": -1, "ter": -1, "kiwi": 1, "xcomet": 1, "metricx-23": -1, "metricx-23-qe": -1,
    "metricx-24": -1, "metricx-24-qe": -1,
}  # fmt: skip
"""Published numbers depend on these metrics and directions; a new metric needs no line here."""


@pytest.mark.parametrize("name", DIRECTIONS)
def test_no_metric_vanishes_or_changes_direction(name: str) -> None:
    assert BY_NAME[name].better == DIRECTIONS[name]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_has_columns_in_its_tables(metric: Metric) -> None:
    """And a label of its own, and a place on a board; its margin hides no large difference of shares."""
    assert metric.boards
    assert not metric.proportion or (metric.margin or 0) < 0.1
    columns = ["score"] if metric.score else metric.passage.meta.root_names()
    for table in metric.family:
        assert {*columns} <= catalogue.table(table).columns.keys()
    assert [other.name for other in METRICS if other.shown.label == metric.shown.label] == [metric.name]


def test_every_kind_of_checkpoint_has_an_entry() -> None:
    assert set(EXAMPLES) - {"comet"} <= KINDS.keys()


@pytest.mark.parametrize(
    ("name", "entry", "problem"),
    [
        ("second", MetricEntry(kind="second"), "'second' is not a kind"),
        ("drift", MetricEntry(kind="ter"), "the name of another"),
    ],
)
def test_unknown_kinds_and_names_of_columns_are_rejected(name: str, entry: MetricEntry, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        named({name: entry})


def test_assets_score_outputs_and_translators_once_a_metric_is_named(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    names = ["segment_metric", "human_metric", "metric_summary", "sensitivity"]
    assert all(due(built, instance, dg.AssetKey(name)).rows.is_empty() for name in names)
    resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "metrics": {"ter": TERM}}
    named = build_definitions(rooms=[*CORE, sensitivity], resource_overrides=resources)
    counts = {name: len(due(named, instance, dg.AssetKey(name)).rows) for name in names}
    assert counts == {"segment_metric": 6, "human_metric": 3, "metric_summary": 0, "sensitivity": 0}
    job = named.resolve_implicit_global_asset_job_def()
    partitions = {
        "segment_metric": range_tags(f"{MODELS[0]}|{PASSAGES[0]}", f"{MODELS[-1]}|{PASSAGES[-1]}"),
        "human_metric": range_tags(PASSAGES[0], PASSAGES[-1]),
        "metric_summary": {},
        "sensitivity": {},
    }
    for name, tags in partitions.items():
        part = job.get_subset(asset_selection={dg.AssetKey(name)})
        assert part.execute_in_process(instance=instance, tags=tags).success
    assert len(warehouse.read("segment_metric")) == 6
    assert len(warehouse.read("human_metric")) == 9 + len(warehouse.read("damaged_text"))
    detected = warehouse.read("sensitivity").filter(metric="ter", severity=3, kind="all").row(0, named=True)
    variants = warehouse.read("human_metric", columns=["passage", "translator", "kind", "severity", "score"])
    sound = variants.filter(kind="none").select("passage", "translator", sound="score")
    damaged = variants.filter(severity=3).join(sound, on=["passage", "translator"]).select("score", "sound").rows()
    worse = [(score > other) + (score == other) / 2 for score, _ in damaged for _, other in damaged]
    assert detected["auc"] == pytest.approx(sum(worse) / len(worse))
    assert detected["signature"].endswith("; ter: " + warehouse.read("segment_metric")["signature"][0])
    assert warehouse.read("metric_span").is_empty()
    board = warehouse.read("metric_summary").filter(dimension="")
    assert set(board.select("kind", "system").iter_rows()) == {
        *(("model", model) for model in MODELS), *(("human", translator) for translator in ("ann", "ben", "cleo"))
    }  # fmt: skip
    assert set(board["passages"]) == {3}
    # Once it is named no more, its rows are removed.
    job = built.resolve_implicit_global_asset_job_def().get_subset(asset_selection={dg.AssetKey("segment_metric")})
    assert job.execute_in_process(instance=instance, tags=partitions["segment_metric"]).success
    assert warehouse.read("segment_metric").is_empty()
