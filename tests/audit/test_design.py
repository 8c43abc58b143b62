import numpy as np
import polars as pl
import pytest

from benchmark_assets.adjudication.triage import band_names
from benchmark_assets.audit.design import ACCURACIES, BELOW, SAMPLES, designs, width
from benchmark_assets.corpus.description import Audit
from benchmark_assets.metrics.anchoring import FEWEST_IN_STRATA


def triage(outputs: list[int]) -> pl.DataFrame:
    bands = band_names(Audit().bands)
    drawn = (25, 25, 13, 7, 6)
    rows = [("m", band, at > 1, n < drawn[at]) for at, band in enumerate(bands) for n in range(outputs[at])]
    return pl.DataFrame(rows, ["model", "band", "queued", "sampled"], orient="row")


def test_one_stratum_has_the_width_of_theory() -> None:
    sizes = np.array([10_000.0])
    alone = width(sizes, np.array([300.0]), sizes, 0.1, 0.5)
    assert alone == pytest.approx(2 * 1.96 * (0.09 / 300) ** 0.5, rel=1e-4)
    perfect = width(sizes, np.array([300.0]), sizes, 0.1, 1.0)
    assert perfect == pytest.approx(2 * 1.96 * (0.09 / 10_000) ** 0.5, rel=1e-4)
    assert width(sizes, np.array([0.0]), sizes, 0.1, 0.9) is None


def test_more_verdicts_and_labels_and_better_judges_buy_narrower_intervals() -> None:
    rows = designs(triage([850, 560, 170, 85, 35]), 0.05)
    assert len(rows) == len(BELOW) * len(SAMPLES)
    first = rows.row(0, named=True)
    assert (first["below"], first["labels"]) == (0, 25 + 25 + 13 + 7 + 6)
    assert first["verdicts"] == 25 + 25 + 170 + 85 + 35  # the queue and the sample
    assert rows.row(-1, named=True)["verdicts"] == 1700
    by_judges = rows.select("people", *(f"judges_{100 * accuracy:.0f}" for accuracy in ACCURACIES)).to_numpy()
    assert (np.diff(by_judges, axis=1) <= 0).all()
    for (labels,), part in rows.group_by(["labels"]):
        by_verdicts = part.sort("below")["judges_90"]
        assert (by_verdicts.diff().drop_nulls() <= 0).all()
        assert (by_verdicts[-1] < 0.93 * by_verdicts[0]) is (labels >= FEWEST_IN_STRATA)
        assert part["people"].n_unique() == 1
    for _, part in rows.group_by("below"):
        assert (part.sort("labels")["people"].diff().drop_nulls() < 0).all()
