"""Near-duplicates and repeating segments of the suttas, beside PaliBench's record of its construction."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.duplicates import near_duplicates
from benchmark_assets.corpus.filters import OVERLAP, Filters, filtered, repeating_segments
from benchmark_assets.corpus.model import joined
from benchmark_assets.corpus.scan import Scan, scan
from benchmark_assets.corpus.trigrams import normalized
from tests.corpus.support import describe

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def suttas(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Scan:
    root, folder = realdata / "suttacentral", tmp_path_factory.mktemp("suttas")
    return scan([load(describe(folder / "suttas.yaml", "bilara", root, ["sujato"], language="pli", edition="ms"))])


@pytest.fixture(scope="module")
def record(realdata: Path) -> dict[str, Any]:
    """For each filter, the passages that it dropped."""
    metadata = json.loads((realdata / "palibench/metadata/metadata.json").read_text(encoding="utf-8"))
    dropped: dict[str, Any] = metadata["dropped_passages"]
    return dropped


def test_the_174_published_pairs_come_out(suttas: Scan, record: dict[str, Any]) -> None:
    dropped = {passage for name, passages in record.items() if name != "duplicate" for passage in passages}
    passages = suttas.source.select("text", passage="passage_id").filter(~pl.col("passage").is_in(dropped))
    pairs = near_duplicates(passages, 0.85)
    assert (len(passages), len(pairs), len(passages) - len(pairs)) == (1874, 174, 1700)
    found = {(passage, kept, round(similarity, 4)) for passage, kept, similarity in pairs.iter_rows()}
    assert found == {(row["passage_id"], row["duplicate_of"], row["similarity"]) for row in record["duplicate"]}


@pytest.fixture(scope="module")
def sujato(suttas: Scan) -> pl.DataFrame:
    """Segments of source and translation of each passage."""
    return suttas.reference.join(suttas.source.select("passage", "text", source="segments"), on="passage")


def test_no_passage_falls_for_what_its_translator_repeats_by_right(suttas: Scan, sujato: pl.DataFrame) -> None:
    """He cut his translation himself, so that no segment has what belongs to another."""
    texts = [joined(segments) for segments in sujato["segments"].to_list()]
    references = sujato.select("passage", "translator", "segments", text=pl.Series(texts), suspicious=0)
    rows = filtered(suttas.source, references, 1, Filters())
    assert len(rows) == 4003
    assert rows["duplicated_segments"].sum() == 0
    assert rows["missing_segments"].sum() == 2752


@pytest.mark.parametrize("error", ["copied", "put before", "end put before"])
def test_a_segment_that_got_its_neighbours_text_is_mostly_found(sujato: pl.DataFrame, error: str) -> None:
    chance = random.Random(1)
    found = []
    for reference, source in sujato.select("segments", "source").iter_rows():
        places = [
            i for i, (one, other) in enumerate(pairwise(reference)) if one and other and len(normalized(one)) > OVERLAP
        ]
        if places:
            at = chance.choice(places)
            one, other = reference[at : at + 2]
            moved = one if error != "end put before" else one[-2 * OVERLAP :]
            wrong = moved if error == "copied" else f"{moved} {other}"
            found.append(repeating_segments([*reference[: at + 1], wrong, *reference[at + 2 :]], source) > 0)
    assert len(found) > 2000
    assert sum(found) / len(found) > 0.75
