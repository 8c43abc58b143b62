"""The list of texts that a package leaves out, with reasons. The list itself quotes none of these texts.

Here: rows of the list. Not here: which texts are restricted and which outputs copy them (rights), columns that
no package has (the catalogue).
"""

from collections.abc import Iterable, Mapping

import polars as pl

from benchmark_assets.corpus.proposed import UNSTATED
from benchmark_assets.corpus.rights import named
from resources import catalogue
from resources.warehouse import Warehouse

QUOTING = (
    "judge_vote", "human_label", "span_vote", "error_span", "human_error_span", "rubric_vote", "aspect_vote",
    "comparison", "memory_vote", "pair_label", "match_label", "pair_control", "glossary", "term_adherence",
    "output_diagnostic", "refusal",
)  # fmt: skip
"""Tables with free text about outputs or passages. Free text may quote any text, so no package contains it."""

WORDS = "words that may quote any text: in no package"

KEY = ["part", "document", "passage", "translator", "model", "judge"]
"""Columns that identify a text. A column that does not apply to a text contains ''."""

LIST = pl.Schema({**dict.fromkeys(KEY, pl.String()), "texts": pl.Int32(), "reason": pl.String()})


def unlicensed(rights: pl.DataFrame) -> str:
    """A paragraph about the texts whose licence is unknown, in rows of `rights.rights_of`; '' if there are none."""
    names = named(rights.filter(licence=UNSTATED)["translator"])
    words = "Licence unknown, so find out whether you may pass it on"
    return f"{words}: {', '.join(names)}.\n\n" if names else ""


def quoting(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Rows of the withheld list for the free texts about `passages` (column `passage`) in the tables of `QUOTING`.

    A row counts, in `texts`, the free texts of one table with the same passage, model and judge.
    """
    frames = []
    for name in QUOTING:
        columns = catalogue.table(name).columns.values()
        words = [column.name for column in columns if column.visibility == "restricted"]
        keys = [column.name for column in columns if column.name in KEY]
        rows = warehouse.read(name, passages, [*keys, *words])
        filled = rows.filter(pl.any_horizontal(pl.col(words).fill_null("") != ""))
        counts = filled.group_by(keys).agg(texts=pl.len().cast(pl.Int32))
        frames.append(counts.with_columns(part=pl.lit(name), reason=pl.lit(WORDS)))
    return listed(frames)


def restricted(texts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Rows of the withheld list for restricted texts.

    Parameters
    ----------
    texts
        Frames of texts, by the file that would contain the texts. The columns are `licence`, `restricted`, and those
        columns of `KEY` that apply.
    """
    reason = pl.format("restricted, licence: {}", "licence")
    return listed(
        rows.filter("restricted").with_columns(part=pl.lit(file), reason=reason) for file, rows in texts.items()
    )


def copies(outputs: pl.DataFrame) -> pl.DataFrame:
    """Rows of the withheld list for outputs that copy a restricted text.

    `outputs` has the columns `model`, `passage` and `withheld`. The last column has the reason why the output is
    withheld; it is null if the output is not withheld.
    """
    withheld = outputs.drop_nulls("withheld")
    return listed([withheld.with_columns(part=pl.lit("outputs"), reason="withheld")])


def listed(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Combine frames, each with some columns of `LIST`, in one sorted list. A missing value of `texts` means 1."""
    parts = [rows.select(name for name in LIST if name in rows.columns) for rows in frames]
    rows = pl.concat([pl.DataFrame(schema=LIST), *parts], how="diagonal")
    filled = rows.with_columns(pl.col(KEY).fill_null(""), pl.col("texts").fill_null(1))
    return filled.sort(*KEY, "reason")
