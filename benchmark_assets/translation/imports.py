"""Import of outputs that were made elsewhere: readers of files with outputs, and the import into the warehouse.

A reader is a function from a path to outputs; the file's ending selects it. If a file has an error, nothing is imported
from it.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.strict_json import examined, parse
from benchmark_assets.corpus.readers.table import ENDINGS, records
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from resources.digest import digest, text_hash
from resources.errors import BadInput, collecting, raise_all, suggestion
from resources.keys import check_key
from resources.warehouse import Replacement, Warehouse


class Outputs(NamedTuple):
    """Content of a file: texts by passage id, the model's name (None if not given), its settings and its usage.

    `faults` are those of the rows that are left out of the texts."""

    texts: Mapping[str, str]
    model: str | None
    settings: Mapping[str, Any]
    usage: Mapping[str, Any]
    faults: Sequence[BadInput] = ()


RESULTS = frozenset(["metadata", "translations", "usage"])
"""Keys of a PaliBench result file. The keys within `metadata` and `usage` are stored as they are."""

LINE = ("passage_id", "translation")
"""Keys of a line of JSON lines, and columns of a table."""

MOST = 20
"""Maximum number of faults of a file that are reported one by one."""


def read_results(path: Path, ignore: Collection[str] = ()) -> Outputs:
    """Read a PaliBench result file: an object with `metadata`, `usage`, and `translations` by passage id."""
    content = parse(decode(path), path)
    translations, settings = content.get("translations"), content.get("metadata", {})
    if not isinstance(translations, dict):
        raise BadInput(path, "translations", "is not an object that maps ids to texts", "give a PaliBench result file")
    if not isinstance(settings, dict):
        raise BadInput(path, "metadata", "is not an object of settings", "give a PaliBench result file")
    raise_all(unknown_keys(path, dict.fromkeys(content, ""), RESULTS, IMPORTED, ignore))
    model = settings.get("model")
    return Outputs(translations, model if isinstance(model, str) else None, settings, content.get("usage", {}))


def read_lines(path: Path, ignore: Collection[str] = ()) -> Outputs:
    """Read JSON lines with the fields `passage_id` and `translation`."""
    texts, faults = examined(path, *LINE, "passage", ignore)
    return Outputs(texts, None, {}, {}, faults)


def read_table(path: Path, ignore: Collection[str] = ()) -> Outputs:
    """Read a table (.csv, .tsv, .xlsx) with the columns `passage_id` and `translation`."""
    texts: dict[str, str] = {}
    faults: list[BadInput] = []
    with collecting(faults):
        for line, cells in records(path, LINE, IMPORTED, ignore):
            identity, text = (cells[name].strip() for name in LINE)
            if not identity or identity in texts:
                problem = "the passage occurs twice" if identity in texts else "has no id"
                faults.append(BadInput(path, f"line {line} {identity}".strip(), problem, "correct the row"))
            else:
                texts[identity] = text
    return Outputs(texts, None, {}, {}, faults)


READERS = {".json": read_results, ".jsonl": read_lines, **dict.fromkeys(ENDINGS, read_table)}


def import_outputs(
    warehouse: Warehouse, path: Path, corpus: str, model: str | None, registered: Collection[str] = (),
    ignore: Collection[str] = (), absent: Collection[str] = (),
) -> tuple[str, int]:  # fmt: skip
    """Import a model's outputs for a corpus, replacing the model's earlier outputs.

    Returns the model and the number of imported outputs.

    Each output is recorded as a translation of the current source. Earlier outputs for passages that are no longer in
    the corpus are kept (corpus.human_work).

    Parameters
    ----------
    model
        Name of the model. By default the name in the file, or the file's stem if the file has no name.
    registered
        Names of the registry's models and of published systems. Outputs cannot be imported under these names.
    ignore
        Keys that are not read. Other unknown keys are errors.
    absent
        Passages of the file that the corpus lacks; their outputs are not imported.

    Raises
    ------
    BadInput
        If the file is not valid, a corpus or passage is unknown, an output is empty, or the model's name is not a slug
        or is in the registry. All faults are raised together, up to `MOST`.
    """
    if path.suffix not in READERS:
        raise BadInput(path, "", "unknown file ending", f"give a file that ends in {' or '.join(sorted(READERS))}")
    if not path.is_file():
        raise BadInput(path, "", "no such file", "check the path")
    outputs = READERS[path.suffix](path, ignore)
    texts = {identity: text for identity, text in outputs.texts.items() if identity not in absent}
    name = model or outputs.model or path.stem
    sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage", "passage_id", "text"])
    if sources.is_empty():
        known = warehouse.read("corpus", columns=["corpus"])["corpus"]
        problem = f"has no passages in this warehouse{suggestion(corpus, known)}"
        raise BadInput(corpus, "", problem, "import it first: `variorum import corpus FILE`")
    passages = {*sources["passage_id"]}
    texts = {_completed(identity, passages): text for identity, text in texts.items()}
    faults = [*_name_faults(name, path, registered), *outputs.faults, *_text_faults(sources, path, corpus, texts)]
    if not (texts or faults):
        faults = [BadInput(path, "", "contains no outputs", "check the file")]
    if len(faults) > MOST:
        further = BadInput(path, "", f"has {len(faults) - MOST} more faults", "correct these first")
        faults = [*faults[:MOST], further]
    raise_all(faults)
    rows = _rows(sources, path, corpus, name, texts)
    summary = pl.DataFrame(
        {
            "model": [name], "corpus": [corpus], "file": [str(path.resolve())], "outputs": [len(rows)],
            "settings": [json.dumps(outputs.settings, ensure_ascii=False)],
            "usage": [json.dumps(outputs.usage, ensure_ascii=False)],
        },
        schema_overrides={"outputs": pl.Int32},
    ).with_columns(fingerprint=pl.lit(digest(sorted(texts.items()))))  # fmt: skip
    before = warehouse.read("imported_output", pl.DataFrame({"model": [name]}), ["model", "passage"])
    replaced = pl.concat([before.join(sources, on="passage", how="semi"), rows.select("model", "passage")])
    warehouse.write(
        [
            Replacement("imported_output", rows, replaced.unique()),
            Replacement("imported_file", summary, summary.select("model", "corpus")),
        ],
        run_id="import",
    )
    return name, len(rows)


def _completed(identity: str, passages: Collection[str]) -> str:
    """The id of the passage that a number names, in a corpus whose documents have only one passage of this number."""
    ending = [passage for passage in passages if passage.endswith(f":{identity}")]
    return ending[0] if identity not in passages and len(ending) == 1 else identity


def _name_faults(name: str, path: Path, registered: Collection[str]) -> list[BadInput]:
    faults: list[BadInput] = []
    with collecting(faults):
        check_key(name, "model", path)
    if name in registered:
        problem = "is the name of a model in the registry, or of a published system"
        faults.append(BadInput(path, name, problem, "give another name with `--model`"))
    return faults


def _text_faults(sources: pl.DataFrame, path: Path, corpus: str, texts: Mapping[str, Any]) -> Iterator[BadInput]:
    """A fault for each text that cannot be imported."""
    passages = dict.fromkeys(sources["passage_id"])
    for identity, text in texts.items():
        if identity not in passages:
            remedy = f"give an id such as {next(iter(passages))!r}, or remove the output"
            yield BadInput(path, identity, f"not a passage of {corpus}", remedy)
        if not isinstance(text, str) or not text.strip():
            problem = "the output is empty" if isinstance(text, str) else "the output is not a string"
            yield BadInput(path, identity, problem, "remove the output: the passage then counts as not translated")


def _rows(sources: pl.DataFrame, path: Path, corpus: str, model: str, texts: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `imported_output`. `sources` has the columns `passage_id` and `text` of the corpus."""
    source_texts = dict(sources.select("passage_id", "text").iter_rows())
    columns = {
        "model": model, "passage": [f"{corpus}/{identity}" for identity in texts], "text": list(texts.values()),
        "file": str(path.resolve()), "source_hash": [text_hash(source_texts[identity]) for identity in texts],
    }  # fmt: skip
    hashes = [blake2b(text.encode(), digest_size=16).hexdigest() for text in texts.values()]
    return pl.DataFrame(columns).with_columns(pl.Series("fingerprint", hashes))
