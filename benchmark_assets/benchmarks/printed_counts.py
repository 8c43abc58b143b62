"""The audit's tables from counts that a paper prints: rates, intervals and kappas by the project's own functions.

Only the counts are published. Which output has which label, and with which other, is made up; each output is a unit of
its own, as in the paper, whose intervals count outputs as independent. Here: labels and votes with the printed counts,
and the tables that follow from them. Not here: which tables have the counts (numbers), comparison (reproduction).
"""

from collections.abc import Iterator, Mapping

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, NO_CATEGORY, SUBSTANTIVE, VALID
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.calibration import calibration
from benchmark_assets.audit.outcomes import categories, outcomes
from benchmark_assets.audit.rated import PEOPLE, rated
from benchmark_assets.benchmarks.numbers import NO_NUMBER, Numbers, PrintedCounts, Scalar, decimal
from resources.catalogue import schema
from resources.errors import BadInput

JUDGES = ("one", "two", "three")

NO_LABELS = pl.DataFrame(schema=dict.fromkeys(["model", "passage", "annotator", "label", "error_category"], pl.String))
NO_VERDICTS = pl.DataFrame(
    schema=dict.fromkeys(["model", "passage", "label", "error_category"], pl.String) | {"split": pl.Boolean}
)

Label = tuple[str, str, str]
"""The band of an output, its label, and in a confusion of labels the panel's label."""


def tables(numbers: Numbers) -> dict[str, pl.DataFrame]:
    """Rows of `audit_outcome`, `error_category` and `judge_calibration` that follow from the printed counts of a paper.

    Without counts there is no table. Error categories are not printed by model, and so only of all models.

    Raises
    ------
    BadInput
        If the printed shares of a row do not come from whole numbers of outputs.
    """
    if numbers.counts is None:
        return {}
    triage, votes = queue(numbers, numbers.counts)
    panel = rated(triage, verdicts(votes), NO_LABELS)
    drawn, labels = sample(numbers, numbers.counts)
    people = outcomes(drawn, rated(drawn, NO_VERDICTS, labels)).filter(raters=PEOPLE)
    pairs, pair_votes, pair_labels = confusion(numbers, numbers.counts)
    found = {
        "audit_outcome": pl.concat([outcomes(triage, panel), people]),
        "error_category": categories(panel).filter(model=""),
        "judge_calibration": calibration(rated(pairs, NO_VERDICTS, pair_labels), pair_votes),
    }
    empty = {name: pl.DataFrame(schema=schema(name)) for name in found}
    # What does not follow from counts is null.
    return {
        name: pl.concat([empty[name], rows], how="diagonal_relaxed").select(empty[name].columns)
        for name, rows in found.items()
    }


def queue(numbers: Numbers, counts: PrintedCounts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `triage`, with the column `unit`, of all outputs of the models, and votes of three judges on the queue.

    The judges agree, except in the printed number of cases that come to a minor error because each says something else.
    """
    passages, splits = (_whole(numbers.table(table).rows[row][0]) for table, row in (counts.outputs, counts.splits))
    by_category = numbers.table(counts.categories).rows
    kinds = {
        label: iter([name for name, cells in by_category.items() for _ in range(_whole(cells[at]))])
        for at, label in enumerate((MAJOR, MINOR))
    }
    judged: dict[str, list[tuple[str, str]]] = {}
    for where, labels in _labels(numbers, counts.queue):
        judged.setdefault(str(where["model"]), []).extend((str(where["band"]), label) for label in labels)
    outputs: list[tuple[object, ...]] = []
    votes: list[tuple[object, ...]] = []
    for model, above in judged.items():
        for number in range(passages):
            band, label = above[number] if number < len(above) else ("below", "")
            key = model, f"{counts.corpus}/{number:04}"
            outputs.append((*key, band, bool(label)))
            if not label:
                continue
            category = next(kinds[label]) if label in kinds else NO_CATEGORY
            panel = [(label, category)] * len(JUDGES)
            if label == MINOR and splits:
                panel, splits = [(VALID, NO_CATEGORY), (MINOR, category), (MAJOR, category)], splits - 1
            votes += [(*key, judge, *vote) for judge, vote in zip(JUDGES, panel, strict=True)]
    triage = pl.DataFrame(outputs, ["model", "passage", "band", "queued"], orient="row")
    return (
        triage.with_columns(drift=pl.lit(None, pl.Float64), sampled=pl.lit(False), unit=_UNIT),
        pl.DataFrame(votes, ["model", "passage", "judge", "label", "error_category"], orient="row"),
    )


def sample(numbers: Numbers, counts: PrintedCounts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `triage`, with the column `unit`, of the outputs that were drawn for people, and a person's labels."""
    rows = [(str(where["band"]), label, "") for where, labels in _labels(numbers, counts.sample) for label in labels]
    triage = _drawn(counts, rows)
    return triage.drop("label", "panel"), _by_people(triage)


def confusion(numbers: Numbers, counts: PrintedCounts) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rows of `triage`, with the column `unit`, votes and a person's labels of the outputs that were drawn for people;
    the three judges all say what the panel says."""
    cells = numbers.table(counts.confusion).rows.values()
    rows = [
        ("", label, panel)
        for label, row in zip(SUBSTANTIVE, cells, strict=True)
        for panel, cell in zip(SUBSTANTIVE, row, strict=True)
        for _ in range(_whole(cell))
    ]
    triage = _drawn(counts, rows)
    votes = triage.select("model", "passage", pl.lit(list(JUDGES)).alias("judge"), label="panel").explode("judge")
    votes = votes.with_columns(error_category=_category(), confidence=pl.lit("high"))
    return triage.drop("label", "panel"), votes, _by_people(triage)


_UNIT = pl.format("{} {}", "model", "passage")


def _drawn(counts: PrintedCounts, rows: list[Label]) -> pl.DataFrame:
    """Rows of `triage` with the columns `unit`, `label` and `panel`, for outputs that were drawn for people."""
    frame = pl.DataFrame(rows, ["band", "label", "panel"], orient="row").with_row_index()
    passage = pl.format(f"{counts.corpus}/{{}}", "index")
    named = frame.select("band", "label", "panel", passage=passage, model=pl.lit("all models"))
    return named.with_columns(
        drift=pl.lit(None, pl.Float64), queued=pl.lit(False), sampled=pl.lit(True), unit=_UNIT
    )  # fmt: skip


def _by_people(triage: pl.DataFrame) -> pl.DataFrame:
    """A person's labels, from `_drawn`."""
    labels = triage.select("model", "passage", "label", annotator=pl.lit("author"))
    return labels.with_columns(error_category=_category())


def _category() -> pl.Expr:
    """A category for each label, since the paper prints no categories of the sample."""
    return pl.when(pl.col("label") == VALID).then(pl.lit(NO_CATEGORY)).otherwise(pl.lit("OTHER"))


def _labels(numbers: Numbers, name: str) -> Iterator[tuple[Mapping[str, Scalar], list[str]]]:
    """For each row of a table with n and the shares of the labels: the values that its label stands for, and the
    labels of its outputs."""
    table = numbers.table(name)
    lookup = next(source.lookup for source in table.sources if source.lookup)
    for row, cells in table.rows.items():
        n, *shares = map(decimal, cells[: 1 + len(SUBSTANTIVE)])
        outputs = [round(n * share / 100) for share in shares]
        if sum(outputs) != n:
            problem = f"the shares of row {row!r} are not those of {n} outputs: {outputs}"
            raise BadInput(name, "counts", problem, "name a table whose first columns are n, valid, minor and major")
        yield (
            lookup.rows.filters(row),
            [label for label, count in zip(SUBSTANTIVE, outputs, strict=True) for _ in range(count)],
        )


def _whole(cell: str) -> int:
    """The count in a printed cell; 0 if it has no number."""
    return 0 if cell == NO_NUMBER else int(decimal(cell))
