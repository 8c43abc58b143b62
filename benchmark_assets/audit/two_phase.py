"""The sample with the labels of a second pass: the value of each output, and what corrects the labels that were not
checked.

Here: the difference estimator of two-phase sampling. Not here: the draw and the rule of the final label
(people.second_pass), rates of all outputs (estimates, anchored).
"""

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, MINOR, SUBSTANTIVE, VALID
from benchmark_assets.adjudication.verdicts import KEY
from benchmark_assets.audit.rated import PEOPLE
from resources.catalogue import schema

LEVELS = {"minor": [MINOR], "major": [MAJOR], "any": list(ERRORS)}
"""Labels that count as an error, by level."""

UNLABELED = "unlabeled"
"""In place of a missing label: an error of every level."""

FINALS = schema("final_label")
NO_FINALS = pl.DataFrame(schema=FINALS)

SIGNATURE = (
    "; second pass: final labels by the majority of all labels of both passes, else of the second; differences (final "
    "minus first) are weighted by inverse probabilities; their variance with half a difference added in each stratum"
)


def samples(rows: pl.DataFrame, finals: pl.DataFrame) -> list[pl.DataFrame]:
    """The sample from the labels that exist and, if any is missing, with each missing label as no error, and as one."""
    known = sample(rows, finals)
    missing = known.select((pl.col("label").is_null() | (pl.col("open") > 0)).any()).item()
    return [known, *(sample(rows, finals, value) for value in (VALID, UNLABELED) if missing)]


def sample(rows: pl.DataFrame, finals: pl.DataFrame, missing: str | None = None) -> pl.DataFrame:
    """The sample of people, with the values that its outputs have in estimates.

    Parameters
    ----------
    rows
        A result of `rated`.
    finals
        Rows of `final_label`: outputs that were drawn for a second pass. A corpus without any final label is treated as
        if it had no second pass.
    missing
        What takes the place of each missing label, if it is not None.

    Returns
    -------
    The rows of `rated` by people, with `label` replaced by the final label, or the first one where there is no final
    label; null if it is not substantive. Further columns: `reexamined`, whether the label is final; `open`, how many
    labels of the sample a missing final label stands for; for each level of `LEVELS`, whether the label is such an
    error; `<level>_shift`, what must be added to that value, so that the mean over the sample is unbiased for the mean
    of final labels; and `<level>_noise`, the variance of that addition by the draw of the second pass.

    Notes
    -----
    With first label y, final label z and the probability p of the draw, an output counts as z + (1/p - 1)(z - y) if it
    was drawn, and as y otherwise: its expectation is z (difference estimator; Särndal, Swensson and Wretman 1992,
    chapter 9). Within a stratum of the draw, p is multiplied by the share of drawn outputs that have a final label. The
    noise of a drawn output is (1 - p) / p² times the rate q of differences in its stratum, so that its sum estimates
    the variance of the sum of shifts. Half a difference and half an equal label are added to q, because a few equal
    labels do not show that all others are equal.
    """
    seconds, final = finals.select(*KEY, "stratum", "probability", final="label"), pl.col("final")
    people = rows.filter(raters=PEOPLE).join(seconds, on=KEY, how="left", maintain_order="left")
    first = pl.when(pl.col("label").is_in(SUBSTANTIVE)).then("label")
    drawn = pl.when(final.is_not_null().any().over("corpus")).then("probability")
    people = people.with_columns(first=first, probability=drawn)
    checked = pl.col("probability").is_not_null()
    lacking = checked & final.is_null() & pl.col("first").is_not_null()
    people = people.with_columns(open=pl.when(lacking).then(1 / pl.col("probability")).otherwise(0.0))
    if missing:
        people = people.with_columns(
            final=pl.when(checked).then(final.fill_null(missing)),
            first=pl.when(checked).then("first").otherwise(pl.col("first").fill_null(missing)),
        )
    by, known = ["corpus", "stratum", "probability"], checked & final.is_not_null()
    people = people.with_columns(
        reexamined=known, label=pl.when(known).then("final").otherwise("first"),
        p=pl.col("probability") * known.mean().over(by),
    )  # fmt: skip
    p, count = pl.when("reexamined").then("p"), pl.col("reexamined").sum().over(by)
    for name, errors in LEVELS.items():
        was, last = (pl.col(column).is_in([*errors, UNLABELED]).cast(pl.Float64) for column in ("first", "final"))
        change = pl.when("reexamined").then(last - was).fill_null(0.0)
        rate = ((change**2).sum().over(by) + 0.5) / (count + 1)
        people = people.with_columns(
            pl.col("label").is_in([*errors, UNLABELED]).alias(name),
            ((1 / p - 1) * change).fill_null(0.0).alias(f"{name}_shift"),
            ((1 - p) / p**2 * rate).fill_null(0.0).alias(f"{name}_noise"),
        )
    return people.drop("first", "final", "probability", "stratum", "p")
