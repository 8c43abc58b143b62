"""Drift of people by number of references: eight translators of the Daodejing with the real MiniLM."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmark_assets.corpus.units import divided
from benchmark_assets.reporting.left_out import left_out_scores
from benchmark_assets.reporting.outliers import human_drifts
from resources.embedders import PackagedEmbedder
from tests.reporting.similarities import outputs, pairs, rates, thresholds

pytestmark = [pytest.mark.realdata, pytest.mark.proof]


def test_left_out_translators_drift_by_one_with_any_number_of_references(realdata: Path, full: bool) -> None:
    """All subsets of 2 to 7 of the others, in the chapters that all eight translated."""
    file = realdata / "daodejing" / "daodejing.jsonl"
    chapters = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    translators = sorted(chapters[0]["references"])
    complete = [each for each in chapters if set(each["references"]) == set(translators)][: None if full else 6]
    texts = [each["references"][name] for each in complete for name in translators]
    vectors = PackagedEmbedder().embed(texts).vectors.reshape(len(complete), 8, -1).astype(np.float64)
    numbers = [each["passage_id"] for each in complete]
    passages = pl.DataFrame({"passage": [f"x/{at}" for at in range(len(numbers))], "passage_id": numbers})
    passages = passages.with_columns(corpus=pl.lit("x"), document=pl.lit("daodejing"))
    units = passages.join(divided(passages.with_columns(position=pl.int_range(len(numbers)))), on="passage")
    similarities = pairs(vectors, translators)

    drifts = human_drifts(similarities)
    means = pl.col("drift_adjusted", "drift").list.mean()
    by_count = drifts.with_columns(means).group_by("references").agg(pl.col("drift", "drift_adjusted").mean())
    by_count = by_count.sort("references")
    by_translator = drifts.with_columns(means).pivot(
        "references", index="translator", values="drift_adjusted", aggregate_function="mean"
    )
    table = thresholds(drifts, units, {"x": 0.05})
    scores = left_out_scores(outputs({}, vectors, translators), similarities)
    with pl.Config(tbl_rows=20, tbl_cols=20, tbl_width_chars=200, float_precision=3):
        print(by_count, by_translator, table.drop("embedder", "signature"), sep="\n")
        print(rates(scores, table, units).drop("signature"))

    assert by_count["references"].to_list() == [2, 3, 4, 5, 6, 7]
    assert (by_count["drift"].diff().drop_nulls() < 0).all()
    low, high = (0.9, 1.1) if full else (0.85, 1.25)
    assert by_count["drift_adjusted"].is_between(low, high).all()
    assert table["threshold"][0] > table["threshold"][-1]
    assert (table["published_rate"] > 0.05).all()
