"""Translations that are none of their document, or damaged: a doubt, and never a wrong text."""

import random
from pathlib import Path

import dagster as dg
import pytest

from benchmark_assets.alignment.rows import CONFIDENT, SegmentPlace, aligned_rows, by_embeddings
from resources.warehouse import Warehouse
from tests.alignment.corpora import PASSAGES, PROSE, Tales, expected, prose
from tests.alignment.words import embed, sentence

RNG = random.Random(3)


@pytest.fixture
def tales(tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance) -> Tales:
    return Tales(tmp_path / "tales", warehouse, instance)


def test_a_translation_of_another_text_is_doubted_and_gives_no_text(tales: Tales) -> None:
    tales.write("dora", "doc1", "\n\n".join(" ".join(sentence(RNG, 8) for _ in range(2)) for _ in range(3)))
    assert tales.build() == ""
    assert tales.texts() == expected(doc1=dict.fromkeys(PROSE["doc1"]))
    assert set(tales.doubts()) == set(PASSAGES[:3])
    assert all("may not be a translation of this document" in doubt for doubt in tales.doubts().values())


def test_a_login_page_that_was_saved_as_text_is_doubted(tales: Tales) -> None:
    tales.write(
        "dora", "doc1", "Please log in to read on.\n\nName:\n\nPassword:\n\nHave you lost your password? Write to us."
    )
    assert tales.build() == ""
    assert tales.texts() == expected(doc1=dict.fromkeys(PROSE["doc1"]))
    assert set(tales.doubts()) == set(PASSAGES[:3])


def test_what_is_at_fault_keeps_nothing_else_from_being_aligned(tales: Tales) -> None:
    tales.write("dora", "doc1", "")
    assert not tales.look()
    tales.build(passages=PASSAGES[3:])
    assert tales.texts() == PROSE["doc2"]


@pytest.mark.parametrize("seed", range(5))
def test_passages_out_of_order_get_their_own_text_or_none(seed: int) -> None:
    """What stands out of order is left out or doubted; with so much of it, the document is."""
    rng = random.Random(seed)
    own = [" ".join(sentence(rng, 7) for _ in range(2)) for _ in range(12)]
    segments = [SegmentPlace(f"c/d:{at}", f"d:{at}.1", "Fons.", (text,)) for at, text in enumerate(own)]
    shuffled = "\n\n".join(rng.sample(own, len(own)))
    aligned = by_embeddings(shuffled, segments, embed)
    rows, _ = aligned_rows("ann", shuffled, segments, aligned, [], {})
    given = [text for (text,) in rows["segments"]]
    assert all(text is None or own[at] in text for at, text in enumerate(given))
    assert aligned.confidence < by_embeddings("\n\n".join(own), segments, embed).confidence / 1.5
    backwards = "\n\n".join(own[::-1])
    assert by_embeddings(backwards, segments, embed).confidence < CONFIDENT


@pytest.mark.parametrize("sentences", [2, 6, 10, 20])
@pytest.mark.parametrize("at", [0, 4, 8])
def test_a_long_addition_gives_no_passage_a_text_that_is_not_its_own(sentences: int, at: int) -> None:
    """Its neighbours may take some of it in beside their own text, which verification cannot see."""
    rng = random.Random(7)
    own = [sentence(rng, 8) for _ in range(8)]
    segments = [SegmentPlace(f"c/d:{number}", f"d:{number}.1", "Fons.", (text,)) for number, text in enumerate(own)]
    added = " ".join(sentence(rng, 15) for _ in range(sentences))
    whole = "\n\n".join([*own[:at], added, *own[at:]])
    rows, _ = aligned_rows("ann", whole, segments, by_embeddings(whole, segments, embed), [], {})
    assert all(text is None or own[number] in text for number, (text,) in enumerate(rows["segments"]))


def test_a_source_with_gaps_is_aligned_around_them(tales: Tales) -> None:
    """An empty segment of the source, one that no guide has, and a passage that Dora left out."""
    source = tales.folder / "root/la/test/doc1_root-la-test.json"
    source.write_text(source.read_text(encoding="utf-8").replace("Uxor panem quaesivit.", ""), encoding="utf-8")
    for translator in ("ann", "ben"):
        path = tales.folder / f"translation/en/{translator}/doc1_translation-en-{translator}.json"
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if '"doc1:1.2"' not in line and '"doc1:3.2"' not in line]
        path.write_text("\n".join(kept).replace(",\n}", "\n}"), encoding="utf-8")
    left = {
        key: text for key, text in PROSE["doc1"].items() if key not in ("doc1:1.2", "doc1:2.1", "doc1:2.2", "doc1:3.2")
    }
    tales.write("dora", "doc1", prose(left))
    assert tales.build() == ""
    gaps = {"doc1:1.2": "", "doc1:2.1": None, "doc1:2.2": None, "doc1:3.2": None}
    assert tales.texts() == expected() | gaps
    assert tales.doubts() == {}
