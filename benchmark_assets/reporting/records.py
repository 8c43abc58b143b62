"""Metadata records of a package for data catalogs and programs, all from one description of its tables.

Here: Croissant 1.0, DataCite 4.5, Data Package 1 (for frictionless and similar tools), and the front matter of the
README that Hugging Face reads. Not here: the content of a package (contents), the meanings of its columns (dictionary).
The record of a private package describes its public part only.

Sources: the Croissant format specification 1.0 (http://mlcommons.org/croissant/1.0); the DataCite metadata schema 4.5
(https://schema.datacite.org/meta/kernel-4.5); the Tabular Data Package specification
(https://specs.frictionlessdata.io/tabular-data-package/); https://huggingface.co/docs/hub/datasets-cards and
datasets-manual-configuration. Fields that only the depositor can fill in are `:tba`, DataCite's code for "to be
announced". The DOI is assigned at registration.
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
from resources.folders import README
from resources.home import PROJECT

CONFORMS = "http://mlcommons.org/croissant/1.0"
KERNEL = "http://datacite.org/schema/kernel-4"
SPDX = "https://spdx.org/licenses/"
IDENTIFIER = re.compile(r"(CC0-1\.0|CC-BY(-NC)?(-SA|-ND)?-[1-4]\.0|Apache-2\.0|MIT|ODbL-1\.0|PDDL-1\.0)")
"""Licenses that are linked by their SPDX identifier. Any other license is quoted verbatim, without a link."""

LICENCES = "LICENCES.md"
TO_BE_ANNOUNCED = ":tba"
TYPES = {
    "VARCHAR": ("sc:Text", "string"), "DOUBLE": ("sc:Float", "number"), "FLOAT": ("sc:Float", "number"),
    "BOOLEAN": ("sc:Boolean", "boolean"), "INTEGER": ("sc:Integer", "integer"), "BIGINT": ("sc:Integer", "integer"),
    "TIMESTAMP": ("sc:DateTime", "datetime"), "DATE": ("sc:Date", "date"),
}  # fmt: skip
"""Croissant's and Data Package's names of DuckDB's types."""

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
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
            "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
            "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
            "transform",
        )
    },
}  # fmt: skip


class About(NamedTuple):
    """Facts about a package for its metadata records.

    `subject` is the name of a corpus, or what else the package is about. `licences` lists the licences of the texts
    that may be passed on; `languages` lists the codes of all languages in the package.
    """

    subject: str
    description: str
    published: date
    licences: Sequence[str]
    languages: Sequence[str]
    private: bool = False

    @property
    def name(self) -> str:
        """Identifier of the package."""
        return f"variorum-{re.sub(r'[^A-Za-z0-9._-]+', '-', self.subject)}"

    @property
    def title(self) -> str:
        """Title of the package."""
        return f"Variorum: {self.subject}"

    @property
    def abstract(self) -> str:
        """The description, with a warning if the package is private."""
        warning = " This is a private package: it may not be passed on as it is." if self.private else ""
        return f"{self.description}{warning}"


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
        "name": about.name,
        "description": about.abstract,
        "license": [address(licence) for licence in about.licences] or [LICENCES if LICENCES in files else README],
        "url": README,
        "citeAs": _bibtex(about),
        "creator": [{"@type": "sc:Organization", "name": name} for name in _authors()],
        "datePublished": about.published.isoformat(),
        "version": software()["version"],
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
        "titles": [{"title": about.title}],
        "publisher": {"name": TO_BE_ANNOUNCED},
        "publicationYear": str(about.published.year),
        "dates": [{"date": about.published.isoformat(), "dateType": "Issued"}],
        "version": software()["version"],
        "descriptions": [{"description": about.abstract, "descriptionType": "Abstract"}],
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
                "dataType": TYPES[each.type.removesuffix("[]")][0],
                **({"repeated": True} if each.type.endswith("[]") else {}),
                "source": {"fileObject": {"@id": path}, "extract": {"column": each.column}},
            }
            for each in columns
        ],
    }


def datapackage(about: About, meanings: Sequence[Entry]) -> dict[str, Any]:
    """The Data Package: each CSV file with the type and meaning of its columns; lists are JSON arrays."""
    licences = [{"name": each, "path": address(each)} for each in about.licences if IDENTIFIER.fullmatch(each)]
    return {
        "profile": "tabular-data-package",
        "name": about.name.lower(),
        "title": about.title,
        "description": about.abstract,
        "version": software()["version"],
        **({"licenses": licences} if licences else {}),
        "resources": [
            {
                "profile": "tabular-data-resource", "name": table, "path": f"{table}.csv", "description": title(table),
                "encoding": "utf-8",
                "schema": {"fields": [
                    {
                        "name": each.column,
                        "type": "array" if each.type.endswith("[]") else TYPES[each.type][1],
                        "description": each.meaning,
                    } for each in columns
                ]},
            } for table, columns in groupby(meanings, lambda each: each.table)
        ],
    }  # fmt: skip


def front_matter(about: About, files: Mapping[str, str], first: str) -> str:
    """What Hugging Face needs to list a package and to load its tables: YAML between two lines of dashes.

    Parameters
    ----------
    files
        Path of the file of each configuration, by its name. The library `datasets` can load neither a table without
        rows, nor files of several formats from one folder.
    first
        The configuration that is shown and loaded by default.
    """
    licences = sorted({each.lower() if IDENTIFIER.fullmatch(each) else "other" for each in about.licences})
    card = {
        "pretty_name": about.title,
        "language": list(about.languages),
        "license": licences or ["other"],
        "task_categories": ["translation"],
        "configs": [
            {"config_name": name, "data_files": path, **({"default": True} if name == first else {})}
            for name, path in files.items()
        ],
    }
    return f"---\n{yaml.safe_dump(card, sort_keys=False, allow_unicode=True)}---\n"


def _bibtex(about: About) -> str:
    authors = " and ".join(f"{{{name}}}" for name in _authors())
    return (
        f"@misc{{{about.name}, author = {{{authors}}}, title = {{{about.title}}}, "
        f"year = {{{about.published.year}}}, version = {{{software()['version']}}}}}"
    )


def _rights(licence: str) -> dict[str, str]:
    if not IDENTIFIER.fullmatch(licence):
        return {"rights": licence}
    return {
        "rights": licence,
        "rightsUri": address(licence),
        "rightsIdentifier": licence,
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": SPDX,
    }


def address(licence: str) -> str:
    """URL of a licence, if it has an SPDX identifier; else the licence as it is written."""
    return f"{SPDX}{licence}.html" if IDENTIFIER.fullmatch(licence) else licence


def _format(path: str) -> str:
    return FORMATS.get(PurePosixPath(path).suffix, "text/plain")


def _authors() -> list[str]:
    return [each.get("name") or f"{each['given-names']} {each['family-names']}" for each in software()["authors"]]


def software() -> dict[str, Any]:
    """The citation of this software."""
    citation: dict[str, Any] = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    return citation
