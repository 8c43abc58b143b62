"""Translations of invented passages: words of a source, each translated by one of a translator's words."""

import random
from collections.abc import Mapping, Sequence

import polars as pl

from benchmark_assets.contamination.elsewhere import elsewhere
from benchmark_assets.contamination.judging import contamination, kinship, related
from benchmark_assets.contamination.wording import shared

USUAL = """
the of and to in that was his with he it as for had is not but at on they from by all have him their this
were which one when there said who would been will no if so what out up into them then more some could time
now than other its our man over before only these may like such where men your great old little own made
long upon day after must down through here away many king house again know night water think went because
place earth heart people hand found come light road sea stone river mountain city word voice bread wind fire
field horse friend ship morning window garden
"""
WORDS = USUAL.split()


def translations(names: Sequence[str], passages: int, words: int, seed: int = 0) -> dict[str, dict[str, str]]:
    """Texts by translator and passage: for each word of a source, a translator has a usual word or one of his own."""
    rng = random.Random(seed)
    sources = {f"c/{number}": [rng.randrange(400) for _ in range(words)] for number in range(passages)}
    return {
        name: {
            passage: " ".join(WORDS[word % len(WORDS)] if rng.random() < 0.5 else rng.choice(WORDS) for word in source)
            for passage, source in sources.items()
        }
        for name in names
    }


def exchanged(text: str, rng: random.Random, share: float = 0.1) -> str:
    """The text with a share of its words exchanged for new ones."""
    words = text.split(" ")
    for place in rng.sample(range(len(words)), max(1, round(share * len(words)))):
        words[place] = rng.choice(WORDS)
    return " ".join(words)


def frame(texts: Mapping[str, Mapping[str, str]], name: str) -> pl.DataFrame:
    """Columns `name`, `passage`, `text`."""
    rows = [(who, passage, text) for who, own in texts.items() for passage, text in own.items()]
    return pl.DataFrame(rows, schema=[name, "passage", "text"], orient="row")


def pairs_of(references: pl.DataFrame) -> pl.DataFrame:
    """Rows of `translator_wording`."""
    others = references.rename({"translator": "other", "text": "reference"})
    return shared(references.join(others, on="passage").filter(pl.col("translator") != pl.col("other")))


def judged(
    outputs: Mapping[str, Mapping[str, str]], references: Mapping[str, Mapping[str, str]]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rows of `contamination`, `copied_passage` and `kinship`; units are passages."""
    texts, people = frame(outputs, "model"), frame(references, "translator")
    wordings = shared(texts.join(people.rename({"text": "reference"}), on="passage"))
    measured = pairs_of(people)
    units = people.select("passage", unit="passage").unique()
    kinships = kinship(measured, units)
    rows, passages = contamination(wordings, measured, related(kinships), elsewhere(texts, people), units)
    return rows, passages, kinships
