"""Published scores of published systems: the files that a recipe names, as rows of `published_score`.

Here: their formats. Not here: which files (recipe), fetching (fetching), aggregates (reporting.published).
"""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from benchmark_assets.benchmarks.recipe import FETCHED, PublishedScores
from benchmark_assets.metrics.entries import MEASURES
from resources import whole_files
from resources.catalogue import schema
from resources.errors import BadInput
from resources.frozen import Frozen

PUBLISHED_SCORE = schema("published_score")
SCORES = [*(metric.name for metric in MEASURES if metric.name in PUBLISHED_SCORE), "human_spread"]
"""Columns with published scores."""

REMEDY = "correct `columns` of `scores` in the recipe, which maps our names to those of the file"


_ARRAY = TypeAdapter(list[dict[str, Any]])


class _Row(Frozen):
    """The columns of a published file that are read."""

    model: str = ""
    passage_id: str = ""
    closest_reference: str | None = None
    passages: int | None = None
    scores: dict[str, FiniteFloat | None]


def read(folder: Path, scores: PublishedScores, licence: str) -> pl.DataFrame:
    """Read the published scores of one corpus.

    Parameters
    ----------
    folder
        The recipe's copy in a home, with the files of its sources.
    licence
        Licence of the source.

    Returns
    -------
    Columns of `PUBLISHED_SCORE` except `benchmark`, and `fingerprint`: a row for each system and passage, and a row
    with `passage_id` '' for each system with scores over all passages.

    Raises
    ------
    BadInput
        If a file is not a JSON array of objects or a CSV table, lacks a column, has an invalid value, names a passage
        or system twice, or names a closest reference that is not among `translators`.
    """
    frames = []
    for model, file in scores.files.items():
        path = folder / FETCHED / scores.source / file
        rows = _rows(path, _objects(path), scores, "passage_id")
        frames.append(_frame(rows, scores, path, model).with_columns(file=pl.lit(file)))
    if scores.overall:
        path = folder / scores.overall
        with path.open(encoding="utf-8", newline="") as table:
            rows = _rows(path, csv.DictReader(table), scores, "model")
        frames.append(_frame(rows, scores, path).with_columns(file=pl.lit(scores.overall)))
    return pl.concat(frames).with_columns(licence=pl.lit(licence))


def _objects(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON array."""
    try:
        return _ARRAY.validate_json(path.read_bytes())
    except ValidationError as error:
        problem = f"is not an array of JSON objects ({error.errors()[0]['msg']})"
        raise BadInput(path, "", problem, "write an array with an object for each passage") from error


def _rows(path: Path, found: Iterable[Mapping[str, Any]], scores: PublishedScores, key: str) -> list[_Row]:
    """The rows of a file, whose values of `key` must differ."""
    names = [*_Row.model_fields, *SCORES]
    known = {name: name if key == "model" else scores.columns.get(name, name) for name in names}
    rows = []
    for number, content in enumerate(found, start=1):
        named = {name: content[theirs] for name, theirs in known.items() if theirs in content}
        try:
            numbers = {name: named.pop(name) for name in SCORES if name in named}
            rows.append(_Row.model_validate(named | {"scores": numbers}))
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{known[str(first['loc'][-1])]}: {first['msg']}"
            raise BadInput(path, f"row {number}", problem, REMEDY) from error
        if not getattr(rows[-1], key) or rows[-1].scores.get("sim_best") is None:
            raise BadInput(path, f"row {number}", f"lacks {known[key]!r} or {known['sim_best']!r}", REMEDY)
        if rows[-1].closest_reference not in (None, *scores.translators):
            problem = f"{rows[-1].closest_reference!r} is not one of the translators"
            raise BadInput(path, f"row {number}", problem, "add the translator to `translators`")
    twice = [name for name, count in Counter(getattr(row, key) for row in rows).items() if count > 1]
    if twice:
        raise BadInput(path, twice[0], "occurs twice", "keep one of the rows")
    return rows


def _frame(rows: list[_Row], scores: PublishedScores, path: Path, model: str = "") -> pl.DataFrame:
    """Rows of `published_score` without `benchmark`, `file` and `licence`; `model` is '' if the rows name systems."""
    sha256 = whole_files.sha256(path)
    constant = {
        "corpus": scores.corpus, "references": len(scores.translators), "embedder": scores.embedder,
        "comet": scores.comet, "sha256": sha256, "fingerprint": sha256,
    }  # fmt: skip
    content = [row.model_dump() | row.scores | constant | {"model": model or row.model} for row in rows]
    kinds = {name: kind for name, kind in PUBLISHED_SCORE.items() if name not in ("benchmark", "file", "licence")}
    return pl.DataFrame(content, schema={**kinds, "fingerprint": pl.String()})
