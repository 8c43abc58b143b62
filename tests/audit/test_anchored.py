import numpy as np
import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.anchored import anchored_estimates
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.printed_counts import NO_VERDICTS


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


@pytest.mark.parametrize("outliers", [True, False])
def test_labels_of_one_side_of_the_threshold_give_no_rate_of_all_outputs(outliers: bool) -> None:
    triage, labels, panel = audited(1000, 0.5)
    one_side = triage.filter(pl.col("queued") == outliers)
    rows = rated(triage, panel, labels.join(one_side, on=["model", "passage"], how="semi"))
    side = "above" if outliers else "below"
    for found in (estimates(triage, rows), anchored_estimates(triage, rows, panel)):
        every, labeled = (found.filter(model="", region=region).tail(1) for region in ("all", side))
        rate = "rate" if "rate" in found.columns else "any_rate"
        for end in ("", "_low", "_high", "_least", "_most"):
            assert every[rate + end].is_null().all()
        assert every["problem"].str.starts_with(f"people labeled outputs {side} the threshold only").all()
        assert labeled.select("missing_share", "problem").row(0) == (0, None)
        assert labeled[rate].is_not_null().all()


def test_a_drawn_output_without_a_label_may_be_an_error_or_none() -> None:
    """People leave out the errors of the sample: the bounds hold the rate that they would have found."""
    triage, labels, panel = audited(1000, 0.5)
    sound = labels.filter(pl.col("label").eq(VALID) | (pl.int_range(pl.len()) % 2 == 0))
    share = 1 - len(sound) / len(labels)
    keys = ["model", "region", "level"]
    for method, by in ((estimates, keys[:2]), (lambda outputs, given: anchored_estimates(outputs, given, panel), keys)):
        whole, part = (method(triage, rated(triage, panel, given)) for given in (labels, sound))
        rate = "rate" if "rate" in whole.columns else "any_rate"
        both = part.join(whole, on=by, suffix="_whole").filter(pl.col(rate).is_not_null())
        every = both.filter(model="", region="all")
        assert every["missing_share"].to_list() == pytest.approx([share] * len(every), abs=0.03)
        assert every["problem"].str.contains("of the labels are missing").all()
        assert (whole["missing_share"] == 0).all()
        for low, high in (("low", "high"), ("least", "most"))[: 3 - len(by) + 1]:  # verdicts weigh on bounds, too
            inside = pl.col(f"{rate}_{low}") - 0.01 <= pl.col(f"{rate}_whole")
            assert both.select((inside & (pl.col(f"{rate}_{high}") + 0.01 >= pl.col(f"{rate}_whole"))).all()).item()


def test_without_verdicts_below_the_threshold_nothing_is_gained_there() -> None:
    triage, labels, panel = audited(4000, 0)
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
