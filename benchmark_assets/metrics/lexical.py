"""Scores of the surface, by sacrebleu: BLEU and chrF++ with any number of references, and the ratio of lengths.

A segment's sufficient statistics are kept beside its score: added up over passages they give the corpus score.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

LEXICAL = pl.Schema({
    "length_ratio": pl.Float64(), "bleu": pl.Float64(), "chrf": pl.Float64(),
    "bleu_statistics": pl.List(pl.Int64), "chrf_statistics": pl.List(pl.Int64),
})  # fmt: skip


class _SegmentBleu(BLEU):
    def statistics(self, candidate: str, references: Sequence[str]) -> list[int]:
        return list(self._extract_corpus_statistics([candidate], [[text] for text in references])[0])

    def score(self, statistics: Sequence[int]) -> float:
        return float(self._compute_score_from_stats(list(statistics)).score)


class _SegmentChrf(CHRF):
    def statistics(self, candidate: str, references: Sequence[str]) -> list[int]:
        return list(self._extract_corpus_statistics([candidate], [[text] for text in references])[0])

    def score(self, statistics: Sequence[int]) -> float:
        return float(self._compute_score_from_stats(list(statistics)).score)


_SENTENCE_BLEU = _SegmentBleu(effective_order=True)
_CORPUS_BLEU = _SegmentBleu()
_CHRF = _SegmentChrf(word_order=2)


def signatures() -> dict[str, str]:
    """sacrebleu's signatures of the corpus scores; the number of references varies by passage."""
    metrics = {"BLEU": BLEU(), "chrF2++": CHRF(word_order=2)}
    for metric in metrics.values():
        metric.num_refs = -1  # sacrebleu's sign for a number that varies
    return {name: f"{name}|{metric.get_signature()}" for name, metric in metrics.items()}


def length_ratio(candidate_characters: int, reference_characters: Sequence[int]) -> float:
    """Characters of the candidate over the mean of the references' (PaliBench, section 3.5).

    Raises
    ------
    ZeroDivisionError
        Without references, or where all of them are empty.
    """
    return candidate_characters / (sum(reference_characters) / len(reference_characters))


def lexical_scores(
    candidates: pl.DataFrame, references: pl.DataFrame, on: list[str], within: list[str]
) -> pl.DataFrame:
    """Score candidates against all references of their item; null where it has none.

    Parameters
    ----------
    candidates
        Columns `on` and `text`.
    references
        Columns `within` and `text`: complete references, none empty.
    on, within
        Columns that name a candidate, and those among them that name the item to which references belong.

    Returns
    -------
    Columns `on` and `LEXICAL`. `bleu` is sentence BLEU with effective order, `chrf` chrF++ (word order 2), both 0 to
    100.
    """
    texts = references.group_by(within, maintain_order=True).agg(pl.col("text").alias("references"))
    rows = candidates.select(*on, "text").join(texts, on=within, how="left", maintain_order="left")
    scored = [_score(text, own) for text, own in rows.select("text", "references").iter_rows()]
    return pl.concat([rows.select(on), pl.DataFrame(scored, schema=LEXICAL, orient="row")], how="horizontal")


def corpus_bleu(statistics: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    """BLEU of a corpus from the sum of its segments' statistics."""
    return _CORPUS_BLEU.score(statistics.tolist())


def corpus_chrf(statistics: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    """chrF++ of a corpus from the sum of its segments' statistics."""
    return _CHRF.score(statistics.tolist())


def _score(candidate: str, references: list[str] | None) -> tuple[object, ...]:
    if not references:
        return (None,) * len(LEXICAL)
    bleu = _SENTENCE_BLEU.statistics(candidate, references)
    chrf = _CHRF.statistics(candidate, references)
    ratio = length_ratio(len(candidate), [len(text) for text in references])
    return ratio, _SENTENCE_BLEU.score(bleu), _CHRF.score(chrf), bleu, chrf
