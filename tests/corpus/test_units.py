import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.units import divided


def passages(*documents: int) -> pl.DataFrame:
    """A corpus whose documents have these numbers of passages: `d0/0.1`, `d0/0.2` and so on."""
    rows = [
        (f"x/d{name}.{position}", f"d{name}.{position}", f"d{name}", position)
        for name, count in enumerate(documents)
        for position in range(count)
    ]
    return pl.DataFrame(rows, ["passage", "passage_id", "document", "position"], orient="row")


def test_five_documents_are_the_units() -> None:
    found = divided(passages(3, 1, 4, 1, 5))
    assert found["unit"].unique(maintain_order=True).to_list() == ["d0", "d1", "d2", "d3", "d4"]
    assert set(found["unit_kind"]) == {"documents"}


def test_fewer_documents_are_divided_into_blocks() -> None:
    found = divided(passages(60, 4))
    assert set(found["unit_kind"]) == {"blocks of 4 passages"}  # the cube root of 64
    assert found["unit"][:9].to_list() == ["d0#0"] * 4 + ["d0#1"] * 4 + ["d0#2"]
    assert found["unit"][60:].to_list() == ["d1#0"] * 4


@pytest.mark.parametrize(
    ("cluster", "units", "kind"),
    [
        ("document", ["d0"] * 4 + ["d1"], "documents"),
        ("passage", ["d0.0", "d0.1", "d0.2", "d0.3", "d1.0"], "passages"),
        ("blocks", ["d0#0", "d0#0", "d0#1", "d0#1", "d1#0"], "blocks of 2 passages"),
        (r"^d\d\.[01]", ["d0.0", "d0.1", "d0.2", "d0.3", "d1.0"], r"passages by ^d\d\.[01]"),
        ("^d.", ["d0"] * 4 + ["d1"], "passages by ^d."),
    ],
)
def test_a_description_may_name_the_units(cluster: str, units: list[str], kind: str) -> None:
    found = divided(passages(4, 1), cluster)
    assert found["unit"].to_list() == units
    assert set(found["unit_kind"]) == {kind}


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4))
def test_a_block_lies_within_a_document(documents: list[int]) -> None:
    rows = passages(*documents).join(divided(passages(*documents)), on="passage")
    assert rows.group_by("unit").agg(pl.col("document").n_unique())["document"].max() == 1
    length = int(rows["unit_kind"][0].split()[2])
    assert rows.group_by("unit").len()["len"].max() <= length  # type: ignore[operator]
    assert (length - 1) ** 3 < len(rows) <= length**3
