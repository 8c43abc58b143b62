"""Swapped translations: how many are found among real outputs, and how many batches are suspected wrongly."""

import csv
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from benchmark_assets.translation.batches import batches
from benchmark_assets.translation.order import exchanged
from resources.provider.estimate import tokens as estimate

pytestmark = pytest.mark.realdata

Texts = Mapping[str, str]


def palibench(realdata: Path) -> tuple[Texts, list[Texts]]:
    """The Pali of 1,700 passages, and the outputs of seven models."""
    roots = (realdata / "suttacentral/root/pli/ms").rglob("*.json")
    pali = {key: text for root in roots for key, text in json.loads(root.read_text(encoding="utf-8")).items()}
    with (realdata / "palibench/metadata/passage_manifest.csv").open(encoding="utf-8", newline="") as file:
        ids = {row["passage_id"]: row["segments"].split() for row in csv.DictReader(file)}
    results = sorted((realdata / "palibench/results/translations").glob("*.json"))
    return (
        {passage: " ".join(pali.get(each, "").strip() for each in ids[passage]) for passage in ids},
        [json.loads(path.read_text(encoding="utf-8"))["translations"] for path in results],
    )


def by_people(file: Path, source: str) -> tuple[Texts, list[Texts]]:
    """Sources of a corpus, and its translations by each of several people."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    names = sorted({name for row in rows for name in row["references"]})
    translations: list[Texts] = [
        {row["passage_id"]: row["references"].get(name) or "" for row in rows} for name in names
    ]
    return {row["passage_id"]: row[source] for row in rows}, translations


def batched(sources: Texts, systems: list[Texts], tokens: int, most: int) -> Iterator[tuple[Texts, dict[str, str]]]:
    """Batches of at least two passages, of every system; at most so many of each."""
    for outputs in systems:
        for keys in batches(sources, tokens, estimate)[:most]:
            texts = {key: outputs[key] for key in keys if outputs.get(key)}
            if len(texts) > 1:
                yield {key: sources[key] for key in texts}, texts


def swapped(texts: dict[str, str], first: str, second: str) -> dict[str, str]:
    return {**texts, first: texts[second], second: texts[first]}


def rates(sources: Texts, systems: list[Texts], tokens: int, full: bool) -> tuple[int, int, float, float, float]:
    """Batches, those suspected wrongly, and the shares found: of neighbours, of any two, of shifts by one place."""
    chance, found = random.Random(1), []
    for before, texts in batched(sources, systems, tokens, 10_000 if full else 3):
        keys = list(texts)
        start = chance.randrange(len(keys) - 1)
        neighbours, two = keys[start : start + 2], chance.sample(keys, 2)
        shifted = dict(zip(keys, [*list(texts.values())[1:], texts[keys[0]]], strict=True))
        found.append((
            bool(exchanged(before, texts)),
            exchanged(before, swapped(texts, *neighbours)) >= {*neighbours},
            exchanged(before, swapped(texts, *two)) >= {*two},
            2 * len(exchanged(before, shifted)) >= len(keys),
        ))  # fmt: skip
    wrongly, *shares = (sum(each) for each in zip(*found, strict=True))
    near, far, shifts = (share / len(found) for share in shares)
    return len(found), wrongly, near, far, shifts


@pytest.mark.bench
def test_no_batch_of_real_outputs_is_suspected_and_swaps_are_found(realdata: Path, full: bool) -> None:
    pali, daodejing = palibench(realdata), by_people(realdata / "daodejing/daodejing.jsonl", "source")
    latin = by_people(realdata / "dhammapada/dhammapada_units.jsonl", "latin_fausboll")
    measured = {
        "Pali, 3,000 tokens": rates(*pali, 3000, full), "Pali, 800 tokens": rates(*pali, 800, full),
        "Latin verse, 800 tokens": rates(*latin, 800, full), "Chinese, 1,500 tokens": rates(*daodejing, 1500, full),
    }  # fmt: skip
    for name, (count, wrongly, *shares) in measured.items():
        print(f"{name}: {wrongly} of {count} suspected wrongly; found {[f'{share:.0%}' for share in shares]}")
        assert wrongly == 0
    if full:
        assert measured["Pali, 3,000 tokens"][2] > 0.45
        assert measured["Pali, 3,000 tokens"][4] > 0.7
