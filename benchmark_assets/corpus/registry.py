"""Corpora of this warehouse: imported descriptions, read again at every use."""

import json
from pathlib import Path

import polars as pl

from benchmark_assets.corpus.description import Description, load
from benchmark_assets.corpus.readers import READERS
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse


def register(warehouse: Warehouse, path: Path) -> Description:
    """Register a corpus and the licences of its texts; the next scan of the files adds its passages.

    Raises
    ------
    BadInput
        If the description is unusable, or another existing description or a task has the name.
    """
    description = load(path)
    if description.layout not in READERS:
        raise BadInput(path, "layout", f"no reader for {description.layout!r}", f"use one of {sorted(READERS)}")
    for translator, text in description.continuous.items():
        if text.layout not in PROSE_READERS:
            raise BadInput(
                path, f"references.{translator}.layout", f"no reader for {text.layout!r}",
                f"use one of {sorted(PROSE_READERS)}",
            )  # fmt: skip
    earlier = warehouse.read("corpus", pl.DataFrame({"corpus": [description.name]}))
    if len(earlier) and (other := Path(earlier["description"][0])) != path.resolve() and other.exists():
        raise BadInput(path, "name", f"{description.name!r} is the corpus of {other}", "choose another")
    if len(warehouse.read("task", pl.DataFrame({"task": [description.name]}))):
        raise BadInput(path, "name", f"{description.name!r} is a task of this warehouse", "choose another")
    _remember(warehouse, description, path)
    return description


def registered(warehouse: Warehouse, corpora: set[str] | None = None) -> list[Description | BadInput]:
    """Descriptions of the named corpora, by default of all, and a BadInput for each that has become unusable.

    If a description changed, its licences are stored again.

    Raises
    ------
    BadInput
        For a corpus that was never imported.
    """
    rows = warehouse.read("corpus")
    paths = dict(zip(rows["corpus"], rows["description"], strict=True))
    for name in sorted((corpora or set()) - set(paths)):
        raise BadInput(
            name, "", "is no corpus of this warehouse",
            f"import it with `variorum import corpus FILE` (known: {sorted(paths)})",
        )  # fmt: skip
    return [_look(warehouse, name, Path(path)) for name, path in paths.items() if corpora is None or name in corpora]


def current(warehouse: Warehouse, corpus: str) -> Description:
    """The description of a corpus; its licences are stored again if it changed.

    Raises
    ------
    BadInput
        For a corpus that was never imported, or whose description has become unusable.
    """
    (description,) = registered(warehouse, {corpus})
    if isinstance(description, BadInput):
        raise description
    return description


def _look(warehouse: Warehouse, name: str, path: Path) -> Description | BadInput:
    try:
        description = load(path)
    except BadInput as fault:
        return fault
    if description.name != name:
        return BadInput(path, "name", f"is {description.name!r}, imported as {name!r}", f"change it back to {name!r}")
    _remember(warehouse, description, path)
    return description


def _remember(warehouse: Warehouse, description: Description, path: Path) -> None:
    """Store the path of the description and its licences, unless they are stored already."""
    key = pl.DataFrame({"corpus": [description.name]})
    filters = description.filters.model_dump_json() if description.filters else None
    aligners = {name: {"model": text.aligner, "ask": text.ask} for name, text in description.continuous.items()}
    row = key.with_columns(
        description=pl.lit(str(path.resolve())), source_language=pl.lit(description.source.language),
        target_language=pl.lit(description.target_language),
        filters=pl.lit(filters, pl.String), aligners=pl.lit(json.dumps(aligners)),
        sensitivity=pl.lit(description.sensitivity.model_dump_json()),
        audit=pl.lit(description.audit.model_dump_json()), rubric=pl.lit(description.rubric.model_dump_json()),
        literary=pl.lit(description.literary.model_dump_json()),
        texts=pl.lit(len(description.references), pl.Int32), fingerprint=pl.lit(digest(description)),
    )  # fmt: skip
    texts = {"": description.source, **description.references}
    licences = {translator: text.terms() for translator, text in texts.items()}
    rows = pl.DataFrame(
        {
            "corpus": description.name,
            "translator": list(licences),
            "licence": [licence.terms for licence in licences.values()],
            "restricted": [licence.restricted for licence in licences.values()],
            "fingerprint": digest(description),
        }
    )
    # Compare the whole row: a column that is new in the schema is null in an older file.
    if not warehouse.read("corpus", key, row.columns).equals(row):
        warehouse.write([Replacement("corpus", row, key), Replacement("licence", rows, key)], run_id="import")
