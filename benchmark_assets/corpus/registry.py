"""Corpora of this warehouse: the imported descriptions, which are read again at every use."""

import json
from pathlib import Path

import polars as pl

from benchmark_assets.corpus.description import Description, load
from benchmark_assets.corpus.readers import check_layouts
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse


def register(warehouse: Warehouse, path: Path) -> Description:
    """Register the corpus that a file describes, with the licences of its texts. The next scan adds its passages.

    Raises
    ------
    BadInput
        If the description is unusable, or the name is taken by a task or by another description that still exists.
    """
    description = load(path)
    check_layouts(description, path)
    earlier = warehouse.read("corpus", pl.DataFrame({"corpus": [description.name]}))
    if len(earlier) and (other := Path(earlier["description"][0])) != path.resolve() and other.exists():
        raise BadInput(path, "name", f"{description.name!r} is already the name of {other}", "choose another name")
    if len(warehouse.read("task", pl.DataFrame({"task": [description.name]}))):
        raise BadInput(path, "name", f"{description.name!r} is already the name of a task", "choose another name")
    _remember(warehouse, description, path)
    return description


def registered(warehouse: Warehouse, corpora: set[str] | None = None) -> list[Description | BadInput]:
    """Descriptions of the named corpora, by default of all. An unusable description is replaced by its BadInput.

    If a description has changed, its settings and licences are stored again.

    Raises
    ------
    BadInput
        For a corpus that was never imported.
    """
    rows = warehouse.read("corpus")
    paths = dict(zip(rows["corpus"], rows["description"], strict=True))
    for name in sorted((corpora or set()) - set(paths)):
        raise BadInput(
            name, "", "no such corpus in this warehouse",
            f"import it with `variorum import corpus FILE` (imported corpora: {sorted(paths)})",
        )  # fmt: skip
    return [_look(warehouse, name, Path(path)) for name, path in paths.items() if corpora is None or name in corpora]


def current(warehouse: Warehouse, corpus: str) -> Description:
    """The description of a corpus. If it has changed, its settings and licences are stored again.

    Raises
    ------
    BadInput
        For a corpus that was never imported, or whose description has become unusable.
    """
    (description,) = registered(warehouse, {corpus})
    if isinstance(description, BadInput):
        raise description
    return description


def corpus_languages(warehouse: Warehouse) -> dict[str, tuple[str, str]]:
    """Tags of the source language and of the references' language, by corpus."""
    rows = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    return {corpus: (source, target) for corpus, source, target in rows.iter_rows()}


def _look(warehouse: Warehouse, name: str, path: Path) -> Description | BadInput:
    try:
        description = load(path)
    except BadInput as fault:
        return fault
    if description.name != name:
        problem = f"is {description.name!r}, but the corpus was imported as {name!r}"
        return BadInput(path, "name", problem, f"change it back to {name!r}")
    _remember(warehouse, description, path)
    return description


def _remember(warehouse: Warehouse, description: Description, path: Path) -> None:
    """Store the path, settings and licences of a description, unless they are stored already."""
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
    licences = pl.DataFrame(
        {
            "corpus": description.name,
            "translator": list(texts),
            "licence": [text.licence for text in texts.values()],
            "restricted": [text.restricted for text in texts.values()],
            "fingerprint": digest(description),
        }
    )
    # Compare all columns: a column that is new in the schema is null in an older warehouse.
    if not warehouse.read("corpus", key, row.columns).equals(row):
        warehouse.write([Replacement("corpus", row, key), Replacement("licence", licences, key)], run_id="import")
