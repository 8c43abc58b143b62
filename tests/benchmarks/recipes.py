"""Recipes for tests: a small one over the tiny corpus, and the shipped ones cut to a few passages of real files."""

import json
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from lxml import etree

from benchmark_assets.benchmarks.fetching import asked
from benchmark_assets.benchmarks.recipe import FOLDER, SHIPPED, UserFolder, read
from resources.downloads.sources import Download, wanted
from tests.benchmarks.mirror import Mirror
from tests.support import TRANSLATIONS, write_corpus

COMMIT = "c0ffee" + "0" * 34
FOLDERS = {"literary-zh-ja": "literary"}
"""Folders of real data whose name is not that of their recipe."""


class Cut(NamedTuple):
    """What a cut recipe keeps: chapters or poems of each file, samples of each file (at least), and documents."""

    chapters: int
    samples: int
    documents: frozenset[str]


SMALL = Cut(3, 40, frozenset({"an10.13", "an10.15", "an10.17"}))
TINY = Cut(2, 12, frozenset({"an10.13"}))
"""Enough for a row in every table. Aligning and embedding the further documents of `SMALL` takes 10 s of a core."""


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
    for name, ending in (("texts", ".json*"), ("more", ".txt")):
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


def cut(name: str, folder: Path, mirror: Mirror, size: Cut = SMALL) -> Path:
    """Write a shipped recipe that pins the first few passages of each file, and let the mirror serve these files."""
    shutil.copytree(SHIPPED / name, folder)
    recipe = read(folder)
    for source_name, source in recipe.recipe.sources.items():
        # The real data have pointers only of files in LFS, and folders are given whole.
        if source.source in ("github-lfs", FOLDER):
            continue
        start, lines = f"/{source.repository}/{source.commit}/", []
        if not source.files:
            continue
        for path in recipe.downloads[source_name].files:
            if body := _cut(path, mirror.body(start + path) or b"", size):
                mirror.spoiled[start + path] = body
                lines.append(f"{sha256(body).hexdigest()}  {path}\n")
        prompts = {file for each in recipe.recipe.protocols if each.source == source_name for file in each.files}
        if source.required or (lines and all(mirror.body(start + file) for file in prompts)):
            (folder / source.files).write_text("".join(lines))
    for path, description in recipe.corpora.items():
        change(folder / path, {"sensitivity": {"passages": 0}})
        if description.offsets:
            rows = description.offsets.read_text().splitlines(keepends=True)
            description.offsets.write_text("".join(rows[: size.chapters + 1]))
    _keep_texts(folder, lambda text, _: text in size.documents)
    return folder


def folders(name: str, data: Path) -> list[str]:
    """Options of `variorum add` that give the folders of real data to the sources of a shipped recipe, and the consent
    to ask judges, which nobody does before there are outputs."""
    recipe, place = read(SHIPPED / name), data / FOLDERS.get(name, name) / "raw"
    sources = recipe.downloads.items() if place.is_dir() else ()
    options = [f"--folder={source}={place}" for source, files in sources if isinstance(files, UserFolder)]
    return options + ["--accept"] * bool(asked(recipe))


def reachable(name: str, folder: Path, mirror: Mirror) -> Path:
    """Write a shipped recipe without the unpinned texts that the mirror lacks."""
    shutil.copytree(SHIPPED / name, folder)
    _keep_texts(folder, lambda _, path: mirror.body(path) is not None)
    return folder


def _keep_texts(folder: Path, kept: Callable[[str, str], bool]) -> None:
    """Leave out texts of publishers without versions: those for whose uid and path on a mirror `kept` is false."""
    recipe = read(folder)
    sources = recipe.recipe.model_dump(mode="json", exclude_defaults=True)["sources"]
    for name, source in recipe.recipe.sources.items():
        download = recipe.downloads[name]
        if source.texts and isinstance(download, Download):
            files = wanted([download], folder)
            texts = [file.text for file in files if kept(file.text, file.url.removeprefix("https:/"))]
            change(folder / "recipe.yaml", {"sources": sources | {name: sources[name] | {"texts": texts}}})


def _cut(path: str, body: bytes, size: Cut) -> bytes:
    """The first passages of a file; empty if the cut recipe does without the file."""
    name = path.rpartition("/")[2]
    if not body or path.startswith("prompts/"):
        return body
    if name.endswith(".xml"):
        return _first_chapters(body, size.chapters)
    if name.endswith(".jsonl"):
        lines = body.splitlines()  # sorted by class, so that the first ones would be of one class
        return b"\n".join(lines[:: max(len(lines) // size.samples, 1)]) + b"\n"
    if name.endswith(".csv"):
        header, *rows = body.splitlines()
        rows = [row for row in rows if row.partition(b":")[0].decode() in size.documents]
        return b"\n".join([header, *rows]) + b"\n"
    if "/per_passage_scores/" in path:
        scores = [row for row in json.loads(body) if row["passage_id"].partition(":")[0] in size.documents]
        return json.dumps(scores).encode()
    if "/translations/" in path:
        content = json.loads(body)
        texts = {key: text for key, text in content["translations"].items() if key.partition(":")[0] in size.documents}
        return json.dumps(content | {"translations": texts}).encode()
    return body if name.partition("_")[0] in size.documents else b""


def _first_chapters(body: bytes, count: int) -> bytes:
    """TEI with the first chapters or poems only."""
    root = etree.fromstring(body)
    stops = (
        "//*[(@subtype = 'chapter' or @subtype = 'poem' or @type = 'chapter' or @unit = 'chapter') and @n = $number]"
    )
    elements = list(root.iter())
    stop = elements.index(root.xpath(stops, number=str(count + 1))[0])
    for element in elements[stop:]:
        element.tail = None
        element.getparent().remove(element)
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True))


def _dump(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
