"""Support: how much of an output the references say, and how much of what the references say the output says.

The metric is untrained. It compares vectors of tokens, which depend on the tokens around them: the states of the
packaged multilingual-e5-small after `LAYER` of its 12 layers. For an output, references of its passage, and best(t, T),
the highest cosine of a token t to the tokens of a text T, cut at 0:

- support = mean over the output's tokens t of the maximum over references R of best(t, R);
- agreement of a token t of a reference = minimum over the other references Q of best(t, Q); 1 with one reference;
- coverage = mean over references of the mean over their tokens t of best(t, output), weighted by agreement squared:
  content that all references share counts most;
- score = (support + coverage) / 2.

Layer, weights and sum were chosen among about a hundred variants on TED talks from Chinese into English with
professional labels (WMT21), and on nothing else.

If the model is not installed, or does not know the tokens of a tenth of a reference's characters, the equations are
applied to the distinct groups of `GROUP` characters of the texts without spaces, and best is 1 if the other text
has the group, else 0. Such scores have a signature of their own. All outputs of a passage are scored alike.

Not here: the model (resources.e5), the storage of scores (further).
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.comet import LEGIBLE
from benchmark_assets.metrics.metric import Metric, Texts
from resources import e5
from resources.comet.comet import Comet
from resources.embedders import MultilingualEmbedder

LAYER = 9
GROUP = 3
KNOWN = 0.9
"""Share of a reference's characters in tokens that the model knows, above which its vectors are used."""

Matches = NDArray[np.float64]
"""For each token of a text, its best match in another text, from 0 to 1; shape (tokens,)."""

Match = Callable[[str, str], Matches]
"""Matches of the tokens of the first text in the second."""

LEXICAL = f"support|distinct groups of {GROUP} characters"


def signature() -> str:
    """What determines a score besides the texts, unless a reference has tokens that the model does not know."""
    if not e5.installed():
        return LEXICAL
    return f"support|tokens of layer {LAYER}, agreement squared|{MultilingualEmbedder().signature}"


def supported(output: str, references: Sequence[str], match: Match) -> Matches:
    """The support of each token of an output by the best reference."""
    best: Matches = np.max([match(output, reference) for reference in references], axis=0)
    return best


def agreement(reference: str, references: Sequence[str], match: Match) -> Matches:
    """For each token of a reference, the worst of its matches in the other references; 1 if there is no other."""
    others = [match(reference, other) for other in references if other != reference]
    worst: Matches = np.min(others, axis=0) if others else np.ones(len(match(reference, reference)))
    return worst


def score(output: str, references: Sequence[str], match: Match) -> float:
    """Half the sum of support and coverage, from 0 to 1. The references have tokens; without tokens, an output has the
    score 0."""
    support = supported(output, references, match)
    if not len(support):
        return 0.0
    # Without any agreement, all tokens of a reference count alike.
    coverage = [
        np.average(match(reference, output), weights=agreement(reference, references, match) ** 2 + 1e-9)
        for reference in references
    ]
    return float(support.mean() + np.mean(coverage)) / 2


def token_match(read: Callable[[str], e5.TokenVectors]) -> Match:
    """Matches are cosines of vectors of tokens, cut at 0."""
    return lambda text, other: (read(text).vectors @ read(other).vectors.T).max(axis=1, initial=0).astype(np.float64)


def group_match(text: str, other: str) -> Matches:
    """Matches are 1 for groups of characters that the other text has, else 0."""
    known = set(groups(other))
    return np.array([group in known for group in groups(text)], np.float64)


def groups(text: str) -> list[str]:
    """The distinct groups of characters of a text without spaces, which is itself the only one if it is shorter."""
    letters = "".join(text.lower().split())
    return list(dict.fromkeys(letters[n : n + GROUP] for n in range(max(1, len(letters) - GROUP + 1))))


def _scores(texts: Texts, _: Comet) -> pl.DataFrame:
    """Scores of candidates, with their `signature`. Texts without visible characters are left out, and equal references
    count once."""
    legible = pl.col("text").str.contains(LEGIBLE)
    references = texts.references.filter(legible).group_by("item").agg(references=pl.col("text").unique().sort())
    rows = texts.candidates.filter(legible).join(references, on="item")
    by_passage = rows.group_by("references", maintain_order=True)
    parts = [_of_passage(passage, list(known)) for (known,), passage in by_passage]
    empty = rows.select("item", score=0.0, cut=False, signature=pl.lit("")).clear()
    return pl.concat([empty, *parts])


def _of_passage(candidates: pl.DataFrame, references: Sequence[str]) -> pl.DataFrame:
    """Scores of candidates that have the same references."""
    # Vectors are kept for one passage, because those of a corpus would take gigabytes.
    read = cache(partial(e5.read_tokens, layer=LAYER))
    by_tokens = e5.installed() and all(read(text).known > KNOWN for text in references)
    match = cache(token_match(read) if by_tokens else group_match)
    return candidates.select(
        "item",
        pl.Series("score", [score(text, references, match) for text in candidates["text"]], pl.Float64),
        pl.Series(
            "cut", [by_tokens and any(read(each).cut for each in (text, *references)) for text in candidates["text"]]
        ),
        signature=pl.lit(signature() if by_tokens else LEXICAL),
    )


METRIC = Metric(
    "support", 1, ("references",), "embedder", score=_scores, signature=lambda _: pl.lit(signature()),
    label="support", least=0, most=1,
)  # fmt: skip
