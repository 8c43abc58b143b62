"""Reproduction of published numbers: our value for each number of a paper, their difference, and its outcome.

Here: rows of `reproduction`. Not here: the format of `numbers.yaml` (numbers), tables that follow from printed counts
(printed_counts), display (exhibits).
"""

import json
from collections.abc import Collection, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets import views
from benchmark_assets.benchmarks.numbers import (
    FILE,
    KINDS,
    Deviating,
    Listed,
    Lookup,
    Numbers,
    Printed,
    PrintedCounts,
    PublishedTable,
    Selected,
    decimal,
    read,
    rounds_to,
)
from benchmark_assets.benchmarks.printed_counts import tables
from benchmark_assets.benchmarks.recipe import FETCHED, SHIPPED
from benchmark_assets.benchmarks.supposed import supposing
from resources import catalogue
from resources.errors import BadInput
from resources.home import restored
from resources.warehouse import Warehouse

REPRODUCTION = catalogue.schema("reproduction")

EQUAL, DIGITS, EXPLAINED, DIFFERS = (
    "recomputed and equal", "equal to the printed digits", "differs because", "differs",
)  # fmt: skip
ADMITTED = {
    "difference": EXPLAINED, "optimizer": "equal within the optimizer's tolerance",
    "print": "last digit of the print",
}  # fmt: skip
"""Outcome of a number that differs by what the recipe admits, by the kind of the reason."""

RECOMPUTED = (EQUAL, DIGITS, ADMITTED["optimizer"], ADMITTED["print"], EXPLAINED, DIFFERS)
"""Outcomes of numbers that were computed from outputs, texts, published files or people's labels."""

FOLLOWS, CONTRADICTS = "follows from printed counts", "contradicts printed counts"
OF_COUNTS = (FOLLOWS, CONTRADICTS)
"""Outcomes of numbers that were computed from counts that the paper prints itself, which reproduces nothing."""

QUOTED, NEEDS = "quoted", {kind: f"needs {kind}" for kind in KINDS}
REASONS = (QUOTED, *NEEDS.values())
"""The reasons why a number was not recomputed."""

STATED = "the paper only states it, as a choice, a size or a sum; a lookup in numbers.yaml would compare it"
MISSING = "the home lacks this part of the benchmark; `variorum add` and `variorum update` bring it"
"""Why numbers are quoted, or need files, where the recipe says nothing else."""

OUTCOMES = (*RECOMPUTED, *OF_COUNTS, *REASONS)


class OurValue(NamedTuple):
    """Our value, whether it is a count, and the place where it was found. `value` is None if there is none."""

    value: Decimal | None
    exact: bool
    origin: str


def shipped() -> dict[str, Path]:
    """The project's own files with published numbers, by the name of their benchmark."""
    return {path.parent.name: path for path in sorted(SHIPPED.glob(f"*/{FILE}"))}


def known(warehouse: Warehouse) -> dict[str, Path]:
    """Files with published numbers, by the name of their benchmark and in the order of these names: those of added
    recipes, and the project's own."""
    rows = warehouse.read("benchmark", columns=["benchmark", "version", "recipe", "home"]).sort("benchmark", "version")
    own = {
        name: restored(place, written_in, warehouse.folder) / FILE for name, _, place, written_in in rows.iter_rows()
    }
    return dict(sorted(({name: path for name, path in own.items() if path.is_file()} | shipped()).items()))


def added(warehouse: Warehouse) -> dict[str, Path]:
    """Files with published numbers of each added benchmark, and of those whose corpora, tasks or base sets are present.

    Papers may print numbers of the same corpus. What an added benchmark has brought is no sign of another benchmark.
    """
    present = {
        (kind, name) for kind in ("corpus", "task", "base_set") for name in warehouse.read(kind, columns=[kind])[kind]
    }
    rows = warehouse.read("benchmark", columns=["benchmark", "corpora", "tasks"])
    brought = {("base_set", name) for name in warehouse.read("published_base_set", columns=["base_set"])["base_set"]}
    for kind, names in (("corpus", "corpora"), ("task", "tasks")):
        brought |= {(kind, name) for parts in rows[names] for name in parts}
    return {
        name: path
        for name, path in known(warehouse).items()
        if name in set(rows["benchmark"]) or read(path).named & (present - brought)
    }


def reproduce(warehouse: Warehouse, benchmark: str, numbers: Numbers, folder: Path) -> pl.DataFrame:
    """Compare every published number of a paper with the warehouse, and with files of an added recipe's `folder`.

    A number without a value in the warehouse is compared with what follows from the counts that the paper prints, if it
    is not one of them.

    Returns
    -------
    Columns of `REPRODUCTION`, one row for each published number, in the order of the paper.

    Raises
    ------
    BadInput
        If a lookup matches several rows of its table, or printed shares do not come from whole numbers.
    """
    rows = []
    counted = tables(numbers)
    supposed = supposing(warehouse, counted)
    for table in numbers.tables:
        lookups = [each.lookup for each in table.sources if each.lookup]
        stored = {id(lookup): _matching(warehouse, lookup) for lookup in lookups}
        of_counts = {id(lookup): _matching(supposed, lookup) for lookup in lookups if lookup.table in counted}
        for number in table.numbers():
            keys = (benchmark, table.table, number.row, number.name, table.place, number.text)
            compared = _compared(table, number, stored, folder / FETCHED)
            if compared[0] is None and numbers.counts:
                compared = _counted(numbers.counts, table, number, of_counts, str(compared[3])) or compared
            rows.append((*keys, *compared))
    return pl.DataFrame(rows, schema=REPRODUCTION, orient="row")


def _compared(
    table: PublishedTable, number: Printed, frames: Mapping[int, pl.DataFrame], fetched: Path
) -> tuple[object, ...]:
    """Value, difference, outcome, reason, link and origin of a number. `frames` has the rows of each lookup's table,
    `fetched` is the folder of the recipe's sources."""
    tried = []
    for source in table.sources_of(number):
        if source.quoted:
            return None, None, QUOTED, STATED, "", source.quoted
        if source.needs:
            return None, None, NEEDS[source.needs.kind], f"{source.needs.what}; {source.needs.how}", "", ""
        if source.listed:
            found = _entries(source.listed, number, fetched)
        else:
            assert source.lookup is not None  # the only other kind of source
            found = _found(source.lookup, number, frames[id(source.lookup)])
        if found.value is not None:
            reason = table.reason_for(number)
            bound = _bound(reason, number) if reason else None
            outcome = judged(number.text, found.value, found.exact, bound)
            words = ("", "")
            if reason and outcome == EXPLAINED:
                outcome, words = ADMITTED[reason.kind], (reason.because, reason.link)
            return float(found.value), float(found.value - number.number), outcome, *words, found.origin
        tried.append(f"no value in {found.origin}")
    return None, None, NEEDS["files"], MISSING, "", "; ".join(tried)


def _counted(
    counts: PrintedCounts, table: PublishedTable, number: Printed, frames: Mapping[int, pl.DataFrame], lacking: str
) -> tuple[object, ...] | None:
    """As `_compared`, from the printed counts; None if the number is one of them or does not follow. `lacking` says
    what recomputing it needs."""
    if counts.has(table.table, number.row, table.columns.index(number.column)):
        return None
    for source in table.sources_of(number):
        if source.lookup and id(source.lookup) in frames:
            found = _found(source.lookup, number, frames[id(source.lookup)])
            if found.value is not None:
                agrees = judged(number.text, found.value, found.exact, None) in (EQUAL, DIGITS)
                outcome, origin = FOLLOWS if agrees else CONTRADICTS, f"printed counts: {found.origin}"
                return float(found.value), float(found.value - number.number), outcome, lacking, "", origin
    return None


def judged(published: str, value: Decimal, exact: bool, bound: tuple[Decimal, Decimal] | None) -> str:
    """The outcome for a number that was recomputed.

    Parameters
    ----------
    published
        The number as printed.
    exact
        Whether `value` is a count, which must be equal to a printed integer.
    bound
        Lowest and highest value that the recipe gives a reason for; None without a reason.
    """
    whole = "." not in published
    if whole and value == decimal(published):
        return EQUAL
    if not (whole and exact) and rounds_to(value, published):
        return DIGITS
    return EXPLAINED if bound and bound[0] <= value <= bound[1] else DIFFERS


def _bound(reason: Deviating, number: Printed) -> tuple[Decimal, Decimal]:
    """The values that a reason for a difference admits."""
    if reason.within:
        return number.number - decimal(reason.within), number.number + decimal(reason.within)
    ours = decimal(reason.ours[number.row][number.name])
    half = Decimal("0.5").scaleb(int(ours.as_tuple().exponent))
    return ours - half, ours + half


def _matching(warehouse: Warehouse, lookup: Lookup) -> pl.DataFrame:
    """The rows that a lookup selects, with the columns that it names; none if the rows `given` do not exist."""
    names = {*lookup.rows.filters(""), *lookup.columns.filters(""), lookup.value, *lookup.values.values()}
    names |= {name for axis in (lookup.rows, lookup.columns) for label in axis.labels for name in axis.filters(label)}
    rows = _selected(warehouse, lookup, names | {lookup.deviation})
    return rows.clear() if lookup.given and _selected(warehouse, lookup.given).is_empty() else rows


def _selected(warehouse: Warehouse, selected: Selected, columns: Collection[str] = ()) -> pl.DataFrame:
    """Selected rows, with the columns that select them and the given columns."""
    schema = catalogue.schema(selected.table)
    where = pl.DataFrame({name: [value] for name, value in selected.where.items()}, schema_overrides=schema)
    names = {*columns, *selected.where, *selected.containing}
    rows = views.read(
        warehouse, selected.table, where if selected.where else None, [name for name in schema if name in names]
    )
    texts = selected.containing.items()
    return rows.filter(*(pl.col(name).str.to_lowercase().str.contains(t.lower(), literal=True) for name, t in texts))


def _entries(listed: Listed, number: Printed, fetched: Path) -> OurValue:
    """The number of entries of a list in a published file; no value if the file was not fetched."""
    path, keys = fetched / listed.source / listed.file, listed.keys[number.row]
    origin = f"entries of {keys} in {listed.file}"
    if not path.is_file():
        return OurValue(None, True, origin)
    content = json.loads(path.read_text(encoding="utf-8"))
    for key in keys.split("."):
        content = content[key]
    return OurValue(Decimal(len(content)), True, origin)


def _found(lookup: Lookup, number: Printed, frame: pl.DataFrame) -> OurValue:
    """Our value for a number, among the rows that `_matching` returned."""
    filters = lookup.filters(number.row, number.column)
    rows = frame.filter(*(pl.col(name) == value for name, value in filters.items()))
    place = ", ".join(f"{name} {value!r}" for name, value in [*filters.items(), *lookup.containing.items()])
    if lookup.count:
        return OurValue(
            Decimal(len(rows)) if len(rows) else None, True, f"number of rows of {lookup.table} with {place}"
        )
    holder = lookup.holder(number.column, number.deviation)
    origin = f"{lookup.table}.{holder} with {place}"
    if len(rows) > 1:
        remedy = "name further columns in `where` of the lookup, so that a single row is left"
        raise BadInput(lookup.table, place, f"{len(rows)} rows match a published number", remedy)
    value = rows[holder].item() if len(rows) else None
    scaled = None if value is None else Decimal(repr(value)) * lookup.scale
    return OurValue(scaled, rows.schema[holder].is_integer(), origin)
