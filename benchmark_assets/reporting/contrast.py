"""Two systems beside each other on one corpus: where they differ most, and which words of the references only one has.

As in compare-mt (Neubig et al. 2019): passages by difference, words by kind, n-grams, thirds of the passages. Here:
these tables, and the words of the references by kind, for any number of systems. Not here: tests of differences
(comparisons), scores (metrics).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.contamination.wording import words
from benchmark_assets.corpus.rights import disclosure
from benchmark_assets.corpus.units import with_units
from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.scores import model_scores
from benchmark_assets.reporting.slices import measured, slices
from resources.errors import BadInput
from resources.warehouse import Warehouse

MEASURE = "chrf"
"""Score whose difference orders the passages of two systems, here and in the reader."""

SHOWN = 10
"""Number of passages and of n-grams that are shown for each system."""

GRAMS = 3
"""Number of words of the longest n-grams."""

RARE = 2
"""Largest number of passages whose references have a rare word."""

KINDS = ["number", "name", "rare", "other"]
"""Kinds of words."""

FOUND = pl.Schema({
    "model": pl.String(), "kind": pl.String(), "passages": pl.Int64(),
    "share": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
})  # fmt: skip

WORDS = (
    "words of the references, each counted once a passage; number: has a digit; name: has a capital within a sentence; "
    f"rare: in the references of at most {RARE} passages; characters in scripts without spaces"
)

_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_a-z]\w+")


class Contrast(NamedTuple):
    """Tables about two systems: passages, words by kind, n-grams, and parts of the corpus."""

    passages: pl.DataFrame
    kinds: pl.DataFrame
    grams: pl.DataFrame
    parts: pl.DataFrame


def contrast(warehouse: Warehouse, model: str, other: str, corpus: str) -> Contrast:
    """Compare two systems on the passages that both have translated.

    N-grams of restricted references are left out; the numbers of words include them.

    Raises
    ------
    BadInput
        If fewer than two passages have scores of both.
    """
    scores = model_scores(warehouse, pl.DataFrame({"model": [model, other]})).filter(corpus=corpus)
    scores = scores.select("system", "passage", "unit", MEASURE).drop_nulls()
    pairs = scores.pivot("system", index=["passage", "unit"], values=MEASURE).drop_nulls().sort("passage")
    if len(pairs) < 2 or not {model, other} <= {*pairs.columns}:
        remedy = "`variorum status` lists corpora and models by their full names"
        raise BadInput(corpus, f"{model}, {other}", "has fewer than two passages with scores of both", remedy)
    keys = pairs.select("passage")
    references, outputs = texts(warehouse, keys, [model, other])
    hidden = disclosure(warehouse, corpus, references["translator"].unique(), private=False).hidden
    open_texts = references.filter(~pl.col("translator").is_in(list(hidden)))
    parts = slices(measured(warehouse).filter(corpus=corpus))
    return Contrast(
        differing(pairs, model, other), by_kind(references, outputs, model, other),
        by_gram(open_texts, outputs, model, other), by_part(pairs, parts, model, other),
    )  # fmt: skip


def texts(warehouse: Warehouse, keys: pl.DataFrame, models: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Complete references (`passage`, `translator`, `text`) and outputs (`model`, `passage`, `text`) of passages."""
    references = warehouse.read("reference", keys, ["passage", "translator", "text", "complete"]).filter("complete")
    names = pl.DataFrame({"model": [*models]}, {"model": pl.String})
    outputs = warehouse.read("model_output", keys.join(names, how="cross"), ["model", "passage", "text"])
    return references.drop("complete"), outputs


def differing(pairs: pl.DataFrame, model: str, other: str, most: int = SHOWN) -> pl.DataFrame:
    """The passages on which either system is furthest ahead: `passage`, both scores and `difference`, the largest
    first."""
    rows = pairs.select("passage", model, other, difference=pl.col(model) - pl.col(other)).sort("difference", "passage")
    behind, ahead = rows.filter(pl.col("difference") < 0), rows.filter(pl.col("difference") > 0)
    return pl.concat([ahead.tail(most), behind.head(most)]).sort("difference", "passage", descending=[True, False])


def kinds(references: pl.DataFrame) -> pl.DataFrame:
    """The words of the references of each passage: `passage`, `gram` (the word) and `kind` (see `WORDS`)."""
    found = grams(references, 1)
    capital = {name.lower() for text in references["text"] for name in _NAME.findall(text)}
    kind = (
        pl.when(pl.col("gram").str.contains(r"\d")).then(pl.lit("number"))
        .when(pl.col("gram").is_in(list(capital))).then(pl.lit("name"))
        .when(pl.len().over("gram") <= RARE).then(pl.lit("rare")).otherwise(pl.lit("other"))
    )  # fmt: skip
    return found.select("passage", "gram", kind=kind)


def grams(rows: pl.DataFrame, longest: int = GRAMS, *keys: str) -> pl.DataFrame:
    """N-grams of up to `longest` words in the texts of each passage, once a passage: `passage`, `words`, `gram`, and
    the columns `keys`, such as `model`."""
    keys = ("passage", *keys)
    within = rows.select(*keys, word=words(rows["text"])).with_row_index("of").explode("word").drop_nulls()
    following = [pl.col("word").shift(-at).over("of") for at in range(longest)]
    found = [
        within.select(*keys, words=pl.lit(number, pl.Int64), gram=pl.concat_str(following[:number], separator=" "))
        for number in range(1, longest + 1)
    ]
    return pl.concat(found).drop_nulls().unique(maintain_order=True)


def by_kind(references: pl.DataFrame, outputs: pl.DataFrame, model: str, other: str) -> pl.DataFrame:
    """How many words of the references the outputs of both, of one or of neither have, by kind."""
    rows = _which(kinds(references), outputs, model, other).group_by("kind")
    counts = rows.agg(
        words=pl.len(),
        **{name: pl.col("which").eq(name).sum() for name in ("both", f"only {model}", f"only {other}", "neither")},
    )
    return counts.sort(pl.col("kind").cast(pl.Enum(KINDS))).with_columns(pl.col("kind").cast(pl.String))


def by_gram(
    references: pl.DataFrame, outputs: pl.DataFrame, model: str, other: str, most: int = SHOWN
) -> pl.DataFrame:  # fmt: skip
    """N-grams of the references that one system has in most passages more than the other: `gram`, the number of
    passages in which only one has it, and `passages`, in which references have it. Each system's `most` come first
    that differ most."""
    rows = _which(grams(references), outputs, model, other).group_by("gram").agg(
        *(pl.col("which").eq(f"only {name}").sum().cast(pl.Int64).alias(f"only {name}") for name in (model, other)),
        passages=pl.len(),
    )  # fmt: skip
    lead = pl.col(f"only {model}") - pl.col(f"only {other}")
    rows = rows.with_columns(lead=lead).filter(pl.col("lead") != 0).sort("lead", "passages", "gram")
    ends = pl.concat([rows.filter(pl.col("lead") > 0).tail(most), rows.filter(pl.col("lead") < 0).head(most)])
    return ends.sort("lead", "gram", descending=[True, False]).drop("lead")


def _which(rows: pl.DataFrame, outputs: pl.DataFrame, model: str, other: str) -> pl.DataFrame:
    """Add `which`: whether both outputs have the n-gram, one, or neither."""
    own = grams(outputs.filter(model=model)).select("passage", "gram", first=pl.lit(True))
    others = grams(outputs.filter(model=other)).select("passage", "gram", second=pl.lit(True))
    found = rows.join(own, on=["passage", "gram"], how="left").join(others, on=["passage", "gram"], how="left")
    first, second = pl.col("first").is_not_null(), pl.col("second").is_not_null()
    which = (
        pl.when(first & second).then(pl.lit("both")).when(first).then(pl.lit(f"only {model}"))
        .when(second).then(pl.lit(f"only {other}")).otherwise(pl.lit("neither"))
    )  # fmt: skip
    return found.with_columns(which=which)


def found(warehouse: Warehouse, corpus: str, models: Sequence[str]) -> pl.DataFrame:
    """Share of the references' words that the outputs of each model have, by kind: columns of `FOUND`.

    The share is the mean over the passages whose references have words of this kind; a passage without an output has
    none. Intervals are by units.
    """
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"])
    selected = warehouse.read("reference_envelope", passages, ["passage"])
    references, outputs = texts(warehouse, selected, models)
    in_references = with_units(kinds(references), warehouse)
    per_passage = in_references.group_by("passage", "kind", "unit").agg(words=pl.len())
    had = in_references.join(
        grams(outputs, 1, "model"), on=["passage", "gram"]
    ).group_by("model", "passage", "kind").agg(had=pl.len())  # fmt: skip
    every = per_passage.join(pl.DataFrame({"model": models}), how="cross")
    rows = every.join(had, on=["model", "passage", "kind"], how="left")
    rows = rows.with_columns(share=pl.col("had").fill_null(0) / pl.col("words")).sort("model", "kind", "passage")
    found = []
    for (model, kind), own in rows.group_by("model", "kind", maintain_order=True):
        shares = own["share"].to_numpy()
        found.append((model, kind, len(own), shares.mean(), *mean_interval(shares, numbered_units(own["unit"]), 0, 1)))
    return pl.DataFrame(found, FOUND, orient="row")


def by_part(pairs: pl.DataFrame, parts: pl.DataFrame, model: str, other: str) -> pl.DataFrame:
    """Mean scores of both systems in each part of the corpus (`slices`), and their difference with its 95 % interval,
    by units. Intervals are not adjusted for their number."""
    found = []
    rows = parts.join(pairs, on="passage").sort("dimension", "least", "slice", "passage")
    for (dimension, name), part in rows.group_by("dimension", "slice", maintain_order=True):
        one, two = (part[each].to_numpy() for each in (model, other))
        low, high = mean_interval(one - two, numbered_units(part["unit"]))
        found.append((dimension, name, len(part), one.mean(), two.mean(), (one - two).mean(), low, high))
    numbers = dict.fromkeys([model, other, "difference", "low", "high"], pl.Float64())
    schema = pl.Schema({"by": pl.String(), "part": pl.String(), "passages": pl.Int64(), **numbers})
    return pl.DataFrame(found, schema, orient="row")


SIGNED = f"chrF++ of each passage; difference: the first system minus the second; intervals: {SIGNATURE}; {WORDS}"
