"""Copies and independent translations of real texts: how many copies leak, and how many translations are withheld.

Thresholds were set on the Daodejing and on Livy 9 and 31. Each translator in turn is restricted, with all texts in one
index and nothing openly licensed, and the others' texts are outputs. A copy leaks only if it has at least `LEAST`
letters of evidence, and a copied part `LEAST_PART`: less is no copy by definition.
"""

import csv
import json
import random
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from benchmark_assets.corpus.folding import letters, with_names
from benchmark_assets.corpus.overlap import LEAST, LEAST_PART, Index, copies
from benchmark_assets.corpus.readers.tei import edition
from tests.corpus.disguises import DISGUISES, OTHER, first_words, words_swapped

pytestmark = pytest.mark.realdata

Texts = dict[str, list[str]]
"""Texts by translator."""

NOTHING = Index.of([])
LIVY = {
    21: "perseus/data/phi0914/phi00121",
    22: "perseus-more/data/phi0914/phi00122",
    28: "perseus-more/data/phi0914/phi00128",
}
OTHERS = OTHER.split()
DESCENT = ({"giles", "legge"}, {"goddard", "suzuki_carus"})
"""Pairs of translators of the Daodejing, one revising the other."""


def jsonl(path: Path) -> Texts:
    texts: Texts = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        for translator, text in json.loads(line)["references"].items():
            texts.setdefault(translator, []).append(text or "")
    return texts


def livy(folder: Path, depth: int) -> Texts:
    """The English translations of a book, by chapter (depth 2) or section (3)."""
    texts: Texts = {}
    for path in sorted(folder.glob("*-eng*.xml")):
        parts: dict[tuple[str, ...], list[str]] = {}
        for citation, text in edition(path, path.stem).pieces:
            parts.setdefault(tuple(citation)[:depth], []).append(text)
        texts[path.stem] = [text for part in parts.values() if (text := " ".join(" ".join(part).split()))]
    return texts


def corpora(realdata: Path) -> Iterator[tuple[str, Texts, float]]:
    """Corpora with the share of outputs that may be withheld wrongly."""
    yield "Dhammapada, units", jsonl(realdata / "dhammapada/dhammapada_units.jsonl"), 0.005
    yield "Daodejing, chapters (tuned)", jsonl(realdata / "daodejing/daodejing.jsonl"), 0.005
    for book, folder in LIVY.items():
        yield f"Livy {book}, chapters", livy(realdata / folder, 2), 0.005
        yield f"Livy {book}, sections", livy(realdata / folder, 3), 0.006


@pytest.mark.proof
def test_translators_are_not_taken_for_copies(realdata: Path, full: bool) -> None:
    for name, texts, most in corpora(realdata):
        withheld = total = 0
        for restricted, other in permutations(texts, 2):
            if {restricted, other} not in DESCENT and (full or restricted == min(texts)):
                found = copies(texts[other], range(len(texts[other])), Index.of([texts[restricted]]), lambda: NOTHING)
                withheld, total = withheld + sum(map(bool, found)), total + len(found)
        print(f"{name}: {withheld} of {total} withheld ({withheld / total:.2%})")
        assert withheld <= (most if full else 2 * most) * total


def evidence(texts: list[str], part: int) -> list[int]:
    """Letters of evidence in the first part of each text."""
    return [
        int(np.count_nonzero(~is_name[: len(letters(first_words(text, part)))]))
        for text, (_, is_name) in zip(texts, with_names(texts), strict=True)
    ]


def suttas(realdata: Path) -> dict[str, list[str]]:
    """Thanissaro's suttas by id, in paragraphs."""
    folder = realdata / "accesstoinsight"
    rows = map(json.loads, (folder / "index.jsonl").read_text(encoding="utf-8").splitlines())
    files = {row["uid"]: folder / "text" / Path(row["file"]).name for row in rows if row["translator_code"] == "than"}
    return {uid: path.read_text(encoding="utf-8").split("\n\n") for uid, path in files.items()}


@pytest.mark.proof
def test_formulas_of_suttas_are_no_copies(realdata: Path, full: bool) -> None:
    """Seven models' translations of suttas that Thanissaro translated, too, with and without Sujato's open text."""
    restricted = suttas(realdata)
    outputs = [
        text
        for path in sorted((realdata / "palibench/results/translations").glob("*.json"))
        for passage, text in json.loads(path.read_text(encoding="utf-8"))["translations"].items()
        if text and passage.partition(":")[0] in restricted
    ][:: 1 if full else 20]
    index = Index.of(list(restricted.values()))
    files = sorted((realdata / "suttacentral/translation").rglob("*.json"))
    sujato = Index.of([[" ".join(json.loads(path.read_text(encoding="utf-8")).values())] for path in files])
    for name, openly_licensed, most in (("nothing", NOTHING, 0.016), ("Sujato", sujato, 0.01)):
        found = copies(outputs, range(len(outputs)), index, lambda free=openly_licensed: free)  # type: ignore[misc]
        print(f"{name} open: {sum(map(bool, found))} of {len(found)} withheld")
        assert sum(map(bool, found)) <= most * len(found)
    paragraphs = [text for sutta in restricted.values() for text in sutta if len(letters(text)) >= 2 * LEAST_PART]
    paragraphs = paragraphs[:: 1 if full else 20]
    leaks = sum(not copy for copy in copies(paragraphs, range(len(paragraphs)), index, lambda: NOTHING))
    print(f"{leaks} of {len(paragraphs)} copied paragraphs leak")
    assert leaks <= 0.005 * len(paragraphs)


@pytest.mark.proof
def test_versions_that_revise_each_other_are_copies_by_descent(realdata: Path) -> None:
    """The Epistle of James: three versions in a line of revisions, and one in the language of its time."""
    texts = {}
    for name in ("Haweis", "Anderson", "Noyes", "Twenty"):
        with (realdata / f"forms/bible/formats/csv/{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            texts[name] = [row["Text"] for row in csv.DictReader(file) if row["Book"] == "James"]
    for restricted, other in permutations(texts, 2):
        found = copies(texts[other], range(len(texts[other])), Index.of([texts[restricted]]), lambda: NOTHING)
        share = sum(map(bool, found)) / len(found)
        print(f"{restricted} restricted: {share:.1%} of {len(found)} verses by {other} are copies")
        assert share < 0.05 if "Twenty" in (restricted, other) else 0.15 < share < 0.35


@pytest.mark.proof
def test_every_neighboring_passage_is_found(realdata: Path, full: bool) -> None:
    for file in ("dhammapada/dhammapada_units.jsonl", "daodejing/daodejing.jsonl"):
        texts = jsonl(realdata / file)
        for translator in texts if full else [min(texts)]:
            plain = [text for text in texts[translator] if text]
            outputs = plain[1:] + plain[:1]
            assert all(copies(outputs, range(len(outputs)), Index.of([plain]), lambda: NOTHING))


@pytest.mark.proof
@pytest.mark.parametrize("disguise", [*DISGUISES, "10 % swapped", "20 % swapped", "30 % swapped"])
def test_disguised_copies_are_found(realdata: Path, full: bool, disguise: str) -> None:
    chance = random.Random(1)
    part = 3 if "third" in disguise else 2 if "half" in disguise else 1
    lost = total = everything = lost_in_all = 0
    sets = [jsonl(realdata / "dhammapada/dhammapada_units.jsonl"), jsonl(realdata / "daodejing/daodejing.jsonl")]
    for texts in sets:
        for translator in texts if full else [min(texts)]:
            plain = [text for text in texts[translator] if text]
            if "swapped" in disguise:
                share = int(disguise[:2]) / 100
                outputs = [words_swapped(text, share, OTHERS, chance) for text in plain]
            else:
                outputs = [DISGUISES[disguise](text, chance) for text in plain]
            found = copies(outputs, range(len(outputs)), Index.of([plain]), lambda: NOTHING)
            enough = [amount >= (LEAST if part == 1 else LEAST_PART) for amount in evidence(plain, part)]
            everything += len(found)
            lost_in_all += sum(not copy for copy in found)
            total += sum(enough)
            lost += sum(not copy and is_enough for copy, is_enough in zip(found, enough, strict=True))
    print(f"{disguise}: {lost} of {total} leak ({lost / total:.1%}); with short ones, {lost_in_all} of {everything}")
    most = 0.02 if disguise == "clauses shuffled" else 0.005  # verses consist of very short clauses
    if "swapped" not in disguise:
        assert lost <= (most if full else 2 * most) * total


@pytest.mark.bench
def test_speed_of_index_and_lookup(realdata: Path, full: bool) -> None:
    """The suttas of Access to Insight are restricted; outputs are those of the published models."""
    suttas = [
        path.read_text(encoding="utf-8").split("\n\n")
        for path in sorted((realdata / "accesstoinsight/text").glob("*.txt"))
    ]
    outputs = [
        text
        for path in sorted((realdata / "palibench/results/translations").glob("*.json"))
        for text in json.loads(path.read_text(encoding="utf-8"))["translations"].values()
    ]
    outputs = (outputs + outputs)[: 15_300 if full else 300]
    start = time.process_time()
    index = Index.of(suttas)
    made = time.process_time()
    found = copies(outputs, range(len(outputs)), index, lambda: NOTHING)
    end = time.process_time()
    print(f"index of {len(index.letters):,} letters: {made - start:.1f} s")
    print(f"{len(outputs):,} outputs: {end - made:.1f} s; {sum(map(bool, found))} copies")
    if full:
        assert end - start < 60
