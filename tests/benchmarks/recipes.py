"""Recipes for tests: a small one over the tiny corpus, and the shipped ones cut to a few passages of real files."""

import json
import re
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from lxml import etree

from benchmark_assets.benchmarks.recipe import SHIPPED, read
from tests.benchmarks.mirror import Mirror
from tests.support import TRANSLATIONS, write_corpus

COMMIT = "c0ffee" + "0" * 34
KEPT = 3
"""Chapters and poems, documents or samples that a cut recipe keeps of each file."""


def digests(folder: Path, names: list[str]) -> str:
    """A file of digests, as `sha256sum` writes it."""
    return "".join(f"{sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(names))


def publish(folder: Path) -> Mirror:
    """Write the tiny corpus as two repositories: the texts, and the translation by cleo as running text."""
    write_corpus(folder, translations={name: TRANSLATIONS[name] for name in ("ann", "ben")})
    for document, segments in TRANSLATIONS["cleo"].items():
        (folder / f"{document}.txt").write_text(" ".join(segments.values()), encoding="utf-8")
    return Mirror({f"/people/{name}/{COMMIT}/": folder for name in ("texts", "more")})


def write_recipe(folder: Path, published: Path, **changes: Any) -> Path:
    """Write a recipe of the tiny corpus, whose translation by cleo is optional and needs consent."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ending in (("texts", ".json"), ("more", ".txt")):
        files = [str(path.relative_to(published)) for path in published.rglob(f"*{ending}")]
        (folder / f"{name}.sha256").write_text(digests(published, files))
    source: dict[str, Any] = {"commit": COMMIT, "licence": "CC0-1.0", "terms": "Everything is allowed."}
    more = {"repository": "people/more", "files": "more.sha256", "required": False, "consent": True}
    content = {
        "name": "small", "version": 1, "title": "A small benchmark",
        "sources": {
            "texts": source | {"repository": "people/texts", "files": "texts.sha256"}, "more": source | more,
        },
        "corpora": [
            {
                "description": "tiny.yaml", "passages": 3, "characters": 60, "sources": ["texts"],
                "optional": {"cleo": "more"},
            }
        ],
    }  # fmt: skip
    _dump(folder / "recipe.yaml", content | changes)
    corpus = yaml.safe_load((published / "corpus.yaml").read_text(encoding="utf-8"))
    corpus["references"]["cleo"] = {
        "language": "en", "licence": "CC0-1.0", "layout": "text", "root": "sources/more",
    }  # fmt: skip
    quick = {"root": "sources/texts", "sensitivity": {"passages": 0}}
    _dump(folder / "tiny.yaml", corpus | quick)
    return folder


def change(path: Path, content: Mapping[str, Any]) -> None:
    """Change keys of a YAML file."""
    _dump(path, yaml.safe_load(path.read_text(encoding="utf-8")) | content)


def cut(name: str, folder: Path, mirror: Mirror) -> Path:
    """Write a shipped recipe that pins the first few passages of each file, and let the mirror serve these files."""
    shutil.copytree(SHIPPED / name, folder)
    recipe = read(folder)
    for source in recipe.recipe.sources.values():
        start = f"/{source.repository}/{source.commit}/"
        lines = []
        for path in (
            re.findall(r"(?m)^[0-9a-f]{64}  (.+)$", (folder / source.files).read_text()) if source.files else []
        ):
            body = mirror.body(start + path)
            if body is not None:
                mirror.spoiled[start + path] = _cut(path, body)
                lines.append(f"{sha256(mirror.spoiled[start + path]).hexdigest()}  {path}\n")
        if source.files:
            (folder / source.files).write_text("".join(lines))
    for description in recipe.corpora:
        change(folder / description, {"sensitivity": {"passages": 0}})
    return folder


def _cut(path: str, body: bytes) -> bytes:
    if path.endswith(".xml"):
        return _first_chapters(body)
    return b"\n".join(body.splitlines()[:40]) + b"\n" if path.endswith(".jsonl") else body


def _first_chapters(body: bytes) -> bytes:
    """TEI without everything from the fourth chapter or poem on."""
    root = etree.fromstring(body)
    stops = (
        "//*[(@subtype = 'chapter' or @subtype = 'poem' or @type = 'chapter' or @unit = 'chapter') and @n = $number]"
    )
    elements = list(root.iter())
    stop = elements.index(root.xpath(stops, number=str(KEPT + 1))[0])
    for element in elements[stop:]:
        element.tail = None
        element.getparent().remove(element)
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True))


def _dump(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
