"""Base sets: frozen anchors, their outputs and the judgments among them, in a folder and in the warehouse.

Here: the format of the folder, its checks and hashes, the import, and the compatibility of versions. Not here: choosing
anchors and writing a folder (building), comparing candidates with anchors (matches), strengths (scores).

A folder holds the manifest `baseset.yaml`; `outputs.jsonl`, with objects {anchor, passage, text}; and
`judgments.jsonl`, with an object {passage, first, second, winner} for each question to the judge about two texts.
An imported base set never changes: different content needs a new version.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import polars as pl
from pydantic import AfterValidator, Field, ValidationError, model_validator

from benchmark_assets.corpus.readers import strict_json
from benchmark_assets.corpus.readers.unknown_keys import FIXED, unknown_keys
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.corpus.units import with_units
from resources import yaml_files
from resources.digest import text_hash
from resources.errors import BadInput, raise_all
from resources.frozen import Frozen
from resources.keys import check_key
from resources.warehouse import Replacement, Warehouse

MANIFEST, OUTPUTS, JUDGMENTS = "baseset.yaml", "outputs.jsonl", "judgments.jsonl"
REMEDY = "see docs/base-sets.md"
TRANSLATOR = "translator:"
"""Prefix of an anchor that is a human translator; an anchor without it is a model."""

TABLES = ("base_set", "base_set_item", "anchor_output", "anchor_judgment")
JUDGMENT = ["passage", "first", "second", "winner"]

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_TAMPERED = "restore the file, or build the set again under a new version"


def _slug(name: str) -> str:
    try:
        return check_key(name, "base set", "")
    except BadInput as fault:
        raise ValueError(f"{fault.key} {fault.problem}") from fault


def _semantic(version: str) -> str:
    if not _VERSION.fullmatch(version):
        raise ValueError("is not a semantic version: write three numbers, such as 1.0.0")
    return version


Slug = Annotated[str, AfterValidator(_slug)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


Part = TypeVar("Part", bound=Frozen)


class SetItem(Frozen):
    """A passage on which systems are compared. `source` is the hash of the source text that the anchors translated."""

    passage: Slug
    direction: str = Field(pattern=r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)+$")
    difficulty: Literal["easy", "hard"]
    source: Digest


class Within(Frozen):
    """Stop asking once the interval of LT extends at most `within` to either side."""

    within: float = Field(gt=0, le=5)


class Ranks(Frozen):
    """Stop asking once the interval of the strength spans at most `ranks` places among the anchors. A place is between
    two neighboring anchors, above all anchors or below all anchors; each anchor in the interval adds a place.
    """

    ranks: int = Field(ge=1, strict=True)


class Judging(Frozen):
    """Options of judging: whether each pair is judged in both orders, and whether pairs are chosen adaptively."""

    orders: Literal["both", "one"] = "both"
    adaptive: Literal[False] | Within | Ranks = False


class JudgeRecord(Frozen):
    """The judge of the anchors. `id` is the model's name at the endpoint, `served` the version that answered ('' if no
    reply named it), `prompt` the prompt with its hash; the other fields are decoding settings."""

    id: str = Field(min_length=1)
    served: str = ""
    effort: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int
    prompt: str = Field(min_length=1)

    def __str__(self) -> str:
        """The id, the settings that have a value, and the prompt, for display."""
        settings = self.model_dump(exclude={"id", "prompt"}, exclude_none=True)
        words = (f"{name} {value}" for name, value in settings.items() if value != "")
        return ", ".join([self.id, *words, self.prompt])

    def differences(self, now: "JudgeRecord") -> list[str]:
        """Names of the fields that differ in `now`. An unknown version counts as equal to every version."""
        return [
            name for name in type(self).model_fields
            if getattr(self, name) != getattr(now, name) and not (name == "served" and "" in (self.served, now.served))
        ]  # fmt: skip


class Hashes(Frozen):
    """SHA-256 of the files of outputs and judgments, and `content`, the hash of the whole set (see `sealed`)."""

    outputs: Digest
    judgments: Digest
    content: Digest


class Identity(Judging):
    """Name and version of a base set, the name of its judge in the registry, and the options of judging."""

    name: Slug
    version: Annotated[str, AfterValidator(_semantic)]
    judge: str = Field(min_length=1)

    @property
    def key(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


class Manifest(Identity):
    """The content of `baseset.yaml` without the hashes.

    `judged` is the record of the judge of the anchors; None if there is no record. `restricted` names the anchors whose
    texts may not be passed on.
    """

    judged: JudgeRecord | None = None
    anchors: tuple[Slug, ...] = Field(min_length=2)
    restricted: tuple[Slug, ...] = ()
    items: tuple[SetItem, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> "Manifest":
        for kind, names in (("anchor", self.anchors), ("item", tuple(item.passage for item in self.items))):
            if twice := sorted(name for name, count in Counter(names).items() if count > 1):
                raise ValueError(f"the {kind} {twice[0]} occurs twice")
        if unknown := sorted(set(self.restricted) - set(self.anchors)):
            raise ValueError(f"{unknown[0]} is restricted but is not an anchor")
        return self

    @property
    def judging(self) -> Judging:
        """The options of judging."""
        return Judging(orders=self.orders, adaptive=self.adaptive)


class Sealed(Manifest):
    """The content of `baseset.yaml`."""

    hashes: Hashes


class BaseSet(NamedTuple):
    """A complete, checked base set.

    `outputs` has columns `anchor`, `passage`, `text`; `judgments` has `passage`, `first`, `second`, `winner`. `winner`
    is null if the judge refused. `hashes` are the hashes of the files.
    """

    manifest: Manifest
    outputs: pl.DataFrame
    judgments: pl.DataFrame
    hashes: Hashes


class ImportedSet(NamedTuple):
    """Result of an import. `base_set` is the key of the set, and `before` tells whether the warehouse already had this
    set. `items`, `anchors` and `judgments` are the numbers of items, anchors and judgments. `differing` lists the items
    whose source text is no longer the text that the anchors translated."""

    base_set: str
    before: bool
    items: int
    anchors: int
    judgments: int
    differing: list[str]

    def __str__(self) -> str:
        """The key, whether the set was imported before, and its size."""
        size = f"{self.anchors} anchors on {self.items} items, {self.judgments} judgments"
        return f"{self.base_set}: {'already imported' if self.before else 'imported'}; {size}"


def checked(kind: type[Part], **fields: object) -> Part:
    """Construct and validate an object of the class `kind`, which is a manifest or a part of one.

    Raises
    ------
    BadInput
        If a field is not valid.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput("base set", ".".join(map(str, first["loc"])), first["msg"].lower(), REMEDY) from error


def sealed(manifest: Manifest, outputs: bytes, judgments: bytes) -> Hashes:
    """Hashes of a base set.

    `content` is the SHA-256 of three lines. They are the SHA-256 of the manifest without its hashes (as JSON with
    sorted keys, without spaces or escapes, with defaults written out), the SHA-256 of `outputs.jsonl`, and the SHA-256
    of `judgments.jsonl`.
    """
    content = manifest.model_dump(mode="json", exclude={"hashes"})
    texts = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(), outputs, judgments
    digests = [sha256(text).hexdigest() for text in texts]
    whole = sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()
    return Hashes(outputs=digests[1], judgments=digests[2], content=whole)


def read_base_set(folder: Path) -> BaseSet:
    """Read and check the folder of a base set.

    Raises
    ------
    BadInput
        If a file is missing, malformed or does not match its hash; if an anchor does not have exactly one output for
        each item; if outputs or judgments name an unknown anchor or item; if a pair was judged twice in the same order;
        if a winner is neither of the two anchors; or if an anchor has no judgment.
    """
    manifest = yaml_files.read(folder / MANIFEST, Sealed, REMEDY)
    outputs, judgments = (_bytes(folder / name) for name in (OUTPUTS, JUDGMENTS))
    hashes = sealed(manifest, outputs, judgments)
    for name, key in ((OUTPUTS, "outputs"), (JUDGMENTS, "judgments"), (MANIFEST, "content")):
        actual, expected = getattr(hashes, key), getattr(manifest.hashes, key)
        if actual != expected:
            problem = f"has the hash {actual[:12]}…, but `hashes.{key}` is {expected[:12]}…: its content has changed"
            raise BadInput(folder / name, "", problem, _TAMPERED)
    return BaseSet(
        manifest, _outputs(folder / OUTPUTS, manifest), _judgments(folder / JUDGMENTS, manifest), manifest.hashes
    )


def import_base_set(warehouse: Warehouse, folder: Path) -> ImportedSet:
    """Import a base set. Versions coexist; importing a stored version again changes nothing.

    Versions that differ only in the last number must have the same anchors, judge and settings, so that their scores
    are comparable. JP-TL-Bench, section 3.2, requires the same anchors. The other two requirements follow from its
    promise of comparable scores.

    Raises
    ------
    BadInput
        If the folder is not valid (see `read_base_set`), a passage is not in the warehouse, an item and its corpus have
        different directions, the version is already stored with other content, or a stored version that differs only in
        the last number has other anchors, another judge or other settings. Nothing is then stored.
    """
    base_set = read_base_set(folder)
    manifest, key = base_set.manifest, base_set.manifest.key
    with warehouse.exclusively():
        versions = warehouse.read("base_set", pl.DataFrame({"name": [manifest.name]}))
        stored = versions.filter(base_set=key)
        if len(stored) and stored["content"][0] != base_set.hashes.content:
            problem = f"{manifest.version} of {manifest.name} is already in the warehouse with other content"
            raise BadInput(folder / MANIFEST, "version", problem, "give it a new version")
        if stored.is_empty():
            _check_contract(warehouse, folder, manifest, versions)
            _check_items(warehouse, folder, manifest)
            rows = _rows(folder, base_set)
            partition = pl.DataFrame({"base_set": [key]})
            warehouse.write([Replacement(table, rows[table], partition) for table in TABLES], run_id="import")
        differing = _differing(warehouse, manifest)
    return ImportedSet(
        key, len(stored) > 0, len(manifest.items), len(manifest.anchors), len(base_set.judgments), differing
    )


def items(warehouse: Warehouse, base_set: str) -> pl.DataFrame:
    """Rows of `base_set_item` for a base set (`name@version`), with the added columns `unit` and `unit_kind`."""
    return with_units(warehouse.read("base_set_item", pl.DataFrame({"base_set": [base_set]})), warehouse)


def unit_kinds(warehouse: Warehouse, base_set: str) -> str:
    """The kinds of units of a base set's items, as text for settings."""
    return ", ".join(items(warehouse, base_set)["unit_kind"].unique().sort())


def judgings(warehouse: Warehouse) -> dict[str, Judging]:
    """The options of judging of each base set (`name@version`)."""
    rows = warehouse.read("base_set", columns=["base_set", "settings"]).iter_rows()
    return {base_set: Judging.model_validate_json(settings) for base_set, settings in rows}


def jsonl(rows: pl.DataFrame) -> bytes:
    """Rows as JSON lines in UTF-8, with the keys in the order of the columns."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows.iter_rows(named=True))
    return "".join(f"{line}\n" for line in lines).encode()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "restore the file") from error


def records(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects in a JSON lines file, each preceded by its place in the file (`line 3`).

    Raises
    ------
    BadInput
        If the keys of an object are not exactly `fields`, or a value is not text; only `winner` may be null.
    """
    for number, record in strict_json.lines(path):
        place = f"line {number}"
        raise_all(unknown_keys(path, dict.fromkeys(record, place), fields, FIXED))
        if set(record) != set(fields):
            problem = f"has the keys {', '.join(record) or '(none)'}"
            raise BadInput(path, place, problem, f"write exactly the keys {', '.join(fields)}")
        for name, value in record.items():
            if not isinstance(value, str) and not (name == "winner" and value is None):
                raise BadInput(path, f"{place} {name}", "is not text", REMEDY)
        yield place, record


def _table(path: Path, fields: Sequence[str], manifest: Manifest) -> pl.DataFrame:
    """The objects in a JSON lines file, with their places in the column `line`. Raises BadInput if a line names a
    passage or anchor that is not in the set."""
    lines = [{**record, "line": place} for place, record in records(path, fields)]
    rows = pl.DataFrame(lines, schema=dict.fromkeys([*fields, "line"], pl.String))
    passages = [item.passage for item in manifest.items]
    remedy = f"add it to `items` in {MANIFEST}"
    _refuse(path, rows, ~pl.col("passage").is_in(passages), ["passage"], "is not an item of the set", remedy)
    for name in (field for field in fields if field in ("anchor", "first", "second")):
        foreign, remedy = ~pl.col(name).is_in(manifest.anchors), f"add it to `anchors` in {MANIFEST}"
        _refuse(path, rows, foreign, [name], "is not an anchor of the set", remedy)
    return rows


def _refuse(path: Path, rows: pl.DataFrame, faulty: pl.Expr, columns: Sequence[str], problem: str, remedy: str) -> None:
    """Raise BadInput for the first faulty row; the message quotes the values in `columns`."""
    for place in rows.filter(faulty).select(pl.concat_str("line", *columns, separator=" ")).to_series().head(1):
        raise BadInput(path, place, problem, remedy)


def _outputs(path: Path, manifest: Manifest) -> pl.DataFrame:
    key = ["anchor", "passage"]
    rows = _table(path, [*key, "text"], manifest)
    twice = ~pl.struct(key).is_first_distinct()
    _refuse(path, rows, twice, key, "the anchor has two outputs for the item", "keep one output")
    every = pl.DataFrame(list(product(manifest.anchors, (item.passage for item in manifest.items))), key, orient="row")
    for missing in every.join(rows, on=key, how="anti", maintain_order="left").head(1).iter_rows():
        problem, remedy = "the anchor has no output for the item", "add the output, or drop the anchor or the item"
        raise BadInput(path, " ".join(missing), problem, remedy)
    return rows.drop("line").sort(key)


def _judgments(path: Path, manifest: Manifest) -> pl.DataFrame:
    key = JUDGMENT[:3]
    rows = _table(path, JUDGMENT, manifest)
    first, second, winner = pl.col("first"), pl.col("second"), pl.col("winner")
    _refuse(path, rows, first == second, key, "the anchor is compared with itself", "drop the judgment")
    neither = (winner != first) & (winner != second)
    _refuse(path, rows, neither, ["winner"], "is neither of the two anchors", REMEDY)
    twice = ~pl.struct(key).is_first_distinct()
    _refuse(path, rows, twice, key, "the pair is judged twice in this order", "keep one judgment")
    if unjudged := sorted({*manifest.anchors} - {*rows["first"], *rows["second"]}):
        remedy = "have it judged against the other anchors, or drop the anchor"
        raise BadInput(path, ", ".join(unjudged), "has no judgment", remedy)
    return rows.drop("line").sort(key)


def _check_contract(warehouse: Warehouse, folder: Path, manifest: Manifest, versions: pl.DataFrame) -> None:
    """Raise BadInput if a stored version with the same first two numbers has other anchors, judge or settings."""
    columns = ["base_set", "version", "judge", "judged", "settings"]
    for key, version, judge, judged, settings in versions.select(columns).iter_rows():
        if version.rpartition(".")[0] != manifest.version.rpartition(".")[0]:
            continue
        outputs = warehouse.read("anchor_output", pl.DataFrame({"base_set": [key]}), ["anchor"])
        differing = sorted(set(outputs["anchor"]) ^ set(manifest.anchors))
        differences = {
            f"anchors ({', '.join(differing)})": bool(differing),
            f"judge ({judge})": judge != manifest.judge or judged != _judged(manifest),
            "settings": settings != _settings(manifest),
        }
        if names := ", ".join(name for name, differs in differences.items() if differs):
            problem = f"{key} has the same first two numbers but differs in {names}"
            remedy = "increase the second number of the version, or the first number if the pool differs"
            raise BadInput(folder / MANIFEST, "version", problem, remedy)


def _judged(manifest: Manifest) -> str | None:
    return manifest.judged.model_dump_json() if manifest.judged else None


def _settings(manifest: Manifest) -> str:
    return json.dumps(manifest.judging.model_dump(mode="json"), sort_keys=True)


def _rows(folder: Path, base_set: BaseSet) -> Mapping[str, pl.DataFrame]:
    """The rows that a base set adds to each table in TABLES, by table name."""
    manifest, content = base_set.manifest, base_set.hashes.content
    stamp = [pl.lit(manifest.key).alias("base_set"), pl.lit(content).alias("fingerprint")]
    entry = {
        "name": manifest.name, "version": manifest.version, "folder": str(folder.resolve()), "judge": manifest.judge,
        "judged": _judged(manifest), "settings": _settings(manifest), "content": content,
    }  # fmt: skip
    items = pl.DataFrame([item.model_dump() for item in manifest.items]).rename({"source": "source_hash"})
    entries = pl.DataFrame([entry], schema=dict.fromkeys(entry, pl.String))
    frames = entries, items, base_set.outputs, base_set.judgments
    return {table: rows.with_columns(stamp) for table, rows in zip(TABLES, frames, strict=True)}


def _check_items(warehouse: Warehouse, folder: Path, manifest: Manifest) -> None:
    """Raise BadInput if an item is not in the warehouse, or if an item and its corpus have different directions."""
    languages = corpus_languages(warehouse)
    passages = pl.DataFrame({"passage": [item.passage for item in manifest.items]})
    corpora = dict(warehouse.read("source_text", passages, ["passage", "corpus"]).iter_rows())
    for number, item in enumerate(manifest.items):
        if item.passage not in corpora:
            problem, remedy = "is not a passage in this warehouse", "run `variorum import corpus FILE` first"
            raise BadInput(folder / MANIFEST, f"items.{number} {item.passage}", problem, remedy)
        pair = languages[corpora[item.passage]]
        if all(pair) and item.direction != "-".join(pair):
            problem = f"is {item.direction}, but the direction of the corpus of {item.passage} is {'-'.join(pair)}"
            remedy = "give the item the direction of its corpus"
            raise BadInput(folder / MANIFEST, f"items.{number}.direction", problem, remedy)


def _differing(warehouse: Warehouse, manifest: Manifest) -> list[str]:
    """Items whose source text in the warehouse is not the text that the anchors translated."""
    hashes = {item.passage: item.source for item in manifest.items}
    texts = warehouse.read("source_text", pl.DataFrame({"passage": list(hashes)}), ["passage", "text"])
    return [passage for passage, text in texts.iter_rows() if text_hash(text) != hashes[passage]]
