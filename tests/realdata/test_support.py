"""Support on professional labels: the two sets of WMT21 on which it was chosen (TED) and measured (news)."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu  # type: ignore[import-untyped]

from benchmark_assets.metrics.entries import KINDS
from benchmark_assets.metrics.further import Named, scores
from benchmark_assets.validation.gold import labels
from benchmark_assets.validation.readers import read

pytestmark = [pytest.mark.realdata, pytest.mark.proof]

WORST = 0.1


@pytest.mark.parametrize(
    ("name", "pooled", "lift", "with_length"),
    [("ted-zhen", 0.621, 1.54, 1.92), ("newstest2021-ende", 0.675, 1.80, 2.17)],
)
def test_outputs_with_low_support_have_more_major_errors(
    realdata: Path, full: bool, name: str, pooled: float, lift: float, with_length: float
) -> None:
    """`lift` is the rate of errors among the worst tenth, as a multiple of the rate of all outputs."""
    (gold,) = read(realdata / "gold" / name)
    rows = labels(gold).filter(~pl.col("human"))
    if not full:
        rows = rows.join(rows.select("passage").unique(maintain_order=True).head(8), on="passage")
    outputs = rows.select("system", "passage", "text", tokenizer=pl.lit("13a"))
    sources = rows.select("passage", text="source").unique()
    found, spans = scores(
        {"support": Named(KINDS["support"])}, outputs, gold.references, sources, ["system", "passage"]
    )
    scored = rows.join(found.select("system", "passage", support="score"), on=["system", "passage"])
    doubt, major = 1 - scored["support"].to_numpy(), scored["major"].to_numpy()
    assert np.all((doubt >= 0) & (doubt < 0.6))
    assert set(spans["severity"]) <= {"unsupported", "missing"}
    if full:
        assert float(mannwhitneyu(doubt[major], doubt[~major]).statistic) / (major.sum() * (~major).sum()) == (
            pytest.approx(pooled, abs=0.002)
        )
        lengths = scored["source"].str.len_chars().to_numpy()
        for suspicion, expected in ((doubt, lift), (doubt * np.sqrt(lengths), with_length)):
            worst = np.argsort(-suspicion, kind="stable")[: int(np.ceil(WORST * len(major)))]
            assert major[worst].mean() / major.mean() == pytest.approx(expected, abs=0.03)
