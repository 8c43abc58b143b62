"""Which passages are selected, and what the funnel counts of those that are not."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.filters import REASONS, Filters
from benchmark_assets.selection.funnel import DUPLICATE, duplicates, funnel, reasons, selection, steps
from resources.tables import plain

FILTERED = {"dup": Filters(), "lax": Filters(max_duplicate=None)}
"""One corpus drops near-duplicates, the other does not; a third one, `free`, has no filters."""

TEXTS = ["mus magnus per agrum currit", "mus magnus per agrum currit!", "felis in tecto sedet", "sol oritur"]


class Corpora(NamedTuple):
    """Sources of passages, and what was measured on those of corpora with filters."""

    sources: pl.DataFrame
    measured: pl.DataFrame

    def selected(self) -> pl.DataFrame:
        repeated = duplicates(self.measured, self.sources, FILTERED)
        return selection(self.sources.select("passage"), self.measured, repeated, self.sources)

    def without(self, reason: str) -> "Corpora":
        """The same with this filter switched off."""
        kept = pl.col("reasons").list.eval(pl.element().filter(pl.element() != reason))
        return self._replace(measured=self.measured.with_columns(kept))


def corpora(texts: Mapping[str, str], found: Mapping[str, list[str]]) -> Corpora:
    columns = {"passage": pl.String, "text": pl.String, "listed": pl.Boolean}
    sources = pl.DataFrame([(passage, text, None) for passage, text in texts.items()], columns, orient="row")
    rows = {"passage": list(found), "reasons": list(found.values())}
    return Corpora(sources, pl.DataFrame(rows, schema={"passage": pl.String, "reasons": pl.List(pl.String)}))


@st.composite
def some_corpora(draw: st.DrawFn) -> Corpora:
    keys = [f"{corpus}/{n}" for corpus in ("dup", "free", "lax") for n in range(draw(st.integers(0, 8)))]
    texts = {key: draw(st.sampled_from(TEXTS)) for key in keys}
    fallen = st.lists(st.sampled_from(REASONS), max_size=3, unique=True).map(lambda own: sorted(own, key=REASONS.index))
    return corpora(texts, {key: draw(fallen) for key in keys if not key.startswith("free/")})


def counts(found: Corpora) -> dict[tuple[str, str], dict[str, int]]:
    """The funnel by corpus and reason."""
    rows = funnel(found.selected(), FILTERED).iter_rows(named=True)
    return {(row["corpus"], row["reason"]): row for row in rows}


@given(some_corpora())
def test_what_is_dropped_and_what_is_left_are_all_passages(found: Corpora) -> None:
    rows, selected = counts(found), found.selected()
    for corpus in FILTERED:
        own = selected.filter(pl.col("passage").str.starts_with(f"{corpus}/"))
        total, any_filter, duplicate = (rows[corpus, each] for each in ("all passages", "any filter", DUPLICATE))
        assert total["remaining"] == len(own)
        assert any_filter["affected"] + duplicate["affected"] + duplicate["remaining"] == len(own)
        assert duplicate["remaining"] == own["selected"].sum()


@given(some_corpora())
def test_a_passage_counts_for_each_of_its_reasons(found: Corpora) -> None:
    rows = counts(found)
    for corpus in FILTERED:
        own = found.selected().filter(pl.col("passage").str.starts_with(f"{corpus}/"))["reasons"]
        affected = [rows[corpus, reason]["affected"] for reason in (*REASONS, DUPLICATE)]
        assert sum(affected) == own.list.len().sum()
        assert max(affected[:-1]) <= rows[corpus, "any filter"]["affected"] <= sum(affected[:-1])


@given(some_corpora(), st.sampled_from(REASONS))
def test_alone_is_how_many_passages_pass_once_the_filter_is_off(found: Corpora, reason: str) -> None:
    before, after = counts(found), counts(found.without(reason))
    for corpus in FILTERED:
        back = after[corpus, "any filter"]["remaining"] - before[corpus, "any filter"]["remaining"]
        assert before[corpus, reason]["alone"] == back
        assert after[corpus, reason]["affected"] == 0
        if corpus == "lax":
            assert after[corpus, DUPLICATE]["remaining"] == before[corpus, DUPLICATE]["remaining"] + back


@given(some_corpora())
def test_remaining_falls_and_is_unknown_between_filters(found: Corpora) -> None:
    rows = funnel(found.selected(), FILTERED)
    for (_,), own in rows.group_by("corpus"):
        known = own.drop_nulls("remaining")
        assert known["reason"].to_list() == ["all passages", "any filter", DUPLICATE]
        assert own.filter(pl.col("remaining").is_null())["reason"].to_list() == REASONS
        assert all(one >= other for one, other in pairwise(known["remaining"]))
        assert own["step"].to_list() == list(range(len(own)))


@given(some_corpora())
def test_a_corpus_without_filters_is_selected_whole_and_has_no_funnel(found: Corpora) -> None:
    own = found.selected().filter(pl.col("passage").str.starts_with("free/"))
    assert own["selected"].all()
    assert own["reasons"].list.len().sum() == 0
    assert set(funnel(found.selected(), FILTERED)["corpus"]) == set(FILTERED)


@given(some_corpora())
def test_a_duplicate_repeats_a_passage_of_its_corpus_that_is_selected(found: Corpora) -> None:
    repeated = duplicates(found.measured, found.sources, FILTERED)
    selected = found.selected().filter("selected")["passage"].to_list()
    text = dict(found.sources.select("passage", "text").iter_rows())
    for passage, corpus, kept, _ in repeated.iter_rows():
        assert corpus == "dup"
        assert passage.startswith("dup/")
        assert kept in selected
        assert kept < passage
        assert text[kept].rstrip("!") == text[passage].rstrip("!")
    left = [text[passage].rstrip("!") for passage in selected if passage.startswith("dup/")]
    assert len(left) == len(set(left))


@given(some_corpora())
def test_corpora_know_nothing_of_each_other(found: Corpora) -> None:
    alone = Corpora(*(frame.filter(pl.col("passage").str.starts_with("dup/")) for frame in found))
    own = [row for (corpus, _), row in counts(found).items() if corpus == "dup"]
    assert [row for (corpus, _), row in counts(alone).items() if corpus == "dup"] == own


def test_a_passage_that_a_filter_drops_hides_no_other() -> None:
    texts = dict.fromkeys(["dup/1", "dup/2", "dup/3"], TEXTS[0])
    found = corpora(texts, {"dup/1": ["short"], "dup/2": [], "dup/3": []})
    rows = found.selected().select("passage", "selected", "reasons", "kept").rows()
    assert rows == [
        ("dup/1", False, ["short"], None),
        ("dup/2", True, [], None),
        ("dup/3", False, [DUPLICATE], "dup/2"),
    ]


def test_a_corpus_of_nothing_has_a_funnel_of_nothing() -> None:
    rows = funnel(corpora({}, {}).selected(), ["empty"])
    assert rows["affected"].sum() == rows["alone"].sum() == rows["remaining"].sum() == 0
    assert len(rows) == len(REASONS) + 3


def test_people_read_neither_null_nor_step() -> None:
    rows = steps(funnel(corpora({"dup/1": "mus"}, {"dup/1": ["short"]}).selected(), ["dup"]))
    assert "None" not in plain(rows)
    assert rows.columns == ["corpus", "reason", "affected", "alone", "remaining"]
    assert rows.filter(reason="short").row(0) == ("dup", "short", 1, 1, None)
    assert rows.filter(reason="any filter").row(0) == ("dup", "any filter", 1, 0, 0)


def test_what_was_found_of_a_passage_is_told_measure_by_measure() -> None:
    stamps = {name: pl.lit("now") for name in ("fingerprint", "run_id", "updated_at")}
    found = corpora({"dup/1": "mus", "free/1": "mus"}, {"dup/1": ["incomplete", "short"]})
    measured = found.measured.with_columns(shortest=pl.lit(7), similarity=pl.lit(None, pl.Float64), **stamps)
    rows = reasons(found.selected().with_columns(**stamps), measured).rows()
    assert set(rows) == {
        ("dup/1", "selected", "false"), ("dup/1", "reasons", "incomplete, short"), ("dup/1", "shortest", "7"),
        ("free/1", "selected", "true"), ("free/1", "reasons", ""),
    }  # fmt: skip


def test_passages_that_a_list_lacks_are_neither_selected_nor_counted() -> None:
    found = corpora({"dup/0": TEXTS[0], "dup/1": TEXTS[2], "dup/2": TEXTS[3]}, {"dup/0": ["short"], "dup/1": []})
    limited = found._replace(sources=found.sources.with_columns(listed=pl.Series([False, None, False])))
    rows = limited.selected().select("passage", "selected", "reasons").rows()
    assert rows == [("dup/0", False, ["unlisted", "short"]), ("dup/1", True, []), ("dup/2", False, ["unlisted"])]
    remaining = {reason: row["remaining"] for (corpus, reason), row in counts(limited).items() if corpus == "dup"}
    assert (remaining["all passages"], remaining["any filter"], remaining[DUPLICATE]) == (1, 1, 1)
