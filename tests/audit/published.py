"""Label sets built from counts that the audit paper prints (From Outliers to Errors, tables 7, 9 to 12, E2 to E6).

They are test data: only the counts are published, and which output has which label, and with which other, is made up.
Every output is a unit of its own, as in the paper, whose intervals count outputs as independent.
"""

from functools import cache
from itertools import chain, repeat

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, NO_CATEGORY, SUBSTANTIVE, VALID

PASSAGES = 1700

TABLE_11 = {
    "gpt": {"1.5-2.0": (130, 7, 3), "2.0-3.0": (54, 4, 6), ">3.0": (13, 7, 0)},
    "claude": {"1.5-2.0": (158, 18, 14), "2.0-3.0": (62, 22, 10), ">3.0": (14, 2, 2)},
    "gemini": {"1.5-2.0": (142, 23, 12), "2.0-3.0": (59, 12, 5), ">3.0": (2, 1, 1)},
    "grok": {"1.5-2.0": (150, 41, 28), "2.0-3.0": (67, 25, 27), ">3.0": (14, 7, 61)},
}
"""Valid, minor, major: the counts that its percentages stand for."""

TABLE_12 = {
    "OMISSION_OR_TRUNCATION": 52, "DOCTRINAL_TERM_ERROR": 35, "AGENT_OR_ROLE_ERROR": 22,
    "ADDITION_OR_HALLUCINATION": 20, "NEGATION_OR_POLARITY_ERROR": 18, "UNRESOLVED_SOURCE_ELLIPSIS": 11,
    "LIST_OR_NUMBER_ERROR": 5,
    "WRONG_RELATION_OR_LOGIC": 4, "GRAMMAR_OR_FLUENCY_PROBLEM": 1, "OTHER": 1,
}  # fmt: skip
TABLE_E6 = {
    "UNRESOLVED_SOURCE_ELLIPSIS": 60, "DOCTRINAL_TERM_ERROR": 50, "ADDITION_OR_HALLUCINATION": 17,
    "OMISSION_OR_TRUNCATION": 10, "AGENT_OR_ROLE_ERROR": 9, "GRAMMAR_OR_FLUENCY_PROBLEM": 7, "LIST_OR_NUMBER_ERROR": 5,
    "OTHER": 4, "WRONG_RELATION_OR_LOGIC": 3, "NEGATION_OR_POLARITY_ERROR": 2, "OVERLY_FREE_PARAPHRASE": 2,
}  # fmt: skip
SPLITS = 30

TABLE_7 = {"0.0-1.0": (85, 14, 1), "1.0-1.5": (77, 21, 2), "1.5-2.0": (37, 12, 1), ">2.0": (28, 11, 11)}
TABLE_E4 = {VALID: (213, 14, 0), MINOR: (36, 17, 5), MAJOR: (0, 5, 10)}
"""Rows: the author's label; columns: the panel's, valid, minor, major."""

JUDGES = ("one", "two", "three")

OUTPUT = pl.format("{} {}", "model", "passage")


@cache
def queue() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triage of four models' 1,700 outputs each, and votes of three judges on the 1,203 above 1.5 (tables 9 to 12, E2).

    The judges agree, but in 30 cases that come to a minor error because each says something else.
    """
    categories = {
        MAJOR: chain.from_iterable(repeat(name, count) for name, count in TABLE_12.items()),
        MINOR: chain.from_iterable(repeat(name, count) for name, count in TABLE_E6.items()),
        VALID: repeat(NO_CATEGORY),
    }
    splits = SPLITS
    outputs: list[tuple[object, ...]] = []
    votes: list[tuple[object, ...]] = []
    for model, bands in TABLE_11.items():
        cells = [(b, label, n) for b, counts in bands.items() for label, n in zip(SUBSTANTIVE, counts, strict=True)]
        above = [(band, label) for band, label, count in cells for _ in range(count)]
        for number in range(PASSAGES):
            band, label = above[number] if number < len(above) else ("0.0-1.0", "")
            key = model, f"pali/{number:04}"
            outputs.append((*key, band, bool(label)))
            if not label:
                continue
            category = next(categories[label])
            panel = [(label, category)] * 3
            if label == MINOR and splits:
                panel, splits = [(VALID, NO_CATEGORY), (MINOR, category), (MAJOR, category)], splits - 1
            votes += [(*key, judge, *vote) for judge, vote in zip(JUDGES, panel, strict=True)]
    triage = pl.DataFrame(outputs, ["model", "passage", "band", "queued"], orient="row")
    drift = pl.when("queued").then(1.8).otherwise(0.8)
    return (
        triage.with_columns(drift=drift, sampled=pl.lit(False), unit=OUTPUT),
        pl.DataFrame(votes, ["model", "passage", "judge", "label", "error_category"], orient="row"),
    )


@cache
def validation() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triage of 300 outputs, all drawn for people, and the author's labels of them (tables 7 and E3)."""
    cells = [(band, label, n) for band, counts in TABLE_7.items() for label, n in zip(SUBSTANTIVE, counts, strict=True)]
    rows = [(band, label) for band, label, count in cells for _ in range(count)]
    labelled = pl.DataFrame(rows, ["band", "label"], orient="row").with_row_index().with_columns(
        model=pl.lit("m"), passage=pl.format("pali/{}", "index"), annotator=pl.lit("author"), drift=pl.lit(1.0),
        queued=pl.col("band").is_in(["1.5-2.0", ">2.0"]), sampled=pl.lit(True),
        error_category=pl.when(pl.col("label") == VALID).then(pl.lit(NO_CATEGORY)).otherwise(pl.lit("OTHER")),
    )  # fmt: skip
    return (
        labelled.select("model", "passage", "drift", "band", "queued", "sampled", unit=OUTPUT),
        labelled.select("model", "passage", "annotator", "label", "error_category"),
    )


@cache
def confusion_matrix() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Triage, votes and the author's labels of 300 outputs (table E4); the three judges all say what the panel says."""
    cells = [
        (author, panel, count)
        for author, counts in TABLE_E4.items()
        for panel, count in zip(SUBSTANTIVE, counts, strict=True)
    ]
    pairs = [(author, panel) for author, panel, count in cells for _ in range(count)]
    rows = pl.DataFrame(pairs, ["author", "panel"], orient="row").with_row_index().with_columns(
        model=pl.lit("m"), passage=pl.format("pali/{}", "index"), drift=pl.lit(1.0), band=pl.lit("0.0-1.0"),
        queued=pl.lit(False), sampled=pl.lit(True),
    )  # fmt: skip
    label = {
        name: pl.when(pl.col(name) == VALID).then(pl.lit(NO_CATEGORY)).otherwise(pl.lit("OTHER"))
        for name in ("author", "panel")
    }
    votes = pl.concat(
        rows.select("model", "passage", judge=pl.lit(judge), label="panel", error_category=label["panel"],
                    confidence=pl.lit("high"))
        for judge in JUDGES
    )  # fmt: skip
    labels = rows.select("model", "passage", annotator=pl.lit("author"), label="author", error_category=label["author"])
    return rows.select("model", "passage", "drift", "band", "queued", "sampled", unit=OUTPUT), votes, labels


NO_LABELS = pl.DataFrame(schema=dict.fromkeys(["model", "passage", "annotator", "label", "error_category"], pl.String))
NO_VERDICTS = pl.DataFrame(
    schema=dict.fromkeys(["model", "passage", "label", "error_category"], pl.String) | {"split": pl.Boolean}
)
