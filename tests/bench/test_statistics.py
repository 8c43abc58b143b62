"""How long the statistics of a whole benchmark take: 10 systems on 1,700 passages.

Figures are printed beside their targets; only what both ways compute is asserted, and at full size the ratio to the
plain loop.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from benchmark_assets.audit.metric_agreement import GOODNESS, agreements, comparisons
from benchmark_assets.metrics.intervals import RESAMPLES, percentile_interval, resampling_weights
from benchmark_assets.metrics.measures import MEASURES, panel, summed
from benchmark_assets.reporting.comparisons import compare, standings
from benchmark_assets.reporting.leaderboard import summaries
from tests.metrics.scores import scores

pytestmark = pytest.mark.bench

LOOPED = 10
SIX = [each for each in MEASURES if each.name in ("sim_best", "drift", "length_ratio", "comet_avg", "bleu", "chrf")]


class Size(NamedTuple):
    """Of a benchmark."""

    systems: int
    passages: int


@pytest.fixture(scope="module")
def size(full: bool) -> Size:
    return Size(10, 1700) if full else Size(3, 40)


@pytest.fixture(scope="module")
def field(size: Size) -> pl.DataFrame:
    """Systems whose scores and texts differ little, with statistics as long passages have them."""
    count = size.passages
    random = np.random.default_rng(1)
    frames = []
    for number in range(size.systems):
        words = random.integers(60, 200, size=count)
        hits = random.binomial(words[:, None], (0.75 - number / 100) ** np.arange(1, 5))
        bleu = np.column_stack([words, words, hits, words[:, None] - np.arange(4)])
        letters = np.column_stack([5 * words[:, None] - np.arange(6), words[:, None] - np.arange(2)])
        matches = random.binomial(letters, 0.7 - number / 100)
        chrf = np.stack([letters, letters, matches], axis=-1).reshape(count, 24)
        frames.append(
            scores(random.normal(1 + number / 50, 0.4, size=count).tolist(), [0.9] * count, system=f"s{number}")
            .with_columns(
                sim_best=pl.Series(random.normal(0.94 - number / 500, 0.03, size=count)),
                comet_avg=pl.Series(random.normal(0.7 - number / 500, 0.05, size=count)),
                length_ratio=pl.Series(random.normal(1 + number / 100, 0.15, size=count)),
                bleu_statistics=pl.Series(bleu.tolist()),
                chrf_statistics=pl.Series(chrf.tolist()),
            )
            .select(
                pl.lit("model").alias("kind"), pl.col("model").alias("system"), pl.lit("x").alias("corpus"),
                pl.exclude("model"),
            )
        )  # fmt: skip
    return pl.concat(frames)


def test_a_thousand_resamples_of_six_measures(field: pl.DataFrame, size: Size, full: bool) -> None:
    """Both ways start from the scores of passages, and from the same resamples."""
    resampling_weights.cache_clear()
    begun = time.perf_counter()
    systems = panel(field, SIX)
    weights = resampling_weights(size.passages)
    resampled = {each.name: each.of(summed(systems.statistics[each.name], weights)) for each in SIX}
    intervals = {name: [percentile_interval(values) for values in found.T] for name, found in resampled.items()}
    took = time.perf_counter() - begun
    assert {len(found) for found in intervals.values()} == {size.systems}

    bleu, chrf = BLEU(), CHRF(word_order=2)
    begun = time.perf_counter()
    for at, row in enumerate(weights[:LOOPED]):
        drawn = np.repeat(np.arange(size.passages), row.astype(int))
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
        f"\n{RESAMPLES:,} resamples of {size.systems} systems x {size.passages:,} passages x {len(SIX)} measures: "
        f"{took:.2f} s (target 5); a plain loop over resamples: {plain:.0f} s, from {LOOPED} of them "
        f"({plain / took:.0f} times)"
    )
    assert not full or took < plain / 10


def test_the_tables_of_all_systems(field: pl.DataFrame, size: Size) -> None:
    ways: dict[str, Callable[[], pl.DataFrame]] = {
        "summary of one model": lambda: summaries(field.filter(system="s0"), "system"),
        "comparisons of all pairs in 6 measures, 1,000 resamples and 10,000 exchanges": lambda: compare(field),
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
    assert len(found) == 6 * size.systems * (size.systems - 1) / 2


def test_agreement_of_all_metrics_with_labels_of_all_outputs(size: Size, full: bool) -> None:
    """Nine metrics; three labels, as people give them, so that most pairs of outputs are tied."""
    random = np.random.default_rng(3)
    keys = [(f"s{system}", f"x/{passage:04}") for system in range(size.systems) for passage in range(size.passages)]
    quality = random.normal(size=len(keys))
    labels = np.array(SUBSTANTIVE)[np.digitize(-quality, [1, 2])]
    frame = pl.DataFrame(keys, schema=["model", "passage"], orient="row")
    rows = frame.with_columns(raters=pl.lit("people"), corpus=pl.lit("x"), label=pl.Series(labels.tolist()))
    names = [*(set(GOODNESS) - {"length_error"}), "length_ratio"]
    scores = frame.with_columns(**{name: pl.Series(quality + random.normal(size=len(keys))) for name in sorted(names)})
    begun = time.process_time()
    agreement = agreements(rows, scores)
    between = time.process_time()
    tests = comparisons(rows, scores)
    ended = time.process_time()
    print(
        f"\n{len(agreement)} statistics of {len(GOODNESS)} metrics on {size.systems} systems x "
        f"{size.passages:,} passages: {between - begun:.1f} s of one core; {len(tests)} tests of pairs of metrics: "
        f"{ended - between:.1f} s"
    )
    assert agreement["value"].null_count() == 0
    assert len(tests) == len(GOODNESS) * (len(GOODNESS) - 1)
    assert not full or ended - begun < 120
