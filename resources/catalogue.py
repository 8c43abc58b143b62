"""The table catalogue: one declaration for each table and column of the warehouse.

The declarations are in `warehouse/schema`: `units.yaml` (kinds of values and their ranges), `columns.yaml` (columns
that several tables share), and one file of tables for each room. DDL, polars schemas, ranges, labels, digits, meanings
and the contents of public packages are derived from them. Not here: SQL that reads or writes (warehouse), rendering
tables as text (tables).

A table lists its columns by name. A column declared in `columns.yaml` needs no more; the table's own declaration takes
precedence. Key columns come first. Every table ends with the provenance columns.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, Discriminator, RootModel, Tag

from resources import yaml_files
from resources.errors import BadInput
from resources.home import PROJECT

FOLDER = PROJECT / "warehouse" / "schema"
UNITS, SHARED = "units.yaml", "columns.yaml"
REMEDY = f"see the head of {FOLDER.name}/{UNITS} and the docstring of resources.catalogue"

PROVENANCE = ("fingerprint", "run_id", "updated_at")
"""The last columns of every table: fingerprint of the row's inputs, the run that wrote it, and the time."""

QUANTITY = "quantity"
"""Unit of columns that hold names of other columns."""

SIGNATURE = "signature"
"""Unit of columns that describe how numbers were made."""

STAMPS = ("run_id", "updated_at")
"""The provenance columns that the warehouse fills."""

Visibility = Literal["public", "restricted", "personal", "internal"]
"""Who may see a column: everyone, licensees, everyone but with people replaced by numbers, nobody outside the home."""

POLARS: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(), "DOUBLE": pl.Float64(), "FLOAT": pl.Float32(), "INTEGER": pl.Int32(), "BIGINT": pl.Int64(),
    "BOOLEAN": pl.Boolean(), "TIMESTAMP": pl.Datetime("us"), "DATE": pl.Date(),
}  # fmt: skip
POSTGRES = {"VARCHAR": "text", "DOUBLE": "double precision", "FLOAT": "real"}
"""Types that PostgreSQL names differently; the others have the same name."""


class Unit(BaseModel):
    """The kind of values in a column. `units.yaml` explains the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    meaning: str
    least: float | None = None
    most: float | None = None
    open: str = ""
    digits: int | None = None
    percent: bool = False


class _Entry(BaseModel):
    """A column as declared in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: str = ""
    meaning: str = ""
    type: str | None = None
    nullable: bool = False
    interval: bool = False
    default: str | None = None
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()
    open: str = ""
    label: str = ""
    empty: str = ""
    digits: int | None = None
    visibility: Visibility = "internal"


class Column(NamedTuple):
    """A column of a table.

    `type` is DuckDB's. Values lie in [`least`, `most`] where both are given, or are among `values`; otherwise `open`
    gives the reason why they are unbounded. `digits`, `percent` and `empty` (a word for '') are for display.
    `interval` is true if the column has interval bounds; on a bound, `between` is the name of that column, else ''.
    """

    name: str
    type: str
    nullable: bool
    unit: str
    meaning: str
    label: str
    visibility: Visibility
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()
    open: str = ""
    digits: int | None = None
    percent: bool = False
    default: str | None = None
    interval: bool = False
    between: str = ""
    empty: str = ""

    @property
    def polars(self) -> pl.DataType:
        """The type in a frame."""
        inner = POLARS[self.type.removesuffix("[]")]
        return pl.List(inner) if self.type.endswith("[]") else inner

    @property
    def numeric(self) -> bool:
        """Whether the values, or the elements of the lists, are numbers."""
        return POLARS[self.type.removesuffix("[]")].is_numeric()

    @property
    def heading(self) -> str:
        """Label for display."""
        return f"{self.label} %" if self.percent else self.label


_BY_KIND = Discriminator(lambda given: type(given).__name__)
_Name = Annotated[str, Tag("str")]
_Own = Annotated[dict[str, _Entry], Tag("dict")]
_Group = Annotated[list[Annotated[_Name | _Own, _BY_KIND]], Tag("list")]
Listed = Annotated[_Name | _Own | _Group, _BY_KIND]
"""A column by its name alone, columns with their declarations, or a group of both."""


class _TableEntry(BaseModel):
    """A table as declared in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    meaning: str = ""
    key: list[str]
    columns: list[Listed] = []
    file: str | None = None
    checked_with: str | None = None
    stored: bool = True


class _Units(RootModel[dict[str, Unit]]):
    """The units file."""


class _Shared(RootModel[dict[str, _Entry]]):
    """The file of shared columns, `columns.yaml`."""


class _Tables(RootModel[dict[str, _TableEntry]]):
    """A file of tables."""


class Table(NamedTuple):
    """A table of the warehouse.

    `file` names the package file that holds its public columns, None if no package does. `checked_with` names the asset
    whose check `sound` covers this table, for tables that no asset fills. A table that is not `stored` declares columns
    that exist only in packages or displays.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    file: str | None
    checked_with: str | None
    stored: bool

    @property
    def content(self) -> dict[str, Column]:
        """Columns that a caller writes: all except the stamps."""
        return {name: column for name, column in self.columns.items() if name not in STAMPS}

    @property
    def displayed(self) -> list[str]:
        """Names of the columns that displays show unless they choose: all but bounds, signatures and provenance."""
        return [
            name for name, column in self.columns.items()
            if not (column.between or column.unit == SIGNATURE or name in PROVENANCE)
        ]  # fmt: skip

    @property
    def public(self) -> list[str]:
        """Names of the columns in a package: public columns, and personal ones, where numbers replace people."""
        return [name for name, column in self.columns.items() if column.visibility in ("public", "personal")]


@cache
def tables() -> Mapping[str, Table]:
    """Every stored table by name."""
    return {name: each for name, each in declared().items() if each.stored}


def packaged(file: str) -> list[Table]:
    """Tables with public columns in the package file of this name (without extension); tables not stored come first."""
    return sorted((each for each in declared().values() if each.file == file), key=lambda each: each.stored)


@cache
def declared() -> Mapping[str, Table]:
    """Every table by name, stored or not."""
    return read(FOLDER)


def read(folder: Path) -> dict[str, Table]:
    """Read the tables declared in the files of a folder.

    Raises
    ------
    BadInput
        For invalid YAML, an unknown key or unit, or a column without a declaration.
    """
    return {
        name: _table(path, name, entry, _shared(folder), _units(folder))
        for path in sorted(folder.glob("*.yaml"))
        if path.name not in (UNITS, SHARED)
        for name, entry in yaml_files.read(path, _Tables, REMEDY).root.items()
    }


@cache
def shared() -> Mapping[str, Column]:
    """Columns that several tables share, by name."""
    return {name: _column(name, entry, _units(FOLDER)[entry.unit]) for name, entry in _shared(FOLDER).items()}


def column(table: str, name: str) -> Column:
    """A column of a table, stored or not, or else the shared column of that name."""
    columns = declared()[table].columns
    return columns[name] if name in columns else shared()[name]


def label(name: str) -> str:
    """Label of a measure or another quantity, by the name of its column."""
    return shared()[name].label if name in shared() else name.replace("_", " ")


@cache
def computed(unit: str, label: str) -> Column:
    """A column for a number that no table holds, formatted by its unit."""
    return _column(label, _Entry(unit=unit), _units(FOLDER)[unit])


def table(name: str) -> Table:
    """The declared table of this name.

    Raises
    ------
    BadInput
        If no table of this name is declared.
    """
    if name not in tables():
        raise BadInput(FOLDER.name, name, "no such table", "declare it in a .yaml file there")
    return tables()[name]


def schema(name: str, *without: str) -> pl.Schema:
    """Polars types of a table's columns, without the provenance columns and those in `without`."""
    left_out = {*PROVENANCE, *without}
    return pl.Schema({each.name: each.polars for each in table(name).columns.values() if each.name not in left_out})


def duckdb_ddl() -> str:
    """Statements that create all tables in DuckDB."""
    return "\n".join(_ddl(each, lambda kind: kind) for each in tables().values())


def postgres_ddl() -> str:
    """Statements that create all tables in PostgreSQL."""
    return "\n".join(_ddl(each, _postgres) for each in tables().values())


def faults(declarations: Mapping[str, Table]) -> Iterator[str]:
    """Faults: no meaning, a nullable key column, or neither range nor values nor a reason for that (`open`)."""
    for each in declarations.values():
        if not each.meaning:
            yield f"{each.name}: no meaning"
        for name in each.key:
            if each.columns[name].nullable:
                yield f"{each.name}.{name}: null in the primary key"
        for column in each.columns.values():
            place = f"{each.name}.{column.name}"
            if not column.meaning:
                yield f"{place}: no meaning"
            if column.numeric and None in (column.least, column.most) and not column.open:
                yield f"{place}: no range, and no reason (`open`)"
            if column.type == "VARCHAR" and not column.values and not column.open:
                yield f"{place}: no values, and no reason (`open`)"


@cache
def _units(folder: Path) -> Mapping[str, Unit]:
    return yaml_files.read(folder / UNITS, _Units, REMEDY).root


@cache
def _shared(folder: Path) -> Mapping[str, _Entry]:
    return yaml_files.read(folder / SHARED, _Shared, REMEDY).root


def _table(file: Path, name: str, entry: _TableEntry, shared: Mapping[str, _Entry], units: Mapping[str, Unit]) -> Table:
    provenance = dict.fromkeys(PROVENANCE if entry.stored else (), _Entry())
    listed = dict.fromkeys(entry.key, _Entry()) | dict(_flat(entry.columns)) | provenance
    columns: dict[str, Column] = {}
    for column, own in listed.items():
        common = shared[column].model_dump(exclude_unset=True) if column in shared else {}
        whole = _Entry.model_validate({**common, **own.model_dump(exclude_unset=True)})
        if whole.unit not in units:
            problem = f"unit {whole.unit!r} is unknown" if whole.unit else "has no unit"
            raise BadInput(file, f"{name}.{column}", problem, f"declare the column here or in {SHARED}, with a unit")
        columns[column] = number = _column(column, whole, units[whole.unit])
        if whole.interval:
            for end, words in (("low", "Lower"), ("high", "Upper")):
                meaning = f"{words} bound of the 95 % interval of `{column}`."
                bound = number._replace(name=f"{column}_{end}", meaning=meaning, interval=False, between=column)
                columns[bound.name] = bound
    return Table(name, entry.meaning, tuple(entry.key), columns, entry.file, entry.checked_with, entry.stored)


def _flat(columns: Iterable[Listed]) -> Iterator[tuple[str, _Entry]]:
    for each in columns:
        if isinstance(each, str):
            yield each, _Entry()
        elif isinstance(each, dict):
            yield from each.items()
        else:
            yield from _flat(each)


def _column(name: str, entry: _Entry, unit: Unit) -> Column:
    return Column(
        name=name,
        type=entry.type or unit.type,
        nullable=entry.nullable,
        unit=entry.unit,
        meaning=entry.meaning,
        label=entry.label or name.replace("_", " "),
        visibility=entry.visibility,
        least=unit.least if entry.least is None else entry.least,
        most=unit.most if entry.most is None else entry.most,
        values=entry.values,
        open=entry.open or unit.open,
        digits=unit.digits if entry.digits is None else entry.digits,
        percent=unit.percent,
        default=entry.default,
        interval=entry.interval,
        empty=entry.empty,
    )


def _ddl(each: Table, kind: Callable[[str], str]) -> str:
    lines = [
        f'    "{column.name}" {kind(column.type)}{"" if column.nullable else " NOT NULL"}'
        + ("" if column.default is None else " DEFAULT '{}'".format(column.default.replace("'", "''")))
        for column in each.columns.values()
    ]
    key = ", ".join(f'"{name}"' for name in each.key)
    body = ",\n".join([*lines, f"    PRIMARY KEY ({key})"])
    return f'CREATE TABLE IF NOT EXISTS "{each.name}" (\n{body}\n);'


def _postgres(kind: str) -> str:
    inner = kind.removesuffix("[]")
    return POSTGRES.get(inner, inner.lower()) + kind[len(inner) :]


if __name__ == "__main__":
    problems = list(faults(declared()))
    print("\n".join(problems) or f"{len(tables())} tables, no fault")
    sys.exit(bool(problems))
