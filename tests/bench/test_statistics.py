"""How long the statistics of a whole benchmark take: 10 systems on 1,700 passages.

Figures are printed; only what both ways compute is asserted, and at full size that resampled units
cost no more than resampled passages.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from benchmark_assets.audit.metric_agreement import agreements, comparisons
from benchmark_assets.metrics.entries import MEASURES, on
from benchmark_assets.metrics.intervals import (
    Floats,
    Units,
    by_unit,
    resampling_weights,
    sample_and_resamples,
)
from benchmark_assets.metrics.measures import estimates, panel, summed
from benchmark_assets.reporting.comparisons import compare, standings
from benchmark_assets.reporting.leaderboard import summaries
from tests.metrics.scores import scores

pytestmark = pytest.mark.bench

UNITS = 311
"""Documents of PaliBench's 1,700 passages."""

NAMES = ("sim_best", "drift", "outlier_rate", "length_ratio", "length_offset", "comet_avg", "bleu", "chrf")
EIGHT = [each for each in MEASURES if each.name in NAMES]


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
            .rename({"model": "system"})
            .with_columns(
                corpus=pl.lit("x"), apart=pl.lit(""), unit=pl.Series([f"d{at * UNITS // 1700}" for at in range(count)])
            )
        )
    return pl.concat(frames)


def test_intervals_and_resamples_of_eight_measures(field: pl.DataFrame, size: Size, full: bool) -> None:
    """Units are summed first, so that units cost less than passages, which were resampled before."""
    systems = panel(field, EIGHT)
    tables = [[systems.statistics[each.name][at] for each in EIGHT] for at in range(size.systems)]

    def resamples(units: Units) -> list[Floats]:
        weights = sample_and_resamples(int(units.max()) + 1)
        found = []
        for each in EIGHT:
            sums = by_unit(systems.statistics[each.name].transpose(1, 0, 2), units).transpose(1, 0, 2)
            found.append(each.of(summed(sums, weights)))
        return found

    seconds = {}
    passages = np.arange(size.passages)
    ways: dict[str, Callable[[], object]] = {
        "resamples of passages": lambda: resamples(passages),
        "resamples of units": lambda: resamples(systems.units),
        "intervals of units": lambda: [estimates(EIGHT, each, systems.units) for each in tables],
    }
    for name, way in ways.items():
        resampling_weights.cache_clear()
        begun = time.perf_counter()
        way()
        seconds[name] = time.perf_counter() - begun
    print(f"\n{size.systems} systems x {size.passages:,} passages x {len(EIGHT)} measures: " + "; ".join(
        f"{name} {took:.2f} s" for name, took in seconds.items()
    ))  # fmt: skip
    observed = [table[0] for table in resamples(systems.units)]
    assert_allclose(observed, [table[0] for table in resamples(passages)], rtol=1e-9)
    assert not full or seconds["resamples of units"] <= seconds["resamples of passages"]


def test_the_tables_of_all_systems(field: pl.DataFrame, size: Size) -> None:
    ways: dict[str, Callable[[], pl.DataFrame]] = {
        "summary of one model": lambda: summaries(field.filter(system="s0"), "system"),
        "comparisons of all pairs in 6 measures": lambda: compare(field),
    }
    steps = []
    for name, step in ways.items():
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
    rows = frame.with_columns(
        unit="passage", raters=pl.lit("people"), corpus=pl.lit("x"), label=pl.Series(labels.tolist())
    )
    metrics = [metric.name for metric in on("agreement")]
    names = [*(set(metrics) - {"length_error"}), "length_ratio"]
    scores = frame.with_columns(**{name: pl.Series(quality + random.normal(size=len(keys))) for name in sorted(names)})
    begun = time.process_time()
    agreement = agreements(rows, scores)
    between = time.process_time()
    tests = comparisons(rows, scores)
    ended = time.process_time()
    print(
        f"\n{len(agreement)} statistics of {len(metrics)} metrics on {size.systems} systems x "
        f"{size.passages:,} passages: {between - begun:.1f} s of one core; {len(tests)} tests of pairs of metrics: "
        f"{ended - between:.1f} s"
    )
    assert agreement["value"].null_count() == 0
    assert len(tests) == len(metrics) * (len(metrics) - 1)
    assert not full or ended - begun < 120
