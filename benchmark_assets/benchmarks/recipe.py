"""Recipes of benchmarks: folders of declarations, without code.

Here: the content of a recipe and its strict reader. Not here: fetching its sources (fetching), its parts in a warehouse
(parts), the published numbers.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints, model_validator

from benchmark_assets.benchmarks import numbers
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.description import examine as examine_corpus
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.pairwise.base_sets import MANIFEST, Identity, read_base_set
from benchmark_assets.pairwise.published import read_description
from benchmark_assets.pairwise.totals import read_totals
from benchmark_assets.studies.protocols import Asking, Role
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.description import load as load_task
from resources import whole_files, yaml_files
from resources.digest import digest
from resources.downloads.sources import REPOSITORIES, SOURCES, Download
from resources.errors import BadInput, collecting, one_of, raise_all, suggestion
from resources.frozen import Frozen
from resources.home import PROJECT

SHIPPED = PROJECT / "warehouse" / "benchmarks"
"""Folder of the recipes that are part of this project."""

FILE = "recipe.yaml"
FETCHED = "sources"
"""Folder below an added recipe with a subfolder for the files of each source."""

FOLDER = "folder"
"""Name of the source whose files users bring."""

DECLARATIONS = {".yaml", ".md", ".sha256", ".csv", ".tsv", ".jsonl", ".txt"}
"""Endings of the files that a recipe may have."""

MOST_YAML = 2**20
"""Size limit of a YAML file in bytes: the largest shipped one has 26 KB, and a parser needs much memory."""

REMEDY = "compare it with warehouse/benchmarks/livy/recipe.yaml"

_SUM = re.compile(r"([0-9a-f]{64})  (\S.*)")

Name = Annotated[str, StringConstraints(pattern="^[a-z0-9][a-z0-9-]*$")]
"""Name of a benchmark or source, which is also the name of a folder."""


class UserFolder(Frozen):
    """Files that no publisher has in a usable form, and that users bring in a folder of their own.

    `sha256` has the expected digests by path in the folder; without digests, all files of the folder are taken. Files
    that are `pasted` from a publication are compared and kept in the form of `benchmarks.pasted`.
    """

    licence: str
    pasted: bool = False
    sha256: dict[str, str] = Field(default={})

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the expected files."""
        return tuple(self.sha256)


class RecipeSource(Frozen):
    """Files of one publisher, or of a folder that users bring, on the same terms.

    - `source`: a name in `SOURCES`, or `folder`. Files of `REPOSITORIES` are listed in the file `files` of the
      recipe.
    - `files`: a file of digests, in the form that `sha256sum` writes: SHA-256, two spaces, path in the repository or
      folder. A folder without digests cannot be required.
    - `texts`, `path`: as in a corpus description, for publishers without commits. Nothing pins the version of such
      files, so they cannot be required.
    - `how`: for a folder, where users get the files.
    - `pasted`: for a folder, whether its files are texts that users paste from a publication. Their digests are those
      of the form that `benchmarks.pasted` gives them.
    - `terms`: what the licence allows, printed before anything is fetched.
    - `consent`: whether the terms must be accepted with `--accept`.
    - `required`: whether the benchmark cannot be added without the files.
    - `megabytes`: size limit of a file, for files above the usual limit; the time limit grows with it.
    """

    source: str = "github"
    repository: str = ""
    commit: str = ""
    files: str = ""
    licence: str = ""
    restricted: bool = False
    texts: tuple[str, ...] = ()
    path: str = ""
    how: str = ""
    pasted: bool = False
    terms: str = Field(min_length=1)
    consent: bool = False
    required: bool = True
    megabytes: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _pinned(self) -> "RecipeSource":
        if self.source in REPOSITORIES and not self.files:
            raise ValueError("`files` must name a file with the SHA-256 of each file")
        if self.pasted and (self.source != FOLDER or not self.files):
            raise ValueError("`pasted` is for `source: folder` with `files`")
        if (self.source == FOLDER) != bool(self.how):
            raise ValueError("`how` must say where users get the files, for `source: folder` only")
        if self.source == FOLDER:
            if not self.licence or self.repository or self.commit or self.texts or self.path or self.restricted:
                raise ValueError("`source: folder` has `licence`, `files` and `how`; restrict texts in descriptions")
            if self.required and not self.files:
                raise ValueError("without `files`, nothing pins what is in a folder; write `required: false`")
        elif self.source not in REPOSITORIES and (self.required or self.files):
            raise ValueError("only files of repositories can be pinned; write `required: false`, without `files`")
        return self


class RecipeCorpus(Frozen):
    """A corpus: its description, its size, and where its files come from.

    `passages` and `characters` (of the source text) are the expected size; a difference is reported. `sources` names
    the sources that the corpus needs: it is left out with any of them. `optional` names the source of each reference
    that can be left out.
    """

    description: str
    passages: int = Field(ge=1)
    characters: int = Field(ge=1)
    sources: tuple[Name, ...] = Field(min_length=1)
    optional: dict[str, Name] = Field(default={})


class RecipeTask(Frozen):
    """An understanding task: its description, the source of its files, and the folder to which their paths are
    relative; `samples` is the expected number of test samples, and `characters` the length of their texts."""

    description: str
    samples: int = Field(ge=1)
    characters: int = Field(ge=1)
    source: Name
    root: str = ""


class PublishedOutputs(Frozen):
    """A file of published outputs, imported under the name `model`.

    `absent` lists passages that the file has and the corpus lacks.
    """

    source: Name
    file: str
    model: str
    corpus: str
    absent: tuple[str, ...] = ()


class PublishedTotals(Frozen):
    """Published totals of the anchors of a base set: a file of the recipe, with the place where they were published.

    Scores from totals stand until the base set itself is imported.
    """

    file: str
    url: str
    commit: str
    licence: str


class RecipeBaseSet(Frozen):
    """A base set: `description` is its manifest, beside its other files in the recipe's folder.

    With `source`, the base set is made from files as JP-TL-Bench publishes them, and `description` describes these
    files. It is left out with the source; `totals` then give the anchors' scores.
    """

    description: str
    source: str = ""
    totals: PublishedTotals | None = None


class PublishedScores(Frozen):
    """Published scores of systems on one corpus. They are stored as published, and never on the leaderboard.

    - `source`, `files`: the source, and the file of each system with its scores of passages (a JSON array).
    - `columns`: names in these files of our columns, if they differ.
    - `translators`: the references of the published scores.
    - `embedder`, `comet`: what computed the published scores.
    - `overall`: a table (.csv) in the recipe's folder with scores over all passages, one row for each system.
    """

    corpus: str
    source: Name
    files: dict[str, str] = Field(min_length=1)
    columns: dict[str, str] = Field(default={})
    translators: tuple[str, ...] = Field(min_length=1)
    embedder: str = Field(min_length=1)
    comet: str = ""
    overall: str = ""


class PublishedText(Frozen):
    """A text of a protocol, as the paper's repository has it.

    - `file`: its file in the protocol's source; without `literal`, the text is the whole file.
    - `literal`: the name of a literal in a Python file, which is read and never executed, such as `PROMPTS.system`, or
      `ask.prompt` for the variable of a function.
    - `text`: a text of the recipe itself, in place of a file, such as `{passages}`.
    - `braces`: how the text marks its fields: `single`, as in Python, where a doubled brace is a brace; `double`;
      `named`, a name in braces, where other braces are text; or none.
    - `expressions`: the name of each field of an f-string that is an expression of another form.
    - `stripped`: whether blanks at both ends are no part of the text.
    """

    file: str = ""
    literal: str = ""
    text: str = ""
    braces: Literal["", "single", "double", "named"] = ""
    expressions: dict[str, str] = Field(default={})
    stripped: bool = False

    @model_validator(mode="after")
    def _one_origin(self) -> "PublishedText":
        if bool(self.file) == bool(self.text) or (self.literal and not self.file):
            raise ValueError("give a `file`, perhaps with a `literal` in it, or else a `text`")
        return self


class RecipeProtocol(Asking):
    """How the paper asks models for one thing.

    - `role`, `subjects`: what is asked for, and the corpora, base sets (`name@version`) or tasks.
    - `source`: the source with the files of its prompts.
    - `name`: the first part of the prompt's name in tables.
    - `system`, `user`: the messages; without `system`, none is sent.
    - `labels`: a literal that maps the names of classes to numbers. `numbers` has the label that the task's files have
      for each number.
    - The other keys are as in `studies.protocols.Asking`.
    """

    role: Role
    subjects: tuple[str, ...] = Field(min_length=1)
    source: Name
    name: str = Field(pattern="^[a-z0-9][a-z0-9-]*$")
    system: PublishedText | None = None
    user: PublishedText
    labels: PublishedText | None = None
    numbers: dict[int, str] = Field(default={})

    @property
    def files(self) -> list[str]:
        """Paths, in the source, of the files that the protocol reads."""
        return [each.file for each in (self.system, self.user, self.labels) if each and each.file]


class Need(Frozen):
    """Something that cannot be fetched: why, and how to obtain it."""

    what: str
    why: str
    how: str


class Paper(Frozen):
    """The publication that a benchmark is from."""

    citation: str
    url: str = ""


class Recipe(Frozen):
    """The content of `recipe.yaml`.

    `prompt` is the prompt of this project (name, version, first digits of its hash) that models of the registry need in
    order to be comparable with the published outputs; '' if no prompt is comparable or the published one is unknown.
    """

    name: Name
    version: int = Field(ge=1, le=2**31 - 1)
    title: str = Field(min_length=1)
    paper: Paper | None = None
    sources: dict[Name, RecipeSource] = Field(min_length=1)
    corpora: tuple[RecipeCorpus, ...] = ()
    tasks: tuple[RecipeTask, ...] = ()
    outputs: tuple[PublishedOutputs, ...] = ()
    base_sets: tuple[RecipeBaseSet, ...] = ()
    scores: tuple[PublishedScores, ...] = ()
    protocols: tuple[RecipeProtocol, ...] = ()
    prompt: str = Field(default="", pattern=r"^(|\S+ v[1-9]\d* [0-9a-f]{8})$")
    needs: tuple[Need, ...] = ()


class ReadRecipe(NamedTuple):
    """A recipe and the content of its folder.

    `corpora`, `tasks` and `base_sets` are the descriptions by the paths of their files in the folder, and `downloads`
    has one entry for each source. `content` is the digest of all files, by which versions are compared. `systems` are
    the published systems to import, None for all; `recipe.outputs` has no others, and `skipped` has the source and path
    of each file of the others. `origin` is the repository of the folder.
    """

    recipe: Recipe
    folder: Path
    files: tuple[str, ...]
    content: str
    corpora: Mapping[str, Description]
    tasks: Mapping[str, TaskDescription]
    base_sets: Mapping[str, Identity]
    downloads: Mapping[str, Download | UserFolder]
    systems: tuple[str, ...] | None = None
    skipped: frozenset[tuple[str, str]] = frozenset()
    origin: str | None = None

    @property
    def source_languages(self) -> set[str]:
        """Languages of the sources of the corpora, and of the tasks."""
        return {corpus.source.language for corpus in self.corpora.values()} | {
            task.language for task in self.tasks.values()
        }

    @property
    def languages(self) -> list[str]:
        """Language pairs of the corpora and languages of the tasks."""
        pairs = [f"{corpus.source.language} → {corpus.target_language}" for corpus in self.corpora.values()]
        return sorted({*pairs, *(task.language for task in self.tasks.values())})


def shipped() -> dict[str, Path]:
    """Folders of the project's own recipes, by name."""
    return {path.parent.name: path.parent for path in sorted(SHIPPED.glob(f"*/{FILE}"))}


def find(name: str) -> Path:
    """The folder of a recipe, by the name of a shipped recipe or by a path.

    Raises
    ------
    BadInput
        If there is no such recipe.
    """
    if name in (known := shipped()):
        return known[name]
    if (Path(name) / FILE).is_file():
        return Path(name).resolve()
    problem = f"is neither a shipped benchmark nor a folder with a {FILE}{suggestion(name, known)}"
    raise BadInput(name, "", problem, f"use one of {', '.join(known)}, or the path of a folder")


def read(folder: Path) -> ReadRecipe:
    """Read a recipe and all files that it names.

    Raises
    ------
    BadInput
        For an unknown, missing or wrong key; a file that is no declaration, is missing, or lies outside the folder; a
        source without commit or digests; a description with a fault, with `downloads` of its own, or with a path
        outside the folder; or a name that nothing declares. All faults are raised together.
    """
    path = folder / FILE
    recipe, faults = yaml_files.examine(path, Recipe, REMEDY)
    files = tuple(_files(folder, faults))
    raise_all(faults)
    assert recipe is not None  # it has no fault
    downloads: dict[str, Download | UserFolder] = {}
    for name, source in recipe.sources.items():
        with collecting(faults):
            downloads[name] = _download(folder, name, source)
    corpora, tasks = dict(_corpora(folder, recipe, faults)), dict(_tasks(folder, recipe, faults))
    base_sets = dict(_base_sets(folder, recipe, faults))
    faults += _unknown_names(path, recipe, corpora, downloads)
    for number, scores in enumerate(recipe.scores):
        with collecting(faults):
            if scores.overall:
                _inside(folder, f"scores.{number}.overall", scores.overall)
    if numbers.FILE in files:
        with collecting(faults):
            numbers.read(folder / numbers.FILE)
    raise_all(faults)
    content = digest([(name, whole_files.sha256(folder / name)) for name in files])
    return ReadRecipe(recipe, folder, files, content, corpora, tasks, base_sets, downloads)


def _files(folder: Path, faults: list[BadInput]) -> Iterator[str]:
    """Paths of a recipe's files, relative to its folder, without hidden ones. Other files than declarations are
    faults."""
    for path in visible(folder):
        if path.is_symlink():
            faults.append(BadInput(path, "", "is a link, which may lead out of the folder", "replace it by the file"))
        elif path.is_file() and path.suffix not in DECLARATIONS:
            remedy = f"remove it; files of a recipe end in {', '.join(sorted(DECLARATIONS))}"
            faults.append(BadInput(path, "", "is not a declaration", remedy))
        elif path.suffix == ".yaml" and path.stat().st_size > MOST_YAML:
            faults.append(BadInput(path, "", f"is larger than {MOST_YAML // 2**20} MB", "move lists to other files"))
        elif path.is_file():
            yield path.relative_to(folder).as_posix()


def _inside(folder: Path, key: str, name: str) -> Path:
    """The path of a file that a recipe names.

    Raises
    ------
    BadInput
        If it is missing, hidden (and so may be a link), or outside the folder.
    """
    path = PurePosixPath(name)
    if any(part.startswith((".", "/")) for part in path.parts):
        problem = f"{name!r} is hidden or lies outside the folder"
        raise BadInput(folder / FILE, key, problem, "name a file in the recipe's folder")
    if not (folder / path).is_file():
        raise BadInput(folder / FILE, key, f"there is no file {name!r}", "add the file, or correct its name")
    return folder / path


def _download(folder: Path, name: str, source: RecipeSource) -> Download | UserFolder:
    """The files of a source, in the form in which corpus descriptions list files if they are fetched."""
    key = f"sources.{name}"
    if source.source not in (*SOURCES, FOLDER):
        problem, remedy = f"{source.source!r} is no known publisher", f"use one of {', '.join([*SOURCES, FOLDER])}"
        raise BadInput(folder / FILE, f"{key}.source", problem, remedy)
    digests = read_digests(_inside(folder, f"{key}.files", source.files)) if source.files else {}
    if source.source == FOLDER:
        return UserFolder(licence=source.licence, pasted=source.pasted, sha256=digests)
    settings = source.model_dump(include={"source", "repository", "commit", "licence", "restricted", "texts", "path"})
    try:
        return Download(**settings, files=tuple(digests), sha256=digests)
    except ValueError as error:
        reason = str(error).splitlines()[-2].strip().removeprefix("Value error, ").partition(" [")[0].lower()
        raise BadInput(folder / FILE, key, reason, REMEDY) from error


def read_digests(path: Path) -> dict[str, str]:
    """SHA-256 by path, from a file as `sha256sum` writes it.

    Raises
    ------
    BadInput
        If a line has another form, a path occurs twice, or a path leads out of its folder.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _SUM.fullmatch(line)
        if match is None or match[2] in digests:
            problem = "the path occurs twice" if match else "is not a SHA-256, two spaces and a path"
            raise BadInput(path, f"line {number}", problem, "write the file with `sha256sum`")
        if any(part.startswith((".", "/")) for part in PurePosixPath(match[2]).parts):
            problem = f"{match[2]!r} is hidden or outside the folder"
            raise BadInput(path, f"line {number}", problem, "give a path below the folder")
        digests[match[2]] = match[1]
    return digests


def _corpora(folder: Path, recipe: Recipe, faults: list[BadInput]) -> Iterator[tuple[str, Description]]:
    """Descriptions of a recipe's corpora, by file."""
    for number, corpus in enumerate(recipe.corpora):
        key = f"corpora.{number}"
        with collecting(faults):
            path = _inside(folder, f"{key}.description", corpus.description)
            description, found = examine_corpus(path)
            faults += found
            if description is None:
                continue
            faults += _strayed(path, description, folder)
            if description.downloads:
                remedy = f"move them to `sources` in {FILE}, with digests and terms"
                faults.append(BadInput(path, "downloads", "belong to the recipe", remedy))
            for reference in corpus.optional.keys() - description.references.keys():
                remedy = f"use {one_of(sorted(description.references))}"
                faults.append(BadInput(folder / FILE, f"{key}.optional", f"{reference!r} is not a reference", remedy))
            yield corpus.description, description


def _strayed(path: Path, description: Description, folder: Path) -> Iterator[BadInput]:
    """A fault for each path of a description that leads out of the recipe's folder."""
    places = {"root": description.root, **description.beside}
    places |= {f"references.{name}.root": text.root for name, text in description.references.items() if text.root}
    for key, place in places.items():
        if not place.is_relative_to(folder.resolve()):
            remedy = f"give a path such as {FETCHED}/NAME, where the files of the source NAME are placed"
            yield BadInput(path, key, "lies outside the recipe's folder", remedy)
    named = {"source.language": description.source.language, "source.edition": description.source.edition}
    for name, text in description.references.items():  # readers of some layouts form paths from these words
        named |= {f"references.{name}": name, f"references.{name}.language": text.language}
    for key, word in named.items():
        if word.startswith("/") or ".." in PurePosixPath(word).parts:
            yield BadInput(path, key, f"{word!r} leads out of the recipe's folder", "give a plain name")


def _tasks(folder: Path, recipe: Recipe, faults: list[BadInput]) -> Iterator[tuple[str, TaskDescription]]:
    """Descriptions of a recipe's tasks, by file."""
    for number, task in enumerate(recipe.tasks):
        with collecting(faults):
            path = _inside(folder, f"tasks.{number}.description", task.description)
            description = load_task(path)
            for name in (Path(task.root), *description.files.values()):
                if name.is_absolute() or ".." in name.parts:
                    problem = f"{str(name)!r} lies outside the recipe's folder"
                    faults.append(BadInput(path, "files", problem, "give paths below the folder of the source"))
            yield task.description, description


def _base_sets(folder: Path, recipe: Recipe, faults: list[BadInput]) -> Iterator[tuple[str, Identity]]:
    """Base sets of a recipe, by the file of their description. The files of a base set without a source are read."""
    for number, base_set in enumerate(recipe.base_sets):
        key = f"base_sets.{number}"
        with collecting(faults):
            path = _inside(folder, f"{key}.description", base_set.description)
            if base_set.totals:
                read_totals(_inside(folder, f"{key}.totals.file", base_set.totals.file))
            if base_set.source:
                yield base_set.description, read_description(path)
            elif path.name != MANIFEST:
                problem = f"{base_set.description!r} is not the manifest of a base set"
                raise BadInput(folder / FILE, f"{key}.description", problem, f"name a {MANIFEST}, or give a `source`")
            else:
                yield base_set.description, read_base_set(path.parent).manifest


def _unknown_names(
    path: Path, recipe: Recipe, corpora: Mapping[str, Description], downloads: Mapping[str, Download | UserFolder]
) -> Iterator[BadInput]:
    """Faults of names that nothing in the recipe declares."""
    named = [(f"corpora.{n}.sources", name) for n, each in enumerate(recipe.corpora) for name in each.sources]
    named += [
        (f"corpora.{n}.optional", name) for n, each in enumerate(recipe.corpora) for name in each.optional.values()
    ]
    named += [(f"tasks.{n}.source", each.source) for n, each in enumerate(recipe.tasks)]
    named += [(f"base_sets.{n}.source", each.source) for n, each in enumerate(recipe.base_sets) if each.source]
    named += [(f"protocols.{n}.source", each.source) for n, each in enumerate(recipe.protocols)]
    for n, protocol in enumerate(recipe.protocols):
        known = downloads[protocol.source].files if protocol.source in downloads else protocol.files
        for file in {*protocol.files} - {*known}:
            problem = f"{file!r} is not a file of the source {protocol.source}"
            yield BadInput(path, f"protocols.{n}", problem, f"add it to {recipe.sources[protocol.source].files}")
    published: list[tuple[str, PublishedOutputs | PublishedScores, list[str]]] = []
    published += [(f"outputs.{n}", each, [each.file]) for n, each in enumerate(recipe.outputs)]
    published += [(f"scores.{n}", scores, [*scores.files.values()]) for n, scores in enumerate(recipe.scores)]
    named += [(f"{key}.source", each.source) for key, each, _ in published]
    for key, name in named:
        if name not in recipe.sources:
            remedy = f"use one of {', '.join(recipe.sources)}"
            yield BadInput(path, key, f"{name!r} is not a source of the recipe", remedy)
    names = [description.name for description in corpora.values()]
    for key, each, files in published:
        if each.corpus not in names:
            problem = f"{each.corpus!r} is not a corpus of the recipe"
            yield BadInput(path, f"{key}.corpus", problem, f"use {one_of(names)}")
        for file in files:
            if each.source in downloads and file not in downloads[each.source].files:
                problem = f"{file!r} is not a file of the source {each.source}"
                yield BadInput(path, f"{key}.file", problem, f"add it to {recipe.sources[each.source].files}")
