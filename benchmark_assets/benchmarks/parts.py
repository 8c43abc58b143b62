"""The parts of an added benchmark in a warehouse: its corpora, tasks and published outputs, and its record.

Here: checks before anything is fetched, the copy of a recipe in the home, imports, the tables `benchmark` and
`published_output`. Not here: recipes (recipe), files of the sources (fetching), computing (automation.runs).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl
import yaml

from benchmark_assets.benchmarks import base_sets, published_scores
from benchmark_assets.benchmarks.fetching import Stock, listed, provenance
from benchmark_assets.benchmarks.recipe import FETCHED, FILE, ReadRecipe, shipped
from benchmark_assets.corpus import registry
from benchmark_assets.selection.funnel import LISTED
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.understanding import samples, tasks
from benchmark_assets.understanding.description import load
from resources import home, whole_files
from resources.digest import digest
from resources.errors import BadInput, collecting, raise_all, suggestion
from resources.frozen import Frozen
from resources.warehouse import Replacement, Warehouse

FOLDER = "added"
"""Folder in the home with a subfolder `NAME/VERSION` for each added recipe and the files of its sources."""


class RecipePart(NamedTuple):
    """A corpus or task of a recipe: the file of its description, and a digest of everything that defines its content,
    except which optional references are left out."""

    kind: str
    name: str
    description: str
    digest: str


def place(warehouse: Warehouse, recipe: ReadRecipe) -> Path:
    """The folder in the home for the recipe and its files."""
    return warehouse.folder / FOLDER / recipe.recipe.name / str(recipe.recipe.version)


def parts(recipe: ReadRecipe, left_out: Collection[str] = ()) -> list[RecipePart]:
    """The corpora and tasks of a recipe, except those that need a source that is left out."""
    found = []
    for corpus in recipe.recipe.corpora:
        if not {*left_out}.isdisjoint(corpus.sources):
            continue
        description = recipe.corpora[corpus.description]
        content = _declared(description).replace(str(recipe.folder.resolve()), "")  # its paths are absolute
        names = (*corpus.sources, *sorted(corpus.optional.values()))
        sources = [_declared(recipe.downloads[name]) for name in names]
        found.append(RecipePart("corpus", description.name, corpus.description, digest(content, *sources)))
    for task in recipe.recipe.tasks:
        if task.source in left_out:
            continue
        task_description = recipe.tasks[task.description]
        content = digest(_declared(task_description), task.root, _declared(recipe.downloads[task.source]))
        found.append(RecipePart("task", task_description.task, task.description, content))
    return found


def _declared(content: Frozen) -> str:
    """What a declaration states. Keys with default values are left out, so that a key of a later program changes
    nothing."""
    return json.dumps(content.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)


def present(warehouse: Warehouse) -> dict[tuple[str, str], Path]:
    """The description of each corpus and task of the warehouse, by kind and name."""
    corpora = {("corpus", name): path for name, path in registry.paths(warehouse).items()}
    return corpora | {("task", name): path for name, (path, _) in tasks.places(warehouse).items()}


def to_import(warehouse: Warehouse, recipe: ReadRecipe) -> list[RecipePart]:
    """The parts that this version brings: those that no other version of the benchmark has brought.

    Raises
    ------
    BadInput
        If a part has the name of a corpus or task from elsewhere, or another version brought a different part of this
        name, whose results would be lost.
    """
    known, own = present(warehouse), place(warehouse, recipe)
    digests = _brought(warehouse, recipe.recipe.name)
    faults, wanted = [], []
    for part in parts(recipe):
        path = known.get((part.kind, part.name))
        where = recipe.folder / part.description
        key = "name" if part.kind == "corpus" else "task"
        if path is not None and not path.is_relative_to(own.parent):
            problem = f"{part.name!r} is already the name of {path}"
            remedy = f"remove that {part.kind} first: `variorum remove {part.kind} {part.name}`"
            faults.append(BadInput(where, key, problem, remedy))
        elif path is not None and digests.get((part.kind, part.name), part.digest) != part.digest:
            problem = f"{part.name!r} differs from the {part.kind} of this name that was added before"
            remedy = f"raise `version` in {FILE} and give the {part.kind} a new name; the old results are then kept"
            faults.append(BadInput(where, key, problem, remedy))
        elif path is None or path.is_relative_to(own):
            wanted.append(part)
    raise_all(faults)
    return wanted


def with_systems(warehouse: Warehouse, recipe: ReadRecipe, names: Collection[str]) -> ReadRecipe:
    """The recipe with the outputs of chosen published systems only.

    Systems that were chosen for the latest added version stay chosen. If none are named, and the benchmark was not
    added before, all are chosen; the name `all` chooses all.

    Raises
    ------
    BadInput
        For a name that is not a system of the recipe.
    """
    outputs = recipe.recipe.outputs
    known = list(dict.fromkeys(each.model for each in outputs))
    if unknown := [name for name in names if name not in (*known, "all")]:
        remedy = (
            f"use `all`, or some of {', '.join(known)}" if known else "drop it; the recipe has no published systems"
        )
        raise BadInput("--systems", unknown[0], "is not a published system of the recipe", remedy)
    rows = warehouse.read("benchmark", pl.DataFrame({"benchmark": [recipe.recipe.name]}), ["version", "systems"])
    before = rows.sort("version")["systems"].to_list()[-1:]
    if "all" in names or before == [None] or not (names or before):
        return recipe
    systems = tuple(name for name in known if name in {*names, *(before[0] if before else [])})
    files = {
        chosen: {(each.source, each.file) for each in outputs if (each.model in systems) is chosen}
        for chosen in (True, False)
    }
    about = recipe.recipe.model_copy(update={"outputs": tuple(each for each in outputs if each.model in systems)})
    return recipe._replace(recipe=about, systems=systems, skipped=frozenset(files[False] - files[True]))


def check_outputs(warehouse: Warehouse, recipe: ReadRecipe, registered: Collection[str]) -> None:
    """Check the names of published systems.

    `registered` has the names of the registry's models.

    Raises
    ------
    BadInput
        If a name is in the registry, or other outputs were imported under it.
    """
    files = warehouse.read("imported_file", columns=["model", "corpus"])
    published = warehouse.read("published_output", columns=["model", "corpus", "sha256"])
    others = set(files.join(published, on=["model", "corpus"], how="anti").iter_rows())
    digests = {(model, corpus): sha256 for model, corpus, sha256 in published.iter_rows()}
    faults = []
    for outputs in recipe.recipe.outputs:
        key = (outputs.model, outputs.corpus)
        sha256 = recipe.downloads[outputs.source].sha256[outputs.file]
        if outputs.model in registered:
            problem, remedy = "is the name of a model in the registry", "rename the model in the registry"
        elif key in others:
            problem = f"is the name under which outputs for {outputs.corpus} were imported"
            remedy = f"remove them first: `variorum remove model {outputs.model}`"
        elif digests.get(key, sha256) != sha256:
            problem = f"has other published outputs for {outputs.corpus}, which were added before"
            remedy = "give the model a new name; the old results are then kept"
        else:
            continue
        faults.append(BadInput(recipe.folder / FILE, outputs.model, problem, remedy))
    raise_all(faults)


def import_parts(
    warehouse: Warehouse, recipe: ReadRecipe, wanted: Collection[RecipePart], stock: Stock, families: Mapping[str, str]
) -> Stock:
    """Copy the recipe into the home, and register the corpora and tasks in `wanted`.

    References from sources that are left out are removed from the copied descriptions. An optional source is left out,
    too, if nothing pins its files and one of them cannot be read. `families` maps names of judges to their families.

    Returns
    -------
    The stock with all sources that were left out.

    Raises
    ------
    BadInput
        If a description or one of the other files has a fault. No corpus is then registered, and no task.
    """
    folder = place(warehouse, recipe)
    while True:
        changed = _copy(folder, recipe, stock)
        kept = [part for part in wanted if part in parts(recipe, stock.left_out)]
        corpora = [folder / part.description for part in kept if part.kind == "corpus"]
        faults = _corpus_faults(warehouse, corpora, changed, families)
        unpinned = [name for name, each in recipe.recipe.sources.items() if not (each.required or each.files)]
        fetched = {name: (folder / FETCHED / name).resolve() for name in unpinned}
        blamed = {
            name: [fault for fault in faults if Path(fault.where).resolve().is_relative_to(below)]
            for name, below in fetched.items()
        }
        if not faults:
            break
        if sum(map(len, blamed.values())) < len(faults):
            raise_all(faults)
        unreadable = {source: listed(own) for source, own in blamed.items() if own}
        stock = stock._replace(left_out=stock.left_out | unreadable)
    descriptions = {part.description for part in kept}
    roots = {
        folder / task.description: folder / FETCHED / task.source / task.root
        for task in recipe.recipe.tasks if task.description in descriptions
    }  # fmt: skip
    _check_tasks(warehouse, roots)
    base_sets.check_content(folder, recipe, stock)
    for path, root in roots.items():
        raise_all(tasks.import_tasks(warehouse, [path], root).faults)
    for path in corpora:
        registry.register(warehouse, path, families)
    return stock


def _copy(folder: Path, recipe: ReadRecipe, stock: Stock) -> set[Path]:
    """Copy the recipe into its folder, without references from sources that are left out; return the changed files."""
    contents = {name: (recipe.folder / name).read_bytes() for name in recipe.files}
    for corpus in recipe.recipe.corpora:
        missing = {name for name, source in corpus.optional.items() if source in stock.left_out}
        if missing:
            contents[corpus.description] = _without(contents[corpus.description], missing)
    changed = {
        folder / name for name, content in contents.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content
    }  # fmt: skip
    for path in changed:
        whole_files.write(path, contents[path.relative_to(folder).as_posix()])
    return changed


def _corpus_faults(
    warehouse: Warehouse, corpora: Collection[Path], changed: Collection[Path], families: Mapping[str, str]
) -> list[BadInput]:
    """Faults of descriptions and their files. Corpora of the warehouse are read again if their description is in
    `changed`."""
    known = {path.resolve() for path in present(warehouse).values()}
    faults: list[BadInput] = []
    for path in corpora:
        if path.resolve() not in known or path in changed:
            description, found = registry.inspect(warehouse, path, families, files=True)
            faults += found
            if description is not None and not description.root.exists():
                faults.append(BadInput(path, "root", f"there is no {description.root}", "name files of a source"))
    return faults


def _check_tasks(warehouse: Warehouse, roots: Mapping[Path, Path]) -> None:
    """Read the files of tasks that are not in the warehouse yet. `roots` has the folder of each task's files by the
    path of its description.

    Raises
    ------
    BadInput
        If a description or one of its files has a fault.
    """
    known = {path.resolve() for path in present(warehouse).values()}
    faults: list[BadInput] = []
    for path, root in roots.items():
        if path.resolve() not in known:
            with collecting(faults):
                samples.read(load(path), root)
    raise_all(faults)


def import_published(warehouse: Warehouse, recipe: ReadRecipe, stock: Stock) -> dict[str, int]:
    """Import the published outputs whose source and corpus are not left out; return the number of outputs by model.

    Raises
    ------
    BadInput
        If a file of outputs is not valid, or has a passage that the corpus lacks and the recipe does not list.
    """
    folder, counts, records = place(warehouse, recipe), dict[str, int](), []
    corpora = {part.name for part in parts(recipe, stock.left_out) if part.kind == "corpus"}
    for outputs in recipe.recipe.outputs:
        if outputs.source not in stock.left_out and outputs.corpus in corpora:
            path = folder / FETCHED / outputs.source / outputs.file
            _, counts[outputs.model] = import_outputs(
                warehouse, path, outputs.corpus, outputs.model, absent=outputs.absent
            )
            names = {"model": outputs.model, "corpus": outputs.corpus}
            records.append(names | provenance(recipe, folder, outputs.source, outputs.file))
    if records:
        rows = pl.DataFrame(records).with_columns(
            benchmark=pl.lit(recipe.recipe.name), prompt=pl.lit(recipe.recipe.prompt or None, pl.String),
            fingerprint="sha256",
        )  # fmt: skip
        warehouse.write([Replacement("published_output", rows, rows.select("model", "corpus"))], run_id="add")
    return counts


def import_scores(warehouse: Warehouse, recipe: ReadRecipe, stock: Stock) -> None:
    """Import the published scores whose source is not left out, replacing those of the benchmark.

    Raises
    ------
    BadInput
        If a file is not valid.
    """
    kept = [each for each in recipe.recipe.scores if each.source not in stock.left_out]
    if kept:
        benchmark = pl.lit(recipe.recipe.name).alias("benchmark")
        folder, downloads = place(warehouse, recipe), recipe.downloads
        read = [published_scores.read(folder, each, downloads[each.source].licence) for each in kept]
        rows = pl.concat(read).with_columns(benchmark)
        warehouse.write([Replacement("published_score", rows, pl.select(benchmark))], run_id="add")


def record(warehouse: Warehouse, recipe: ReadRecipe, stock: Stock) -> None:
    """Write the row of an added benchmark, after all its parts are imported."""
    about, folder = recipe.recipe, place(warehouse, recipe)
    stored = parts(recipe, stock.left_out)
    names = {kind: [part.name for part in stored if part.kind == kind] for kind in ("corpus", "task")}
    brought = {f"{part.kind} {part.name}": part.digest for part in stored}
    row = pl.DataFrame(
        {
            "benchmark": [about.name], "version": [about.version], "recipe_hash": [recipe.content],
            "title": [about.title], "corpora": [names["corpus"]], "tasks": [names["task"]],
            "parts": [json.dumps(brought)], "systems": [recipe.systems and list(recipe.systems)],
            "origin": [recipe.origin], "left_out": [json.dumps(stock.left_out)],
            "recipe": [home.stored(folder, warehouse.folder)], "home": [str(warehouse.folder)],
            "fingerprint": [recipe.content],
        },
        schema_overrides={
            "version": pl.Int32, "corpora": pl.List(pl.String), "tasks": pl.List(pl.String), "origin": pl.String,
            "systems": pl.List(pl.String),
        },
    )  # fmt: skip
    warehouse.write([Replacement("benchmark", row, row.select("benchmark", "version"))], run_id="add")


class Added(NamedTuple):
    """The corpora and tasks of an added benchmark, and the optional sources that are left out, with the reasons."""

    corpora: list[str]
    tasks: list[str]
    left_out: Mapping[str, str] = {}


def added(warehouse: Warehouse, benchmark: str) -> Added:
    """The corpora and tasks of the highest added version of a benchmark; or the corpus or task of this name.

    Raises
    ------
    BadInput
        If no added benchmark, corpus or task has this name.
    """
    rows = warehouse.read("benchmark", pl.DataFrame({"benchmark": [benchmark]})).sort("version")
    if rows.is_empty():
        whole = everything(warehouse)
        if benchmark in whole.corpora or benchmark in whole.tasks:
            corpora, tasks = ([benchmark] if benchmark in names else [] for names in whole[:2])
            return Added(corpora, tasks)
        if benchmark in shipped():
            raise BadInput(benchmark, "", "was not added to this warehouse", f"run `variorum add {benchmark}`")
        known = [*warehouse.read("benchmark", columns=["benchmark"])["benchmark"], *whole.corpora, *whole.tasks]
        problem = f"no benchmark, corpus or task of this warehouse{suggestion(benchmark, [*known, *shipped()])}"
        raise BadInput(
            benchmark, "", problem, "`variorum status` lists them, and `variorum benchmarks` what can be added"
        )
    return Added(rows["corpora"][-1].to_list(), rows["tasks"][-1].to_list(), json.loads(rows["left_out"][-1]))


def everything(warehouse: Warehouse) -> Added:
    """All corpora and tasks of the warehouse."""
    corpora, tasks = (warehouse.read(kind, columns=[kind])[kind].to_list() for kind in ("corpus", "task"))
    return Added(corpora, tasks)


def evaluable(warehouse: Warehouse, benchmark: str) -> Added:
    """The corpora and tasks of an added benchmark, on which models can be evaluated.

    Raises
    ------
    BadInput
        If the benchmark was not added, or its texts were left out.
    """
    found = added(warehouse, benchmark)
    if not (found.corpora or found.tasks):
        reasons = "; ".join(f"the source {name} was left out: {reason}" for name, reason in found.left_out.items())
        remedy = f"run `variorum add {benchmark}` again where its files can be fetched"
        raise BadInput(benchmark, "", f"has no texts in this home ({reasons})", remedy)
    return found


def unprepared(warehouse: Warehouse, benchmark: Added) -> bool:
    """Whether no update has selected passages of a corpus, or read the samples of a task."""
    corpora = pl.DataFrame({"corpus": benchmark.corpora}, {"corpus": pl.String})
    passages = warehouse.read("source_text", corpora, ["passage"])
    selected = warehouse.read("selection", passages, ["passage"])
    read = warehouse.read("task_sample", pl.DataFrame({"task": benchmark.tasks}, {"task": pl.String}), ["task"])
    return len(selected) < len(passages) or set(read["task"]) != set(benchmark.tasks)


def _brought(warehouse: Warehouse, benchmark: str) -> dict[tuple[str, str], str]:
    """Digests of the parts that versions of a benchmark have brought, by kind and name."""
    rows = warehouse.read("benchmark", pl.DataFrame({"benchmark": [benchmark]}), ["parts"])
    return {
        (kind, part): content
        for text in rows["parts"]
        for name, content in json.loads(text).items()
        for kind, _, part in [name.partition(" ")]
    }


def _without(description: bytes, references: Collection[str]) -> bytes:
    """A description without some of its references."""
    content = yaml.safe_load(description)
    for name in references:
        del content["references"][name]
    if not content["references"]:
        del content["references"]
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False).encode()


def sizes(warehouse: Warehouse, recipe: ReadRecipe, stock: Stock) -> Iterator[str]:
    """A line for each corpus and task: its size, and how the size differs from the recipe's."""
    present = {part.description: part for part in parts(recipe, stock.left_out)}
    expected = [(each.description, each.passages, "passages") for each in recipe.recipe.corpora]
    expected += [(each.description, each.samples, "samples") for each in recipe.recipe.tasks]
    for description, size, unit in expected:
        if not (part := present.get(description)):
            continue
        key = pl.DataFrame({part.kind: [part.name]})
        if part.kind == "corpus":
            count = len(warehouse.read("source_text", key, ["listed"]).filter(LISTED))
        else:
            count = len(warehouse.read("task_sample", key.with_columns(split=pl.lit("test")), ["task"]))
        note = f", not {size} as in the recipe" if count != size else ""
        yield f"{part.kind} {part.name}: {count} {unit}{note}"
