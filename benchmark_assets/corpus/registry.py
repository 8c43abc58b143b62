"""Corpora of this warehouse: the imported descriptions, which are read again at every use."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from benchmark_assets.corpus.description import Description, default_taxonomy, examine, load
from benchmark_assets.corpus.readers import layout_faults
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.corpus.scan import scan
from resources.digest import digest
from resources.errors import BadInput, raise_all, suggestion
from resources.frozen import Frozen
from resources.home import restored, stored
from resources.warehouse import Replacement, Warehouse

Section = TypeVar("Section", bound=Frozen)

SECTIONS = ("sensitivity", "examination", "memory", "audit", "rubric", "spans", "literary", "scoring")
"""Sections of a description that are stored as columns of the table `corpus`."""


def register(warehouse: Warehouse, path: Path, families: Mapping[str, str] | None = None) -> Description:
    """Register the corpus that a file describes, with the licences of its texts. The next scan adds its passages.

    `families` maps names of judges to their families. No two judges of a study of the corpus may belong to one family.

    Raises
    ------
    BadInput
        If the description is unusable, or the name is taken by a task or by another description that still exists. All
        faults are raised together, including the faults in the described files.
    """
    description, faults = inspect(warehouse, path, families)
    raise_all(faults)
    assert description is not None  # it has no fault
    _remember(warehouse, description, path)
    return description


def inspect(
    warehouse: Warehouse, path: Path, families: Mapping[str, str] | None = None, files: bool = False
) -> tuple[Description | None, list[BadInput]]:
    """Return a description, and all the faults that `register` would raise. None replaces an unusable description.

    The described files are read only if the description has faults, or if `files` is true.
    """
    description, faults = examine(path)
    if description is not None:
        without_reader = list(layout_faults(description, path))
        faults += [*without_reader, *_taken(warehouse, description.name, path)]
        of_key = seats(description).items()
        faults += [fault for key, judges in of_key for fault in _related(judges, key, families or {}, path)]
        if (faults or files) and not without_reader and description.root.exists():
            faults += scan([description]).faults
    return description, faults


def seats(description: Description) -> dict[str, Sequence[str]]:
    """Names of the judges of a corpus, by the key of its description that lists them."""
    return {
        "audit.judges": description.audit.judges, "rubric.judges": description.rubric.judges,
        "spans.judges": description.spans.judges,
        "literary.ensemble": [seat.judge for seat in description.literary.ensemble],
    }  # fmt: skip


def _taken(warehouse: Warehouse, name: str, path: Path) -> Iterator[BadInput]:
    """A fault if the name of a corpus is taken."""
    other = paths(warehouse).get(name, path.resolve())
    if other != path.resolve() and other.exists():
        yield BadInput(path, "name", f"{name!r} is already the name of {other}", "choose another name")
    if len(warehouse.read("task", pl.DataFrame({"task": [name]}))):
        yield BadInput(path, "name", f"{name!r} is already the name of a task", "choose another name")


def _related(judges: Sequence[str], key: str, families: Mapping[str, str], path: Path) -> Iterator[BadInput]:
    """A fault for each judge of a study that shares the family of an earlier judge; `key` lists the judges. Unknown
    judges cause no fault."""
    seats: dict[str, str] = {}
    for judge in judges:
        family = families.get(judge, "").casefold()
        if family and seats.setdefault(family, judge) != judge:
            problem = (
                f"has {seats[family]} and {judge}, both of the family {families[judge]!r}: "
                "their votes are not independent"
            )
            yield BadInput(path, key, problem, "name judges of different families")


def paths(warehouse: Warehouse) -> dict[str, Path]:
    """Absolute paths of the imported descriptions, by corpus. Paths are updated if the home was moved."""
    rows = warehouse.read("corpus", columns=["corpus", "description", "home"])
    return {corpus: restored(text, home, warehouse.folder) for corpus, text, home in rows.iter_rows()}


def sources(warehouse: Warehouse) -> dict[str, Path]:
    """Paths of all usable descriptions and of the files of their corpora, except hidden files.

    The keys are relative paths that begin with the name of the corpus: `corpus/…`.
    """
    found: dict[str, Path] = {}
    for name, path in paths(warehouse).items():
        description, _ = examine(path)
        if description is None:
            continue
        found[f"{name}/{path.name}"] = path
        root = description.root
        for file in filter(Path.is_file, visible(root)):
            found[f"{name}/{root.name}/{file.relative_to(root) if root.is_dir() else file.name}"] = file
        if description.offsets and description.offsets.is_file():
            found[f"{name}/{description.offsets.name}"] = description.offsets
    return found


def registered(warehouse: Warehouse, corpora: Collection[str] | None = None) -> list[Description | BadInput]:
    """Descriptions of the named corpora, by default of all. An unusable description is replaced by its BadInput.

    If a description has changed, its settings and licences are stored again.

    Raises
    ------
    BadInput
        For a corpus that was never imported.
    """
    imported = paths(warehouse)
    check_known(corpora or (), imported)
    return [_look(warehouse, name, path) for name, path in imported.items() if corpora is None or name in corpora]


def check_known(corpora: Collection[str], imported: Collection[str]) -> None:
    """Raise BadInput for the first of the corpora that is none of the imported ones."""
    for name in sorted({*corpora} - {*imported}):
        raise BadInput(
            name, "", f"no such corpus in this warehouse{suggestion(name, imported)}",
            f"import it with `variorum import corpus FILE` (imported corpora: {', '.join(sorted(imported)) or 'none'})",
        )  # fmt: skip


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


def sections(warehouse: Warehouse, name: str, kind: type[Section]) -> dict[str, Section]:
    """One section of the description of each corpus, by corpus. A description without this section has the defaults.

    `name` is the key of the section in the description, and also the name of the column in the table `corpus` that
    contains the section. `kind` is the class of the section.
    """
    rows = warehouse.read("corpus", columns=["corpus", name])
    return {corpus: kind.model_validate_json(text or "{}") for corpus, text in rows.iter_rows()}


def corpus_languages(warehouse: Warehouse) -> dict[str, tuple[str, str]]:
    """Tags of the source language and of the references' language, by corpus."""
    rows = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    return {corpus: (source, target) for corpus, source, target in rows.iter_rows()}


def taxonomies(warehouse: Warehouse) -> dict[str, str]:
    """Name of each corpus's taxonomy of error categories."""
    rows = warehouse.read("corpus", columns=["corpus", "source_language", "taxonomy"])
    return {corpus: name or default_taxonomy(language) for corpus, language, name in rows.iter_rows()}


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
    aligners = {
        name: {"model": text.aligner, "ask": text.ask} | ({"compare": text.compare} if text.compare != "guides" else {})
        | ({"protocol": text.protocol} if text.protocol else {})
        for name, text in description.continuous.items()
    }  # fmt: skip
    literary, folder, fingerprint = description.literary, path.resolve().parent, digest(description)
    if literary.glossary:  # stored relative to the description, so that both can be moved together
        literary = literary.model_copy(update={"glossary": Path(os.path.relpath(literary.glossary, folder))})
    stated = description.model_copy(update={"literary": literary})
    row = key.with_columns(
        description=pl.lit(stored(path.resolve(), warehouse.folder)), home=pl.lit(str(warehouse.folder)),
        source_language=pl.lit(description.source.language), target_language=pl.lit(description.target_language),
        filters=pl.lit(description.filters and description.filters.model_dump_json(), pl.String),
        aligners=pl.lit(json.dumps(aligners)),
        **{name: pl.lit(getattr(stated, name).model_dump_json()) for name in SECTIONS},
        addressing=pl.lit(description.addressing), translated=pl.lit(description.translated),
        taxonomy=pl.lit(description.taxonomy or None, pl.String),
        texts=pl.lit(len(description.references), pl.Int32), fingerprint=pl.lit(fingerprint),
    )  # fmt: skip
    licences = pl.DataFrame(
        [(description.name, name, text.licence, text.restricted) for name, text in description.texts.items()],
        schema=["corpus", "translator", "licence", "restricted"], orient="row",
    ).with_columns(fingerprint=pl.lit(fingerprint))  # fmt: skip
    # Compare all columns: a column that is new in the schema is null in an older warehouse.
    if not warehouse.read("corpus", key, row.columns).equals(row):
        warehouse.write([Replacement("corpus", row, key), Replacement("licence", licences, key)], run_id="import")
