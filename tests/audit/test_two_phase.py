"""Second passes: values of outputs by hand, rates and intervals in simulated audits."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.anchored import anchored_estimates
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.rated import RATED, rated
from benchmark_assets.audit.two_phase import NO_FINALS, UNLABELED, sample
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.people.second_pass import DRAWS, draw, finals
from tests.support import slack

KEY = ["model", "passage"]


class Audited(NamedTuple):
    """Frames of simulated audits, each a corpus with one model and one band. The last are rows of `final_label`."""

    triage: pl.DataFrame
    labels: pl.DataFrame
    panel: pl.DataFrame
    final: pl.DataFrame


def named(outputs: pl.DataFrame, errors: Floats) -> pl.DataFrame:
    """Labels of outputs."""
    label = pl.Series(np.where(errors == 1, MAJOR, VALID), dtype=pl.String)
    return outputs.select(*KEY, label=label, error_category=pl.lit("OTHER"), split=False)


def second_pass(rng: np.random.Generator, corpus: str, rate: float, labels: int, right: Sequence[float]) -> Audited:
    """An audit with people who are right in 90 %, a judge who is right in 85 %, and a second pass of doubtful outputs
    and a quarter of the others, by people who are right in the shares `right`."""

    def accurate(share: float) -> Floats:
        return np.where(rng.random(len(truth)) < share, truth, 1 - truth)

    truth = (rng.random(5 * labels) < rate).astype(float)
    numbers = [f"{corpus}/{at:04}" for at in range(len(truth))]
    triage = pl.DataFrame({"model": "m", "passage": numbers, "band": "b", "unit": numbers, "item": numbers})
    triage = triage.with_columns(queued=False, sampled=pl.int_range(pl.len()) < labels)
    given, panel = named(triage, accurate(0.9)).head(labels), named(triage, accurate(0.85))
    outputs = given.select(*KEY, "label", item="passage").join(panel.select(*KEY, judged="label"), on=KEY)
    draws = draw(outputs, pl.DataFrame(schema=DRAWS), 0.25, 1).filter("drawn").with_columns(model=pl.lit("m"))
    answers = pl.concat(named(triage, accurate(each)) for each in right)
    return Audited(triage, given, panel, finals(given, answers.join(draws, on=KEY, how="semi"), draws))


def by_method(audited: Audited) -> dict[str, Floats]:
    """Rates of all outputs with their intervals, shape (audits, 3). The naive method replaces labels of doubtful
    outputs, and lets the others be."""
    triage, labels, panel, final = audited
    rows = rated(triage, panel, labels)
    finals = {"first": NO_FINALS, "naive": final.filter(stratum="doubtful"), "second": final}
    tables = {name: estimates(triage, rows, each) for name, each in finals.items()}
    tables = {name: table.rename(lambda column: column.replace("any_rate", "rate")) for name, table in tables.items()}
    tables["anchored"] = anchored_estimates(triage, rows, panel, final).filter(level="any")
    ends = ["rate", "rate_low", "rate_high"]
    return {name: table.filter(model="", region="all").select(ends).to_numpy() for name, table in tables.items()}


def outputs_with(*rows: tuple[str | None, str, float, str | None]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `rated` and of `final_label`, from first labels, strata (none if ''), probabilities and final labels."""
    keyed = pl.DataFrame([(f"x/{at}", *row) for at, row in enumerate(rows)],
                         {"passage": pl.String, "label": pl.String, "stratum": pl.String, "probability": pl.Float64,
                          "final": pl.String}, orient="row").with_columns(model=pl.lit("m"))  # fmt: skip
    missing = (pl.lit(None, kind).alias(name) for name, kind in RATED.items() if name not in keyed.columns)
    people = keyed.with_columns(missing).with_columns(raters=pl.lit("people"), corpus=pl.lit("x"))
    finals = keyed.filter(pl.col("stratum") != "").select(*KEY, "stratum", "probability", label="final")
    return people.select(RATED.names()), finals


def test_a_checked_output_stands_for_those_that_were_not_drawn() -> None:
    rows, finals = outputs_with(
        (MAJOR, "doubtful", 1.0, VALID), (None, "doubtful", 1.0, MINOR), (VALID, "sound", 0.25, MAJOR),
        (VALID, "sound", 0.25, VALID), *[(VALID, "", 0.0, None)] * 6, (None, "", 0.0, None),
    )  # fmt: skip
    found = sample(rows, finals)
    assert found["label"].to_list() == [VALID, MINOR, MAJOR, *[VALID] * 7, None]
    assert found["reexamined"].to_list() == [*[True] * 4, *[False] * 7]
    assert found["any_shift"].to_list() == [0, 0, 3, *[0] * 8]
    assert found["minor_shift"].to_list() == [0.0] * 11
    assert found["any_noise"].to_list() == [0, 0, *[0.75 / 0.25**2 * 1.5 / 3] * 2, *[0] * 7]
    assert (found["any"].cast(pl.Float64) + found["any_shift"]).sum() == 1 + 4  # one of two stands for half of eight
    assert sample(rows, finals.with_columns(label=pl.lit(None, pl.String))).equals(sample(rows, NO_FINALS))


def test_an_open_label_of_the_second_pass_leaves_open_what_it_stands_for() -> None:
    rows, finals = outputs_with(
        (VALID, "sound", 0.5, VALID), (VALID, "sound", 0.5, None), *[(VALID, "", 0.0, None)] * 2
    )  # fmt: skip
    assert sample(rows, finals)["open"].to_list() == [0, 2, 0, 0]
    least, most = (sample(rows, finals, value)["any_shift"].sum() for value in (VALID, UNLABELED))
    assert (least, most) == (0, 1)


def target(rate: float, right: Sequence[float]) -> float:
    """Rate of final labels: those of one second person, or of the majority of the first person and two others."""
    one = right[0]
    share = one if len(right) == 1 else one * right[1] + (one * (1 - right[1]) + (1 - one) * right[1]) * 0.9
    return rate * share + (1 - rate) * (1 - share)


@pytest.mark.proof
def test_a_second_pass_is_not_biased_toward_the_judge(full: bool) -> None:
    """docs/decisions/audit.md has the table."""
    runs = 1000 if full else 20
    for right in ((1.0,), (0.9,), (0.9, 0.9)):
        for labels in (100, 300) if full else (100,):
            for rate in (0.05, 0.1, 0.3):
                rng, wanted = np.random.default_rng(1), target(rate, right)
                audits = [second_pass(rng, f"c{run}", rate, labels, right) for run in range(runs)]
                found = by_method(Audited(*(pl.concat(frames) for frames in zip(*audits, strict=True))))
                for name, values in found.items():
                    bias, width = values[:, 0].mean() - wanted, (values[:, 2] - values[:, 1]).mean()
                    covered = ((values[:, 1] <= wanted) & (wanted <= values[:, 2])).mean()
                    numbers = f"{100 * bias:+.2f} | {100 * covered:.1f} | {100 * width:.1f}"
                    print(f"| {right} | {labels} | {rate:.0%} | {wanted:.3f} | {name} | {numbers} |")
                    if name in ("second", "anchored"):
                        error = 4 * values[:, 0].std() / np.sqrt(runs)
                        assert abs(bias) < 0.005 + (0 if full else error), (right, labels, rate, name)
                        assert covered >= 0.93 - slack(full, runs), (right, labels, rate, name)
