"""How fast near-duplicates are found among real passages, and among 100,000 made of them.

Figures are printed beside their targets; only that both ways find the same is asserted, and at full size the ratio.
"""

import json
import random
import re
import time
import unicodedata
from pathlib import Path

import polars as pl
import psutil
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.duplicates import near_duplicates
from benchmark_assets.corpus.scan import scan
from tests.corpus.support import describe

pytestmark = [pytest.mark.bench, pytest.mark.realdata]


@pytest.fixture(scope="module")
def suttas(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    root, folder = realdata / "suttacentral", tmp_path_factory.mktemp("suttas")
    path = describe(folder / "suttas.yaml", "bilara", root, ["sujato"], language="pli", edition="ms")
    return scan([load(path)]).source.select("text", passage="passage_id")


def variations(passages: pl.DataFrame, count: int, least: float, most: float) -> pl.DataFrame:
    """Passages with a share of their words replaced by words from anywhere in the corpus."""
    chance = random.Random(1)
    words = " ".join(passages["text"]).split()
    rows = []
    for number in range(count):
        text, passage = passages.row(number % len(passages))
        share = chance.uniform(least, most)
        varied = (chance.choice(words) if chance.random() < share else word for word in text.split())
        rows.append((f"{passage}~{number // len(passages):03}", " ".join(varied)))
    return pl.DataFrame(rows, schema=["passage", "text"], orient="row")


def all_pairs(passages: pl.DataFrame) -> int:
    """How many passages are dropped, by Python's sets, each compared with all that are kept."""
    kept: list[set[str]] = []
    for text in passages.sort("passage")["text"]:
        letters = re.sub(r"\W", "", unicodedata.normalize("NFKC", text).lower())
        own = {letters[i : i + 3] for i in range(len(letters) - 2)}
        if not any(len(own & each) / len(own | each) >= 0.85 for each in kept):
            kept.append(own)
    return len(passages) - len(kept)


def test_the_passages_of_palibench(suttas: pl.DataFrame, realdata: Path, full: bool) -> None:
    metadata = json.loads((realdata / "palibench/metadata/metadata.json").read_text(encoding="utf-8"))
    record = metadata["dropped_passages"]
    dropped = {passage for name, passages in record.items() if name != "duplicate" for passage in passages}
    passages = suttas.filter(~pl.col("passage").is_in(dropped)).gather_every(1 if full else 20)
    begun = time.perf_counter()
    found = len(near_duplicates(passages, 0.85))
    took, begun = time.perf_counter() - begun, time.perf_counter()
    assert all_pairs(passages) == found
    plain = time.perf_counter() - begun
    print(
        f"\n{len(passages):,} passages: {took:.2f} s (target 0.5); all pairs: {plain:.1f} s ({plain / took:.0f} times)"
    )
    assert not full or took < plain / 10


@pytest.mark.parametrize(("least", "most"), [(0.2, 0.4), (0.0, 0.3), (0.0, 0.1)])
def test_variations_of_real_passages(suttas: pl.DataFrame, least: float, most: float, full: bool) -> None:
    count = 100_000 if full else 200
    passages = variations(suttas, count, least, most)
    begun = time.perf_counter()
    found = len(near_duplicates(passages, 0.85))
    took, memory = time.perf_counter() - begun, psutil.Process().memory_info().rss / 1e9
    print(f"\n{count:,} passages, {least:.0%} to {most:.0%} of their words replaced, {count - found:,} kept:", end=" ")
    print(f"{took:.1f} s (target 40), {memory:.1f} GB in all afterwards")
