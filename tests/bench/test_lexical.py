"""How fast BLEU and chrF++ of all outputs of a corpus are, beside sacrebleu asked for one output after another.

Figures are printed beside their targets; only equality is asserted, and at full size a low floor of the ratio.
"""

import time

import numpy as np
import polars as pl
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.metrics.lexical import lexical_scores

pytestmark = pytest.mark.bench

SYSTEMS, REFERENCES = 10, 3
WORDS = 120  # of the longest texts; the shortest have half of them
SAMPLE = 20  # every how many passages sacrebleu is asked


def texts(passages: int) -> pl.DataFrame:
    """Renderings of passages, each with 60 % of a passage's words, the others drawn as they are in the language."""
    chance = np.random.default_rng(1)
    letters = chance.choice(list("etaoinshrdlucmfwypvbgk"), size=(20_000, 10))
    # As in a language: the frequent words are the short ones.
    sizes = np.clip(np.log(np.arange(2, 20_002)) + chance.normal(0, 1.5, size=20_000), 1, 10).astype(int)
    vocabulary = np.array(["".join(row[:size]) for row, size in zip(letters, sizes, strict=True)])
    frequency = 1 / np.arange(1, 20_001)
    renderings = SYSTEMS + REFERENCES

    def drawn(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return chance.choice(20_000, size=shape, p=frequency / frequency.sum())

    words = np.where(
        chance.random((passages, renderings, WORDS)) < 0.6,
        drawn(passages, 1, WORDS),
        drawn(passages, renderings, WORDS),
    )
    marks = chance.choice(["", ",", ".", ";"], size=words.shape, p=[0.87, 0.08, 0.04, 0.01])
    lengths = chance.integers(WORDS // 2, WORDS + 1, size=passages)
    written = np.strings.add(vocabulary[words], marks)
    rows = [
        (f"p{passage}", f"m{rendering}", " ".join(written[passage, rendering, : lengths[passage]].tolist()))
        for rendering in range(renderings)
        for passage in range(passages)
    ]
    return pl.DataFrame(rows, schema=["passage", "model", "text"], orient="row")


def seconds(outputs: pl.DataFrame, references: pl.DataFrame) -> tuple[float, pl.DataFrame]:
    begun = time.perf_counter()
    scores = lexical_scores(outputs, references, on=["model", "passage"], within=["passage"])
    return time.perf_counter() - begun, scores


def test_outputs_against_3_references(full: bool) -> None:
    passages = 1700 if full else SAMPLE
    every = texts(passages)
    models = [f"m{number}" for number in range(SYSTEMS)]
    outputs, references = (
        every.filter(keep) for keep in (pl.col("model").is_in(models), ~pl.col("model").is_in(models))
    )
    took, scores = seconds(outputs, references)
    row, _ = seconds(outputs.filter(model="m0"), references)

    asked = [f"p{number}" for number in range(0, passages, SAMPLE)]
    own = {name: references.filter(passage=name)["text"].to_list() for name in asked}
    sample = outputs.filter(pl.col("passage").is_in(asked))
    bleu, chrf = BLEU(effective_order=True), CHRF(word_order=2)
    begun = time.perf_counter()
    plain = [
        (bleu.sentence_score(text, own[passage]).score, chrf.sentence_score(text, own[passage]).score)
        for passage, text in sample.select("passage", "text").iter_rows()
    ]
    each = (time.perf_counter() - begun) / len(plain)

    found = sample.join(scores, on=["model", "passage"], maintain_order="left").select("bleu", "chrf")
    assert found.rows() == plain
    ratio = each * len(outputs) / took
    length = outputs["text"].str.len_chars().sum() / len(outputs)
    print(
        f"\n{len(outputs):,} outputs of {length:.0f} characters, {REFERENCES} references: {took:.1f} s; sacrebleu's "
        f"loop {each * len(outputs):.0f} s, reckoned from {len(plain)}, equal bits: {ratio:.1f} times (target 8)\n"
        f"one system, {passages:,} outputs: {row:.1f} s, {each * passages / row:.1f} times"
    )
    assert not full or ratio > 4
