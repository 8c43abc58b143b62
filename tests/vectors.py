"""Embedded references and candidates as tests write them: a name and a vector."""

from collections.abc import Mapping, Sequence

import hypothesis.extra.numpy as arrays
import numpy as np
import polars as pl
from hypothesis import strategies as st
from numpy.typing import NDArray

Vector = Sequence[float] | NDArray[np.floating]


def unit_vectors(least: int, most: int = 9) -> st.SearchStrategy[NDArray[np.float64]]:
    """Unit vectors, shape (least to most, 2 to 8 dimensions)."""
    shapes = st.tuples(st.integers(least, most), st.integers(2, 8))
    points = shapes.flatmap(lambda shape: arrays.arrays(np.float64, shape, elements=st.floats(-1, 1, width=32)))
    far_enough = points.filter(lambda drawn: bool((np.linalg.norm(drawn, axis=1) > 0.01).all()))
    return far_enough.map(lambda drawn: drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def embedded(key: str, rows: Sequence[tuple[str, str, Vector, bool | None]]) -> pl.DataFrame:
    """Columns `key`, `passage`, `vector`, `cut`, and a text for each row."""
    width = len(rows[0][2]) if rows else 2
    vectors = pl.Series("vector", [np.asarray(row[2]).tolist() for row in rows], dtype=pl.Array(pl.Float32, width))
    return pl.DataFrame(
        [(name, passage, f"{name} of {passage}", cut) for name, passage, _, cut in rows],
        schema={key: pl.String, "passage": pl.String, "text": pl.String, "cut": pl.Boolean},
        orient="row",
    ).with_columns(vectors)


def references(passages: Mapping[str, Mapping[str, Vector]]) -> pl.DataFrame:
    """Embedded references of each passage by translator, none of them cut."""
    return embedded(
        "translator",
        [(name, passage, vector, False) for passage, own in passages.items() for name, vector in own.items()],
    )


def candidates(passages: Mapping[str, Mapping[str, Vector]]) -> pl.DataFrame:
    """Embedded candidates of each passage by model, none of them cut."""
    return embedded(
        "model", [(name, passage, vector, False) for passage, own in passages.items() for name, vector in own.items()]
    )


def passage_centers(seed: int, passages: int) -> NDArray[np.float64]:
    """Unit vectors that the translations of `exchangeable_translations` lie around, shape (passages, 384)."""
    return _unit(np.random.default_rng(seed).normal(size=(passages, 384)))


def exchangeable_translations(seed: int, passages: int, texts: int, together: int = 1) -> NDArray[np.float64]:
    """Made translations whose order does not matter: unit vectors, shape (passages, texts, 384).

    Passages vary in how far apart their translations are, and translations in how far they are from the passage; the
    human spread of three is about 0.043, with a standard deviation of about 0.019, as in PaliBench. A translator keeps
    to the same distance in so many consecutive passages (`together`).
    """
    random = np.random.default_rng([seed, texts])
    directions = _unit(random.normal(size=(passages, texts, 384)) * np.exp(-np.arange(384) / 30))  # few matter
    of_texts = random.normal(0, 0.2, (-(-passages // together), texts, 1)).repeat(together, axis=0)[:passages]
    distances = 0.358 * np.exp(random.normal(0, 0.2, (passages, 1, 1)) + of_texts)
    return _unit(passage_centers(seed, passages)[:, None] + distances * directions)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit
