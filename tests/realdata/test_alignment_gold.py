"""Numbered translations as a gold standard: their numbers are removed, and the aligner has to find the divisions again.

Gold is each section's or chapter's range of characters. Two editions divide differently here and there, so no aligner
reaches 1: docs/alignment.md says how the errors were read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.rows import SegmentPlace, aligned_rows, by_embeddings, verified_rows
from benchmark_assets.corpus.readers.tei import edition
from resources.embedders import Embedder, MultilingualEmbedder, PackagedEmbedder
from tests.realdata.test_alignment import Span, lines

pytestmark = pytest.mark.realdata


class Case(NamedTuple):
    """A translation without its numbers, the segments of its source, and the true ranges by segment."""

    prose: str
    segments: list[SegmentPlace]
    gold: dict[int, Span]


class Found(NamedTuple):
    """Share of characters that came to their segment; segments with less than half of theirs, and how many of them are
    null or suspicious; suspicious segments among the others."""

    characters: float
    wrong: int
    doubted: int
    alarms: int


def sections(path: Path, chapters: int) -> dict[tuple[str, ...], str]:
    """Texts of an edition's first chapters by citation."""
    pieces: dict[tuple[str, ...], list[str]] = {}
    for citation, text in edition(path, path.stem).pieces:
        if len(citation) == 3 and citation[1].isdecimal() and int(citation[1]) <= chapters:
            pieces.setdefault(tuple(citation), []).append(text)
    return {key: text for key, part in pieces.items() if (text := " ".join(" ".join(part).split()))}


def livy(folder: Path, source: str, translation: str, guides: Sequence[str], chapters: int) -> Case:
    """The first chapters of a book, by sections."""
    of_source, translated, *guided = (
        sections(next(folder.glob(f"*{name}.xml")), chapters) for name in (source, translation, *guides)
    )
    keys, prose, gold = [*of_source], "", dict[int, Span]()
    chapter: tuple[str, ...] = ()
    for key, text in translated.items():
        prose += ("" if not prose else " " if key[:-1] == chapter else "\n\n") + text
        if key in of_source:
            gold[keys.index(key)] = len(prose) - len(text), len(prose)
        chapter = key[:-1]
    segments = [
        SegmentPlace(".".join(key[:-1]), ".".join(key), of_source[key], tuple(each.get(key) for each in guided))
        for key in keys
    ]
    return Case(prose, segments, gold)


def daodejing(folder: Path, translator: str, guides: Sequence[str], chapters: int) -> Case:
    """The first chapters of a translator."""
    rows = pl.read_ndjson(folder / "daodejing.jsonl").head(chapters)
    ids = rows["passage_id"].to_list()
    spans = [each for each in lines(folder / "gold_offsets.jsonl") if each["translator"] == translator]
    gold = {
        ids.index(each["passage_id"]): (int(str(each["start"])), int(str(each["end"])))
        for each in spans if each["passage_id"] in ids
    }  # fmt: skip
    prose = (folder / f"raw/{translator}.txt").read_text(encoding="utf-8")[: max(end for _, end in gold.values())]
    guided = [rows["references"].struct.field(guide).to_list() for guide in guides]
    segments = [
        SegmentPlace(id, id, source, tuple(each[at] or None for each in guided))
        for at, (id, source) in enumerate(zip(ids, rows["source"], strict=True))
    ]
    return Case(prose, segments, gold)


def found(case: Case, embedder: Embedder, source: Embedder | None) -> Found:
    """What the aligner and the verification make of a case; `source` compares it with the source, too."""

    def embed(by: Embedder) -> Embed:
        return lambda texts: by.embed(texts).vectors

    prose, segments, gold = case
    aligned = by_embeddings(prose, segments, embed(embedder), embed_source=embed(source) if source else None)
    rows, _ = aligned_rows("gold", prose, segments, aligned, [], {})
    stages = verified_rows("gold", prose, segments, rows, {}).select("segment_id", "stage").iter_rows()
    suspicious = {id for id, stage in stages if stage == "suspicious"}
    given = np.full(len(prose), -1)
    places = rows.select("starts", "ends").explode("starts", "ends").iter_rows()
    for segment, (start, end) in enumerate(places):
        if start is not None:
            given[start:end] = segment
    letters = np.array([not letter.isspace() for letter in prose])
    counts = {segment: int(letters[start:end].sum()) for segment, (start, end) in gold.items()}
    right = {
        segment: int((letters[start:end] & (given[start:end] == segment)).sum())
        for segment, (start, end) in gold.items()
    }
    wrong = {segment for segment in gold if right[segment] < counts[segment] / 2}
    doubted = {
        segment for segment in gold if segments[segment].id in suspicious or not (given == segment).any()
    }  # fmt: skip
    return Found(sum(right.values()) / sum(counts.values()), len(wrong), len(wrong & doubted), len(doubted - wrong))


LIVY = {
    "9": ("perseus-more", 10, {"eng1": "eng2", "eng2": "eng1"}),
    "21": ("perseus", 10, {"eng1": "eng2", "eng2": "eng1", "eng3": "eng1"}),
    "22": ("perseus-more", 12, {"eng1": "eng2", "eng2": "eng1", "eng3": "eng2"}),
}
"""Folder, number of chapters, and guide of each translation, by book."""

DAODEJING = {"legge": "suzuki_carus", "mears": "goddard"}
"""Translators, each with the guide."""


def cases(realdata: Path, full: bool) -> Iterator[tuple[str, list[Case]]]:
    """Name of a text, and its cases without and with a guide."""
    for book, (folder, chapters, translations) in LIVY.items() if full else [("22", LIVY["22"])]:
        place = realdata / folder / f"data/phi0914/phi001{book}"
        for translation, guide in translations.items() if full else [("eng1", "eng2")]:
            yield (
                f"Livy {book} {translation}",
                [livy(place, "lat2", translation, guides, chapters if full else 2) for guides in ([], [guide])],
            )
    for translator, guide in DAODEJING.items() if full else [("legge", "suzuki_carus")]:
        yield (
            f"Daodejing {translator}",
            [daodejing(realdata / "daodejing", translator, guides, 81 if full else 5) for guides in ([], [guide])],
        )


@pytest.mark.proof
def test_sections_and_chapters_are_found_without_their_numbers(realdata: Path, full: bool) -> None:
    """In full eight translations of Livy and two of the Daodejing; else two chapters and five."""
    scholar, polyglot = PackagedEmbedder(), MultilingualEmbedder()
    print("\nsegments; source alone, one guide, both: characters right, wrong segments, doubted ones, alarms")
    for name, (alone, guided) in cases(realdata, full):
        ways = found(alone, polyglot, None), found(guided, scholar, None), found(guided, scholar, polyglot)
        print(
            f"{name:16}{len(alone.gold):5}", *(f"{way.characters:8.4f}{way[1]:4}{way[2]:4}{way[3]:4}" for way in ways)
        )
        assert ways[2].characters >= ways[1].characters
        assert not full or name.startswith("Dao") or ways[0].characters >= 0.77
