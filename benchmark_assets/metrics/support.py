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

Two kinds of words are marked, which are no errors by themselves. A word has the mean of its tokens. A word of an output
is `unsupported` below a support of `UNMATCHED`. A word of a reference is `missing` in an output if its agreement is at
least `SHARED` and its match in the output is below `UNMATCHED`. Comparisons of characters mark nothing.

Not here: the model (resources.e5), the storage of scores (further).
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from unicodedata import category

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

UNMATCHED, SHARED = 0.7, 0.9
"""In TED, 19 % of the words with a support below .7 are in a span of a major error, and 6.9 % of all words."""

APOSTROPHES = "'’"
SPACED = "\u0e00"
"""Above Thai's first letter, most scripts write words without spaces: their tokens are words."""

MARKS = pl.List(
    pl.Struct(
        {"translator": pl.String, "start": pl.Int64, "end": pl.Int64, "severity": pl.String, "confidence": pl.Float64}
    )
)

Matches = NDArray[np.float64]
"""For each token of a text, its best match in another text, from 0 to 1; shape (tokens,)."""

Match = Callable[[str, str], Matches]
"""Matches of the tokens of the first text in the second."""

LEXICAL = f"support|distinct groups of {GROUP} characters"


def signature() -> str:
    """What determines a score besides the texts, unless a reference has tokens that the model does not know."""
    if not e5.installed():
        return LEXICAL
    settings = f"tokens of layer {LAYER}, agreement squared, marks below {UNMATCHED}, shared from {SHARED}"
    return f"support|{settings}|{MultilingualEmbedder().signature}"


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
    return min(1.0, float(support.mean() + np.mean(coverage)) / 2)  # cosines of equal vectors round to more than 1


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


def words(text: str, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first token of each word of a text, given the places of its tokens. Signs are words of their own."""

    def within_word(end: int, start: int) -> bool:
        letters = [letter for letter in text[end - 1 : start + 1] if letter not in APOSTROPHES]
        return start < end or (start == end and all(each < SPACED and category(each)[0] in "LMN" for each in letters))

    inner = [within_word(end, start) for end, start in zip(places[:-1, 1], places[1:, 0], strict=True)]
    return np.flatnonzero(~np.array([False, *inner])[: len(places)])


def marked(
    text: str, places: NDArray[np.int64], match: Matches, agreed: Matches | None = None
) -> list[tuple[int, int, float]]:
    """Start, end and match of runs of words with a match below `UNMATCHED` and, if given, an agreement of `SHARED`."""
    firsts = words(text, places)
    counts = np.diff(firsts, append=len(places))
    means = np.add.reduceat(match, firsts) / counts if len(firsts) else match
    chosen = means < UNMATCHED
    if agreed is not None and len(firsts):
        chosen &= np.add.reduceat(agreed, firsts) / counts >= SHARED
    runs: list[tuple[int, int, float]] = []
    for first, count, mean, below in zip(firsts, counts, means, chosen, strict=True):
        start, end = int(places[first, 0]), int(places[first + count - 1, 1])
        if not below or not any(letter.isalnum() for letter in text[start:end]):
            continue
        if runs and not text[runs[-1][1] : start].strip():
            start, _, former = runs.pop()
            mean = min(mean, former)
        runs.append((start, end, float(mean)))
    return runs


def _scores(texts: Texts, _: Comet) -> pl.DataFrame:
    """Scores of candidates, with `signature` and `spans`. Texts without visible characters are left out, and equal
    references count once."""
    legible = pl.col("text").str.contains(LEGIBLE)
    distinct = texts.references.filter(legible).group_by("item", "text").agg(pl.col("translator").min())
    references = distinct.sort("text").group_by("item", maintain_order=True).agg("text", "translator")
    rows = texts.candidates.filter(legible).join(references.rename({"text": "references"}), on="item")
    parts = [_of_passage(passage) for _, passage in rows.group_by("references", "translator", maintain_order=True)]
    return pl.concat([_of_passage(rows.clear()), *parts])


def _of_passage(candidates: pl.DataFrame) -> pl.DataFrame:
    """Scores of candidates that have the same references."""
    references, translators = candidates.select("references", "translator").row(0) if len(candidates) else ([], [])
    # Vectors are kept for one passage, because those of a corpus would take gigabytes.
    read = cache(partial(e5.read_tokens, layer=LAYER))
    by_tokens = e5.installed() and all(read(text).known > KNOWN for text in references)
    match = cache(token_match(read) if by_tokens else group_match)

    def marks(output: str) -> list[dict[str, object]]:
        runs = [
            ("unsupported", "", run)
            for run in marked(output, read(output).places, supported(output, references, match))
        ]
        for reference, translator in zip(references, translators, strict=True):
            agreed = agreement(reference, references, match)
            missing = marked(reference, read(reference).places, match(reference, output), agreed)
            runs += [("missing", translator, run) for run in missing]
        return [
            {"translator": translator, "start": start, "end": end, "severity": kind, "confidence": value}
            for kind, translator, (start, end, value) in runs
        ]

    outputs = candidates["text"].to_list()
    cut = [by_tokens and any(read(text).cut for text in (output, *references)) for output in outputs]
    return candidates.select(
        "item",
        pl.Series("score", [score(output, references, match) for output in outputs], pl.Float64),
        pl.Series("cut", cut, pl.Boolean),
        pl.Series("spans", [marks(output) if by_tokens else [] for output in outputs], MARKS),
        signature=pl.lit(signature() if by_tokens else LEXICAL),
    )


METRIC = Metric(
    "support", 1, ("references",), "embedder", score=_scores, signature=lambda _: pl.lit(signature()),
    label="support", least=0, most=1,
)  # fmt: skip
