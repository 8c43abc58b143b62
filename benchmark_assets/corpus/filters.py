"""Filters of passages for a benchmark, measured on their source and references.

Here: the seven filters of PaliBench over passages, and their thresholds. Several filters may drop a passage. Not here:
near-duplicates (corpus.duplicates), reading, storage, consequences for a dropped passage.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from benchmark_assets.corpus.trigrams import WIDTH, containment, jaccard, normalized, trigrams

REPEATED = 20
"""Fewest letters of a segment within another one that point to a faulty extraction. Shorter segments ('Yes, sir.',
'consciousness') repeat legitimately; they are a fifth of the segments of the suttas."""

OVERLAP = 40
"""Fewest letters at the end of a segment and the beginning of another one that point to a faulty extraction. Sentences
overlap legitimately ('… is the interior earth element.' 'The interior earth element and …'), by up to 32 letters in the
suttas where the sources differ."""

ALIKE = 0.5
"""Share of the shorter source segment's trigrams in the other segment from which the source itself repeats. Formulas
with one rendering are at 0.55 and above ('jātipaccayā nu kho …', 'avijjāpaccayā nu kho …'); different segments of a
sutta share a quarter."""

CORRUPT = r"[\x00\x{FFFD}]"

REASONS = [
    "incomplete", "suspicious", "short", "similar", "length_ratio", "null_characters", "internal_duplication",
]  # fmt: skip


class Filters(BaseModel):
    """Thresholds of the filters; the defaults are PaliBench's. None or False switches a filter off.

    `references` is the number of complete references that a passage needs, by default all that the corpus describes; it
    has no effect if `complete` is False. `min_characters` applies to each reference, `max_similarity` to each pair of
    references and, like `max_duplicate`, is the lowest similarity that is too high. `max_length_ratio` is the highest
    allowed ratio. `max_duplicate` concerns sources, and is the threshold of `near_duplicates`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    Filters over texts use every reference with text, complete or not, so that a passage shows all its defects.

    Parameters
    ----------
    sources
        Columns `passage`, each once, `text` and `segments` (list of strings).
    references
        Columns `passage`, `translator`, `segments` (list of strings parallel to the source's; null: untranslated),
        `text` (segments joined, '' without any) and `suspicious` (number of segments that failed verification). Rows of
        passages that are not in `sources` are ignored.
    expected
        Number of references that the corpus describes.

    Returns
    -------
    A row for each row of `sources`, in that order:

    - `complete_references`: references with text and without an untranslated segment.
    - `missing_segments`: untranslated segments of all expected references; a reference without a row lacks every
      segment whose source has text.
    - `suspicious_segments`: segments that failed verification.
    - `shortest`, `longest`: characters of the shortest and longest reference; null without one.
    - `length_ratio`: longest by shortest, 1 or more; null without a reference.
    - `similarity`: Jaccard similarity of trigram sets of the two references most alike, in [0, 1]; null with fewer than
      two references.
    - `null_characters`: U+0000 and U+FFFD in source and references.
    - `duplicated_segments`: reference segments that repeat text of another segment although the source does not.
    - `reasons`: filters that drop the passage, in this order:

      - incomplete: fewer complete references than `references` requires. Scores would be compared over unequal texts.
      - suspicious: a segment was not found in its translation, so its alignment is uncertain.
      - short: a reference has fewer than `min_characters`, too few for a comparison of meaning.
      - similar: two references have a similarity of `max_similarity` or more. One was copied, or both are a formula;
        the envelope collapses.
      - length_ratio: the longest reference is more than `max_length_ratio` times the shortest. Part of one is missing,
        or one holds text of its neighbors.
      - null_characters: there is a null character, or the mark that a decoder leaves for undecodable bytes. Neither
        belongs to any text: a letter was lost. (PaliBench names only the first; the second is the same loss, by another
        program. Polars and DuckDB store, compare and return U+0000 like any other character.)
      - internal_duplication: there are duplicated segments. The extraction gave one stretch of the translation to two
        segments.

    Raises
    ------
    ValueError
        If `references` is more than `expected`, or a reference has another number of segments than its source.

    Notes
    -----
    Source: PaliBench, section 3.4, and table 1 of 'From outliers to errors'.
    """
    needed = expected if filters.references is None else filters.references
    if needed > expected:
        raise ValueError(f"filters require {needed} complete references, but the corpus describes {expected}")
    measured = _measured(sources, references, expected)
    fallen = _fallen(needed, filters)
    reasons = [pl.when(fallen[reason]).then(pl.lit(reason)) for reason in REASONS]
    return measured.with_columns(reasons=pl.concat_list(reasons).list.drop_nulls())


def _fallen(needed: int, filters: Filters) -> dict[str, pl.Expr]:
    return {
        "incomplete": pl.lit(filters.complete) & (pl.col("complete_references") < needed),
        "suspicious": pl.lit(filters.verified) & (pl.col("suspicious_segments") > 0),
        "short": pl.col("shortest") < pl.lit(filters.min_characters, dtype=pl.Int64),
        "similar": pl.col("similarity") >= pl.lit(filters.max_similarity, dtype=pl.Float64),
        "length_ratio": pl.col("length_ratio") > pl.lit(filters.max_length_ratio, dtype=pl.Float64),
        "null_characters": pl.lit(filters.null_characters) & (pl.col("null_characters") > 0),
        "internal_duplication": pl.lit(filters.internal_duplication) & (pl.col("duplicated_segments") > 0),
    }


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
    written = pl.col("segments").list.eval(pl.element().filter(pl.element().str.strip_chars() != "")).list.len()
    of_source = sources.select("passage", written=written.cast(pl.Int64), own_corrupt=_corrupt("text"))
    joined = of_source.join(grouped, on="passage", how="left", maintain_order="left")
    joined = joined.join(_similarities(by_reference), on="passage", how="left", maintain_order="left")
    without_row = (expected - pl.col("rows")).clip(lower_bound=0) * pl.col("written")
    return joined.with_columns(pl.col(*counts, "rows").fill_null(0)).select(
        "passage",
        complete_references="complete",
        missing_segments=pl.col("missing") + without_row,
        suspicious_segments="suspicious",
        shortest="shortest",
        longest="longest",
        length_ratio=pl.col("longest") / pl.col("shortest"),
        similarity="similarity",
        null_characters=pl.col("own_corrupt") + pl.col("corrupt"),
        duplicated_segments="duplicated",
    )


def _by_reference(sources: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Measures of each reference: `passage`, `text`, counts, and `characters`, null if it has no text."""
    paired = references.join(sources.select("passage", source="segments"), on="passage", maintain_order="left")
    uneven = paired.filter(pl.col("segments").list.len() != pl.col("source").list.len())
    for passage, translator in uneven.select("passage", "translator").head(1).iter_rows():
        raise ValueError(f"{passage}: {translator} has another number of segments than the source")
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
    """Columns `passage` and `similarity`, of the most similar references, for passages with two texts or more."""
    texts = references.drop_nulls("characters").group_by("passage").agg("text").filter(pl.col("text").list.len() > 1)
    most = [_most_alike(renderings) for renderings in texts["text"]]
    return texts.select("passage", similarity=pl.Series(most, dtype=pl.Float64))


def _most_alike(texts: Iterable[str]) -> float:
    return max(jaccard(one, other) for one, other in combinations(map(trigrams, texts), 2))


def repeating_segments(reference: Sequence[str | None], source: Sequence[str]) -> int:
    """Count the segments of a reference that repeat another segment of the passage although the source does not.

    Parameters
    ----------
    reference, source
        Segments of one passage, parallel; None and '' where there is no text.

    Returns
    -------
    Number of segments that are contained in another one, with REPEATED letters or more, or overlap with one, so that
    the end of one is the beginning of the other for OVERLAP letters or more. The shorter segment of a pair counts, of
    equally long ones the later. A pair does not count if its source segments are similar, or if one of them is too
    short to compare (nothing but 'pe').

    Notes
    -----
    PaliBench describes the filter in a sentence (section 3.4) and dropped 671 of 4,003 passages by it. Sujato cut his
    translation into segments himself: there a segment contains another in 294 passages; the source repeats itself in
    all of them, and none is counted here. If a segment is deliberately given its neighbor's text, or the end of it,
    four of five are counted; in the fifth, the two sources are similar.
    """
    letters = [normalized(segment or "") for segment in reference]
    long_enough = (i for i, text in enumerate(letters) if len(text) >= REPEATED)
    repeating = set()
    # Longest first, and of equals the earlier one: the second of each pair is the repetition.
    for one, other in combinations(sorted(long_enough, key=lambda i: -len(letters[i])), 2):
        if _shares(letters[one], letters[other]) and not _alike(source[one], source[other]):
            repeating.add(other)
    return len(repeating)


def _shares(longer: str, shorter: str) -> bool:
    return shorter in longer or _links(longer, shorter) or _links(shorter, longer)


def _links(one: str, other: str) -> bool:
    """Whether OVERLAP letters or more at the end of the first text are the beginning of the other."""
    lengths = range(OVERLAP, min(len(one), len(other)) + 1)
    return other[:OVERLAP] in one and any(one.endswith(other[:length]) for length in lengths)


def _alike(one: str, other: str) -> bool:
    """Whether two source segments repeat each other, or one is too short to compare."""
    if min(len(normalized(one)), len(normalized(other))) < WIDTH:
        return True
    return containment(trigrams(one), trigrams(other)) >= ALIKE
