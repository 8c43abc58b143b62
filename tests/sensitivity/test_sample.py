import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.sensitivity.damage import KINDS
from benchmark_assets.sensitivity.sample import VARIANT, chosen, variants
from tests.sensitivity.test_damage import FOREIGN, SOURCE, TEXT

SOURCES = pl.DataFrame({"passage": ["x/1", "x/2"], "text": [SOURCE, SOURCE.upper()]})
REFERENCES = pl.DataFrame(
    [("x/1", "ann", TEXT), ("x/1", "ben", TEXT.replace("ferryman", "boatman")), ("x/2", "ann", FOREIGN)],
    ["passage", "translator", "text"],
    orient="row",
)

PASSAGES = st.lists(st.text("abc/", min_size=1, max_size=4), unique=True)


@given(PASSAGES, st.integers(0, 5), st.integers(0, 3))
def test_the_sample_is_the_same_whatever_the_order(passages: list[str], count: int, seed: int) -> None:
    found = chosen(passages, count, seed)
    assert found == chosen(passages[::-1], count, seed)
    assert len(found) == min(count, len(passages))
    assert set(found) <= set(passages)


@given(PASSAGES.filter(bool), st.integers(1, 5), st.integers(0, 3))
def test_a_passage_that_goes_takes_no_other_with_it(passages: list[str], count: int, seed: int) -> None:
    gone, *others = passages
    assert set(chosen(passages, count, seed)) - {gone} <= set(chosen(others, count, seed))


def test_another_seed_is_another_sample() -> None:
    passages = [f"x/{place}" for place in range(100)]
    assert set(chosen(passages, 10, 1)) != set(chosen(passages, 10, 2))


def test_variants_of_a_passage_do_not_depend_on_which_others_are_due() -> None:
    every = variants(SOURCES, REFERENCES, "en", 1)
    assert every.schema == VARIANT
    assert set(every["kind"]) == set(KINDS)
    for passage in SOURCES["passage"]:
        alone = variants(SOURCES.filter(passage=passage), REFERENCES, "en", 1)
        assert alone.equals(every.filter(passage=passage))


def test_an_addition_is_by_the_same_translator() -> None:
    rows = variants(SOURCES, REFERENCES, "en", 1).filter(kind="addition")
    assert set(rows["translator"]) == {"ann"}  # Ben translated one passage only
    own = rows.filter(passage="x/1")
    words = set(FOREIGN.split()) - set(TEXT.split())
    assert all(words & set(text.split()) for text in own["text"])


def test_of_no_passage_there_are_no_variants() -> None:
    assert variants(SOURCES.clear(), REFERENCES, "en", 1).is_empty()
    assert variants(SOURCES.clear(), REFERENCES.clear(), "en", 1).schema == VARIANT
