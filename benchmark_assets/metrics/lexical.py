"""Lexical scores: BLEU and chrF++, equal to sacrebleu's, with any number of references, and the ratio of lengths.

Here: sacrebleu's sufficient statistics, for all candidates of a frame at once, and the scores. The statistics are
stored with each score; their sums over passages give the corpus score. Not here: tokenization (metrics.tokens),
counting n-grams (metrics.ngrams), intervals (metrics.intervals).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.ngrams import Layout, matched_ngrams
from benchmark_assets.metrics.tokenizers import DEFAULT, tokenized, tokenizer_signature
from benchmark_assets.metrics.tokens import Vocabulary, bleu_tokens, bleu_words, characters, chrf_words
from resources.catalogue import schema
from resources.warehouse import Warehouse

LEXICAL = schema("lexical_score", "model", "passage")

BLEU_ORDER = 4
CHRF_CHARACTERS, CHRF_WORDS = 6, 2
BETA = 2
BLOCK = 1 << 16  # characters per block of items: larger blocks do not fit in a processor's cache
TOGETHER = 100  # maximum number of candidates per block from one item: memory for counting grows with their square


class _Item(NamedTuple):
    """The candidates and references of one item."""

    rows: list[int]  # row numbers of the candidates in the frame
    candidates: list[str]
    references: list[str]


class _Block(NamedTuple):
    """Texts of several items, item by item; an item's references precede its candidates."""

    texts: list[str]
    words: list[list[str]]
    layout: Layout
    candidates: NDArray[np.int64]  # indices of the candidates among the texts
    against: NDArray[np.int64]  # indices of the candidates' references among the texts, shape (candidates, references)


def signatures(tokenizer: str = DEFAULT) -> dict[str, str]:
    """sacrebleu's signatures of the corpus scores, by metric; they state that the number of references varies.

    `tokenizer` is the tokenizer's own signature.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu = BLEU()
    bleu.tokenizer_signature = tokenizer
    metrics = {"BLEU": bleu, "chrF2++": CHRF(word_order=CHRF_WORDS)}
    for metric in metrics.values():
        metric.num_refs = -1  # sacrebleu's code for a varying number
    return {name: f"{name}|{metric.get_signature()}" for name, metric in metrics.items()}


def lexical_settings(warehouse: Warehouse, partitions: pl.DataFrame, further: str = "") -> pl.DataFrame:
    """Add the column `settings` to partitions with the column `passage`. Its value is `further`, followed by the
    signatures with the tokenizer of the passage's corpus."""
    rows = tokenized(warehouse, partitions)
    names = rows["tokenizer"].unique()
    texts = [f"{further}{signatures(tokenizer_signature(name))}" for name in names]
    return rows.select(pl.exclude("tokenizer"), settings=pl.col("tokenizer").replace_strict(names, texts))


def length_ratio(candidate_characters: int, reference_characters: Sequence[int]) -> float:
    """Ratio of the candidate's length to the references' mean length, which must not be 0 (PaliBench, section 3.5)."""
    return candidate_characters / (sum(reference_characters) / len(reference_characters))


def lexical_scores(
    candidates: pl.DataFrame, references: pl.DataFrame, on: list[str], within: list[str]
) -> pl.DataFrame:
    """Score candidates against all references of their item; scores are null if the item has none.

    Parameters
    ----------
    candidates
        Columns `on` and `text`, and `tokenizer` if an item has a BLEU tokenizer other than 13a.
    references
        Columns `within` and `text`: complete references, not empty.
    on, within
        Columns that identify a candidate, and the subset of these columns that identifies its item.

    Returns
    -------
    Columns `on` and `LEXICAL`, one row per candidate. `bleu` is sentence BLEU with effective order, `chrf` is chrF++
    (word order 2), both in [0, 100]. `tokenizer` is the signature of the tokenizer.

    Raises
    ------
    BadInput
        If the libraries of a tokenizer are not installed.
    """
    if "tokenizer" not in candidates.columns:
        candidates = candidates.with_columns(tokenizer=pl.lit(DEFAULT))
    rows = candidates.select(*on, "text", "tokenizer").with_row_index("row")
    others = references.group_by(within).agg(pl.col("text").alias("references"))
    items = rows.group_by("tokenizer", *within, maintain_order=True).agg("row", "text")
    items = items.join(others, on=within, maintain_order="left")
    scored = [
        scores
        for (tokenizer,), with_tokenizer in items.group_by(["tokenizer"], maintain_order=True)
        for scores in _scored(with_tokenizer, str(tokenizer))
    ]
    scores = pl.concat([pl.DataFrame(schema={"row": pl.get_index_type(), **LEXICAL}), *scored])
    return rows.drop("tokenizer").join(scores, on="row", how="left", maintain_order="left").select(*on, *LEXICAL)


def corpus_bleu(
    statistics: NDArray[np.int64] | NDArray[np.float64], effective_order: bool = False
) -> NDArray[np.float64]:
    """BLEU of corpora or, with effective order, of single candidates.

    Parameters
    ----------
    statistics
        Sums of the passages' statistics, shape (..., 10), whole numbers below 2**53: number of tokens in the
        candidates, number of tokens in the references closest in length, matched n-grams for n from 1 to 4, n-grams in
        the candidates for n from 1 to 4.

    Returns
    -------
    Scores in [0, 100], shape (...), equal to sacrebleu's with exponential smoothing.
    """
    table = statistics.astype(np.float64).reshape(-1, 2 + 2 * BLEU_ORDER)
    length, closest, (matched, total) = table[:, 0], table[:, 1], np.split(table[:, 2:], 2, axis=1)
    counted = np.logical_and.accumulate(total > 0, axis=1)
    smoothing = 2.0 ** np.cumsum(counted & (matched == 0), axis=1)
    precisions = np.zeros_like(total)
    np.divide(100 * matched, total, out=precisions, where=counted & (matched > 0))
    np.divide(100, smoothing * total, out=precisions, where=counted & (matched == 0))
    scored = matched.any(axis=1) & (effective_order | counted.all(axis=1))
    brevity = 1 - np.divide(closest, length, out=np.ones_like(length), where=scored & (length < closest))
    rows = zip(*(values[scored].tolist() for values in (brevity, precisions, counted.sum(axis=1))), strict=True)
    scores = np.zeros(len(table))
    # Python's exp, log and sum, as in sacrebleu: numpy's may differ in the last bit.
    scores[scored] = [
        math.exp(penalty) * math.exp(sum(map(math.log, row_precisions[:orders])) / orders)
        for penalty, row_precisions, orders in rows
    ]
    return scores.reshape(statistics.shape[:-1])


def corpus_chrf(statistics: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """chrF++ of corpora.

    Parameters
    ----------
    statistics
        Sums of the passages' statistics, shape (..., 24), whole numbers below 2**53. Three counts (n-grams in the
        candidates, n-grams in the references, matches) for character n-grams with n from 1 to 6, then for word n-grams
        with n of 1 and 2.

    Returns
    -------
    Scores in [0, 100], shape (...), equal to sacrebleu's (beta 2).
    """
    counts = statistics.astype(np.float64).reshape(*statistics.shape[:-1], CHRF_CHARACTERS + CHRF_WORDS, 3)
    candidate, reference, matched = np.moveaxis(counts, -1, 0)
    both = (candidate > 0) & (reference > 0)
    orders = np.maximum(both.sum(axis=-1), 1)
    precision, recall = (
        # cumsum adds sequentially, as sacrebleu does; sum does not.
        np.divide(matched, total, out=np.zeros_like(total), where=both).cumsum(axis=-1)[..., -1] / orders
        for total in (candidate, reference)
    )
    weighted = BETA**2 * precision + recall
    scores: NDArray[np.float64] = np.zeros_like(weighted)
    np.divide((1 + BETA**2) * precision * recall, weighted, out=scores, where=weighted > 0)
    scores *= 100
    return scores


def _scored(items: pl.DataFrame, tokenizer: str) -> Iterator[pl.DataFrame]:
    """Scores of the candidates of items with the same tokenizer: columns `row` and `LEXICAL`.

    `items` has one row per item. Each value of its columns `row`, `text` and `references` is a list.
    """
    parts = (
        _Item(numbers[start : start + TOGETHER], texts[start : start + TOGETHER], references)
        for numbers, texts, references in items.select("row", "text", "references").iter_rows()
        for start in range(0, len(texts), TOGETHER)
    )
    bleu, chrf = Vocabulary(bleu_tokens(tokenizer)), Vocabulary(chrf_words)
    for portion in _portions(parts):
        yield _scores(portion, bleu, chrf, tokenizer)


def _portions(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Divide items into lists of at least `BLOCK` characters each; only the last list may be shorter."""
    portion, characters = [], 0
    for item in items:
        portion.append(item)
        characters += sum(map(len, item.candidates)) + sum(map(len, item.references))
        if characters >= BLOCK:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


def _scores(portion: list[_Item], of_bleu: Vocabulary, of_chrf: Vocabulary, tokenizer: str) -> pl.DataFrame:
    """Scores of the candidates of several items: columns `row` and `LEXICAL`."""
    block = _block(portion)
    bleu, chrf = _bleu_statistics(block, of_bleu, tokenizer), _chrf_statistics(block, of_chrf)
    lengths = [[len(text) for text in item.references] for item in portion]
    return pl.DataFrame({
        "row": pl.Series([row for item in portion for row in item.rows], dtype=pl.get_index_type()),
        "length_ratio": [
            length_ratio(len(text), reference_lengths)
            for item, reference_lengths in zip(portion, lengths, strict=True)
            for text in item.candidates
        ],
        "bleu": corpus_bleu(bleu, effective_order=True),
        "chrf": corpus_chrf(chrf),
        "bleu_statistics": bleu,
        "chrf_statistics": chrf,
        "tokenizer": pl.repeat(tokenizer_signature(tokenizer), len(bleu), eager=True),
    }).cast(LEXICAL)  # fmt: skip


def _block(portion: list[_Item]) -> _Block:
    texts = [text for item in portion for text in (*item.references, *item.candidates)]
    references = np.array([len(item.references) for item in portion])
    sizes = references + [len(item.candidates) for item in portion]
    first = np.cumsum(sizes) - sizes
    items = np.repeat(np.arange(len(portion)), sizes)
    counts, most = references[items], references.max()
    columns = np.arange(len(texts)) - first[items]
    candidates = np.flatnonzero(columns >= counts)
    columns[candidates] += most - counts[candidates]
    # If an item has fewer references than another, its first one is repeated, which changes neither score.
    place = np.arange(most)
    against = first[items[candidates], np.newaxis] + np.where(place < counts[candidates, np.newaxis], place, 0)
    return _Block(texts, [text.split() for text in texts], Layout(items, columns, most), candidates, against)


def _bleu_statistics(block: _Block, vocabulary: Vocabulary, tokenizer: str) -> NDArray[np.int64]:
    """Statistics of shape (candidates, 10), in the order of `corpus_bleu`."""
    units = [bleu_words(text, words, tokenizer) for text, words in zip(block.texts, block.words, strict=True)]
    tokens, lengths = vocabulary.tokens(units)
    length, others = lengths[block.candidates, np.newaxis], lengths[block.against]
    distance = 2 * np.abs(others - length) + (others > length)  # at equal distance, the shorter one
    closest = np.take_along_axis(others, distance.argmin(axis=1, keepdims=True), axis=1)
    shared = matched_ngrams(tokens, lengths, block.layout, BLEU_ORDER, pooled=True)
    matched = [_of_candidates(sums, block) for sums in shared]
    return np.column_stack([length, closest, *matched, np.maximum(length - np.arange(BLEU_ORDER), 0)])


def _chrf_statistics(block: _Block, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Statistics against the reference with the best score, shape (candidates, 24), in the order of `corpus_chrf`."""
    orders = []
    kinds = [(characters(block.words), CHRF_CHARACTERS), (vocabulary.tokens(block.words), CHRF_WORDS)]
    for (tokens, lengths), longest in kinds:
        for shorter, sums in enumerate(matched_ngrams(tokens, lengths, block.layout, longest, pooled=False)):
            ngrams = np.maximum(lengths - shorter, 0)
            reference = ngrams[block.against]
            candidate = np.where(reference > 0, ngrams[block.candidates, np.newaxis], 0)
            orders.append(np.stack([candidate, reference, _of_candidates(sums, block)], axis=-1))
    statistics = np.concatenate(orders, axis=-1)
    best = corpus_chrf(statistics).argmax(axis=1)  # the first one of equal scores
    statistics_of_best: NDArray[np.int64] = statistics[np.arange(len(best)), best]
    return statistics_of_best


def _of_candidates(sums: NDArray[np.int64], block: _Block) -> NDArray[np.int64]:
    """Rearrange numbers of shared n-grams to one row per candidate of the block: shape (candidates, references).

    `sums` has shape (candidates of an item, references, items), as returned by `matched_ngrams`.
    """
    items, columns, references = block.layout
    values: NDArray[np.int64] = sums[columns[block.candidates] - references, :, items[block.candidates]]
    return values
