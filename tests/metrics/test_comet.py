"""What is scored by COMET, and what becomes of the scores; the assets with scores that are made by rule."""

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics.comet import summed, triples
from benchmark_assets.partitions import range_tags
from resources.comet.comet import ADVICE, Comet
from resources.warehouse import Warehouse
from tests.support import PASSAGES, TRANSLATIONS, LetterEmbedder

ON = ["model", "passage"]


def table(rows: list[tuple[str | None, ...]], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


OUTPUTS = table([("m", "x/1", "one"), ("m", "x/2", "two"), ("k", "x/1", "eins")], *ON, "text")
REFERENCES = table(
    [("x/1", "ann", "un"), ("x/1", "ben", "uno"), ("x/3", "ann", "trois")], "passage", "translator", "text"
)
SOURCES = table([("x/1", "I"), ("x/2", "II"), ("x/3", "III")], "passage", "text")


def test_each_output_meets_its_source_and_each_reference_of_its_passage() -> None:
    assert triples(OUTPUTS, REFERENCES, SOURCES, ON).rows() == [
        ("m", "x/1", "ann", "I", "one", "un"),
        ("m", "x/1", "ben", "I", "one", "uno"),
        ("k", "x/1", "ann", "I", "eins", "un"),
        ("k", "x/1", "ben", "I", "eins", "uno"),
    ]


@pytest.mark.parametrize("text", [None, "", " ", "\n\t", "\u00a0\u3000", "\u200b\ufeff", "\x00", "\u2028 \u00ad"])
@pytest.mark.parametrize("place", ["source", "candidate", "reference"])
def test_what_cannot_be_read_is_never_sent(place: str, text: str | None) -> None:
    given = {"candidate": OUTPUTS, "reference": REFERENCES, "source": SOURCES}
    first = pl.int_range(pl.len()) == 0
    given[place] = given[place].with_columns(text=pl.when(first).then(pl.lit(text, pl.String)).otherwise("text"))
    sent = triples(given["candidate"], given["reference"], given["source"], ON)
    assert sent.select("model", "translator").rows() == {
        "candidate": [("k", "ann"), ("k", "ben")], "reference": [("m", "ben"), ("k", "ben")], "source": [],
    }[place]  # fmt: skip


@pytest.mark.parametrize("text", ["?", "…", "道", "ā", "1", " a\n", "\u200bz", "👍"])
def test_anything_that_can_be_read_is(text: str) -> None:
    assert len(triples(OUTPUTS.with_columns(text=pl.lit(text)), REFERENCES, SOURCES, ON)) == 4


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.floats(-1, 1), st.booleans())))
def test_mean_and_best_over_the_references(drawn: list[tuple[str, str, float, bool]]) -> None:
    kinds = {"model": pl.String, "passage": pl.String, "score": pl.Float64, "cut": pl.Boolean}
    scored = pl.DataFrame(drawn, schema=kinds, orient="row")
    candidates = table([(model, passage) for model in "abc" for passage in "yx"], *ON)
    rows = summed(candidates, scored, ON)
    assert rows.select(ON).equals(candidates)
    for model, passage, mean, best, cut in rows.iter_rows():
        own = [(score, was_cut) for *key, score, was_cut in drawn if key == [model, passage]]
        if not own:
            assert (mean, best, cut) == (None, None, None)
            continue
        scores = [score for score, _ in own]
        assert_allclose(mean, sum(scores) / len(scores), atol=1e-12)
        assert best == max(scores)
        assert cut == any(was_cut for _, was_cut in own)


class LengthComet(Comet):
    """Scores by lengths: the candidate's, and a hundredth of the reference's."""

    checkpoint: str = "lengths"

    def score(self, triples: pl.DataFrame) -> pl.DataFrame:
        by_length = pl.col("candidate").str.len_chars() + pl.col("reference").str.len_chars() / 100
        return triples.with_columns(score=by_length, cut=pl.col("source").str.len_chars() > 16)


def baseline(warehouse: Warehouse, instance: dg.DagsterInstance, comet: Comet) -> dg.ExecuteInProcessResult:
    definitions = build_definitions(
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "comet": comet}
    )
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection={dg.AssetKey("comet_baseline")}
    )
    return job.execute_in_process(instance=instance, tags=range_tags(PASSAGES[0], PASSAGES[-1]))


def test_each_translator_is_scored_against_the_others(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    baseline(warehouse, instance, LengthComet())
    rows = warehouse.read("comet_baseline")
    assert rows.select("passage", "translator").rows() == [(p, t) for p in PASSAGES for t in sorted(TRANSLATIONS)]
    own = rows.filter(passage=PASSAGES[2])  # one segment
    lengths = {each: len(document["doc2"]["doc2:1.1"]) for each, document in TRANSLATIONS.items()}
    for translator, mean, best in own.select("translator", "comet_avg", "comet_best").iter_rows():
        others = [length for name, length in lengths.items() if name != translator]
        assert_allclose(mean, lengths[translator] + sum(others) / 200)
        assert_allclose(best, lengths[translator] + max(others) / 100)
    assert set(own["cut"]) == {True}
    assert set(own["signature"]) == {LengthComet().signature}


def test_without_a_checkpoint_scores_are_null_and_the_asset_says_how_to_get_them(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    baseline(warehouse, instance, LengthComet())
    baseline(warehouse, instance, Comet(python="/nonexistent"))
    rows = warehouse.read("comet_baseline")
    assert len(rows) == 9
    assert all(rows[name].null_count() == 9 for name in ("comet_avg", "comet_best", "cut", "signature"))
    told = instance.fetch_materializations(dg.AssetKey("comet_baseline"), limit=1).records[0].asset_materialization
    assert told
    assert told.metadata["COMET"].value == ADVICE
