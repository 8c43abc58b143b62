import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu import __version__ as sacrebleu_version
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.metrics.lexical import corpus_bleu, corpus_chrf, length_ratio, lexical_scores, signatures

# A decomposed ā, no-break and ideographic spaces, an entity that sacrebleu's tokenizer resolves, numbers and scripts.
ODD = ["ā", "a\u0304", "\u0301", "\u00a0", "\u3000", "&quot;", "1,000.5", "–", "道", "संस्कृत", "\n", " .",
       "the", "cat", " "]  # fmt: skip
TEXT = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(ODD), max_size=25).map("".join))
REFERENCE = TEXT.filter(bool)


def segments(references: int) -> st.SearchStrategy[list[tuple[str, list[str]]]]:
    one = st.tuples(TEXT, st.lists(REFERENCE, min_size=references, max_size=references))
    return st.lists(one, min_size=1, max_size=6)


CORPORA = st.integers(1, 4).flatmap(segments)


def score(corpus: list[tuple[str, list[str]]]) -> pl.DataFrame:
    schema = {"passage": pl.String, "text": pl.String}
    outputs = [(f"x/{i}", text) for i, (text, _) in enumerate(corpus)]
    references = [(f"x/{i}", text) for i, (_, texts) in enumerate(corpus) for text in texts]
    return lexical_scores(
        pl.DataFrame(outputs, schema=schema, orient="row"), pl.DataFrame(references, schema=schema, orient="row"),
        on=["passage"], within=["passage"],
    )  # fmt: skip


@given(CORPORA)
def test_a_passage_scores_what_sacrebleu_gives_its_sentence(corpus: list[tuple[str, list[str]]]) -> None:
    bleu, chrf = BLEU(effective_order=True), CHRF(word_order=2)
    scores = score(corpus)
    assert scores["bleu"].to_list() == [bleu.sentence_score(text, references).score for text, references in corpus]
    assert scores["chrf"].to_list() == [chrf.sentence_score(text, references).score for text, references in corpus]


@given(CORPORA)
def test_summed_statistics_score_what_sacrebleu_gives_the_corpus(corpus: list[tuple[str, list[str]]]) -> None:
    outputs = [text for text, _ in corpus]
    streams = [list(stream) for stream in zip(*(references for _, references in corpus), strict=True)]
    scores = score(corpus)
    bleu, chrf = (np.array(scores[f"{name}_statistics"].to_list()).sum(axis=0) for name in ("bleu", "chrf"))
    assert corpus_bleu(bleu) == BLEU().corpus_score(outputs, streams).score
    assert corpus_chrf(chrf) == CHRF(word_order=2).corpus_score(outputs, streams).score


@given(REFERENCE.filter(str.strip), st.lists(REFERENCE, max_size=3))
def test_a_candidate_equal_to_a_reference_scores_full_marks(text: str, others: list[str]) -> None:
    row = score([(text, [*others, text])]).row(0, named=True)
    assert_allclose([row["bleu"], row["chrf"]], 100)


def test_a_passage_without_references_has_no_scores() -> None:
    scores = score([("A mouse runs.", []), ("The cat sits.", ["A cat sits."])])
    assert scores.row(0) == ("x/0", None, None, None, None, None)
    assert scores.drop_nulls()["passage"].to_list() == ["x/1"]


def test_a_corpus_of_nothing_has_no_rows() -> None:
    assert score([]).is_empty()


def test_passages_may_differ_in_the_number_of_their_references() -> None:
    text, references = "The cat sits still.", ["The cat sits.", "A cat sits still.", "Puss stays put."]
    counts = range(1, 4)
    scores = score([(text, references[:count]) for count in counts])
    expected = [BLEU(effective_order=True).sentence_score(text, references[:count]).score for count in counts]
    assert scores["bleu"].to_list() == expected


@pytest.mark.parametrize(
    ("candidate", "references", "ratio"), [(10, [10], 1.0), (12, [8, 10, 12], 1.2), (0, [5], 0.0), (5, [0, 10], 1.0)]
)
def test_length_ratio_is_over_the_mean_of_the_references(candidate: int, references: list[int], ratio: float) -> None:
    assert length_ratio(candidate, references) == ratio


@pytest.mark.parametrize("references", [[], [0], [0, 0]])
def test_there_is_no_length_ratio_to_nothing(references: list[int]) -> None:
    with pytest.raises(ZeroDivisionError):
        length_ratio(5, references)


def test_lengths_are_counted_in_code_points_as_written() -> None:
    assert score([("a\u0304", ["ā"]), ("道道", ["道"])])["length_ratio"].to_list() == [2.0, 2.0]


def test_signatures_name_version_and_settings_and_do_not_change_by_scoring() -> None:
    before = signatures()
    score([("The cat sits.", ["A cat sits.", "Puss stays."]), ("A mouse.", ["The mouse."])])
    assert signatures() == before
    assert before == {
        "BLEU": f"BLEU|nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu_version}",
        "chrF2++": f"chrF2++|nrefs:var|case:mixed|eff:yes|nc:6|nw:2|space:no|version:{sacrebleu_version}",
    }
