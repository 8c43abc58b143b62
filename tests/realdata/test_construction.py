"""The suttas, made into a benchmark with PaliBench's thresholds: what holds of any construction, and ours beside the
published one."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.duplicates import near_duplicates
from benchmark_assets.corpus.filters import REASONS, Filters
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.selection.funnel import DUPLICATE, funnels
from resources.errors import RunFailedError
from resources.tables import plain
from resources.warehouse import Warehouse
from tests.support import CONSTRUCTED

pytestmark = pytest.mark.realdata

SHORT = ["an5.2", "sn1.18", "sn1.62", "sn47.37"]
BLANK = "sn1.18"
"""Of this sutta Thanissaro's file is blank: a fault, for which the document is left out."""

PUBLISHED = {
    "incomplete": "has_null", "suspicious": "verification_failed", "short": "too_short", "similar": "too_similar",
    "length_ratio": "length_ratio", "null_characters": "null_char", "internal_duplication": "segment_duplicate",
    DUPLICATE: "duplicate",
}  # fmt: skip
"""Reasons as PaliBench's record names them."""


Reasons = Mapping[str, Iterable[str]]
"""Passages that were dropped, by reason."""


def describe(path: Path, root: Path, realdata: Path) -> Path:
    """Write the description of the suttas under `root` with two of PaliBench's three references."""
    prose = {"layout": "text", "root": str(realdata / "accesstoinsight/text"), "files": "{document}.than.txt"}
    content = {
        "name": "suttas",
        "layout": "bilara",
        "root": str(root),
        "source": {"language": "pli", "edition": "ms", "licence": "CC0-1.0"},
        "references": {
            "sujato": {"language": "en", "licence": "CC0-1.0"},
            "thanissaro": {"language": "en", "licence": "CC BY-NC 4.0", "restricted": True, **prose},
        },
        "filters": {},
        "sensitivity": {"passages": 0},  # no damaged texts
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def construct(definitions: dg.Definitions, instance: dg.DagsterInstance, description: Path) -> None:
    """Build the benchmark with a fault in one document."""
    register((definitions.resources or {})["warehouse"], description)
    with pytest.raises(RunFailedError, match=rf"faults in the corpora: 1\..*{BLANK}\.than"):
        runs.take_in(definitions, instance, "suttas")


def check(warehouse: Warehouse, count: int) -> None:
    """What holds of any construction of so many passages."""
    rows = {row["reason"]: row for row in funnels(warehouse).iter_rows(named=True)}
    assert list(rows) == ["all passages", *REASONS, "any filter", DUPLICATE]
    assert rows["all passages"]["remaining"] == count
    passing = rows["any filter"]["remaining"]
    assert passing == count - rows["any filter"]["affected"]
    assert rows[DUPLICATE]["remaining"] == passing - rows[DUPLICATE]["affected"]
    assert sum(rows[reason]["alone"] for reason in REASONS) <= rows["any filter"]["affected"]
    assert rows["any filter"]["affected"] <= sum(rows[reason]["affected"] for reason in REASONS)

    selection = warehouse.read("selection")
    kept = selection.filter("selected").select("passage")
    assert (len(selection), len(kept)) == (count, rows[DUPLICATE]["remaining"])
    assert set(selection.drop_nulls("kept")["kept"]) <= set(kept["passage"])
    sources = warehouse.read("source_text", kept, ["passage", "text"])
    assert near_duplicates(sources, Filters().max_duplicate or 1).is_empty()

    references = warehouse.read("reference")
    assert references["complete"].all()
    assert sorted(references["passage"].to_list()) == sorted(kept["passage"].to_list() * 2)
    for table in ("segmented_reference", "alignment"):
        segments = warehouse.read(table, kept, ["segments"])["segments"]
        assert segments.list.eval(pl.element().is_null()).list.any().sum() == 0
    assert set(warehouse.read("reference_envelope").drop_nulls("human_spread")["passage"]) == set(kept["passage"])


@pytest.mark.proof
def test_suttas_make_a_benchmark_beside_palibench(
    realdata: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    """With the real MiniLM. One of the three references is not here, and of 129 suttas only Sujato's."""
    root = realdata / "suttacentral"
    if not full:
        root = copy_suttas(root, tmp_path / "suttas")
    definitions = build_definitions(rooms=CONSTRUCTED, resource_overrides={"warehouse": warehouse})
    construct(definitions, instance, describe(tmp_path / "suttas.yaml", root, realdata))
    sources = warehouse.read("source_text", columns=["passage", "document"])
    assert BLANK not in set(sources["document"])
    assert set(sources["document"]) >= set(SHORT) - {BLANK}
    check(warehouse, len(sources))
    assert warehouse.read("selection")["selected"].any()
    alone = warehouse.read("selection", sources.filter(document="sn1.62").select("passage"))
    assert all("incomplete" in reasons for reasons in alone["reasons"])
    show(warehouse, realdata)


def copy_suttas(root: Path, folder: Path) -> Path:
    """Copy the files of the short suttas to a folder; return it."""
    for sutta in SHORT:
        for file in root.rglob(f"{sutta}_*.json"):
            copy = folder / file.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return folder


def show(warehouse: Warehouse, realdata: Path) -> None:
    """Print our construction beside the published one."""
    sources = warehouse.read("source_text", columns=["passage", "passage_id", "document"])
    selection = warehouse.read("selection").join(sources, on="passage")
    ours = {reason: selection.filter(pl.col("reasons").list.contains(reason))["passage_id"].to_list()
            for reason in PUBLISHED}  # fmt: skip
    theirs = record(realdata)
    both = set(warehouse.read("continuous_reference").join(sources, on="passage")["passage_id"])
    published = both - {passage for passages in theirs.values() for passage in passages}
    print(f"\nall {len(sources)} passages of the {sources['document'].n_unique()} suttas that could be read")
    print(plain(beside(ours, theirs, sources["passage_id"])))
    print(f"\nthe {len(both)} passages of suttas with a text by Thanissaro")
    print(plain(beside(ours, theirs, both)))
    print(f"\nthe {len(published)} of these that PaliBench kept")
    print(plain(beside(ours, theirs, published)))


def record(realdata: Path) -> dict[str, list[str]]:
    """Passages that PaliBench dropped, by our names of its reasons."""
    metadata: dict[str, Any] = json.loads((realdata / "palibench/metadata/metadata.json").read_text(encoding="utf-8"))
    dropped = metadata["dropped_passages"]
    own = {reason: dropped[name] for reason, name in PUBLISHED.items()}
    return own | {DUPLICATE: [row["passage_id"] for row in own[DUPLICATE]]}


def beside(ours: Reasons, theirs: Reasons, passages: Iterable[str]) -> pl.DataFrame:
    """For each reason how many of these passages we drop, we drop for nothing else, PaliBench drops, and both drop; and
    how many are left."""
    every = set(passages)
    rows = []
    for reason in PUBLISHED:
        one, other = (every & set(dropped[reason]) for dropped in (ours, theirs))
        rest = {passage for each, own in ours.items() if each != reason for passage in own}
        rows.append((reason, len(one), len(one - rest), len(other), len(one & other)))
    mine, yours = (every.difference(*dropped.values()) for dropped in (ours, theirs))
    rows.append(("left", len(mine), len(mine - yours), len(yours), len(mine & yours)))
    return pl.DataFrame(rows, schema=["reason", "ours", "ours alone", "PaliBench", "both"], orient="row")
