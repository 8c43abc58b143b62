"""Writing a recipe from a warehouse: `variorum new benchmark`.

Here: which files belong to which source, descriptions with paths in the recipe, sizes, a README to complete. Not here:
what a recipe must contain (recipe), which checks every recipe that this module writes.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import polars as pl
import yaml

from benchmark_assets.benchmarks import base_sets
from benchmark_assets.benchmarks.recipe import FETCHED, FILE, FOLDER, Recipe, read
from benchmark_assets.corpus import registry
from benchmark_assets.corpus.description import Description, load
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.pairwise.base_sets import JUDGMENTS, MANIFEST, OUTPUTS, read_base_set
from benchmark_assets.pairwise.building import restricted_of
from benchmark_assets.translation.imports import READERS
from benchmark_assets.understanding import tasks
from resources import whole_files
from resources.downloads import manifest
from resources.errors import BadInput, suggestion
from resources.folders import README, check_vacant, put
from resources.keys import CORPUS
from resources.warehouse import Warehouse

TODO = "TODO"
"""Begins each text that the author of the recipe has to replace."""


class Written(NamedTuple):
    """A written recipe; and for each base set of its corpora that was left out, the reason."""

    recipe: Recipe
    left_out: Mapping[str, str]


class _Place(NamedTuple):
    """A path in a recipe: a source, and a path below its folder ('.' for the folder itself)."""

    source: str
    path: str

    def __str__(self) -> str:
        return f"{FETCHED}/{self.source}" + ("" if self.path == "." else f"/{self.path}")


@dataclass
class _Base:
    """A folder whose files become a source. `licences` are those of the texts in it."""

    folder: Path
    files: set[Path] = field(default_factory=set)
    licences: dict[str, None] = field(default_factory=dict)


class _Sources:
    """The sources of a recipe, from the folders of its texts.

    Parameters
    ----------
    excluded
        Files that are no texts: descriptions, and the tables and glossaries that they name.
    """

    def __init__(self, excluded: Collection[Path]) -> None:
        self._bases: dict[str, _Base] = {}
        self._excluded = excluded

    def place(self, name: str, root: Path, files: Iterable[Path], licence: str) -> _Place:
        """Add the files of a root; return the root's place in the recipe. `name` is the name for a new source."""
        folder = next((each for each in (root, *root.parents) if (each / manifest.NAME).is_file()), None)
        folder = folder or (root if root.is_dir() else root.parent)
        source = next((source for source, base in self._bases.items() if base.folder == folder), None)
        if source is None:
            slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "texts"
            names = (slug if number < 2 else f"{slug}-{number}" for number in count(1))
            source = next(each for each in names if each not in self._bases)
            self._bases[source] = _Base(folder)
        base = self._bases[source]
        base.files |= {file for file in files if file not in self._excluded and file.name != manifest.NAME}
        base.licences[licence] = None
        return _Place(source, root.relative_to(folder).as_posix())

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the files of digests into the folder of a recipe; return its `sources`."""
        content = {}
        for source, base in self._bases.items():
            paths = {file.relative_to(base.folder).as_posix(): file for file in sorted(base.files)}
            lines = [f"{whole_files.sha256(file)}  {path}\n" for path, file in paths.items()]
            whole_files.write(folder / f"{source}.sha256", "".join(lines))
            licence = "; ".join(base.licences)
            about = {"files": f"{source}.sha256", "licence": licence, "terms": f"{TODO}: what {licence} allows"}
            content[source] = about | (_pinned(base.folder, paths) or {
                "source": FOLDER, "how": f"{TODO}: where users get these {len(paths)} files",
            })  # fmt: skip
        return content


def write_recipe(
    warehouse: Warehouse, name: str, corpora: Collection[str], codes: Collection[str], into: Path, people: str
) -> Written:
    """Write a recipe of corpora and tasks into a new folder, with the published systems and base sets of the corpora.

    Base sets with restricted texts, or with items of other corpora, are left out. Files that were downloaded from one
    commit of a repository become a pinned source. All other files become a source that takes a folder of the user's.
    Texts that the author has to replace begin with `TODO`.

    Parameters
    ----------
    people
        Markdown table with the scores of the translators, for the README; '' for none.

    Raises
    ------
    BadInput
        For an unknown corpus or task, a task whose samples no update has read, a folder that is not empty, a base set
        whose files are missing or have changed, or content that no recipe can have. Nothing is written then.
    """
    check_vacant(into)
    descriptions = {corpus: path for corpus, path in registry.paths(warehouse).items() if corpus in corpora}
    places = {code: place for code, place in tasks.places(warehouse).items() if code in codes}
    if unknown := sorted({*corpora, *codes} - {*descriptions, *places}):
        known = [*registry.paths(warehouse), *tasks.places(warehouse)]
        problem = f"no such corpus or task in this warehouse{suggestion(unknown[0], known)}"
        raise BadInput(unknown[0], "", problem, "`variorum status` lists them")
    loaded = {path: load(path) for path in descriptions.values()}
    beside = {file for each in loaded.values() for file in each.beside.values()}
    described = {*registry.paths(warehouse).values(), *(path for path, _ in tasks.places(warehouse).values())}
    sources = _Sources(described | beside)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        content = {
            "name": name, "version": 1, "title": f"{TODO}: {name}",
            "corpora": [_corpus(warehouse, path, each, sources, folder) for path, each in loaded.items()],
            "tasks": [_task(warehouse, code, *place, sources, folder) for code, place in places.items()],
            "outputs": _outputs(warehouse, list(descriptions), sources),
        }  # fmt: skip
        sizes, left_out = _base_sets(warehouse, descriptions, folder)
        content["base_sets"] = [{"description": description} for description in sizes]
        content["sources"] = sources.write(folder)
        _put_yaml(folder / FILE, {key: value for key, value in content.items() if value != []})
        recipe = read(folder)
        readme = _readme(recipe.recipe, sizes, people)
        put({file: (folder / file).read_bytes() for file in recipe.files} | {README: readme}, into)
    return Written(recipe.recipe, left_out)


def _corpus(
    warehouse: Warehouse, path: Path, description: Description, sources: _Sources, folder: Path
) -> dict[str, Any]:
    """The entry of a corpus; its description is written into the folder of the recipe."""
    content = yaml.safe_load(path.read_bytes())
    used = dict[str, None]()

    def place(root: Path, licence: str) -> str:
        found = sources.place(description.name, root, filter(Path.is_file, visible(root)), licence)
        used[found.source] = None
        return str(found)

    content["root"] = place(description.root, description.source.licence)
    for translator, text in description.references.items():
        root = place(text.root or description.root, text.licence)
        if "root" in content["references"][translator]:
            content["references"][translator]["root"] = root
    content.pop("downloads", None)
    for key, file in description.beside.items():
        section, _, name = key.rpartition(".")
        (content[section] if section else content)[name] = f"{description.name}-{file.name}"
        whole_files.write(folder / f"{description.name}-{file.name}", file.read_bytes())
    _put_yaml(folder / f"{description.name}.yaml", content)
    texts = warehouse.read("source_text", pl.DataFrame({"corpus": [description.name]}), ["text"])["text"]
    return {
        "description": f"{description.name}.yaml", "passages": len(texts), "characters": sum(map(len, texts)),
        "sources": list(used),
    }  # fmt: skip


def _task(
    warehouse: Warehouse, code: str, path: Path, root: Path, sources: _Sources, folder: Path
) -> dict[str, Any]:  # fmt: skip
    """The entry of a task; its description is written into the folder of the recipe."""
    content = yaml.safe_load(path.read_bytes())
    files = [root / file for file in content["files"].values()]
    place = sources.place(code.lower(), root, files, content["licence"])
    whole_files.write(folder / "tasks" / f"{code}.yaml", path.read_bytes())
    test = pl.DataFrame({"task": [code], "split": ["test"]})
    texts = [json.loads(each) for each in warehouse.read("task_sample", test, ["texts"])["texts"]]
    if not texts:
        raise BadInput(f"task {code}", "", "its samples have not been read", "run `variorum update`")
    characters = sum(len(text) for sample in texts for text in sample.values())
    return {
        "description": f"tasks/{code}.yaml", "samples": len(texts), "characters": characters, "source": place.source,
        "root": "" if place.path == "." else place.path,
    }  # fmt: skip


def _outputs(warehouse: Warehouse, corpora: list[str], sources: _Sources) -> list[dict[str, Any]]:
    """The entries of the published systems of corpora."""
    keys = pl.DataFrame({"corpus": corpora}, {"corpus": pl.String})
    published = warehouse.read("published_output", keys, ["model", "corpus", "licence"])
    files = warehouse.read("imported_file", keys, ["model", "corpus", "file"])
    entries = []
    for model, corpus, licence, name in published.join(files, on=["model", "corpus"]).sort("model").iter_rows():
        file = Path(name)
        if not file.is_file():
            raise BadInput(file, model, "is missing, so that its digest is unknown", "add the benchmark again")
        place = sources.place("outputs", file, [file], licence)
        passages = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage_id"])["passage_id"]
        absent = sorted(set(READERS[file.suffix](file, ()).texts) - set(passages))
        entry = {"source": place.source, "file": place.path, "model": model, "corpus": corpus}
        entries.append(entry | ({"absent": absent} if absent else {}))
    return entries


def _base_sets(warehouse: Warehouse, corpora: Collection[str], folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Copy the base sets of corpora into the folder of a recipe.

    Returns the size of each by the path of its manifest, and the reasons for leaving others out by base set.
    """
    sizes, left_out = dict[str, str](), dict[str, str]()
    of_items = warehouse.read("base_set_item", columns=["base_set", "passage"]).select("base_set", CORPUS).unique()
    for key, place, imported in warehouse.read("base_set", columns=["base_set", "folder", "content"]).iter_rows():
        needed = set(of_items.filter(base_set=key)["corpus"])
        if needed.isdisjoint(corpora):
            continue
        if others := sorted(needed - set(corpora)):
            left_out[key] = f"it has items of {', '.join(others)}, which the recipe lacks"
            continue
        base_set = read_base_set(Path(place))
        if base_set.hashes.content != imported:
            raise BadInput(Path(place) / MANIFEST, "", f"is not the {key} that was imported", "restore the folder")
        outputs = base_set.outputs.rename({"anchor": "system"})
        if restricted := sorted({*base_set.manifest.restricted, *restricted_of(warehouse, outputs)}):
            left_out[key] = f"it has restricted texts of {', '.join(restricted)}"
            continue
        copy = f"{base_sets.FOLDER}/{key}"
        for name in (MANIFEST, OUTPUTS, JUDGMENTS):
            whole_files.write(folder / copy / name, (Path(place) / name).read_bytes())
        anchors, items = len(base_set.manifest.anchors), len(base_set.manifest.items)
        sizes[f"{copy}/{MANIFEST}"] = f"{anchors} anchors on {items} items, {len(base_set.judgments):,} judgments"
    return sizes, left_out


def _pinned(folder: Path, paths: Mapping[str, Path]) -> dict[str, Any] | None:
    """Repository and commit of files; None unless all were downloaded from the same commit, and are unchanged."""
    records = manifest.read(folder)
    found = set[tuple[str, str, bool, bool]]()
    for path, file in paths.items():
        record = records.get(path)
        if record is None or not record.commit or record.sha256 != whole_files.sha256(file):
            return None
        match = re.search(rf"/([^/]+/[^/]+)/{record.commit}/{re.escape(quote(path))}$", record.url)
        if match is None:
            return None
        found.add((match[1], record.commit, record.restricted, "media.githubusercontent.com" in record.url))
    if len(found) != 1:
        return None
    ((repository, commit, restricted, large),) = found
    source = {"source": "github-lfs"} if large else {}
    return source | {"repository": repository, "commit": commit} | ({"restricted": True} if restricted else {})


def _readme(recipe: Recipe, base_set_sizes: Mapping[str, str], people: str) -> bytes:
    """A README with sizes and the measured scores of the translators. `base_set_sizes` has the sizes of base sets by
    file."""
    counts = [(each.description, each.passages, "passages", each.characters) for each in recipe.corpora]
    counts += [(each.description, each.samples, "samples", each.characters) for each in recipe.tasks]
    sizes = [f"- {file}: {count:,} {unit}, {characters:,} characters" for file, count, unit, characters in counts]
    sizes += [f"- {file}: {size}" for file, size in base_set_sizes.items()]
    parts = [
        f"# {recipe.name}", f"{TODO}: what it is, whose translations, how they are aligned, which doubts remain.",
        "## Sizes", "\n".join(sizes),
    ]  # fmt: skip
    if people:
        parts += ["## Scores of people", people]
    return ("\n\n".join(parts) + "\n").encode()


def _put_yaml(path: Path, content: Mapping[str, Any]) -> None:
    whole_files.write(path, yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120))
