"""The table catalogue: one declaration for each table and column of the warehouse.

The declarations are in `warehouse/schema`: `units.yaml` (kinds of values and their ranges), `columns.yaml` (columns
that several tables share), and one file of tables for each room. DDL, polars schemas, ranges, labels, digits, meanings
and the contents of public packages are derived from them. Not here: SQL that reads or writes (warehouse), rendering
tables as text (tables).

A table lists its columns by name. A column declared in `columns.yaml` needs only its name; a property that the table
gives for this column overrides the same property in `columns.yaml`. The columns of the primary key come first. Every
table ends with the provenance columns.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import Discriminator, RootModel, Tag

from resources import yaml_files
from resources.errors import BadInput
from resources.frozen import Frozen
from resources.home import PROJECT

FOLDER = PROJECT / "warehouse" / "schema"
UNITS, SHARED = "units.yaml", "columns.yaml"
REMEDY = f"see the comment at the top of {FOLDER.name}/{UNITS} and the docstring of resources.catalogue"

PROVENANCE = ("fingerprint", "run_id", "updated_at")
"""Last columns of every table: fingerprint of the row's inputs, the run that wrote the row, and the time of writing."""

QUANTITY = "quantity"
"""Unit of columns that hold names of other columns."""

SIGNATURE = "signature"
"""Unit of columns that name the tools, versions and settings behind the numbers."""

STAMPS = ("run_id", "updated_at")
"""The provenance columns that the warehouse fills."""

Visibility = Literal["public", "restricted", "personal", "internal"]
"""Audience of a column.

`public`: everyone. `restricted`: people who are licensed to read the texts. `personal`: everyone, once names of people
are replaced by numbers. `internal`: nobody outside the home.
"""

Versions = Literal["rows", "inputs"]
"""What the version of a partition is a hash of.

`rows`: the content of its rows, so that nothing downstream is stale if a new computation yields the same rows.
`inputs`: everything from which the rows were computed. Assets whose numbers come from vectors have the second kind,
because the last digits of a vector depend on the kind of CPU.
"""

POLARS: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(), "DOUBLE": pl.Float64(), "FLOAT": pl.Float32(), "INTEGER": pl.Int32(), "BIGINT": pl.Int64(),
    "BOOLEAN": pl.Boolean(), "TIMESTAMP": pl.Datetime("us"), "DATE": pl.Date(),
}  # fmt: skip
POSTGRES = {"VARCHAR": "text", "DOUBLE": "double precision", "FLOAT": "real"}
"""PostgreSQL's name of each type that DuckDB names differently."""


class UnitEntry(Frozen):
    """The kind of values in a column. `units.yaml` explains the keys."""

    type: str
    meaning: str
    least: float | None = None
    most: float | None = None
    open: str = ""
    digits: int | None = None
    percent: bool = False


class _Entry(UnitEntry):
    """A column as declared in a file. What it does not state is taken from its unit."""

    type: str = ""
    meaning: str = ""
    unit: str = ""
    nullable: bool = False
    interval: bool = False
    bounds: bool = False
    default: str | None = None
    values: tuple[str, ...] = ()
    label: str = ""
    empty: str = ""
    visibility: Visibility = "internal"
    versioned: bool = True


class Column(_Entry):
    """A column of a table.

    `type` is a DuckDB type. Values lie in [`least`, `most`] or are among `values`; if they have no such limits, `open`
    gives the reason. `digits`, `percent` and `empty` (the word shown for '') control the display. If `interval` is
    true, the nullable columns `<name>_low` and `<name>_high` hold the bounds of an interval. If `bounds` is true, the
    nullable columns `<name>_least` and `<name>_most` hold the bounds that missing verdicts leave. In a column of
    either, `between` is the name of the column that it belongs to; in any other column, it is ''. If `versioned` is
    false, the version of a partition does not depend on the values: they may differ in the last digit between kinds of
    CPU, and no other asset reads them.
    """

    name: str
    between: str = ""

    def but(self, **changes: object) -> "Column":
        """A copy with some properties changed."""
        return self.model_copy(update=changes)

    @property
    def polars(self) -> pl.DataType:
        """Polars type of the column."""
        inner = POLARS[self.type.removesuffix("[]")]
        return pl.List(inner) if self.type.endswith("[]") else inner

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or lists of numbers."""
        return POLARS[self.type.removesuffix("[]")].is_numeric()

    @property
    def heading(self) -> str:
        """Label for display, with a % if values are displayed in percent."""
        return f"{self.label} %" if self.percent else self.label


_BY_KIND = Discriminator(lambda content: type(content).__name__)
_Name = Annotated[str, Tag("str")]
_Own = Annotated[dict[str, _Entry], Tag("dict")]
_Group = Annotated[list[Annotated[_Name | _Own, _BY_KIND]], Tag("list")]
Listed = Annotated[_Name | _Own | _Group, _BY_KIND]
"""An entry of a table's columns: a shared column's name, declarations by column name, or a list of such entries."""


class _TableProperties(Frozen):
    """What a table declares beside its columns."""

    meaning: str = ""
    file: str | None = None
    checked_with: str | None = None
    stored: bool = True
    versions: Versions = "rows"
    fact: bool = False


class _TableEntry(_TableProperties):
    """A table as declared in a file."""

    key: list[str]
    columns: tuple[Listed, ...] = ()


class Table(_TableProperties):
    """A table of the warehouse.

    `file` is the name of the package file that holds its public columns, None if packages do not include the table.
    For a table that no asset fills, `checked_with` names an asset; the check `sound` of this asset covers the
    table. A table that is not `stored` declares columns that exist only in packages or displays. `versions` tells what
    the versions of partitions of the asset with this name are hashes of. The rows of a `fact` were entered or imported
    by people, and cannot be computed again: a repair of the home loses none that can be read.
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]

    @property
    def content(self) -> dict[str, Column]:
        """Columns that a caller of `Warehouse.write` supplies: all except `STAMPS`."""
        return {name: column for name, column in self.columns.items() if name not in STAMPS}

    @property
    def displayed(self) -> list[str]:
        """Names of the columns displayed by default: all except interval bounds, signatures and provenance."""
        return [
            name for name, column in self.columns.items()
            if not (column.between or column.unit == SIGNATURE or name in PROVENANCE)
        ]  # fmt: skip

    @property
    def public(self) -> list[str]:
        """Names of the columns in packages: public and personal ones. Packages replace people's names by numbers."""
        return [name for name, column in self.columns.items() if column.visibility in ("public", "personal")]


@cache
def tables() -> Mapping[str, Table]:
    """Every stored table by name."""
    return {name: each for name, each in declared().items() if each.stored}


def facts() -> list[str]:
    """Names of the tables whose rows people entered or imported."""
    return [name for name, each in tables().items() if each.fact]


def packaged(file: str) -> list[Table]:
    """Tables whose public columns are in a given package file; tables that are not stored come first.

    `file` is the name of the package file without its extension.
    """
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
        for name, entry in yaml_files.read(path, RootModel[dict[str, _TableEntry]], REMEDY).root.items()
    }


def declare(column: Column) -> None:
    """Add a column that displays have under its name, but no table: a metric whose scores are rows of a table."""
    shared()[column.name] = column


@cache
def shared() -> dict[str, Column]:
    """Columns that several tables share, by name."""
    return {name: _column(name, entry, _units(FOLDER)[entry.unit]) for name, entry in _shared(FOLDER).items()}


def column(table: str, name: str) -> Column:
    """Return a column of a declared table, or the shared column if the table has no such column."""
    columns = declared()[table].columns
    return columns[name] if name in columns else shared()[name]


def label(name: str) -> str:
    """Label of a measure or another quantity, given the name of its column."""
    return shared()[name].label if name in shared() else name.replace("_", " ")


@cache
def computed(unit: str, label: str) -> Column:
    """A column for a number that is displayed but not stored, formatted as its unit declares."""
    return _column(label, _Entry(unit=unit), _units(FOLDER)[unit])


def table(name: str) -> Table:
    """Return a stored table by name.

    Raises
    ------
    BadInput
        If no stored table of this name is declared.
    """
    if name not in tables():
        raise BadInput(FOLDER.name, name, "no such table", "declare it in a .yaml file there")
    return tables()[name]


def schema(name: str, *without: str) -> pl.Schema:
    """Polars schema of a table, without the provenance columns and the columns named in `without`."""
    left_out = {*PROVENANCE, *without}
    listed = declared()[name].columns.values()
    return pl.Schema({each.name: each.polars for each in listed if each.name not in left_out})


def duckdb_ddl() -> str:
    """Statements that create all tables in DuckDB."""
    return "\n".join(ddl(each) for each in tables().values())


def postgres_type(duckdb_type: str) -> str:
    """PostgreSQL's name of a type."""
    inner = duckdb_type.removesuffix("[]")
    return POSTGRES.get(inner, inner.lower()) + duckdb_type[len(inner) :]


def postgres_ddl(table: Table) -> str:
    """The statement that creates a table in PostgreSQL unless it exists. Texts are ordered as in DuckDB, by bytes."""
    return ddl(table, lambda type: postgres_type(type) + (' COLLATE "C"' if type.startswith("VARCHAR") else ""))


def ddl(table: Table, type_name: Callable[[str], str] = str) -> str:
    """The statement that creates a table unless it exists; `type_name` translates DuckDB's types."""
    lines = [
        f'    "{column.name}" {type_name(column.type)}{"" if column.nullable else " NOT NULL"}'
        + ("" if column.default is None else " DEFAULT '{}'".format(column.default.replace("'", "''")))
        for column in table.columns.values()
    ]
    key = ", ".join(f'"{name}"' for name in table.key)
    body = ",\n".join([*lines, f"    PRIMARY KEY ({key})"])
    return f'CREATE TABLE IF NOT EXISTS "{table.name}" (\n{body}\n);'


@cache
def state_query() -> str:
    """The query of `Warehouse.state` in DuckDB and PostgreSQL; its parameter is the corpus."""
    conditions = {"corpus": "corpus = $1", "passage": "starts_with(passage, $1 || '/')"}
    return " UNION ALL ".join(
        f"""SELECT '{table.name}' AS "table", count(*) AS row_count, max(updated_at) AS updated_at """
        f'FROM "{table.name}" WHERE {conditions[column]}'
        for table in tables().values()
        for column in [name for name in conditions if name in table.columns][:1]
    )


def documents_query(names: Sequence[str], hashed: str) -> str:
    """The query of `Warehouse.documents`; `hashed` is an expression for a 64-bit hash, with a place for the values."""
    rows = " UNION ALL ".join(
        f"SELECT passage, {hashed.format(', '.join([repr(name), *table(name).key, 'run_id', 'updated_at']))} AS stamp "
        f'FROM "{name}"'
        for name in ["source_text", *names]
    )
    return (
        "SELECT corpus, document, count(DISTINCT passage) AS passages, CAST(sum(stamp) AS VARCHAR) AS stamp "
        f"FROM source_text JOIN ({rows}) AS stamped USING (passage) GROUP BY corpus, document ORDER BY corpus, document"
    )


def faults(declarations: Mapping[str, Table]) -> Iterator[str]:
    """Yield a message for each missing meaning, each nullable key column, and each column without limits or `open`."""
    for table in declarations.values():
        if not table.meaning:
            yield f"{table.name}: has no meaning"
        for name in table.key:
            if table.columns[name].nullable:
                yield f"{table.name}.{name}: is nullable, but in the primary key"
        for column in table.columns.values():
            place = f"{table.name}.{column.name}"
            if not column.meaning:
                yield f"{place}: has no meaning"
            if column.numeric and None in (column.least, column.most) and not column.open:
                yield f"{place}: has no range, and `open` gives no reason"
            if column.type == "VARCHAR" and not column.values and not column.open:
                yield f"{place}: has no values, and `open` gives no reason"


@cache
def _units(folder: Path) -> Mapping[str, UnitEntry]:
    return yaml_files.read(folder / UNITS, RootModel[dict[str, UnitEntry]], REMEDY).root


@cache
def _shared(folder: Path) -> Mapping[str, _Entry]:
    return yaml_files.read(folder / SHARED, RootModel[dict[str, _Entry]], REMEDY).root


def _table(
    file: Path, name: str, entry: _TableEntry, shared: Mapping[str, _Entry], units: Mapping[str, UnitEntry]
) -> Table:
    provenance = dict.fromkeys(PROVENANCE if entry.stored else (), _Entry())
    listed = dict.fromkeys(entry.key, _Entry()) | dict(_flat(entry.columns)) | provenance
    columns: dict[str, Column] = {}
    for column, declaration in listed.items():
        common = shared[column].model_dump(exclude_unset=True) if column in shared else {}
        whole = _Entry.model_validate({**common, **declaration.model_dump(exclude_unset=True)})
        if whole.unit not in units:
            problem = f"unit {whole.unit!r} is unknown" if whole.unit else "has no unit"
            raise BadInput(file, f"{name}.{column}", problem, f"declare the column here or in {SHARED}, with a unit")
        columns[column] = number = _column(column, whole, units[whole.unit])
        low = "{} bound of the 95 % interval of `{}`. Null with too few units."
        least = "`{1}` if each missing verdict had its {0} value. Null if no verdict is missing."
        ends = [("low", "Lower", low), ("high", "Upper", low)] * whole.interval
        for end, words, meaning in ends + [("least", "lowest", least), ("most", "highest", least)] * whole.bounds:
            columns[f"{column}_{end}"] = number.but(
                name=f"{column}_{end}", meaning=meaning.format(words, column), interval=False, bounds=False,
                between=column, nullable=True, label=f"{number.label}, {end}" if meaning is least else number.label,
            )  # fmt: skip
    return Table(name=name, key=tuple(entry.key), columns=columns, **entry.model_dump(exclude={"key", "columns"}))


def _flat(columns: Iterable[Listed]) -> Iterator[tuple[str, _Entry]]:
    for entry in columns:
        if isinstance(entry, str):
            yield entry, _Entry()
        elif isinstance(entry, dict):
            yield from entry.items()
        else:
            yield from _flat(entry)


def _column(name: str, entry: _Entry, unit: UnitEntry) -> Column:
    common = {"label": name.replace("_", " "), **unit.model_dump(exclude={"meaning"})}
    return Column.model_validate({**common, **entry.model_dump(exclude_unset=True), "name": name})


if __name__ == "__main__":
    problems = list(faults(declared()))
    print("\n".join(problems) or f"{len(tables())} tables, no fault")
    sys.exit(bool(problems))
