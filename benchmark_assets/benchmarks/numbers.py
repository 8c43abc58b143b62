"""The published numbers of a paper: the file `numbers.yaml` of a benchmark's recipe.

Here: keys of the file and their consistency, and numbers as printed. Not here: our values and their comparison with the
published numbers (reproduction).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from resources import catalogue, yaml_files
from resources.errors import BadInput, raise_all
from resources.frozen import Frozen

REMEDY = "compare it with warehouse/benchmarks/dharmabench/numbers.yaml; a number is text in quotes, as printed"

FILE = "numbers.yaml"
"""Name of the file in the folder of a recipe."""

NO_NUMBER = "—"
"""Cell of a printed table that has no number."""

DEVIATION = "±"
"""Sign between a number and its standard deviation, which is a number of its own."""

NUMBER = re.compile(r"[-−]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?%?")

TABLES = (
    "anchor_score", "audit_outcome", "closest_share", "error_category", "error_correlation", "failure_overlap",
    "funnel", "judge_calibration", "leaderboard", "metric_rank", "near_duplicate", "published_summary",
    "rater_agreement", "task_chance", "task_sample", "translator_agreement", "understanding_board",
)  # fmt: skip
"""Tables that a lookup may read."""

BESIDE = {"closest_share", "error_category", "error_correlation", "failure_overlap", "funnel", "rater_agreement"}
"""Views, and tables that the assets `audit_outcome`, `judge_calibration` and `translator_agreement` fill besides their
own."""

ASSETS = ["selection", *(table for table in TABLES if table not in BESIDE)]
"""The assets from which the tables of TABLES come."""

Scalar = StrictStr | StrictInt | StrictBool


class ExactlyOne(Frozen):
    """A declaration that needs exactly one of some keys (`EITHER`)."""

    EITHER: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _one(self) -> Self:
        if [bool(getattr(self, name)) for name in self.EITHER].count(True) != 1:
            *names, last = (f"`{name}`" for name in self.EITHER)
            raise ValueError(f"needs exactly one of {', '.join(names)} and {last}")
        return self


class PartOfTable(ExactlyOne):
    """A declaration for some numbers of a table: by default all, else those in `rows` and `columns`."""

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def covers(self, row: str, column: str) -> bool:
        """Whether the declaration applies to a number."""
        return row in (self.rows or (row,)) and column in (self.columns or (column,))


class Axis(Frozen):
    """The values of a table's columns that belong to the printed labels of rows or of columns.

    `column` is the column of the table that holds a label; `labels` maps printed labels to values of this column, if
    they differ. A label that several columns identify is mapped to values by column.
    """

    column: str = ""
    labels: dict[str, Scalar | dict[str, Scalar]] = Field(default={})

    def filters(self, label: str) -> Mapping[str, Scalar]:
        """The value of each column for a printed label; no column if the label needs a `column` that is missing."""
        value = self.labels.get(label, label)
        if isinstance(value, dict):
            return value
        return {self.column: value} if self.column else {}


class Selected(Frozen):
    """Rows of a table of the warehouse.

    The rows have the values `where`, and their texts contain those of `containing`, in any case: such as the name of an
    embedder in a signature.
    """

    table: str
    where: dict[str, Scalar] = Field(default={})
    containing: dict[str, StrictStr] = Field(default={})


class Lookup(Selected, ExactlyOne):
    """The place of our values in a table of the warehouse.

    The value for a printed number is in the single selected row that has the values of the printed labels by `rows` and
    `columns`. `value` is the column with the values, for all printed columns, or `values` names it for each printed
    column. With `count`, the value is the number of such rows instead. `deviation` is the column with the standard
    deviations that are printed after ±. Our values are multiplied by `scale`. If the rows `given` do not exist, there
    is no value: such as results with the paper's embedder, for a table that does not name its embedder.
    """

    EITHER = ("value", "values", "count")

    given: Selected | None = None
    rows: Axis = Axis()
    columns: Axis = Axis()
    value: str = ""
    values: dict[str, str] = Field(default={})
    count: bool = False
    deviation: str = ""
    scale: Annotated[StrictInt, Field(ge=1)] = 1

    def filters(self, row: str, column: str) -> dict[str, Scalar]:
        """The value of each column that identifies the row of a printed number."""
        return {**self.where, **self.rows.filters(row), **self.columns.filters(column)}

    def holder(self, column: str, deviation: bool) -> str:
        """Column with our values for a printed column, or with their standard deviations; '' if there is none."""
        return self.deviation if deviation else self.value or self.values.get(column, "")


Kind = Literal["outputs", "judgments", "texts", "files"]
"""What a number may need: outputs, answers or checkpoints of models; verdicts of judges or people; texts that may not
be passed on; published files or results that the home lacks."""

KINDS = get_args(Kind)


class Needed(Frozen):
    """What a number needs: its `kind`, what it is (`what`), and the way to get it (`how`)."""

    kind: Kind = "files"
    what: str = Field(min_length=1)
    how: str = Field(min_length=1)


class Listed(Frozen):
    """The place of our values in a published JSON file: `file` of the recipe's source `source`. `keys` has, for each
    printed row, the keys that lead to a list, joined by dots; the value is the number of its entries."""

    source: str
    file: str
    keys: dict[str, str] = Field(min_length=1)


class NumberSource(PartOfTable):
    """The origin of our values for some numbers of a table.

    Either `lookup`; or `listed`; or `quoted`, which names the place in the paper from which the number was taken; or
    `needs`.
    """

    EITHER = ("lookup", "listed", "quoted", "needs")

    lookup: Lookup | None = None
    listed: Listed | None = None
    quoted: str = ""
    needs: Needed | None = None


class Deviating(PartOfTable):
    """Numbers whose value differs from the published one, with a reason (`because`) and the decision that explains it.

    `ours` has our value of each number, by row and column, with as many digits as are certain. Instead, `rows`,
    `columns` and `within` state that our values differ by at most `within`, which the reason must explain. `kind` tells
    a real difference from one of the paper's optimizer, and from one of the last digit that it printed.
    """

    EITHER = ("ours", "within")

    kind: Literal["difference", "optimizer", "print"] = "difference"
    because: str = Field(min_length=1)
    link: str = Field(min_length=1)
    ours: dict[str, dict[str, StrictStr]] = Field(default={})
    within: StrictStr = ""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.ours and (self.rows or self.columns):
            raise ValueError("`rows` and `columns` belong to `within`; `ours` names its own")
        for text in [self.within] * bool(self.within) + [text for row in self.ours.values() for text in row.values()]:
            if not NUMBER.fullmatch(text):
                raise ValueError(f"{text!r} is not a number")
        return self

    def covers(self, row: str, column: str) -> bool:
        """Whether the reason applies to a number."""
        return column in self.ours.get(row, {}) if self.ours else super().covers(row, column)


class Printed(NamedTuple):
    """A published number: labels of its row and column, the text as printed, and whether it was printed after ±."""

    row: str
    column: str
    text: str
    deviation: bool

    @property
    def name(self) -> str:
        """Name of the number within its row: the column's label, with ± for a standard deviation."""
        return f"{self.column} {DEVIATION}" if self.deviation else self.column

    @property
    def number(self) -> Decimal:
        """The number."""
        return decimal(self.text)


class PublishedTable(Frozen):
    """A printed table, or the numbers of a section.

    `table` is its number or name, `place` its page or section. `columns` has the labels of the columns with numbers,
    `rows` the cells of each row as printed. `sources` are tried in their order.
    """

    table: StrictStr
    place: StrictStr = Field(min_length=1)
    columns: tuple[str, ...] = Field(min_length=1)
    rows: dict[str, tuple[StrictStr, ...]] = Field(min_length=1)
    sources: tuple[NumberSource, ...] = Field(min_length=1)
    differs: tuple[Deviating, ...] = ()

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        _check_once("column", self.columns)
        for label, cells in self.rows.items():
            if len(cells) != len(self.columns):
                raise ValueError(f"row {label!r} has {len(cells)} cells, but there are {len(self.columns)} columns")
            for cell in cells:
                if cell != NO_NUMBER and not all(NUMBER.fullmatch(part) for part in cell.split(DEVIATION, 1)):
                    raise ValueError(f"{cell!r} in row {label!r} is not a number as printed")
        self._check_labels()
        self._check_numbers()
        return self

    def _check_labels(self) -> None:
        """Every label that sources and reasons name must be one of the table."""
        lookups = [each.lookup for each in self.sources if each.lookup]
        scopes: list[NumberSource | Deviating] = [*self.sources, *self.differs]
        rows = {label for each in scopes for label in each.rows} | {row for each in self.differs for row in each.ours}
        columns = {label for each in scopes for label in each.columns}
        for lookup in lookups:
            rows |= {*lookup.rows.labels}
            columns |= {*lookup.columns.labels, *lookup.values}
        for kind, named, known in (("row", rows, self.rows), ("column", columns, self.columns)):
            if unknown := sorted(named - {*known}):
                raise ValueError(f"there is no {kind} {unknown[0]!r}")

    def _check_numbers(self) -> None:
        """Every number needs a source; a reason must belong to a number, from which our value indeed differs."""
        names = {(each.row, each.name): each for each in self.numbers()}
        for each in names.values():
            if not self.sources_of(each):
                raise ValueError(f"no source applies to row {each.row!r}, column {each.name!r}")
        for reason in self.differs:
            for row, values in reason.ours.items():
                for column, text in values.items():
                    if (row, column) not in names:
                        raise ValueError(f"`ours` names row {row!r}, column {column!r}, which has no number")
                    if rounds_to(names[row, column].number, text):
                        raise ValueError(f"`ours` of row {row!r}, column {column!r} does not differ from the number")

    def numbers(self) -> Iterator[Printed]:
        """The numbers of the table, by row."""
        for row, cells in self.rows.items():
            for column, cell in zip(self.columns, cells, strict=True):
                if cell != NO_NUMBER:
                    for text, deviation in zip(cell.split(DEVIATION, 1), (False, True), strict=False):
                        yield Printed(row, column, text, deviation)

    def sources_of(self, number: Printed) -> list[NumberSource]:
        """The sources that apply to a number."""
        return [
            each for each in self.sources
            if each.covers(number.row, number.column)
            and (not each.lookup or each.lookup.count or each.lookup.holder(number.column, number.deviation))
            and (not each.listed or number.row in each.listed.keys)
        ]  # fmt: skip

    def reason_for(self, number: Printed) -> Deviating | None:
        """The reason why our value differs from a number; None if none is given."""
        return next((each for each in self.differs if each.covers(number.row, number.name)), None)


class PrintedCounts(Frozen):
    """The places of the counts that a paper prints of an audit; other numbers of the audit follow from them.

    `outputs` has the number of outputs of each model, and `splits` the number of outputs to which the judges gave three
    different labels: each is a table and a row. The first columns of `queue`, whose lookup names models and bands, are
    the number of judged outputs and the per cent of valid ones, minor and major errors; in `sample`, the same columns
    count the outputs that people labeled, by band. `categories` has the major and the minor errors of the queue by
    category. The rows of `confusion` are people's labels and its columns the panel's: valid, minor, major.
    """

    corpus: str
    outputs: tuple[str, str]
    queue: str
    categories: str
    splits: tuple[str, str]
    sample: str
    confusion: str

    def has(self, table: str, row: str, column: int) -> bool:
        """Whether a number is one of the counts, or a share that stands for a count; `column` is counted from 0."""
        shares = table in {self.queue, self.sample} and column <= len(SUBSTANTIVE)
        return shares or table in {self.categories, self.confusion} or (table, row) in {self.outputs, self.splits}

    @property
    def tables(self) -> list[str]:
        """The tables that have counts by label."""
        return [self.queue, self.categories, self.sample, self.confusion]


class Numbers(Frozen):
    """All published numbers of a paper, and the places of counts among them from which others follow."""

    tables: tuple[PublishedTable, ...] = Field(min_length=1)
    counts: PrintedCounts | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        _check_once("table", [each.table for each in self.tables])
        if self.counts:
            names = {each.table: each for each in self.tables}
            for name in (*self.counts.tables, self.counts.outputs[0], self.counts.splits[0]):
                if name not in names:
                    raise ValueError(f"`counts` names table {name!r}, which is not here")
            for table, row in (self.counts.outputs, self.counts.splits):
                if row not in names[table].rows:
                    raise ValueError(f"`counts` names row {row!r}, which table {table!r} lacks")
            for name in (self.counts.queue, self.counts.sample):
                if not any(source.lookup for source in names[name].sources):
                    raise ValueError(f"table {name!r} of `counts` needs a lookup, which names models or bands")
        return self

    def table(self, name: str) -> PublishedTable:
        """The table with a name."""
        return next(each for each in self.tables if each.table == name)

    @property
    def named(self) -> set[tuple[str, Scalar]]:
        """Columns of the warehouse and values in them that lookups name."""
        return {
            item
            for table in self.tables
            for number in table.numbers()
            for source in table.sources_of(number)
            if source.lookup
            for item in source.lookup.filters(number.row, number.column).items()
        }


def read(path: Path) -> Numbers:
    """Read the published numbers of a paper.

    Raises
    ------
    BadInput
        If the file is missing or not YAML, lacks a required key, or has an unknown key or an invalid value; if a number
        is not text, or has no source; if a label, or a table or column of the warehouse, does not exist.
    """
    numbers = yaml_files.read(path, Numbers, REMEDY)
    faults: list[BadInput] = []
    for table in numbers.tables:
        for lookup in (source.lookup for source in table.sources if source.lookup):
            if problem := _problem(table, lookup):
                key = f"table {table.table}, lookup in {lookup.table}"
                faults.append(BadInput(path, key, problem, "name a table and columns of warehouse/schema"))
    raise_all(faults)
    return numbers


def decimal(text: str) -> Decimal:
    """A number from its printed text, without separators of thousands and without %."""
    return Decimal(text.replace("−", "-").replace(",", "").removesuffix("%"))


def rounds_to(value: Decimal, printed: str) -> bool:
    """Whether a correct rounding of a value prints this number; a value halfway between two numbers rounds to both.

    A value counts as halfway if the computation in binary fractions may have moved it from there, that is, by at most
    1e-9 of a unit of the last printed digit.
    """
    number = decimal(printed)
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return abs(value - number) <= unit * (Decimal("0.5") + Decimal("1e-9"))


def _check_once(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{kind} {name!r} occurs twice")


def _problem(table: PublishedTable, lookup: Lookup) -> str:
    """The first fault in the names and values of a lookup; '' if there is none."""
    for selected in filter(None, (lookup, lookup.given)):
        if selected.table not in TABLES:
            return f"{selected.table!r} is not one of the tables that can be compared with a paper: {', '.join(TABLES)}"
        columns = catalogue.declared()[selected.table].columns
        for name in selected.containing:
            if name not in columns or columns[name].type != "VARCHAR":
                return f"{name!r} is not a column with text"
        if problem := _mismatch(columns, selected.where.items()):
            return problem
    columns = catalogue.declared()[lookup.table].columns
    for name in {lookup.value, *lookup.values.values(), lookup.deviation} - {""}:
        if name not in columns or not columns[name].numeric:
            return f"{name!r} is not a column with numbers"
    pairs = {pair for row in table.rows for column in table.columns for pair in lookup.filters(row, column).items()}
    return _mismatch(columns, sorted(pairs, key=str))


def _mismatch(columns: Mapping[str, catalogue.Column], pairs: Iterable[tuple[str, Scalar]]) -> str:
    """The first pair of a name that is not among the columns, or of a value that the column cannot have; '' if there is
    none."""
    for name, value in pairs:
        if name not in columns:
            return f"{name!r} is not a column"
        kind = {"VARCHAR": str, "BOOLEAN": bool}.get(columns[name].type, int)
        if type(value) is not kind:
            return f"{value!r} cannot be a value of {name!r}"
        if columns[name].values and value not in columns[name].values:
            return f"{name!r} is never {value!r}"
    return ""
