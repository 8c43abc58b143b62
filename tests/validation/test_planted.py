"""Metrics beside planted errors: shares of pairs, from scores of damaged and sound translations."""

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.further import SOUND
from benchmark_assets.sensitivity.damage import PLANTED
from benchmark_assets.validation.planted import BESIDE, ORIGIN, planted
from resources.warehouse import Warehouse
from tests.support import TRANSLATIONS

SCHEMA = ["passage", "unit", "translator", "kind", "severity", "chrf"]
TEXT = tuple[int, str, str, int]


def scores(texts: dict[TEXT, float]) -> pl.DataFrame:
    """Scores by passage, translator, kind and severity; each passage is a unit."""
    rows = [(f"x/{at}", f"{at:02}", *of, score) for (at, *of), score in texts.items()]
    frame = pl.DataFrame(rows, SCHEMA, orient="row", schema_overrides={"chrf": pl.Float64, "severity": pl.Int32})
    return frame.with_columns(embedder=pl.lit("e"), unit_kind=pl.lit("passages"))


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from((SOUND, *PLANTED)), st.just(1)),
        st.integers(0, 4).map(float), min_size=1,
    )
)  # fmt: skip
def test_shares_are_those_of_all_pairs_of_a_passage(texts: dict[TEXT, float]) -> None:
    found = planted(scores(texts), [BY_NAME["chrf"]])
    sound = {(at, who): score for (at, who, kind, _), score in texts.items() if kind == SOUND}
    shares: dict[tuple[str, str], list[float]] = {}
    for (at, who, kind, _), score in texts.items():
        for (place, other), whole in sound.items():
            if kind == SOUND or at != place:
                continue
            if who != other and sum(each == at for each, _ in sound) < 3:
                continue
            won = 1.0 if score < whole else 0.5 if score == whole else 0.0  # a lower chrF++ is worse
            for of_kind in ("", kind):
                shares.setdefault(("pair_accuracy" if who == other else "auc_within", of_kind), []).append(won)
    expected = {key: (sum(won) / len(won), len(won)) for key, won in shares.items()}
    values = {(row["figure"], row["kind"]): (row["value"], row["n"]) for row in found.iter_rows(named=True)}
    assert values.keys() == expected.keys()
    for key, value in expected.items():
        assert values[key] == pytest.approx(value)


def test_a_metric_that_finds_every_error_is_certain_and_of_two_translators_neither_is_beside_the_other() -> None:
    texts: dict[TEXT, float] = {}
    for at in range(12):
        for who in "ab":
            texts |= {(at, who, SOUND, 0): 60.0, (at, who, "number", 1): 10.0, (at, who, "number", 2): 90.0}
    rows = planted(scores(texts), [BY_NAME["chrf"]])
    assert set(rows["figure"]) == {"pair_accuracy"}
    assert rows.select("value", "value_low", "value_high", "n", "units").unique().rows() == [(1.0, 1.0, 1.0, 24, 12)]
    assert rows["note"].str.starts_with("planted").all()


def test_a_corpus_with_damaged_translations_has_planted_rows(built: dg.Definitions, warehouse: Warehouse) -> None:
    rows = warehouse.read("validation")
    assert set(rows["gold_set"]) == {"tiny"}
    assert set(rows["origin"]) == {ORIGIN}
    assert set(rows["figure"]) == {*BESIDE}
    assert {"sim_best", "chrf", "length_ratio"} <= set(rows["metric"])
    texts = warehouse.read("damaged_text").filter(pl.col("kind").is_in(PLANTED), severity=1)
    whole = rows.filter(kind="", metric="chrf")
    assert dict(whole.select("figure", "n").rows()) == {
        "pair_accuracy": len(texts), "auc_within": len(texts) * (len(TRANSLATIONS) - 1)
    }  # fmt: skip
    assert set(rows["kind"]) == {"", *texts["kind"]}
