"""Packages of a corpus for others to use and check: folders of CSV, Parquet, JSON lines and Markdown.

Here: the files of a package, and how they are written. Not here: which texts may be passed on (rights), tables and
columns (contents), their meanings (dictionary), metadata records (records), reading packages (differences).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import polars as pl

from benchmark_assets import views
from benchmark_assets.audit.rated import anonymous, names_of_people, without_names
from benchmark_assets.corpus.human_work import outdated_counts
from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.corpus.rights import Disclosure, disclosure, named
from benchmark_assets.reporting import dictionary, records, withheld
from benchmark_assets.reporting.contents import CHECKSUMS, as_csv, as_parquet, files, public
from benchmark_assets.reporting.leaderboard import in_order
from resources import prompts
from resources.errors import BadInput
from resources.folders import PRIVATE, README, Kind, check_replaceable, put
from resources.harmless import in_markdown
from resources.home import PROJECT
from resources.tables import markdown
from resources.warehouse import Warehouse
from resources.whole_files import sha256

TITLE = "# Variorum export"
EXPORT = Kind("export", f"{TITLE}: ", f"{TITLE}, private, do not pass on: ")

FILES = f"""\
| file | content |
|---|---|
| `source.jsonl`, `references.jsonl` | Texts by segment (null: untranslated), with licence and SHA-256. A \
restricted text is reduced to its number of characters and its SHA-256. |
| `prose.jsonl` | Continuous translations with their notes; `verification.csv` refers to their characters by position. |
| `outputs/` | Outputs, one file per model, under the model's percent-encoded name. To import one: `variorum import \
outputs FILE --corpus CORPUS --model MODEL`. |
| `parquet/` | The tables of the CSV files as Parquet, with types and lists. |
| `dictionary.csv`, `dictionary.md` | Type, unit and meaning of each column of each table. |
| `croissant.json`, `datacite.json` | Metadata for data catalogs. Before you deposit the package, add its \
URL, and replace `:tba` with the publisher and the DOI. |
| `datapackage.json` | Types and meanings of the columns of the CSV files, for frictionless and similar tools. |
| `prompts/` | The project's prompts at the time of the export. |
| `LICENCES.md` | Licence of each text. |
| `{CHECKSUMS}` | Checksums of all other files: `sha256sum -c {CHECKSUMS}`. |
"""
NOTES = """\
In CSV, lists are JSON, and an apostrophe in front of a text that begins with =, +, - or @ keeps spreadsheets from \
evaluating it; Parquet has the text itself. An output that copies a restricted text of its passage, in whole or in \
large part, is withheld.
Annotators have numbers in place of names. Glossary terms are quotations from a translation; no package contains them.
`withheld.csv` lists everything that is left out, with reasons.
"""

DESCRIPTION = (
    "Machine translations of the corpus {corpus} measured against its human translations: scores by passage, summaries "
    "with 95 % intervals, and the settings behind them. For a text with a restrictive licence, only length and SHA-256 "
    "are given."
)

OUTDATED = """\
## Outputs of an earlier source

These imported outputs translate an earlier source text of their passages. They are not scored, and this package does
not contain them.

"""

REBUILD = """\
Obtain the texts from their sources under their licences, describe them in a YAML file, and import it with `variorum
import corpus FILE`. To verify that a text is the one used here, compare the SHA-256 of its UTF-8 encoding with
`source.jsonl`, `references.jsonl` or `prose.jsonl`. The text of a passage is its non-empty segments, joined by a space.
Then import the outputs and run `variorum update`.
"""


class Content(NamedTuple):
    """Rows of the warehouse that a package is written from.

    `rights` has the columns `translator` ('' for the source), `licence` and `restricted`. The last two are also columns
    of `sources`, `references`, `prose` and `verification`. In `outputs`, the column `status` is 'translated', 'refused'
    or 'withheld', and the column `withheld` has the reason why an output is withheld. `quoting` lists the free texts
    that may quote any text (`withheld.quoting`). `outdated` counts imported outputs that translate an earlier source
    (`outdated_counts`). `tables` has the frames that `_tables` returns. `newest` is the day (UTC) of the newest row.
    """

    corpus: str
    rights: pl.DataFrame
    sources: pl.DataFrame
    references: pl.DataFrame
    prose: pl.DataFrame
    verification: pl.DataFrame
    outputs: pl.DataFrame
    quoting: pl.DataFrame
    outdated: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    newest: date


def export(
    warehouse: Warehouse, folder: Path, corpus: str, private: bool = False, published: date | None = None
) -> list[str]:
    """Write the package of a corpus. The same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        Written completely or not at all. An earlier export is replaced.
    private
        Whether to add restricted texts, in a subfolder of the package.
    published
        Date of publication in the metadata records; by default the date of the corpus's newest row (`_newest`).

    Returns
    -------
    Restricted texts of the corpus: names of translators, and 'source'. A text without a known licence is restricted.

    Raises
    ------
    BadInput
        If the corpus is unknown; if its description, which states the restricted texts, cannot be read; if the folder
        cannot be written or contains anything other than an earlier export; or if a private export would replace a
        public export.
    """
    folder = folder.resolve()
    check_place(folder, private)
    with warehouse.consistently():
        content = _content(warehouse, corpus)
    put(_package(content, private, published or content.newest), folder)
    return named(content.rights.filter("restricted")["translator"])


def _content(warehouse: Warehouse, corpus: str) -> Content:
    key = pl.DataFrame({"corpus": [corpus]})
    columns = ["passage", "passage_id", "document", "position", "language", "segment_ids", "segments", "text"]
    sources = warehouse.read("source_text", key, columns).with_columns(translator=pl.lit(""))
    passages = sources.select("passage")
    references, prose = _references(warehouse, passages), _prose(warehouse, key)
    verification = warehouse.read("verification", passages, [*public("verification"), "evidence"])
    translators = [*references["translator"], *prose["translator"], *verification["translator"]]
    terms = disclosure(warehouse, corpus, translators, private=False)
    rights = terms.rights
    order = sources.select("passage", "document", "position")
    sources, references, prose, verification = (
        rows.join(rights, on="translator", how="left") for rows in (sources, references, prose, verification)
    )
    return Content(
        corpus, rights, sources.sort("document", "position"),
        references.join(order, on="passage").sort("document", "position", "translator"),
        prose.sort("document", "translator"), verification.sort("passage", "translator", "segment_id"),
        _outputs(warehouse, passages, terms), withheld.quoting(warehouse, passages),
        outdated_counts(warehouse).filter(corpus=corpus), _tables(warehouse, key, passages), _newest(warehouse, key),
    )  # fmt: skip


def _newest(warehouse: Warehouse, key: pl.DataFrame) -> date:
    """Day (UTC) of the corpus's newest row in the tables `leaderboard`, `source_text` and `corpus`."""
    times = [warehouse.read(table, key, ["updated_at"]) for table in ("leaderboard", "source_text", "corpus")]
    newest: date = pl.concat(times)["updated_at"].dt.date().max()  # type: ignore[assignment]
    return newest


def _references(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Human translations of all passages; `complete` is null for passages outside the benchmark."""
    used = warehouse.read("reference", passages, ["passage", "translator", "text", "complete"])
    by_hand = warehouse.read("continuous_reference", passages, ["passage", "translator", "corrections"])
    rows = renderings(warehouse, passages).drop("suspicious")
    for further in (used.rename({"text": "used"}), by_hand):
        rows = rows.join(further, on=["passage", "translator"], how="left")
    return rows.with_columns(text=pl.coalesce("used", "text")).drop("used")


def _prose(warehouse: Warehouse, key: pl.DataFrame) -> pl.DataFrame:
    rows = warehouse.read("prose", key, ["document", "translator", "text"])
    asides = warehouse.read("aside", key, ["document", "translator", "kind", "place", "text"]).drop_nulls("place")
    notes = asides.group_by("document", "translator", maintain_order=True).agg(
        asides=pl.struct("kind", "place", "text")
    )
    return rows.join(notes, on=["document", "translator"], how="left")


def _outputs(warehouse: Warehouse, passages: pl.DataFrame, terms: Disclosure) -> pl.DataFrame:
    """Outputs and refusals: columns `model`, `passage`, `text`, `withheld` and `status` (see `Content`)."""
    outputs = warehouse.read("model_output", passages, ["model", "passage", "text"])
    refused = warehouse.read("refusal", passages, ["model", "passage"]).with_columns(text=pl.lit(None, pl.String))
    rows = pl.concat([outputs, refused]).sort("model", "passage")
    is_copy = pl.col("withheld").is_not_null()
    status = pl.when(pl.col("text").is_null()).then(pl.lit("refused")).when(is_copy).then(pl.lit("withheld"))
    rows = rows.with_columns(terms.withheld(rows))
    return rows.with_columns(status=status.otherwise(pl.lit("translated")))


def _tables(warehouse: Warehouse, key: pl.DataFrame, passages: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of the tables from which the package is written.

    A table with a CSV file of its own is listed under the file's name. Any other table is listed under its own name.
    """
    sets = warehouse.read("base_set_item", passages, ["base_set"]).unique()
    languages = warehouse.read("corpus", key, ["source_language", "target_language"])
    direction = languages.select(direction=pl.concat_str("source_language", "target_language", separator="-"))
    tables = {
        file: views.read(warehouse, source.table, keys, source.columns)
        for keys, sources in (
            (passages, files("passage", without="corpus")), (key, files("corpus")),
            (sets, files("base_set", without="passage")), (direction, files("direction")),
        )
        for file, source in sources.items()
    }  # fmt: skip
    board = tables["leaderboard.csv"].with_columns(corpus=pl.lit(""))
    tables["leaderboard.csv"] = in_order(board).drop("corpus")
    semantic, lexical, selection, filters = (
        warehouse.read(table, passages, public(table))
        for table in ("drift_score", "lexical_score", "selection", "passage_filter")
    )
    scores = semantic.join(lexical, on=["model", "passage"], how="full", coalesce=True)
    tables |= {"scores.csv": scores.sort("model", "passage"), "selection": selection, "passage_filter": filters}
    about_raters = {name: tables[name] for name in ("rater_agreement.csv", "rater_models.csv")}
    by_people = {name: rows for name, rows in tables.items() if "annotator" in rows.columns}
    tables |= _numbered(by_people, about_raters)
    tables["corpus"] = warehouse.read("corpus", key, ["source_language", "target_language", "filters", "aligners"])
    return tables


def _numbered(by_people: Mapping[str, pl.DataFrame], raters: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables by and about annotators, by CSV file name, with numbers in place of annotators' names."""
    annotators = [name for rows in by_people.values() for name in rows["annotator"]]
    numbers = anonymous([*annotators, *(name for rows in raters.values() for name in names_of_people(rows))])
    by_number = {name: without_names(rows, numbers) for name, rows in raters.items()}
    return {
        **{name: rows.with_columns(pl.col("annotator").replace(numbers)) for name, rows in by_people.items()},
        **by_number,
    }


def _package(content: Content, private: bool, published: date) -> dict[str, bytes]:
    """Content of the package's files by path."""
    outputs = _short(content.outputs, content.corpus)
    tables = _as_written(content, outputs)
    written = _output_files(outputs)
    texts = {"source.jsonl": content.sources, "references.jsonl": content.references, "prose.jsonl": content.prose}
    for file, rows in texts.items():
        written[file] = _lines(_record(row, whole=not row["restricted"]) for row in rows.iter_rows(named=True))
    if private:
        written |= {f"{PRIVATE}/{file}": text for file, text in _restricted(content, texts, outputs).items()}
    for path in sorted((PROJECT / "prompts").glob("*.yaml")):
        written[f"prompts/{path.name}"] = path.read_bytes()
    written[records.LICENCES] = _licences(content, private).encode()
    licences = content.rights.filter(~pl.col("restricted"))["licence"].unique().sort().to_list()
    description = DESCRIPTION.format(corpus=content.corpus)
    about = records.About(content.corpus, description, published, licences, _languages(content), private)
    return package(about, tables, written, _readme(content, private, list(tables)), "leaderboard")


def package(
    about: records.About, tables: Mapping[str, pl.DataFrame], further: Mapping[str, bytes], readme: str, first: str
) -> dict[str, bytes]:
    """All files of a package by path: its tables by CSV file name as CSV and Parquet, a data dictionary, `further`
    files, metadata records and checksums. `first` is the table that catalogs show first."""
    meanings = dictionary.entries(tables)
    names = {file: file.removesuffix(".csv") for file in sorted(tables)}
    written = {
        **{file: as_csv(rows) for file, rows in tables.items()},
        **{f"parquet/{names[file]}.parquet": as_parquet(rows) for file, rows in tables.items()},
        "dictionary.csv": as_csv(dictionary.frame(meanings)), "dictionary.md": dictionary.page(meanings).encode(),
        **further,
    }  # fmt: skip
    filled = {name: f"parquet/{name}.parquet" for file, name in names.items() if len(tables[file])}
    card = "" if about.private else records.front_matter(about, filled, first)
    written[README] = f"{card}{readme}".encode()
    public_files = {path: data for path, data in written.items() if not path.startswith(f"{PRIVATE}/")}
    described = {
        "croissant.json": records.croissant(about, public_files, meanings),
        "datacite.json": records.datacite(about, public_files),
        "datapackage.json": records.datapackage(about, meanings),
    }
    written |= {
        file: (json.dumps(each, ensure_ascii=False, indent=2) + "\n").encode() for file, each in described.items()
    }
    sums = (f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(written.items()))
    return written | {CHECKSUMS: "".join(sums).encode()}


def _as_written(content: Content, outputs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Tables of the package by CSV file name."""
    tables = {file: _short(rows, content.corpus) for file, rows in content.tables.items() if file.endswith(".csv")}
    verification = content.verification.with_columns(evidence=pl.when(~pl.col("restricted")).then("evidence"))
    return tables | {
        "passages.csv": _passages(content),
        "references.csv": _short(content.references.select("passage", "translator", _characters()), content.corpus),
        "outputs.csv": _index(outputs),
        "verification.csv": _short(verification.drop("licence", "restricted"), content.corpus),
        "withheld.csv": _short(_withheld(content), content.corpus),
    }


def _withheld(content: Content) -> pl.DataFrame:
    """The list of everything that the public part of the package leaves out (see `withheld`)."""
    evidence = content.verification.filter(pl.col("evidence").fill_null("") != "")
    texts = {
        "source.jsonl": content.sources.drop("document"), "references.jsonl": content.references.drop("document"),
        "prose.jsonl": content.prose, "verification.csv": evidence,
    }  # fmt: skip
    return withheld.listed([withheld.restricted(texts), withheld.copies(content.outputs), content.quoting])


def _languages(content: Content) -> list[str]:
    row = content.tables["corpus"].row(0, named=True)
    return sorted({row["source_language"], row["target_language"], *content.sources["language"]} - {"", None})


def _restricted(content: Content, texts: Mapping[str, pl.DataFrame], outputs: pl.DataFrame) -> dict[str, bytes]:
    """Files for private packages only, by name: restricted texts, evidence that quotes them, and withheld outputs."""
    files = {
        file: _lines(_record(row, whole=True) for row in rows.filter("restricted").iter_rows(named=True))
        for file, rows in texts.items()
    }
    verification = content.verification.filter("restricted").drop("licence", "restricted")
    files["verification.csv"] = as_csv(_short(verification, content.corpus))
    copies = outputs.filter(status="withheld")
    files["outputs.jsonl"] = _lines(copies.select("model", "passage_id", translation="text").iter_rows(named=True))
    return files


def _passages(content: Content) -> pl.DataFrame:
    rows = content.sources.select("passage", "document", "position", "segment_ids", source_characters=_characters())
    for table in ("passage_filter", "selection"):
        rows = rows.join(content.tables[table], on="passage", how="left", maintain_order="left")
    return _short(rows, content.corpus)


def _index(outputs: pl.DataFrame) -> pl.DataFrame:
    hashes = [None if text is None else hashlib.sha256(text.encode()).hexdigest() for text in outputs["text"]]
    sums = pl.Series("sha256", hashes, dtype=pl.String)
    return outputs.select("model", "passage_id", "status", _characters(), sums)


def _output_files(outputs: pl.DataFrame) -> dict[str, bytes]:
    """Files of the outputs that may be passed on, one per model.

    File names are percent-encoded, because names of models may contain slashes.
    """
    files = {}
    for (model,), rows in outputs.filter(status="translated").group_by("model", maintain_order=True):
        lines = rows.select("passage_id", translation="text").iter_rows(named=True)
        files[f"outputs/{quote(str(model), safe='')}.jsonl"] = _lines(lines)
    return files


def _record(row: Mapping[str, object], whole: bool) -> dict[str, object]:
    """Rights, length and hash of a text; if `whole`, also the text itself and everything that may quote it.

    Only whole passages and documents are hashed, since the text of a short segment could be guessed from its hash.
    """
    text = str(row["text"])
    names = (
        "passage", "document", "position", "segment_ids", "language", "translator", "licence", "restricted", "complete"
    )  # fmt: skip
    record = {name: row[name] for name in names if name in row and not (name == "translator" and row[name] == "")}
    if "passage" in record:
        record = {"passage_id": str(record.pop("passage")).partition("/")[2], **record}
    record |= {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    if whole:
        record |= {name: row[name] for name in ("flag", "segments", "text", "asides") if name in row}
        if row.get("corrections") is not None:
            record["corrections"] = json.loads(str(row["corrections"]))
    return record


def _licences(content: Content, private: bool) -> str:
    presence = f"in `{PRIVATE}`" if private else "no: only length and SHA-256"
    rows = content.rights.select(
        text=pl.Series(named(content.rights["translator"])),
        licence="licence",
        restricted=pl.when("restricted").then(pl.lit("yes")).otherwise(pl.lit("no")),
        included=pl.when("restricted").then(pl.lit(presence)).otherwise(pl.lit("yes")),
    )
    return f"# Licences\n\n{markdown(rows, most=len(rows))}\n"


def _readme(content: Content, private: bool, tables: Sequence[str]) -> str:
    title = EXPORT.private if private else EXPORT.public
    warning = f"Private: do not pass on. `{PRIVATE}` contains restricted texts.\n\n" if private else ""
    warning += withheld.unlicensed(content.rights)
    selected = int(content.tables["selection"]["selected"].sum())
    models, outdated = content.outputs["model"].n_unique(), content.outdated
    earlier = f"{OUTDATED}{markdown(outdated, most=len(outdated))}\n\n" if len(outdated) else ""
    return (
        f"{title}{content.corpus}\n\n{warning}{len(content.sources)} passages, {selected} of them in the benchmark; "
        f"{len(_translators(content))} human translations; outputs of {models} models.\n\n"
        f"{FILES}{dictionary.files_of(tables)}\n\n{NOTES}\n"
        f"{earlier}## Made from\n\n{_made_from(content)}\n## How to rebuild it\n\n{REBUILD}"
    )


def _made_from(content: Content) -> str:
    """Markdown list of the versions and settings with which a corpus's package was made."""
    described = content.tables["corpus"].row(0, named=True)
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in described.items() if value is not None]
    signatures = content.tables["leaderboard.csv"]["signature"].unique().sort()
    return made_from([*lines, *(f"signature of scores: {each}" for each in signatures)])


def made_from(lines: Iterable[str]) -> str:
    """Markdown list of the software version, the version of each prompt, and `lines`."""
    loaded = [prompts.load(path.stem) for path in sorted((PROJECT / "prompts").glob("*.yaml"))]
    versions = [f"prompt `{prompt.name}`: version {prompt.version}, digest {prompt.digest()}" for prompt in loaded]
    stated = map(in_markdown, lines)
    return "".join(f"- {line}\n" for line in [f"Variorum {version('variorum')}", *versions, *stated])


def _translators(content: Content) -> list[str]:
    return [name for name in content.rights["translator"] if name]


def _characters() -> pl.Expr:
    return pl.col("text").str.len_chars().alias("characters")


def _short(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """Rows with `passage_id` (the key without the corpus) in place of `passage`."""
    names = [name for name in ("passage", "kept") if name in rows.columns]
    rows = rows.with_columns(pl.col(names).str.strip_prefix(f"{corpus}/"))
    return rows.rename({"passage": "passage_id"}, strict=False)


def _lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows).encode()


def recorded(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a package by path, read from the package's checksum file."""
    sums = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, _, path in (line.partition("  ") for line in sums)}


def check_place(folder: Path, private: bool) -> None:
    """Raise BadInput unless the folder is vacant, or an earlier package without added or modified files."""
    if not check_replaceable(folder, EXPORT, private):
        return
    if not (folder / CHECKSUMS).is_file():
        raise BadInput(
            folder, CHECKSUMS, "is missing from the earlier export", "name another folder, or remove this one"
        )
    written = recorded(folder)
    for path in sorted(path for path in folder.rglob("*") if not path.is_dir() and path != folder / CHECKSUMS):
        name = path.relative_to(folder).as_posix()
        if name not in written or sha256(path) != written[name]:
            problem = "was added or modified after the earlier export"
            raise BadInput(folder, name, problem, "move it away, or name another folder")
