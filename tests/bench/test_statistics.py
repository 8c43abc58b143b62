"""How long the statistics of a whole benchmark take: 10 systems on 1,700 passages.

Figures are printed beside their targets; only what both ways compute and the ratio to the plain loop are asserted.
"""

import time
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.metrics.intervals import RESAMPLES, percentile_interval, resampling_weights
from benchmark_assets.metrics.measures import MEASURES, panel, summed
from benchmark_assets.reporting.comparisons import compare, standings
from benchmark_assets.reporting.leaderboard import summaries
from tests.metrics.scores import scores

pytestmark = pytest.mark.bench

SYSTEMS, PASSAGES, LOOPED = 10, 1700, 10
SIX = [each for each in MEASURES if each.name in ("sim_best", "drift", "length_ratio", "comet_avg", "bleu", "chrf")]


@pytest.fixture(scope="module")
def field() -> pl.DataFrame:
    """Ten systems whose scores and texts differ little, with statistics as long passages have them."""
    random = np.random.default_rng(1)
    frames = []
    for number in range(SYSTEMS):
        words = random.integers(60, 200, size=PASSAGES)
        hits = random.binomial(words[:, None], (0.75 - number / 100) ** np.arange(1, 5))
        bleu = np.column_stack([words, words, hits, words[:, None] - np.arange(4)])
        letters = np.column_stack([5 * words[:, None] - np.arange(6), words[:, None] - np.arange(2)])
        matches = random.binomial(letters, 0.7 - number / 100)
        chrf = np.stack([letters, letters, matches], axis=-1).reshape(PASSAGES, 24)
        frames.append(
            scores(random.normal(1 + number / 50, 0.4, size=PASSAGES).tolist(), [0.9] * PASSAGES, system=f"s{number}")
            .with_columns(
                sim_best=pl.Series(random.normal(0.94 - number / 500, 0.03, size=PASSAGES)),
                comet_avg=pl.Series(random.normal(0.7 - number / 500, 0.05, size=PASSAGES)),
                length_ratio=pl.Series(random.normal(1 + number / 100, 0.15, size=PASSAGES)),
                bleu_statistics=pl.Series(bleu.tolist()),
                chrf_statistics=pl.Series(chrf.tolist()),
            )
            .select(
                pl.lit("model").alias("kind"), pl.col("model").alias("system"), pl.lit("x").alias("corpus"),
                pl.exclude("model"),
            )
        )  # fmt: skip
    return pl.concat(frames)


def test_a_thousand_resamples_of_six_measures(field: pl.DataFrame) -> None:
    """Both ways start from the scores of passages, and from the same resamples."""
    resampling_weights.cache_clear()
    begun = time.perf_counter()
    systems = panel(field, SIX)
    weights = resampling_weights(PASSAGES)
    resampled = {each.name: each.of(summed(systems.statistics[each.name], weights)) for each in SIX}
    intervals = {name: [percentile_interval(values) for values in found.T] for name, found in resampled.items()}
    took = time.perf_counter() - begun
    assert {len(found) for found in intervals.values()} == {SYSTEMS}

    bleu, chrf = BLEU(), CHRF(word_order=2)
    begun = time.perf_counter()
    for at, row in enumerate(weights[:LOOPED]):
        drawn = np.repeat(np.arange(PASSAGES), row.astype(int))
        for number, own in enumerate(field.sort("system", "passage").partition_by("system", maintain_order=True)):
            picked = own[drawn]
            looped = {
                name: float(picked[name].to_numpy().mean())
                for name in ("sim_best", "drift", "length_ratio", "comet_avg")
            }
            for name, metric in (("bleu", bleu), ("chrf", chrf)):
                total = np.sum(picked[f"{name}_statistics"].to_list(), axis=0).tolist()
                looped[name] = metric._compute_score_from_stats(total).score
            for name, value in looped.items():
                assert_allclose(resampled[name][at, number], value, rtol=1e-9)
    plain = (time.perf_counter() - begun) * RESAMPLES / LOOPED
    print(
        f"\n{RESAMPLES:,} resamples of {SYSTEMS} systems x {PASSAGES:,} passages x {len(SIX)} measures: {took:.2f} s "
        f"(target 5); a plain loop over resamples: {plain:.0f} s, from {LOOPED} of them ({plain / took:.0f} times)"
    )
    assert took < plain / 10


def test_the_tables_of_ten_systems(field: pl.DataFrame) -> None:
    ways: dict[str, Callable[[], pl.DataFrame]] = {
        "summary of one model": lambda: summaries(field.filter(system="s0"), "system"),
        "45 comparisons in 6 measures, 1,000 resamples and 10,000 exchanges": lambda: compare(field),
    }
    steps = []
    for name, step in ways.items():
        resampling_weights.cache_clear()
        begun = time.perf_counter()
        found = step()
        steps.append(f"{name}: {time.perf_counter() - begun:.2f} s")
    begun = time.perf_counter()
    standings(field, found)
    steps.append(f"ranks, clusters and concordance: {time.perf_counter() - begun:.2f} s")
    print("\n" + "; ".join(steps))
    assert len(found) == 6 * SYSTEMS * (SYSTEMS - 1) / 2
