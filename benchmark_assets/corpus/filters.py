"""Filters that drop passages from a benchmark because of their source and references.

Here: PaliBench's seven filters of single passages, and their thresholds. Several filters may drop the same passage. Not
here: near-duplicates (corpus.duplicates), reading, storage, the selection (selection.funnel).
"""

from collections.abc import Sequence
from itertools import combinations

import polars as pl
from pydantic import Field

from benchmark_assets.corpus.trigrams import WIDTH, containment, jaccard, normalized, trigrams
from resources.frozen import Frozen

REPEATED = 20
"""A segment that is contained in another segment indicates a faulty extraction if it has at least this many letters.
Shorter segments ('Yes, sir.', 'consciousness') may be contained in other segments legitimately. They are a fifth of the
segments of the suttas."""

OVERLAP = 40
"""If at least this many letters at the end of a segment are the beginning of another segment, the extraction is likely
faulty. Shorter overlaps are legitimate ('… is the interior earth element.' 'The interior earth element and …'). In the
suttas, two segments with different sources overlap by up to 32 letters."""

ALIKE = 0.5
"""Two source segments count as a repetition if the longer one contains at least this share of the shorter one's
trigrams. Two formulas that are translated alike share 0.55 or more ('jātipaccayā nu kho …', 'avijjāpaccayā nu kho …');
other segments of a sutta share about a quarter."""

CORRUPT = r"[\x00\x{FFFD}]"
"""U+0000, and the character that replaces undecodable bytes."""

REASONS = [
    "incomplete", "suspicious", "short", "similar", "length_ratio", "null_characters", "internal_duplication",
]  # fmt: skip


class Filters(Frozen):
    """Thresholds of the filters (see `filtered`). The defaults are PaliBench's; None or False switches a filter off.

    - `references`: number of complete references that a passage needs, by default as many as the corpus has;
      ignored if `complete` is False.
    - `min_characters`: minimum number of characters in each reference.
    - `max_similarity`: similarity of two references, in (0, 1], at or above which the passage is dropped.
    - `max_length_ratio`: highest allowed ratio of the longest to the shortest reference.
    - `max_duplicate`: similarity of two sources, in (0, 1], at or above which the later passage is dropped.
    - `verified`: whether passages with suspicious segments are dropped.
    """

    references: int | None = Field(default=None, ge=1)
    min_characters: int | None = Field(default=100, ge=1)
    max_similarity: float | None = Field(default=0.9, gt=0, le=1)
    max_length_ratio: float | None = Field(default=2.0, ge=1, allow_inf_nan=False)
    max_duplicate: float | None = Field(default=0.85, gt=0, le=1)
    complete: bool = True
    verified: bool = True
    null_characters: bool = True
    internal_duplication: bool = True


def filtered(sources: pl.DataFrame, references: pl.DataFrame, expected: int, filters: Filters) -> pl.DataFrame:
    """Measure each passage, and name the filters that drop it.

    All filters but `incomplete` use every reference with text, even an incomplete one, so that they find all defects of
    a passage.

    Parameters
    ----------
    sources
        Columns `passage` (without repetitions), `text`, and `segments` (list of strings).
    references
        Columns `passage`, `translator`, `segments` (list of strings parallel to the source's, null where untranslated),
        `text` (segments joined, '' without any) and `suspicious` (number of segments that failed verification). Rows of
        passages that are not in `sources` are ignored.
    expected
        Number of references in the corpus description.

    Returns
    -------
    One row per row of `sources`, in that order:

    - `complete_references`: number of references with text and without untranslated segments.
    - `missing_segments`: number of untranslated segments in all expected references. A reference without a row lacks
      every segment whose source has text.
    - `suspicious_segments`: number of segments that failed verification.
    - `shortest`, `longest`: characters of the shortest and the longest reference; null without references.
    - `length_ratio`: `longest` divided by `shortest`, 1 or more; null without references.
    - `similarity`: highest Jaccard similarity of the trigram sets of two references, in [0, 1]; null with fewer than
      two references.
    - `null_characters`: number of U+0000 and U+FFFD in the source and the references.
    - `duplicated_segments`: number of reference segments that repeat text of another segment although the source does
      not.
    - `reasons`: the filters that drop the passage, in this order:

      - incomplete: there are fewer complete references than required, so that scores would not be comparable.
      - suspicious: a segment was not found in its translation, so its alignment is uncertain.
      - short: a reference has fewer than `min_characters`, too few for a comparison of meaning.
      - similar: two references have a similarity of `max_similarity` or more. One may be a copy of the other, or both
        may be a formula; the envelope then collapses.
      - length_ratio: the longest reference is more than `max_length_ratio` times as long as the shortest. Part of the
        shortest may be missing, or the longest may contain text of a neighboring passage.
      - null_characters: the text contains U+0000 or U+FFFD in place of a lost letter. (PaliBench names only
        U+0000; other programs leave U+FFFD. Polars and DuckDB treat U+0000 like any other character.)
      - internal_duplication: there are duplicated segments, because the extraction assigned the same stretch of the
        translation to two segments.

    Raises
    ------
    ValueError
        If more references are required than `expected`, or a reference and its source differ in number of segments.

    Notes
    -----
    Source: PaliBench, section 3.4, and table 1 of 'From outliers to errors'.
    """
    required = expected if filters.references is None else filters.references
    if required > expected:
        raise ValueError(f"filters require {required} complete references, but the corpus describes {expected}")
    measured = _measured(sources, references, expected)
    drops = {
        "incomplete": pl.lit(filters.complete) & (pl.col("complete_references") < required),
        "suspicious": pl.lit(filters.verified) & (pl.col("suspicious_segments") > 0),
        "short": pl.col("shortest") < pl.lit(filters.min_characters, dtype=pl.Int64),
        "similar": pl.col("similarity") >= pl.lit(filters.max_similarity, dtype=pl.Float64),
        "length_ratio": pl.col("length_ratio") > pl.lit(filters.max_length_ratio, dtype=pl.Float64),
        "null_characters": pl.lit(filters.null_characters) & (pl.col("null_characters") > 0),
        "internal_duplication": pl.lit(filters.internal_duplication) & (pl.col("duplicated_segments") > 0),
    }
    reasons = [pl.when(drops[reason]).then(pl.lit(reason)) for reason in REASONS]
    return measured.with_columns(reasons=pl.concat_list(reasons).list.drop_nulls())


def _measured(sources: pl.DataFrame, references: pl.DataFrame, expected: int) -> pl.DataFrame:
    """All columns of `filtered` except `reasons`."""
    by_reference = _by_reference(sources, references)
    counts = ["complete", "missing", "suspicious", "corrupt", "duplicated"]
    grouped = by_reference.group_by("passage").agg(
        pl.col(counts).sum().cast(pl.Int64),
        rows=pl.len().cast(pl.Int64),
        shortest=pl.col("characters").min(),
        longest=pl.col("characters").max(),
    )
    filled = pl.col("segments").list.eval(pl.element().filter(pl.element().str.strip_chars() != "")).list.len()
    source_counts = sources.select("passage", filled=filled.cast(pl.Int64), source_corrupt=_corrupt("text"))
    joined = source_counts.join(grouped, on="passage", how="left", maintain_order="left")
    joined = joined.join(_similarities(by_reference), on="passage", how="left", maintain_order="left")
    without_row = (expected - pl.col("rows")).clip(lower_bound=0) * pl.col("filled")
    return joined.with_columns(pl.col(*counts, "rows").fill_null(0)).select(
        "passage",
        complete_references="complete",
        missing_segments=pl.col("missing") + without_row,
        suspicious_segments="suspicious",
        shortest="shortest",
        longest="longest",
        length_ratio=pl.col("longest") / pl.col("shortest"),
        similarity="similarity",
        null_characters=pl.col("source_corrupt") + pl.col("corrupt"),
        duplicated_segments="duplicated",
    )


def _by_reference(sources: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Passage, text and measures of each reference; `characters` is null for a reference without text."""
    paired = references.join(sources.select("passage", source="segments"), on="passage", maintain_order="left")
    uneven = paired.filter(pl.col("segments").list.len() != pl.col("source").list.len())
    for passage, translator in uneven.select("passage", "translator").head(1).iter_rows():
        raise ValueError(f"{passage}: {translator} has a different number of segments than the source")
    missing = (pl.col("segments").list.len() - pl.col("segments").list.drop_nulls().list.len()).cast(pl.Int64)
    repeats = [repeating_segments(*segments) for segments in paired.select("segments", "source").iter_rows()]
    return paired.select(
        "passage",
        "text",
        "suspicious",
        complete=(missing == 0) & (pl.col("text") != ""),
        missing=missing,
        characters=pl.when(pl.col("text") != "").then(pl.col("text").str.len_chars().cast(pl.Int64)),
        corrupt=_corrupt("text"),
        duplicated=pl.Series(repeats, dtype=pl.Int64),
    )


def _corrupt(column: str) -> pl.Expr:
    return pl.col(column).str.count_matches(CORRUPT).cast(pl.Int64)


def _similarities(references: pl.DataFrame) -> pl.DataFrame:
    """Columns `passage` and `similarity` (of the two most similar references), for passages with two texts or more."""
    texts = references.drop_nulls("characters").group_by("passage").agg("text").filter(pl.col("text").list.len() > 1)
    highest = [
        max(jaccard(one, other) for one, other in combinations(map(trigrams, renderings), 2))
        for renderings in texts["text"]
    ]
    return texts.select("passage", similarity=pl.Series(highest, dtype=pl.Float64))


def repeating_segments(reference: Sequence[str | None], source: Sequence[str]) -> int:
    """Count the segments of a reference that repeat another segment of the passage although the source does not.

    Parameters
    ----------
    reference, source
        Segments of one passage, in parallel; None or '' for segments without text.

    Returns
    -------
    Number of segments that repeat another one. Of two segments, the shorter one repeats the other if it has at least
    REPEATED letters and is contained in the other, or if at least OVERLAP letters at the end of one segment are the
    beginning of the other. Of two equally long segments, the later one is the repetition. A pair is ignored if its
    source segments are similar, or if one source segment is too short to compare, for example only 'pe'.

    Notes
    -----
    PaliBench describes the filter in a single sentence (section 3.4), and dropped 671 of 4,003 passages with it. In
    Sujato's translation, which the translator divided into segments himself, a segment contains another one in 294
    passages. The source repeats itself in all of these, so none is counted here. When segments are deliberately
    replaced by a neighbor's text or by the end of that text, four in five of the replaced segments are counted; the
    other ones have similar sources.
    """
    letters = [normalized(segment or "") for segment in reference]
    long_enough = (i for i, text in enumerate(letters) if len(text) >= REPEATED)
    repeating = set()
    # In order of descending length, then of position, so that the second segment of each pair is the repetition.
    for one, other in combinations(sorted(long_enough, key=lambda i: -len(letters[i])), 2):
        longer, shorter = letters[one], letters[other]
        overlaps = shorter in longer or _continues(longer, shorter) or _continues(shorter, longer)
        if overlaps and not _alike(source[one], source[other]):
            repeating.add(other)
    return len(repeating)


def _continues(one: str, other: str) -> bool:
    """Whether OVERLAP letters or more at the end of the first text are the beginning of the second text."""
    lengths = range(OVERLAP, min(len(one), len(other)) + 1)
    return other[:OVERLAP] in one and any(one.endswith(other[:length]) for length in lengths)


def _alike(one: str, other: str) -> bool:
    """Whether two source segments repeat each other, or one is too short to compare."""
    if min(len(normalized(one)), len(normalized(other))) < WIDTH:
        return True
    return containment(trigrams(one), trigrams(other)) >= ALIKE
