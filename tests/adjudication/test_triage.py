"""Bands, the queue and the sample."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication.triage import FEWEST, band_names, banded, without_support
from benchmark_assets.corpus.description import Audit
from benchmark_assets.metrics.unmeasured import BAND

BANDS = ["0.0-1.0", "1.0-1.5", "1.5-2.0", "2.0-3.0", ">3.0"]


def drifts(values: dict[str, list[float | None]]) -> pl.DataFrame:
    """Drifts of models on passages that are counted from 0."""
    rows = [(model, f"c/p:{i}", drift) for model, own in values.items() for i, drift in enumerate(own)]
    return pl.DataFrame(rows, schema={"model": pl.String, "passage": pl.String, "drift": pl.Float64}, orient="row")


def test_bands_are_those_of_the_paper() -> None:
    assert band_names(Audit().bands) == BANDS


def test_a_drift_on_an_edge_is_not_above_it() -> None:
    rows = banded(drifts({"m": [0.0, 1.0, 1.5, 1.5000001, 2.0, 3.0, 3.1, None]}), {"c": Audit()})
    assert rows["band"].to_list() == [BANDS[0], BANDS[0], BANDS[1], BANDS[2], BANDS[2], BANDS[3], BANDS[4], BAND]
    assert rows["queued"].to_list() == [False, False, False, True, True, True, True, False]


values = st.lists(st.one_of(st.none(), st.floats(0, 5)), max_size=60)


@given(st.dictionaries(st.sampled_from("abc"), values, max_size=3), st.integers(0, 5))
def test_the_sample_has_so_many_of_each_model_in_each_band(given: dict[str, list[float | None]], seed: int) -> None:
    sample = (3, 2, 2, 1, 0)
    audit = Audit(sample=sample, seed=seed)
    rows = banded(drifts(given), {"c": audit})
    drawn = Counter(rows.filter("sampled").select("model", "band").iter_rows())
    sizes = dict(zip(BANDS, sample, strict=True)) | {BAND: 3}
    assert drawn == Counter({
        (model, band): min(count, sizes[band])
        for (model, band), count in Counter(rows.select("model", "band").iter_rows()).items()
        if sizes[band]
    })  # fmt: skip
    assert len(rows) == sum(map(len, given.values()))


@given(values, values, st.integers(0, 59))
def test_another_model_or_drift_changes_the_sample_by_one_place_at_most(
    own: list[float | None], others: list[float | None], place: int
) -> None:
    audits = {"c": Audit(sample=(2, 2, 2, 2, 2))}

    def sample(given: dict[str, list[float | None]]) -> set[tuple[str, ...]]:
        return set(banded(drifts(given), audits).filter("sampled", model="m").select("passage").iter_rows())

    alone = sample({"m": own})
    assert sample({"m": own, "n": others}) == alone
    changed = [drift if i != place else 0.5 for i, drift in enumerate(own)]
    assert len(alone - sample({"m": changed})) <= 2


def test_outputs_without_a_drift_are_a_stratum_that_is_drawn_at_random_and_not_queued() -> None:
    given = drifts({"m": [None] * 60 + [0.5] * 60, "n": [None] * 4})
    rows = banded(given, {"c": Audit()}).filter(band=BAND)
    assert rows.group_by("model").agg(pl.len(), pl.col("sampled").sum()).sort("model").rows() == [
        ("m", 60, 25), ("n", 4, 4)
    ]  # fmt: skip
    assert not rows.select(pl.any_horizontal("queued", "screened").any()).item()
    assert banded(given, {"c": Audit(sample=20)}).filter("sampled", band=BAND, model="m").height == FEWEST
    measured = banded(given, {"c": Audit()}).filter(pl.col("band") != BAND)
    assert measured.equals(banded(given.drop_nulls(), {"c": Audit()}))


def test_seeds_draw_different_samples() -> None:
    every = drifts({"m": [0.5] * 200})
    samples = [
        frozenset(banded(every, {"c": Audit(seed=seed)}).filter("sampled")["passage"]) for seed in range(20)
    ]  # fmt: skip
    assert len(set(samples)) == 20
    seen = Counter(passage for each in samples for passage in each)
    assert max(seen.values()) < 12  # 25 of 200, twenty times: 2.5 on average


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bands": (2.0, 1.5)}, "ascend"),
        ({"bands": (1.5,), "sample": (1,)}, "each of the 2 bands"),
        ({"threshold": 1.7}, "bounds in `bands`"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Audit.model_validate(given)


def test_the_panel_judges_a_random_part_below_the_threshold_that_begins_with_the_sample() -> None:
    values: list[float | None] = [*[0.5] * 101, *[1.2] * 10, *[1.8] * 10]
    given = drifts({"m": values})
    rows = banded(given, {"c": Audit(sample=(5, 5, 5, 5, 5), below=0.2)})
    screened = Counter(rows.filter("screened")["band"])
    assert screened == {BANDS[0]: 21, BANDS[1]: 2}  # rounded up, and none above the threshold
    assert rows.filter(pl.col("sampled") & ~pl.col("screened"), band=BANDS[0]).is_empty()
    assert banded(given, {"c": Audit()}).filter("screened").is_empty()


def suspected(support: list[float | None], length: list[int], model: str = "m") -> pl.DataFrame:
    """Outputs of a model with a drift of 1."""
    rows = drifts({model: [1.0] * len(support)})
    return rows.with_columns(pl.Series("length", length), pl.Series("support", support, dtype=pl.Float64))


def test_bands_by_support_divide_multiples_of_the_median_of_a_model() -> None:
    audit = Audit(by="support", sample=(1, 1, 1, 1, 1))
    outputs = suspected([0.9, 0.9, 0.9, 0.8, 0.951, 0.6, None], [100, 100, 100, 100, 400, 100, 100])
    rows = banded(outputs, {"c": audit})
    assert rows["band"].to_list() == [f"support {BANDS[n]}" for n in (0, 0, 0, 2, 0, 4)]
    assert rows["queued"].to_list() == [False, False, False, True, False, True]
    assert rows["sampled"].sum() == 3
    other = suspected([0.2] * 6, [900] * 6, "n")
    both = banded(pl.concat([outputs, other]), {"c": audit})
    assert both.filter(model="m").equals(rows)
    assert without_support(outputs, {"c": audit})["passage"].to_list() == ["c/p:6"]
    assert without_support(outputs, {"c": Audit(by="length")}).is_empty()


def test_bands_by_length_need_nothing_else() -> None:
    rows = banded(suspected([None] * 4, [10, 20, 20, 70]), {"c": Audit(by="length")})
    assert rows["band"].to_list() == [f"length {BANDS[n]}" for n in (0, 0, 0, 4)]


def test_outputs_that_are_supported_in_full_are_in_the_lowest_band() -> None:
    rows = banded(suspected([1.0] * 3, [10, 20, 30]), {"c": Audit(by="support")})
    assert set(rows["band"]) == {f"support {BANDS[0]}"}


@given(st.lists(st.floats(0, 5), min_size=1, max_size=300), st.integers(1, 100))
def test_a_sample_by_difficulty_draws_from_each_band_and_more_of_the_difficult(given: list[float], size: int) -> None:
    rows = banded(drifts({"m": [*given]}), {"c": Audit(sample=size)})
    bands = rows.group_by("band").agg(pl.len(), drawn=pl.col("sampled").sum(), roots=pl.col("drift").sqrt().sum())
    for _, outputs, drawn, roots in bands.iter_rows():
        part = size * roots / bands["roots"].sum() if roots else 0
        assert drawn == min(outputs, max(FEWEST, round(part))) or abs(part % 1 - 0.5) < 1e-6


def test_bands_by_spread_divide_multiples_of_the_median() -> None:
    outputs = suspected([None] * 4, [1] * 4).with_columns(human_spread=pl.Series([0.1, 0.2, 0.2, 0.5]))
    rows = banded(outputs, {"c": Audit(by="spread")})
    assert rows["band"].to_list() == [f"spread {BANDS[n]}" for n in (0, 0, 0, 3)]


def test_every_output_of_a_band_is_as_likely_to_be_drawn() -> None:
    outputs = suspected([0.9 + at / 1000 for at in range(8)], [100 + at for at in range(8)])
    audit = Audit(by="support", bands=(5.0,), threshold=5.0, sample=(2, 0))
    seeds = [banded(outputs, {"c": audit.model_copy(update={"seed": seed})}) for seed in range(400)]
    drawn = pl.concat(seeds).filter("sampled")["passage"].value_counts()["count"]
    assert drawn.sum() == 800
    assert drawn.is_between(65, 135).all()  # 100 on average, with a standard deviation of 9
