"""Texts of invented words, and an embedder that knows a text by its words.

Here: what the tests of the offline aligner have in common. Not here: corpora on disk (tests.support).
"""

import random
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.embedders import Embedder

DIMENSIONS = 512
SYLLABLES = [*("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pa", "ro", "su", "ta", "vo", "zu", "tha", "cho", "shi")]


class WordEmbedder(Embedder):
    """Vectors of word counts, by hash."""

    @property
    def signature(self) -> str:
        return "words"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        vectors = np.full((len(texts), DIMENSIONS), 0.001)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                hashed = blake2b(word.strip(".,;:!?“”").encode(), digest_size=4).digest()
                vector[int.from_bytes(hashed) % DIMENSIONS] += 1
        yield list(range(len(texts))), list(vectors), [False] * len(texts)


_EMBEDDER = WordEmbedder()


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The embedder, as the aligner wants it."""
    return _EMBEDDER.embed(texts).vectors


def sentence(rng: random.Random, words: int) -> str:
    """A sentence of invented words that hardly any other sentence has."""
    invented = ["".join(rng.choice(SYLLABLES) for _ in range(4)) for _ in range(words)]
    return " ".join(invented).capitalize() + "."


@st.composite
def documents(draw: st.DrawFn, least: int = 3, most: int = 9, first_seed: int = 0) -> list[str]:
    """The segments of a document: each one sentence or two, all of them short or all of them long."""
    rng, long = random.Random(first_seed + draw(st.integers(0, 10**6))), draw(st.booleans())
    sizes = st.integers(14, 22) if long else st.integers(4, 9)
    each = st.lists(sizes, min_size=1, max_size=2)
    return [" ".join(sentence(rng, words) for words in draw(each)) for _ in range(draw(st.integers(least, most)))]
