import numpy as np
import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.anchored import anchored_estimates
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.rated import rated
from tests.audit.published import NO_VERDICTS


def audited(outputs: int, judged: float, seed: int = 1) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Triage of two models, labels of a sample, and verdicts that agree with people in nine of ten outputs.

    The panel judges all outputs above the threshold, the sample, and a part of the other outputs.
    """
    rng = np.random.default_rng(seed)
    keys = pl.DataFrame({"model": ["a", "b"]}).join(pl.DataFrame({"number": range(outputs)}), how="cross")
    far = rng.random(len(keys)) < 0.2
    truth = np.where(rng.random(len(keys)) < np.where(far, 0.4, 0.1), rng.choice([MINOR, MAJOR], len(keys)), VALID)
    verdict = np.where(rng.random(len(keys)) < 0.9, truth, rng.choice([MINOR, MAJOR, VALID], len(keys)))
    rows = keys.select(
        "model", passage=pl.format("x/{}", "number"), unit=pl.format("x/{}", pl.col("number") // 2),
        band=pl.Series(np.where(far, ">1.5", "0.0-1.5")), queued=pl.Series(far), drift=pl.lit(1.0),
        sampled=pl.col("number") < outputs // 10, truth=pl.Series(truth), verdict=pl.Series(verdict),
        screened=pl.Series(rng.random(len(keys)) < judged), error_category=pl.lit("OTHER"),
    )  # fmt: skip
    labels = rows.filter("sampled").select("model", "passage", "error_category", annotator=pl.lit("p"), label="truth")
    panel = rows.filter(pl.col("queued") | pl.col("sampled") | pl.col("screened"))
    panel = panel.select("model", "passage", "error_category", label="verdict", split=False)
    return rows.drop("truth", "verdict", "screened", "error_category"), labels, panel


def test_verdicts_narrow_the_intervals_where_the_panel_was_asked() -> None:
    triage, labels, panel = audited(2000, 0.5)
    rows = rated(triage, panel, labels)
    found = anchored_estimates(triage, rows, panel).rows_by_key(["model", "region", "level"], named=True, unique=True)
    every = found["", "all", "any"]
    assert (every["outputs"], every["labelled"], every["covered"]) == (4000, 400, 1)
    assert every["judged"] == len(panel)
    assert every["narrower"] > 0.15
    assert every["tuning"] == pytest.approx(1, abs=0.3)
    assert every["rate_low"] < 0.2 * 0.4 + 0.8 * 0.1 < every["rate_high"]
    assert found["a", "below", "major"]["labelled"] < found["a", "all", "major"]["labelled"] == 200


def test_without_verdicts_below_the_threshold_nothing_is_gained_there() -> None:
    triage, labels, panel = audited(2000, 0)
    found = anchored_estimates(triage, rated(triage, panel, labels), panel)
    below = found.filter(region="below")
    assert (below["narrower"] == 0).all()
    assert (below["tuning"] == 0).all()
    assert (found.filter(region="above", model="", level="any")["narrower"] > 0.1).all()


def test_without_any_verdict_the_estimates_are_those_of_people() -> None:
    triage, labels, _ = audited(200, 0)
    rows = rated(triage, NO_VERDICTS, labels)
    alone = estimates(triage, rows).rows_by_key(["model", "region"], named=True, unique=True)
    found = anchored_estimates(triage, rows, NO_VERDICTS)
    assert len(found) == 3 * len(alone)
    for row in found.iter_rows(named=True):
        people, name = alone[row["model"], row["region"]], f"{row['level']}_rate"
        numbers = (people[name], people[f"{name}_low"], people[f"{name}_high"])
        assert (row["rate"], row["rate_low"], row["rate_high"]) == pytest.approx(numbers)
