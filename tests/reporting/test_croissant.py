"""The records for catalogues keep the rules of their specifications, and say what is in the package."""

import json
import re
import tomllib
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
import yaml

from benchmark_assets.reporting.export import export
from benchmark_assets.reporting.records import About, croissant, datacite
from resources.home import PROJECT
from resources.warehouse import Warehouse

ABOUT = About("tiny", "What it is.", date(2026, 2, 3), ["CC0-1.0", "by kind permission"], ["en", "la"])

# Specification 1.0: "Dataset-level information", required properties; FileObject; RecordSet; Field.
DATASET = {
    "@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished",
    "distribution",
}  # fmt: skip
DATA_TYPES = {"sc:Text", "sc:Float", "sc:Integer", "sc:Boolean", "sc:DateTime"}

# DataCite 4.5: the mandatory properties, but the identifier, which is assigned at registration.
MANDATORY = {"creators", "titles", "publisher", "publicationYear", "types", "schemaVersion"}


def check_croissant(record: dict[str, Any]) -> None:
    """Rules of the specification that can be checked without the files."""
    assert record.keys() >= DATASET
    assert record["@type"] == "sc:Dataset"
    assert record["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert record["@context"]["conformsTo"] == "dct:conformsTo"
    terms = set(record["@context"])
    assert {"cr", "sc", "dct", "recordSet", "field", "dataType", "source", "extract", "fileObject", "citeAs"} <= terms
    date.fromisoformat(record["datePublished"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", record["version"])
    assert re.fullmatch(r"@misc\{[^,\s]+(, \w+ = \{.+\})+\}", record["citeAs"])
    files = {each["@id"]: each for each in record["distribution"]}
    ids = [*files]
    for each in files.values():
        assert each["@type"] == "cr:FileObject"
        assert each.keys() >= {"name", "contentUrl", "encodingFormat", "sha256"}
        assert re.fullmatch(r"[0-9a-f]{64}", each["sha256"])
        assert re.fullmatch(r"\d+ B", each["contentSize"])
    for each in record["recordSet"]:
        assert each["@type"] == "cr:RecordSet"
        ids.append(each["@id"])
        assert each["field"]
        for field in each["field"]:
            ids.append(field["@id"])
            assert field["@type"] == "cr:Field"
            assert field["@id"] == f"{each['@id']}/{field['name']}"
            assert field["dataType"] in DATA_TYPES
            assert field["description"]
            assert field["source"]["fileObject"]["@id"] in files
            assert field["source"]["extract"] == {"column": field["name"]}
    assert len(ids) == len(set(ids))


def check_datacite(record: dict[str, Any]) -> None:
    """Mandatory properties, as DataCite's JSON has them."""
    assert record.keys() >= MANDATORY
    assert record["schemaVersion"] == "http://datacite.org/schema/kernel-4"
    assert record["types"]["resourceTypeGeneral"] == "Dataset"
    assert all(each["name"] for each in record["creators"])
    assert all(each["nameType"] in ("Organizational", "Personal") for each in record["creators"])
    assert all(each["title"] for each in record["titles"])
    assert record["publisher"]["name"]
    assert re.fullmatch(r"\d{4}", record["publicationYear"])
    assert all(each["dateType"] in ("Issued", "Created", "Available") for each in record["dates"])
    assert all(each["descriptionType"] == "Abstract" for each in record["descriptions"])
    for each in record["rightsList"]:
        assert each["rights"]
        assert ("rightsUri" in each) == (each.get("rightsIdentifierScheme") == "SPDX")


def test_the_records_of_a_package_say_what_is_in_it(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "package"
    export(warehouse, folder, "tiny", published=date(2026, 2, 3))
    record = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    check_croissant(record)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    about = {"croissant.json", "datacite.json", "datapackage.json", "checksums.sha256"}
    assert {each["contentUrl"]: each["sha256"] for each in record["distribution"]} == {
        path: sha256(whole).hexdigest() for path, whole in files.items() if path not in about
    }
    for each in record["recordSet"]:
        rows = pl.read_parquet(folder / each["field"][0]["source"]["fileObject"]["@id"])
        assert [field["name"] for field in each["field"]] == rows.columns
        lists = [name for name, kind in rows.schema.items() if isinstance(kind, pl.List)]
        assert [field["name"] for field in each["field"] if field.get("repeated")] == lists
    assert record["license"] == ["https://spdx.org/licenses/CC0-1.0.html"]
    assert record["datePublished"] == "2026-02-03"
    check_datacite(json.loads((folder / "datacite.json").read_text(encoding="utf-8")))


def test_only_known_licences_have_an_address() -> None:
    record = datacite(ABOUT, {"scores.csv": b"a\n"})
    check_datacite(record)
    assert [each.get("rightsUri") for each in record["rightsList"]] == ["https://spdx.org/licenses/CC0-1.0.html", None]
    assert croissant(ABOUT, {}, [])["license"][1] == "by kind permission"
    assert record["publicationYear"] == "2026"


@pytest.mark.parametrize("missing", ["license", "datePublished", "distribution"])
def test_the_rules_notice_what_is_missing(missing: str) -> None:
    record = croissant(ABOUT, {"README.md": b"x"}, [])
    check_croissant(record)
    del record[missing]
    with pytest.raises(AssertionError):
        check_croissant(record)


def test_the_citation_of_the_repository_is_valid_and_of_this_version() -> None:
    """Citation File Format 1.2.0: the required keys, and those that we give."""
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    allowed = {"cff-version", "message", "title", "authors", "type", "abstract", "version", "license", "keywords"}
    assert {"cff-version", "message", "title", "authors"} <= set(citation) <= allowed
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    assert all(set(each) in ({"name"}, {"family-names", "given-names"}) for each in citation["authors"])
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
