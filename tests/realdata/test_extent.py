"""Damage to the extent of aligned segments, on the Daodejing (true places) and on the suttas (the aligner's places)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.rows import CONFIDENT, aligned_rows, by_embeddings, guides
from tests.alignment.misplaced import Tally, Text, false_alarms, table, tallied
from tests.realdata.test_alignment import TRANSLATORS, Suttas, embed, suttas

__all__ = ["embed", "suttas"]
pytestmark = pytest.mark.realdata


def chapters(realdata: Path, translators: Sequence[str], count: int) -> dict[str, Text]:
    """The first chapters of the Daodejing by each translator, guided by the others."""
    folder = realdata / "daodejing"
    passages = pl.read_ndjson(folder / "daodejing.jsonl").head(count)
    ids, references = passages["passage_id"].to_list(), passages["references"].struct
    texts: dict[str, Text] = {}
    for translator in translators:
        rows = pl.read_ndjson(folder / "gold_offsets.jsonl").filter(translator=translator)
        spans = {chapter: (start, end) for _, chapter, start, end in rows.iter_rows() if chapter in ids}
        prose = (folder / f"raw/{translator}.txt").read_text(encoding="utf-8")[: max(end for _, end in spans.values())]
        others = [[text or None for text in references.field(name)] for name in translators if name != translator]
        own = [prose[slice(*spans[chapter])] if chapter in spans else None for chapter in ids]
        texts[translator] = Text(prose, own, others)
    return texts


def measured(name: str, documents: Mapping[str, Text], each: int) -> tuple[float, dict[str, Tally]]:
    """Share of unaltered segments that are suspicious, and the tallies by kind of damage."""
    alarms, count = false_alarms(documents)
    share = sum(map(len, alarms.values())) / count
    tallies = list(tallied(documents, alarms, each, seed=1900))
    print(f"\n{name}: {share:.4f} of {count} unaltered segments are suspicious\n{table(tallies)}")
    return share, dict(tallies)


@pytest.mark.proof
def test_chapters_of_a_wrong_extent_are_suspicious(realdata: Path, full: bool) -> None:
    """In full all eight translators, on which no threshold was tuned; else 16 chapters of one."""
    documents = chapters(realdata, TRANSLATORS if full else ["legge", "suzuki_carus", "mears"], 81 if full else 16)
    share, tallies = measured("Daodejing", documents if full else {"legge": documents["legge"]}, 25 if full else 3)
    assert share <= 0.01
    assert all(tally.cases for tally in tallies.values())
    assert not full or all(tally.found >= 0.8 * tally.cases for tally in tallies.values())


@pytest.mark.proof
@pytest.mark.large
def test_segments_of_a_wrong_extent_are_suspicious(suttas: Suttas, embed: Embed) -> None:
    """Every second sutta, as the offline aligner divides it; the thresholds were tuned on the others."""
    documents = {}
    for name in sorted(suttas.suttas)[1::2]:
        prose, segments = suttas.suttas[name]
        rows, _ = aligned_rows("than", prose, segments, by_embeddings(prose, segments, embed), [], {})
        if rows["confidence"][0] >= CONFIDENT:
            texts = [text for own in rows["segments"] for text in own]
            documents[name] = Text(prose, texts, guides(segments))
    share, tallies = measured("suttas", documents, 100)
    assert share <= 0.02  # among them are errors of the aligner
    assert all(tally.found >= 0.8 * tally.cases for kind, tally in tallies.items() if not kind.startswith("clause"))
