"""Means and rates over the outputs that a judge scored."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.error_spans.summary import RATES, SUMMARY, rates, summarize
from benchmark_assets.people.mqm import CATEGORIES, WEIGHTS, mqm
from resources.catalogue import schema

Errors = list[tuple[str, str]]
outputs = st.lists(
    st.none() | st.lists(st.tuples(st.sampled_from(CATEGORIES), st.sampled_from(list(WEIGHTS))), max_size=5),
    min_size=1, max_size=12,
)  # fmt: skip


def tables(of_outputs: list[Errors | None], model: str = "m", corpus: str = "c") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Votes and spans of a judge that marks these errors in each output; None for an abstention."""
    keys = [{"model": model, "passage": f"{corpus}/d:{place}", "judge": "j"} for place in range(len(of_outputs))]
    votes, spans = [], []
    for key, errors in zip(keys, of_outputs, strict=True):
        severities = [severity for _, severity in errors or []]
        counts = {name: severities.count(name) for name in WEIGHTS} | {"unlocated": 0}
        votes.append(key if errors is None else key | counts | {"mqm": mqm(severities), "esa": 50.0})
        spans += [
            key | {"place": place, "category": category, "severity": severity}
            for place, (category, severity) in enumerate(errors or [], start=1)
        ]
    of_units = pl.DataFrame(votes, schema=schema("span_vote")).with_columns(unit="passage")
    return of_units, pl.DataFrame(spans, schema=schema("error_span"))


@given(outputs)
def test_every_error_counts_once_and_abstentions_never(of_outputs: list[Errors | None]) -> None:
    votes, spans = tables(of_outputs)
    summary, kinds = summarize(votes, "s"), rates(votes, spans, "s")
    assert (summary.schema, kinds.schema) == (SUMMARY, RATES)
    row, scored = summary.row(0, named=True), [errors for errors in of_outputs if errors is not None]
    assert (row["outputs"], row["abstained"]) == (len(of_outputs), len(of_outputs) - len(scored))
    assert kinds["errors"].sum() == len(spans) == sum(row[name] for name in WEIGHTS)
    for kind in kinds.iter_rows(named=True):
        count = sum(errors.count((kind["category"], kind["severity"])) for errors in scored)
        assert kind["errors"] == count > 0
        assert kind["rate"] == pytest.approx(count / len(scored))
        assert (kind["rate_low"] is None) is (len(scored) < FEWEST)
        if len(scored) >= FEWEST:
            assert 0 <= kind["rate_low"] <= kind["rate"] + 1e-9
            assert kind["rate"] - 1e-9 <= kind["rate_high"]
    if scored:
        scores = [mqm(severity for _, severity in errors) for errors in scored]
        assert row["mqm"] == pytest.approx(sum(scores) / len(scores))
    if len(scored) >= FEWEST:
        assert -25 <= row["mqm_low"] <= row["mqm"] + 1e-9
        assert row["mqm"] - 1e-9 <= row["mqm_high"] <= 0
    elif not scored:
        assert {row[name] for name in ("mqm", "mqm_low", "esa", "esa_high")} == {None}


def test_models_and_corpora_are_apart() -> None:
    parts = [
        tables([[("style", "major")]], "b"), tables([[], [("other", "minor")]], "a"),
        tables([[("style", "critical")]], "a", "other"),
    ]  # fmt: skip
    votes, spans = (pl.concat(frames) for frames in zip(*parts, strict=True))
    assert summarize(votes, "s").select("model", "corpus", "mqm").rows() == [
        ("a", "c", -0.5), ("a", "other", -25), ("b", "c", -5)
    ]  # fmt: skip
    assert rates(votes, spans, "s").select("model", "corpus", "category", "severity", "rate").rows() == [
        ("a", "c", "other", "minor", 0.5), ("a", "other", "style", "critical", 1), ("b", "c", "style", "major", 1)
    ]  # fmt: skip


def test_the_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    votes, _ = tables([[("style", "major")] if place % 2 else [] for place in range(200)])
    row = summarize(votes, "s").row(0, named=True)
    assert row["mqm"] == -2.5
    assert row["mqm_high"] - row["mqm_low"] == pytest.approx(2 * 1.96 * 2.5 / 200**0.5, rel=0.1)
