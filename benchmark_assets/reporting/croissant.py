"""Metadata records of a package for data catalogs: Croissant 1.0 and DataCite 4.5, as JSON.

Here: the two records. Not here: the content of a package (contents), the meanings of its columns (dictionary). The
record of a private package describes its public part only.

Sources: the Croissant format specification 1.0 (http://mlcommons.org/croissant/1.0), the DataCite metadata schema 4.5
(https://schema.datacite.org/meta/kernel-4.5). Fields that only the depositor can fill in are `:tba`, DataCite's code
for "to be announced". The DOI is assigned at registration.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import yaml

from benchmark_assets.reporting.dictionary import Entry, title
from resources.home import PROJECT

CONFORMS = "http://mlcommons.org/croissant/1.0"
KERNEL = "http://datacite.org/schema/kernel-4"
SPDX = "https://spdx.org/licenses/"
IDENTIFIER = re.compile(r"(CC0-1\.0|CC-BY(-NC)?(-SA|-ND)?-[1-4]\.0|Apache-2\.0|MIT|ODbL-1\.0|PDDL-1\.0)")
"""Licenses that are linked by their SPDX identifier. Any other license is quoted verbatim, without a link."""

TO_BE_ANNOUNCED = ":tba"
TYPES = {
    "VARCHAR": "sc:Text", "DOUBLE": "sc:Float", "FLOAT": "sc:Float", "BOOLEAN": "sc:Boolean", "INTEGER": "sc:Integer",
    "BIGINT": "sc:Integer", "TIMESTAMP": "sc:DateTime", "DATE": "sc:Date",
}  # fmt: skip
FORMATS = {
    ".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonlines", ".md": "text/markdown",
    ".parquet": "application/x-parquet", ".yaml": "application/yaml",
}  # fmt: skip
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes",
            "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
            "repeated", "replace", "separator", "source", "subField", "transform",
        )
    },
}  # fmt: skip


class About(NamedTuple):
    """Facts about a package for its metadata records.

    `licences` lists the licences of the texts that may be passed on; `languages` lists the codes of all languages in
    the package.
    """

    corpus: str
    published: date
    licences: Sequence[str]
    languages: Sequence[str]
    private: bool


def croissant(about: About, files: Mapping[str, bytes], meanings: Sequence[Entry]) -> dict[str, Any]:
    """The Croissant record of a package: all files with their SHA-256, and one record set per table.

    Parameters
    ----------
    files
        Content of each file that may be passed on, by its path in the package.
    meanings
        The data dictionary, sorted by table; each table has a Parquet file in `files`.
    """
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": f"variorum-{about.corpus}",
        "description": _description(about),
        "license": [_address(licence) for licence in about.licences] or "LICENCES.md",
        "url": "README.md",
        "citeAs": _bibtex(about),
        "creator": [{"@type": "sc:Organization", "name": name} for name in _authors()],
        "datePublished": about.published.isoformat(),
        "version": _software()["version"],
        "inLanguage": list(about.languages),
        "isLiveDataset": False,
        "distribution": [_file(path, content) for path, content in sorted(files.items())],
        "recordSet": [
            _record_set(table, f"parquet/{table}.parquet", list(columns))
            for table, columns in groupby(meanings, lambda each: each.table)
        ],
    }


def datacite(about: About, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The DataCite record of a package: all required properties except the DOI, and some optional properties."""
    return {
        "schemaVersion": KERNEL,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Benchmark scores"},
        "creators": [{"name": name, "nameType": "Organizational"} for name in _authors()],
        "titles": [{"title": f"Variorum: {about.corpus}"}],
        "publisher": {"name": TO_BE_ANNOUNCED},
        "publicationYear": str(about.published.year),
        "dates": [{"date": about.published.isoformat(), "dateType": "Issued"}],
        "version": _software()["version"],
        "descriptions": [{"description": _description(about), "descriptionType": "Abstract"}],
        "rightsList": [_rights(licence) for licence in about.licences],
        "sizes": [f"{sum(map(len, files.values()))} bytes"],
        "formats": sorted({_format(path) for path in files}),
    }


def _file(path: str, content: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": PurePosixPath(path).name,
        "contentUrl": path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": _format(path),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(table: str, path: str, columns: Sequence[Entry]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": title(table),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table}/{each.column}",
                "name": each.column,
                "description": each.meaning,
                "dataType": TYPES[each.type.removesuffix("[]")],
                **({"repeated": True} if each.type.endswith("[]") else {}),
                "source": {"fileObject": {"@id": path}, "extract": {"column": each.column}},
            }
            for each in columns
        ],
    }


def _description(about: About) -> str:
    warning = " This is a private package: it may not be passed on as it is." if about.private else ""
    return (
        f"Machine translations of the corpus {about.corpus} measured against its human translations: scores by "
        "passage, summaries with 95 % intervals, and the settings behind them. For a text with a restrictive licence, "
        f"only length and SHA-256 are given.{warning}"
    )


def _bibtex(about: About) -> str:
    authors = " and ".join(f"{{{name}}}" for name in _authors())
    return (
        f"@misc{{variorum-{about.corpus}, author = {{{authors}}}, title = {{Variorum: {about.corpus}}}, "
        f"year = {{{about.published.year}}}, version = {{{_software()['version']}}}}}"
    )


def _rights(licence: str) -> dict[str, str]:
    if not IDENTIFIER.fullmatch(licence):
        return {"rights": licence}
    return {
        "rights": licence,
        "rightsUri": _address(licence),
        "rightsIdentifier": licence,
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": SPDX,
    }


def _address(licence: str) -> str:
    return f"{SPDX}{licence}.html" if IDENTIFIER.fullmatch(licence) else licence


def _format(path: str) -> str:
    return FORMATS.get(PurePosixPath(path).suffix, "text/plain")


def _authors() -> list[str]:
    return [each.get("name") or f"{each['given-names']} {each['family-names']}" for each in _software()["authors"]]


def _software() -> dict[str, Any]:
    citation: dict[str, Any] = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    return citation
