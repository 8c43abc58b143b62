"""The second pass: labeled outputs that further people label, all doubtful ones and a random part of the others.

Here: the draw with its probabilities, and the final label. Not here: files (sample), estimates (audit.two_phase).
"""

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, SUBSTANTIVE
from benchmark_assets.adjudication.triage import audits, item_key
from benchmark_assets.adjudication.verdicts import KEY, verdicts
from benchmark_assets.people.applicable import answers_to, applicable
from benchmark_assets.people.controls import SECOND, second_key
from benchmark_assets.people.names import same_name
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

DOUBTFUL, ERROR, SOUND = "doubtful", "error", "sound"

FEWEST = 10
"""Fewest outputs that are drawn of those that panel and people agree to be errors, and of those that they agree to be
sound. Agreed errors are few, and the agreement is most often wrong about them."""

DRAWS = schema("second_pass")
RATING = [*KEY, "label", "error_category"]


def draw(outputs: pl.DataFrame, earlier: pl.DataFrame, share: float, seed: int) -> pl.DataFrame:
    """Draw outputs for a second pass.

    Parameters
    ----------
    outputs
        Labeled outputs of the sample: columns `item`, `passage`, `label` (the verdict of people) and `judged` (the
        panel's, null without one).
    earlier
        Rows of `second_pass`. Their outputs are not drawn again, whether they were drawn then or not.
    share
        Share of the outputs to draw on which panel and people agree, in (0, 1].

    Returns
    -------
    New rows of `second_pass`. Outputs on which panel and people disagree whether they have an error, and outputs that
    either could not decide, are doubtful: all of them are drawn. Of agreed errors, and of outputs agreed to be sound, a
    simple random sample in the order of a hash is drawn, at least `FEWEST`.
    """
    wrong, judged_wrong = pl.col("label").is_in(ERRORS), pl.col("judged").is_in(ERRORS)
    decided = pl.col("label").is_in(SUBSTANTIVE) & pl.col("judged").is_in(SUBSTANTIVE).fill_null(False)
    agreed = decided & (wrong == judged_wrong)
    new = outputs.join(earlier, left_on="item", right_on="original", how="anti").with_columns(
        pl.when(agreed & wrong).then(pl.lit(ERROR)).when(agreed).then(pl.lit(SOUND)).otherwise(pl.lit(DOUBTFUL))
        .alias("stratum")
    )  # fmt: skip
    order = pl.col("item").map_elements(lambda item: item_key(str(seed), SECOND, item), return_dtype=pl.String)
    place, size = order.rank("ordinal").over("stratum"), pl.len().over("stratum")
    count = pl.when(stratum=DOUBTFUL).then(size).otherwise(
        pl.min_horizontal(size, pl.max_horizontal((share * size).ceil().cast(pl.Int64), FEWEST))
    )  # fmt: skip
    key = pl.col("item").map_elements(second_key, return_dtype=pl.String)
    rows = new.with_columns(original="item", item=key, drawn=place <= count, probability=count / size)
    return rows.select(DRAWS.names()).cast(DRAWS)


def drawn_for(warehouse: Warehouse, corpus: str, annotators: list[str], share: float) -> pl.DataFrame:
    """All draws of a corpus, earlier and new ones: rows of `second_pass`.

    Raises BadInput if no output has both a label and a verdict, or if an annotator labeled outputs in the first pass.
    """
    sampled = warehouse.read("triage", columns=[*KEY, "item", "sampled"]).filter("sampled", corpus == CORPUS)
    labels = applicable(warehouse, "imported_label", sampled)
    judged = warehouse.read("verdict", sampled.select(KEY), [*KEY, "label"]).rename({"label": "judged"})
    outputs = verdicts(labels).select(*KEY, "label").join(sampled, on=KEY).join(judged, on=KEY, how="left")
    if outputs["judged"].is_null().all():
        problem = "has no output with a label by people and a verdict of the panel"
        raise BadInput(corpus, "", problem, "import labels of the first pass, then run `variorum update`")
    if twice := {same_name(name) for name in labels["annotator"]} & {same_name(name) for name in annotators}:
        problem = f"labeled outputs of {corpus} in the first pass"
        raise BadInput("--annotator", ", ".join(sorted(twice)), problem, "name people who have not seen them")
    earlier = warehouse.read("second_pass", outputs.select(original="item"), DRAWS.names())
    return pl.concat([earlier, draw(outputs, earlier, share, audits(warehouse)[corpus].seed)])


def record_draws(warehouse: Warehouse, draws: pl.DataFrame) -> None:
    """Store draws, so that answers are recognized and estimates know the probabilities."""
    marks = [digest(*map(str, row)) for row in draws.iter_rows()]
    stored = draws.with_columns(pl.Series("fingerprint", marks, dtype=pl.String))
    warehouse.write([Replacement("second_pass", stored, stored.select("item"))], run_id="export")


def drawn_outputs(warehouse: Warehouse, outputs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The draws of the current texts of outputs, and people's answers to them, of the second pass: columns `model`,
    `passage` and those of `second_pass`, or of `imported_label`."""
    items = warehouse.read("triage", outputs.select(KEY), [*KEY, "item"]).rename({"item": "original"})
    draws = warehouse.read("second_pass", items.select("original"), DRAWS.names()).filter("drawn")
    draws = draws.drop("passage").join(items, on="original").sort(KEY)
    return draws, answers_to(warehouse, "imported_label", draws.select(*KEY, "item"))


def finals(first: pl.DataFrame, second: pl.DataFrame, draws: pl.DataFrame) -> pl.DataFrame:
    """Rows of `final_label`, one for each output in `draws`.

    `first` and `second` have the labels of the first and of the second pass: columns `RATING`, one row per annotator.
    The final label is the verdict over all labels of both passes; if they have no majority, it is the verdict over
    those of the second. It is null while there is no label of the second pass, or if people cannot decide.
    """
    own = verdicts(second).select(*KEY, second="label")
    both = pl.concat([first.join(own, on=KEY, how="semi").select(RATING), second.select(RATING)])
    rows = draws.join(verdicts(both).select(*KEY, "label"), on=KEY, how="left").join(own, on=KEY, how="left")
    substantive = (pl.when(pl.col(name).is_in(SUBSTANTIVE)).then(name) for name in ("label", "second"))
    return rows.select(*KEY, "stratum", "probability", label=pl.coalesce(*substantive))
