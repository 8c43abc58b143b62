"""The file of published numbers: what it must have, and which numbers a value prints."""

from collections.abc import Mapping
from copy import deepcopy
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.benchmarks.numbers import ASSETS, BESIDE, TABLES, read, rounds_to
from benchmark_assets.benchmarks.reproduction import shipped
from benchmark_assets.definitions import build_definitions
from resources.errors import BadInput
from resources.home import PROJECT

LOOKUP = {"table": "task_chance", "where": {"baseline": "chance"}, "columns": {"column": "task"}, "value": "score"}
TABLE: dict[str, Any] = {
    "table": "4",
    "place": "page 9",
    "columns": ["FORM", "SPEECH"],
    "rows": {"Chance": ["50.00", "—"], "Model": ["1,234.5±0.56", "12"]},
    "sources": [
        {"rows": ["Chance"], "lookup": LOOKUP},
        {"rows": ["Model"], "needs": {"kind": "outputs", "what": "the outputs", "how": "ask"}},
    ],
    "differs": [{"because": "It was cut.", "link": "docs/x.md", "ours": {"Chance": {"FORM": "50.01"}}}],
}


def write(folder: Path, table: Mapping[str, Any]) -> Path:
    path = folder / "numbers.yaml"
    path.write_text(yaml.safe_dump({"tables": [table]}, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


def test_each_printed_number_is_one(tmp_path: Path) -> None:
    (table,) = read(write(tmp_path, TABLE)).tables
    assert [(each.row, each.name, each.number) for each in table.numbers()] == [
        ("Chance", "FORM", Decimal("50.00")), ("Model", "FORM", Decimal("1234.5")),
        ("Model", "FORM ±", Decimal("0.56")), ("Model", "SPEECH", Decimal(12)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value", "key", "problem"),
    [
        (["rows", "Chance", 0], 50.0, "tables.0.rows.Chance.0", "valid string"),
        (["rows", "Chance", 0], 50, "tables.0.rows.Chance.0", "valid string"),
        (["rows", "Chance", 0], "about 50", "tables.0", "'about 50' in row 'chance' is not a number"),
        (["rows", "Chance", 0], "1,23", "tables.0", "not a number as printed"),
        (["rows", "Chance"], ["50.00"], "tables.0", "row 'chance' has 1 cells, but there are 2 columns"),
        (["columns"], ["FORM", "FORM"], "tables.0", "column 'form' occurs twice"),
        (["sources"], [{"rows": ["Model"], "quoted": "table 4"}], "tables.0", "no source applies to row 'chance'"),
        (["sources", 1, "quoted"], "table 4", "tables.0.sources.1", "one of `lookup`, `listed`, `quoted` and `needs`"),
        (["sources", 1, "needs"], {"what": "the outputs"}, "tables.0.sources.1.needs.how", "field required"),
        (["sources", 1, "rows"], ["Modal"], "tables.0", "there is no row 'modal'"),
        (["sources", 0, "columns"], ["TALK"], "tables.0", "there is no column 'talk'"),
        (["sources", 0, "lookup", "sql"], "SELECT", "tables.0.sources.0.lookup.sql", "not permitted"),
        (["sources", 0, "lookup", "tolerance"], 1, "tables.0.sources.0.lookup.tolerance", "not permitted"),
        (["sources", 0, "lookup", "count"], True, "tables.0.sources.0.lookup", "exactly one of `value`"),
        (["sources", 0, "lookup", "scale"], 0, "tables.0.sources.0.lookup.scale", "greater than or equal to 1"),
        (["sources", 0, "lookup", "table"], "task", "table 4, lookup in task", "not one of the tables"),
        (["sources", 0, "lookup", "value"], "signature", "table 4, lookup in task_chance", "not a column with numbers"),
        (["sources", 0, "lookup", "where"], {"base": "x"}, "table 4, lookup in task_chance", "'base' is not a column"),
        (["sources", 0, "lookup", "where"], {"baseline": 1}, "table 4, lookup in task_chance", "cannot be a value"),
        (["sources", 0, "lookup", "where"], {"baseline": "x"}, "table 4, lookup in task_chance", "is never 'x'"),
        (["sources", 0, "lookup", "containing"], {"score": "x"}, "table 4, lookup in task_chance", "column with text"),
        (["sources", 0, "lookup", "given"], {"table": "funnel", "where": {"x": "y"}}, "table 4, lookup in task_chance",
         "'x' is not a column"),
        (["differs", 0, "because"], "", "tables.0.differs.0.because", "at least 1"),
        (["differs", 0, "ours"], {"Chance": {"FORM": "50"}}, "tables.0", "does not differ from the number"),
        (["differs", 0, "ours"], {"Chance": {"FORM": "50.0"}}, "tables.0", "does not differ from the number"),
        (["differs", 0, "ours"], {"Chance": {"FORM": "some"}}, "tables.0.differs.0", "'some' is not a number"),
        (["differs", 0, "ours"], {"Chance": {"SPEECH": "1"}}, "tables.0", "which has no number"),
        (["differs", 0, "within"], "0.1", "tables.0.differs.0", "exactly one of `ours` and `within`"),
        (["differs", 0, "rows"], ["Chance"], "tables.0.differs.0", "belong to `within`"),
        (["place"], "", "tables.0.place", "at least 1"),
        (["tolerance"], "0.1", "tables.0.tolerance", "not permitted"),
    ],
)  # fmt: skip
def test_what_does_not_agree_is_refused(
    tmp_path: Path, place: list[str | int], value: object, key: str, problem: str
) -> None:
    table = deepcopy(TABLE)
    *outer, last = place
    inner: Any = table
    for step in outer:
        inner = inner[step]
    inner[last] = value
    path = write(tmp_path, table)
    with pytest.raises(BadInput) as refused:
        read(path)
    assert (refused.value.where, refused.value.key) == (str(path), key)
    assert problem in refused.value.problem
    assert refused.value.remedy


def test_a_table_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "numbers.yaml"
    path.write_text(yaml.safe_dump({"tables": [TABLE, TABLE]}), encoding="utf-8")
    with pytest.raises(BadInput, match="'4' occurs twice"):
        read(path)


values = st.decimals(-(10**6), 10**6, allow_nan=False, places=7)
digits = st.integers(0, 5)


@given(values, digits)
def test_a_value_prints_its_roundings_and_nothing_else(value: Decimal, places: int) -> None:
    unit = Decimal(1).scaleb(-places)
    printed = {value.quantize(unit, how) for how in (ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN)}
    near = next(iter(printed))
    for number in (near - 2 * unit, near - unit, near, near + unit, near + 2 * unit):
        assert rounds_to(value, f"{number:,f}") is (number in printed)


@given(st.floats(-1000, 1000), digits)
def test_a_value_prints_what_python_prints_of_it(value: float, places: int) -> None:
    assert rounds_to(Decimal(repr(value)), f"{value:.{places}f}")


@given(st.integers(-1000, 1000), st.floats(-1e-11, 1e-11))
def test_a_value_halfway_between_two_numbers_prints_both(half: int, noise: float) -> None:
    value = Decimal(half) / 100 + Decimal("0.005") + Decimal(noise)
    assert rounds_to(value, f"{Decimal(half) / 100:.2f}")
    assert rounds_to(value, f"{Decimal(half) / 100 + Decimal('0.01'):.2f}")


@pytest.mark.parametrize("benchmark", shipped())
def test_shipped_numbers_are_whole_and_their_reasons_lie_in_the_repository(benchmark: str) -> None:
    for table in read(shipped()[benchmark]).tables:
        for reason in table.differs:
            file, _, heading = reason.link.partition("#")
            titles = [line for line in (PROJECT / file).read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
            slugs = ["".join(c for c in title.lower().lstrip("# ") if c.isalnum() or c in " -") for title in titles]
            assert heading in [slug.replace(" ", "-") for slug in slugs]


def test_each_table_that_is_compared_is_an_asset() -> None:
    names = {key.to_user_string() for key in build_definitions().resolve_asset_graph().executable_asset_keys}
    assert names >= {*ASSETS}
    assert {*TABLES, "selection"} == {*ASSETS} | BESIDE  # whose passages the view `funnel` counts
