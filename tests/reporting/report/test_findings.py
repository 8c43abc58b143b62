"""The opening of a report: what it says of corpora of every size, what not, and how much an answer takes."""

from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.metrics.intervals import wilson
from benchmark_assets.metrics.significance import DIFFERENT, OPEN
from benchmark_assets.reporting.report.content import opened, parts
from benchmark_assets.reporting.report.findings import DEPENDENCE, WITHIN, findings, labels_needed
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.reporting.report.made import put

CORPUS = "fables"


def corpus(
    folder: Path, models: int, translators: int = 2, passages: int = 10, documents: int = 1, units: int = 4
) -> Warehouse:
    """A corpus whose models nobody has judged, as an update leaves it."""
    warehouse = DuckDBWarehouse(path=str(folder / "variorum.duckdb"))
    rows = [{"corpus": CORPUS, "passage": f"{CORPUS}/{at % documents}:{at}", "document": str(at % documents)}
            for at in range(passages)]  # fmt: skip
    put(warehouse, "corpus", [{"corpus": CORPUS, "audit": "{}", "scoring": "{}"}])
    put(warehouse, "source_text", rows)
    put(warehouse, "selection", [{"passage": row["passage"], "selected": True} for row in rows])
    systems = [
        *(("model", f"model{at}") for at in range(models)),
        *(("human", f"ann{at}") for at in range(translators)),
    ]
    size = {"corpus": CORPUS, "passages": passages, "units": units, "failures": 0, "major_rate": None}
    put(warehouse, "leaderboard", [
        {**size, "kind": kind, "system": system, "mean_references": float(translators - (kind == "human"))}
        for kind, system in systems
    ])  # fmt: skip
    return warehouse


def said(warehouse: Warehouse) -> tuple[str, str]:
    found, unsaid = findings(opened(warehouse), CORPUS)
    assert found
    assert unsaid
    return "\n".join(found), "\n".join(unsaid)


def test_ten_passages_with_one_model_are_described_and_what_they_do_not_show(tmp_path: Path) -> None:
    found, unsaid = said(corpus(tmp_path, 1))
    assert found.startswith("10 passages of 1 document, 2 translators to compare, 1 model.\nSimilarity of a translator")
    for words in (
        "model0 stands beside other models: it is the only one",
        "all passages are from one document",
        "make up 4 units (blocks of 3 passages), and an interval takes at least 5, that is, 15 passages, or",
        "a translator has only one other. It takes a third translation",
        "nobody has labeled outputs",
        "About 116 labels of a model's outputs, drawn at random, put its rate of errors within 10 points",
        "labels of all 10 outputs within 34",
        "variorum annotate FOLDER fables",
    ):
        assert words in unsaid


@pytest.mark.parametrize(
    ("models", "translators", "words"),
    [
        (0, 3, "there are no scored outputs"),
        (2, 1, "most outputs are compared with"),
        (3, 2, "Which model is best"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, models: int, translators: int, words: str) -> None:
    warehouse = corpus(tmp_path, models, translators)
    assert words in said(warehouse)[1]
    (own, *chapters) = parts(warehouse)
    assert own.kind == "corpus"
    assert [(each.kind, each.title) for each in chapters] == [("model", f"model{at}") for at in range(models)]
    for each in chapters:
        assert each.unsaid[0].endswith("too few of its outputs are labeled by people. It takes about 116 labels.")


def test_open_comparisons_say_how_many_documents_they_would_take(tmp_path: Path) -> None:
    warehouse = corpus(tmp_path, 2, 3, passages=60, documents=20, units=20)
    pair = {"corpus": CORPUS, "measure": "sim_best", "kind": "model", "other_kind": "model", "system": "model0"}
    put(warehouse, "system_comparison", [
        {**pair, "other": "model1", "answer": OPEN, "detectable": 0.01, "units": 20},
        {**pair, "other": "model2", "answer": DIFFERENT, "detectable": 0.01, "units": 20},
    ])  # fmt: skip
    among = {"corpus": CORPUS, "measure": "sim_best", "units": 20}
    put(warehouse, "human_range", [
        {**among, "model": "model0", "verdict": "among"}, {**among, "model": "model1", "verdict": OPEN, "needed": 45},
    ])  # fmt: skip
    found, unsaid = said(warehouse)
    assert "Of 2 pairs of models, 1 differ in similarity and 0 are equal within the margin; of 1 it cannot" in found
    assert "By similarity, model0 is within the range of the translators." in found
    assert "Differences of 0.0100 would be found" in unsaid  # and one of the margin, .005, with four times the units:
    assert "as small as the margin, 0.005, in half of these pairs takes about 80 documents." in unsaid
    assert "Whether model1 (about 45 documents) can be told" in unsaid
    put(warehouse, "system_comparison", [{**pair, "other": "model1", "answer": OPEN, "detectable": 0.1, "units": 20}])
    put(warehouse, "human_range", [{**among, "model": "model1", "verdict": OPEN, "needed": 99_000}])
    assert "in half of these pairs takes more than 400 documents." in said(warehouse)[1]
    assert "Whether model1 (more than 400 documents) can be told" in said(warehouse)[1]
    (shown,) = (each for part in parts(warehouse) for each in part.exhibits if each.title == "Models among people")
    assert "units needed" not in [column.heading for column in shown.columns]


def test_wide_rates_say_how_many_labels_are_enough(tmp_path: Path) -> None:
    warehouse = corpus(tmp_path, 2, 3, passages=300, documents=30, units=30)
    rates = {"corpus": CORPUS, "region": "all", "labelled": 20}
    put(warehouse, "error_estimate", [
        {**rates, "model": name, "major_rate": 0.3, "major_rate_low": 0.25 - at / 10, "major_rate_high": 0.4}
        for at, name in enumerate(["", "model0", "model1"])
    ])  # fmt: skip
    found, unsaid = said(warehouse)
    assert "people have labeled 20 outputs" in found
    assert "with 20 labels, that of model1 is known within 25 points. About 116 labels of each model" in unsaid


def test_the_advised_labels_give_what_is_promised_at_every_rate() -> None:
    labels = labels_needed() / DEPENDENCE
    for share in (0.05, 0.2, 0.5, 0.8):
        low, high = wilson(share * labels, labels)
        assert high - low <= 2 * WITHIN
    low, high = wilson(0.4 * labels, 0.8 * labels)
    assert high - low > 2 * WITHIN


def test_every_corpus_and_model_of_a_materialized_home_has_sentences(finished: Path, tmp_path: Path) -> None:
    """The small corpus: four segments of two documents, two models, no labels."""
    copy = tmp_path / "variorum.duckdb"
    copy.write_bytes((finished / "home" / "variorum.duckdb").read_bytes())
    shown = parts(DuckDBWarehouse(path=str(copy)))
    assert [(part.kind, part.title) for part in shown][:3] == [
        ("corpus", "tiny"),
        ("model", "alpha"),
        ("model", "beta"),
    ]
    for part in shown[:3]:
        assert part.findings
        assert part.unsaid
    for display in [display for part in shown for display in part.exhibits]:
        assert all(any(cell.text not in ("", "–", "none") for cell in each.cells) for each in display.columns)
        assert display.question or display.chart is None, display.title
    ranges = next(each for each in shown[0].exhibits if each.title == "Models among people")
    assert "0" not in [cell.text for column in ranges.columns for cell in column.cells]


def test_numbers_of_models_are_counted_where_names_would_fill_the_page(tmp_path: Path) -> None:
    warehouse = corpus(tmp_path, 9, 3)
    board = warehouse.read("leaderboard").drop("run_id", "updated_at")
    put(warehouse, "leaderboard", board.with_columns(failures=pl.lit(2, pl.Int32)))
    assert "model4 (2 of 10) and 4 others. Each counts as the worst" in said(warehouse)[0]
