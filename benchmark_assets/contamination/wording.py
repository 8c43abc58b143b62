"""Wording that two texts share: longest common run, 3-gram overlap and near-identity, for many pairs of texts at once.

Here: words of texts, and measures of pairs. Not here: how much independent translators share (evidence), copies of
other passages (elsewhere).
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

GRAM = 3
"""Length of the n-grams that overlap and runs consist of, in words."""

_TOGETHER = 4_000
"""Pairs whose n-grams are compared at once, to limit memory."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_WORD = rf"[\w--[{_UNSPACED}]]"
_WORDS = rf"[{_UNSPACED}]|{_WORD}+(?:'{_WORD}+)*"

MEASURES = {"words": pl.Int32(), "run": pl.Int32(), "overlap": pl.Float64(), "near": pl.Float64()}


def words(texts: pl.Series) -> pl.Series:
    """Words of each text in lower case (NFKC), without punctuation; characters in scripts without spaces."""
    folded = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all("[’ʼ]", "'")
    return folded.str.extract_all(_WORDS)


class Place(NamedTuple):
    """A word of a text: its first character, the character after it, and the word in lower case."""

    start: int
    end: int
    word: str


def places(text: str) -> list[Place]:
    """The words of one text as `words` divides it, each with its place."""
    straight = re.sub("[’ʼ]", "'", text)
    found: list[Place] = []
    for word in pl.Series([straight]).str.extract_all(_WORDS)[0]:
        start = straight.index(word, found[-1].end if found else 0)
        found.append(Place(start, start + len(word), unicodedata.normalize("NFKC", word).lower()))
    return found


class Codes(NamedTuple):
    """Words of distinct texts as numbers: `numbers` has the words of all texts, text after text.

    `ends` has one element more than there are texts: text i is `numbers[ends[i]:ends[i + 1]]`.
    """

    numbers: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: pl.Series) -> Self:
        """The words of texts; texts without words have none."""
        rows = words(texts)
        numbers = rows.explode(empty_as_null=False).rank("dense").cast(pl.Int64).to_numpy()
        return cls(numbers, np.concatenate([[0], np.cumsum(rows.list.len().to_numpy(), dtype=np.int64)]))

    def grams(self, length: int) -> pl.DataFrame:
        """All n-grams: columns `text`, `at` (position of the first word in the text) and `gram` (equal for equal
        n-grams, but for collisions of 64-bit hashes)."""
        texts = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        whole = np.arange(len(texts)) + length <= self.ends[texts + 1]
        places = np.flatnonzero(whole)
        columns = [self.numbers[places + offset] for offset in range(length)]
        gram = pl.DataFrame(columns, schema=[f"word{at}" for at in range(length)]).hash_rows()
        return pl.DataFrame({"text": texts[places], "at": places - self.ends[texts[places]], "gram": gram})


def shared(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add the measures of shared wording to pairs of texts.

    Parameters
    ----------
    pairs
        Columns `text`, `reference`, and any others. Both are strings that are not null.

    Returns
    -------
    The columns of `pairs` without the texts, and

    - `words`: words of the shorter text (characters, in scripts without spaces);
    - `run`: length of the longest run of consecutive words that both texts have; 0 if it has fewer than `GRAM` words;
    - `overlap`: share of the 3-grams of `text` that occur in `reference`, 0 to 1; null without a 3-gram;
    - `near`: near-identity, twice the longest common subsequence of words divided by the words of both texts, 0 to 1.

    Notes
    -----
    Time is linear in the words of the texts, except for the longest common subsequence, whose words are compared 30 or
    64 at a time (Hyyrö 2004).
    """
    distinct = pl.concat([pairs["text"], pairs["reference"]]).unique(maintain_order=True)
    codes = Codes.of(distinct)
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    left, right = (np.array([number[text] for text in pairs[name]], np.int64) for name in ("text", "reference"))
    sizes = np.diff(codes.ends)
    common = _common_subsequences(codes, left, right)
    total = np.maximum(sizes[left] + sizes[right], 1)
    measures = pl.DataFrame({"words": np.minimum(sizes[left], sizes[right]), "near": 2 * common / total})
    grams = _grams(codes, left, right)
    columns = [pl.col(name).cast(kind) for name, kind in MEASURES.items()]
    return pl.concat([pairs.drop("text", "reference"), pl.concat([measures, grams], how="horizontal").select(columns)],
                     how="horizontal")  # fmt: skip


def _common_subsequences(codes: Codes, left: Iterable[int], right: Iterable[int]) -> NDArray[np.int64]:
    """Length of the longest common subsequence of each pair of texts."""
    lists = [part.tolist() for part in np.split(codes.numbers, codes.ends[1:-1])]
    places: dict[int, dict[int, int]] = {}
    lengths = []
    for own, other in zip(left, right, strict=True):
        if other not in places:
            masks: dict[int, int] = {}
            for at, word in enumerate(lists[other]):
                masks[word] = masks.get(word, 0) | 1 << at
            places[other] = masks
        masks, every = places[other], (1 << len(lists[other])) - 1
        rest = every
        for word in lists[own]:
            if mask := masks.get(word):
                hit = rest & mask
                rest = (rest + hit | rest - hit) & every
        lengths.append(len(lists[other]) - rest.bit_count())
    return np.array(lengths, np.int64)


def _grams(codes: Codes, left: NDArray[np.int64], right: NDArray[np.int64]) -> pl.DataFrame:
    """Columns `run` and `overlap` for each pair of texts, from 3-grams at the same offset."""
    grams = codes.grams(GRAM)
    counts = np.bincount(grams["text"], minlength=len(codes.ends) - 1)
    parts = [pl.DataFrame(schema={"pair": pl.Int64, "run": pl.Int64, "hits": pl.Int64})]
    for start in range(0, len(left), _TOGETHER):
        pairs = pl.DataFrame({"left": left[start : start + _TOGETHER], "right": right[start : start + _TOGETHER]})
        pairs = pairs.with_columns(pair=pl.int_range(start, start + len(pairs), dtype=pl.Int64))
        matches = pairs.join(grams, left_on="left", right_on="text").join(
            grams, left_on=["right", "gram"], right_on=["text", "gram"], suffix="_other"
        )
        matches = matches.with_columns(offset=pl.col("at") - pl.col("at_other")).sort("pair", "offset", "at")
        begins = pl.any_horizontal(pl.col("pair", "offset").diff() != 0) | (pl.col("at").diff() != 1)
        runs = matches.group_by("pair", begins.fill_null(value=True).cum_sum().alias("group"))
        longest = runs.agg(run=pl.len().cast(pl.Int64) + GRAM - 1).group_by("pair").agg(pl.max("run"))
        parts.append(longest.join(matches.group_by("pair").agg(hits=pl.n_unique("at").cast(pl.Int64)), on="pair"))
    rows = pl.DataFrame({"pair": np.arange(len(left)), "grams": counts[left]})
    rows = rows.join(pl.concat(parts), on="pair", how="left", maintain_order="left")
    overlap = pl.when(pl.col("grams") > 0).then(pl.col("hits").fill_null(0) / pl.col("grams"))
    return rows.select(pl.col("run").fill_null(0), overlap=overlap)
