"""Samples by difficulty: rates and intervals in simulated audits, beside plain random samples of the same size."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import MAJOR, VALID
from benchmark_assets.adjudication.triage import banded
from benchmark_assets.audit.anchored import anchored_estimates
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.rated import rated
from benchmark_assets.corpus.description import Audit
from benchmark_assets.metrics.intervals import Floats
from resources.keys import CORPUS
from tests.support import slack

OUTPUTS = 1500


def labeled(outputs: pl.DataFrame, errors: NDArray[np.bool_]) -> pl.DataFrame:
    """Labels of outputs."""
    label = pl.Series(np.where(errors, MAJOR, VALID), dtype=pl.String)
    return outputs.select("model", "passage", label=label, split=False, error_category=pl.lit("OTHER"))


def simulated(seed: int, runs: int, labels: int, rate: float, power: int) -> dict[tuple[str, str], Floats]:
    """Estimated rates with their intervals, minus the true rate, by sample and method; shape (runs, 3).

    The difficulty has a long tail. Chances of an error are proportional to a power of it. A judge who is right in 85 %
    has seen all outputs.
    """
    rng = np.random.default_rng(seed)
    difficulty = rng.gamma(2, 0.5, runs * OUTPUTS)
    truth = rng.random(len(difficulty)) < rate * difficulty**power / (1, 1, 1.5)[power]
    judged = np.where(rng.random(len(truth)) < 0.85, truth, ~truth)
    keys = [f"c{run:03}/{at:04}" for run in range(runs) for at in range(OUTPUTS)]
    outputs = pl.DataFrame({"model": "m", "passage": keys, "drift": difficulty, "unit": keys})
    people, panel = (labeled(outputs, errors) for errors in (truth, judged))
    audits = {f"c{run:03}": Audit(sample=labels) for run in range(runs)}
    drawn = banded(outputs, audits).join(outputs.select("passage", "unit"), on="passage", maintain_order="left")
    size = pl.col("sampled").sum().over(CORPUS)
    plain = drawn.with_columns(sampled=pl.int_range(pl.len()).over(CORPUS) < size, band=pl.lit("b"), queued=False)
    found = {}
    for name, triage in (("plain", plain), ("difficulty", drawn)):
        rows = rated(triage, panel, people.join(triage.filter("sampled"), on=["model", "passage"], how="semi"))
        from_labels = estimates(triage, rows).rename(lambda column: column.replace("any_rate", "rate"))
        with_judge = anchored_estimates(triage, rows, panel).filter(level="any")
        for method, table in (("labels", from_labels), ("anchored", with_judge)):
            of_all = table.filter(model="", region="all").sort("corpus").select("rate", "rate_low", "rate_high")
            found[name, method] = of_all.to_numpy() - truth.reshape(runs, OUTPUTS).mean(axis=1)[:, None]
    return found


@pytest.mark.proof
def test_a_sample_by_difficulty_gives_unbiased_rates(full: bool) -> None:
    """docs/decisions/audit.md has a part of the table."""
    batches, runs = (12, 50) if full else (1, 20)
    for labels in (100, 300) if full else (100,):
        for rate in (0.05, 0.3):
            for power in (0, 1, 2):
                parts = [simulated(seed, runs, labels, rate, power) for seed in range(batches)]
                widths = {}
                for key in parts[0]:
                    off, low, high = np.concatenate([part[key] for part in parts]).T
                    held, widths[key] = ((low <= 0) & (high >= 0)).mean(), (high - low).mean()
                    wider = widths[key] / widths["plain", key[1]] - 1
                    case = f"{labels} | {rate:.0%} | {power} | {' '.join(key)}"
                    print(f"| {case} | {100 * off.mean():+.2f} | {100 * held:.1f} | {100 * wider:+.1f} |")
                    error = 4 * off.std() / np.sqrt(len(off))
                    assert abs(off.mean()) < 0.005 + (0 if full else error), case
                    assert held >= 0.92 - slack(full, len(off)), case  # standard error 0.009
