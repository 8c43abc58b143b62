"""Base sets: frozen anchors, their outputs and the judgments between them, in a folder and in the warehouse.

Here: the format of the folder, its checks, hashes, the contract of versions, the import. Not here: choosing anchors and
writing a folder (building), comparing candidates with anchors (matches), strengths (scores).

A folder holds `baseset.yaml`, the manifest; `outputs.jsonl`, objects of `anchor`, `passage` and `text`; and
`judgments.jsonl`, objects of `passage`, `first`, `second` and `winner`, one for each time that two texts were shown.
An imported base set never changes: other content needs another version.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import polars as pl
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.strict_json import parse
from resources import yaml_files
from resources.errors import BadInput
from resources.keys import check_key
from resources.warehouse import Replacement, Warehouse

MANIFEST, OUTPUTS, JUDGMENTS = "baseset.yaml", "outputs.jsonl", "judgments.jsonl"
REMEDY = "see docs/base-sets.md"
TRANSLATOR = "translator:"
"""Before the name of a human translator who is an anchor; other anchors are models of that name."""

TABLES = ("base_set", "base_set_item", "anchor_output", "anchor_judgment")

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_TAMPERED = "restore the file, or build the set again under a new version"


def _slug(name: str) -> str:
    try:
        return check_key(name, "base set", "")
    except BadInput as fault:
        raise ValueError(f"{fault.key} {fault.problem}") from fault


def _semantic(version: str) -> str:
    if not _VERSION.fullmatch(version):
        raise ValueError("is no semantic version: write three numbers, as 1.0.0")
    return version


Slug = Annotated[str, AfterValidator(_slug)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Part = TypeVar("Part", bound=_Part)


class SetItem(_Part):
    """A passage on which systems are compared. `source` is the hash of the text that the anchors translated."""

    passage: Slug
    direction: str = Field(pattern=r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)+$")
    difficulty: Literal["easy", "hard"]
    source: Digest


class Within(_Part):
    """Ask until the interval of LT reaches no further than `within` to either side."""

    within: float = Field(gt=0, le=5)


class Ranks(_Part):
    """Ask until the interval of the strength spans at most `ranks` places among the anchors. One place lies between two
    neighbors, above all or below all; each anchor in the interval adds a place."""

    ranks: int = Field(ge=1, strict=True)


class Judging(_Part):
    """How pairs are judged: in both orders or in one, all of them or adaptively."""

    orders: Literal["both", "one"] = "both"
    adaptive: Literal[False] | Within | Ranks = False


class JudgeRecord(_Part):
    """The judge of the anchors, at any endpoint: `id` is the endpoint's name of the model, `served` the version that
    answered ('' if no reply named it), then decoding settings, and the prompt with its hash."""

    id: str = Field(min_length=1)
    served: str = ""
    effort: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int
    prompt: str = Field(min_length=1)

    def __str__(self) -> str:
        """Id, all settings that are set, and prompt, for display."""
        settings = self.model_dump(exclude={"id", "prompt"}, exclude_none=True)
        words = (f"{name} {value}" for name, value in settings.items() if value != "")
        return ", ".join([self.id, *words, self.prompt])

    def other(self, now: "JudgeRecord") -> list[str]:
        """Names of the fields that differ in `now`; an unknown version equals any other."""
        return [
            name for name in type(self).model_fields
            if getattr(self, name) != getattr(now, name) and not (name == "served" and "" in (self.served, now.served))
        ]  # fmt: skip


class Hashes(_Part):
    """SHA-256 of the two files, and of the set as a whole (see `content`)."""

    outputs: Digest
    judgments: Digest
    content: Digest


class Identity(Judging):
    """Name and version of a base set, and its judge's name in the registry."""

    name: Slug
    version: Annotated[str, AfterValidator(_semantic)]
    judge: str = Field(min_length=1)


class Manifest(Identity):
    """The content of `baseset.yaml`, without the hashes.

    `judged` records the judge of the anchors; None if there is no record. `restricted` names the anchors whose texts
    may not be passed on.
    """

    judged: JudgeRecord | None = None
    anchors: tuple[Slug, ...] = Field(min_length=2)
    restricted: tuple[Slug, ...] = ()
    items: tuple[SetItem, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> "Manifest":
        for kind, names in (("anchor", self.anchors), ("item", tuple(item.passage for item in self.items))):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"the {kind} {twice[0]} occurs twice")
        if unknown := sorted(set(self.restricted) - set(self.anchors)):
            raise ValueError(f"{unknown[0]} is restricted, and no anchor")
        return self

    @property
    def key(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"

    @property
    def judging(self) -> Judging:
        """How pairs are judged."""
        return Judging(orders=self.orders, adaptive=self.adaptive)


class Sealed(Manifest):
    """The file `baseset.yaml`."""

    hashes: Hashes


class BaseSet(NamedTuple):
    """A complete, checked base set.

    `outputs` has columns `anchor`, `passage`, `text`; `judgments` has `passage`, `first`, `second`, `winner`. `winner`
    is null where the judge refused. `hashes` are the hashes of the files.
    """

    manifest: Manifest
    outputs: pl.DataFrame
    judgments: pl.DataFrame
    hashes: Hashes


class ImportedSet(NamedTuple):
    """Result of an import: the set's key, whether it was in the warehouse `before`, the numbers of its items, anchors
    and judgments, and the items whose source text in this warehouse differs (`differing`)."""

    base_set: str
    before: bool
    items: int
    anchors: int
    judgments: int
    differing: list[str]


def checked(kind: type[Part], **fields: object) -> Part:
    """Make a part of a manifest from its fields.

    Raises
    ------
    BadInput
        If the fields are not valid.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput("base set", ".".join(map(str, first["loc"])), first["msg"].lower(), REMEDY) from error


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, as `source` of an item."""
    return sha256(text.encode()).hexdigest()


def sealed(manifest: Manifest, outputs: bytes, judgments: bytes) -> Hashes:
    """Hashes of a base set.

    `content` is the SHA-256 of three lines, the SHA-256 of the manifest without its hashes (JSON with sorted keys, no
    spaces, no escapes, defaults written out), of `outputs.jsonl` and of `judgments.jsonl`.
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
        If a file is missing, malformed or differs from its hash; if an anchor has no output for an item, or two; if
        outputs or judgments name an unknown anchor or item; if a pair was judged twice in one order, or won by neither;
        if an anchor has no judgment.
    """
    manifest = yaml_files.read(folder / MANIFEST, Sealed, REMEDY)
    outputs, judgments = (_bytes(folder / name) for name in (OUTPUTS, JUDGMENTS))
    hashes = sealed(manifest, outputs, judgments)
    for name, key in ((OUTPUTS, "outputs"), (JUDGMENTS, "judgments"), (MANIFEST, "content")):
        actual, expected = getattr(hashes, key), getattr(manifest.hashes, key)
        if actual != expected:
            problem = f"has the hash {actual[:12]}…, `hashes.{key}` says {expected[:12]}…: it was changed"
            raise BadInput(folder / name, "", problem, _TAMPERED)
    return BaseSet(
        manifest, _outputs(folder / OUTPUTS, manifest), _judgments(folder / JUDGMENTS, manifest), manifest.hashes
    )


def import_base_set(warehouse: Warehouse, folder: Path) -> ImportedSet:
    """Import a base set. Versions coexist; a version that is stored already with the same content stays as it is.

    Raises
    ------
    BadInput
        For a fault of the folder, passages that are not in the warehouse, directions other than their corpus's, a
        version that is stored with other content, or a version that breaks the contract: versions that differ in the
        last number only have the same anchors, judge and settings, so that their scores are comparable. Nothing is
        stored then. Source: JP-TL-Bench, section 3.2, for the anchors; judge and settings follow from its promise of
        comparable scores.
    """
    read = read_base_set(folder)
    manifest, key = read.manifest, read.manifest.key
    with warehouse.exclusively():
        stored = warehouse.read("base_set", pl.DataFrame({"name": [manifest.name]}))
        same = stored.filter(base_set=key)
        if len(same) and same["content"][0] != read.hashes.content:
            raise BadInput(
                folder / MANIFEST, "version", f"{manifest.version} of {manifest.name} is here with other content",
                "give it a new version",
            )  # fmt: skip
        if same.is_empty():
            _check_contract(warehouse, folder, manifest, stored)
            rows = _rows(warehouse, folder, read)
            own = pl.DataFrame({"base_set": [key]})
            warehouse.write([Replacement(table, rows[table], own) for table in TABLES], run_id="import")
        differing = _differing(warehouse, manifest)
    return ImportedSet(
        key, not same.is_empty(), len(manifest.items), len(manifest.anchors), len(read.judgments), differing
    )


def jsonl(rows: pl.DataFrame) -> bytes:
    """Rows as JSON lines in UTF-8, keys in the order of the columns."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows.iter_rows(named=True))
    return "".join(f"{line}\n" for line in lines).encode()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "restore the file") from error


def records(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and object of each line of a file of JSON lines.

    Raises
    ------
    BadInput
        If the keys of an object are not exactly `fields`, or a value is not text; a `winner` may be null.
    """
    for number, line in enumerate(decode(path).split("\n"), start=1):  # U+2028 may stand in a text
        if not line.strip():
            continue
        place, record = f"line {number}", parse(line, path, number)
        if set(record) != set(fields):
            raise BadInput(path, place, f"has the keys {sorted(record)}", f"give exactly {list(fields)}")
        for name, value in record.items():
            if not isinstance(value, str) and not (name == "winner" and value is None):
                raise BadInput(path, f"{place} {name}", "is no text", REMEDY)
        yield place, record


def _known(path: Path, fields: Sequence[str], manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines that name items and anchors of the set."""
    items, anchors = {item.passage for item in manifest.items}, set(manifest.anchors)
    for place, record in records(path, fields):
        for name, value in record.items():
            if name == "passage" and value not in items:
                raise BadInput(path, f"{place} {value}", "is no item of the set", f"add it to `items` in {MANIFEST}")
            if name in ("anchor", "first", "second") and value not in anchors:
                problem, remedy = "is no anchor of the set", f"add it to `anchors` in {MANIFEST}"
                raise BadInput(path, f"{place} {value}", problem, remedy)
        yield place, record


def _outputs(path: Path, manifest: Manifest) -> pl.DataFrame:
    texts: dict[tuple[str, str], str] = {}
    for place, record in _known(path, ["anchor", "passage", "text"], manifest):
        key = record["anchor"], record["passage"]
        if key in texts:
            raise BadInput(path, f"{place} {' '.join(key)}", "the anchor has two outputs for the item", "keep one")
        texts[key] = record["text"]
    for key in product(manifest.anchors, (item.passage for item in manifest.items)):
        if key not in texts:
            raise BadInput(path, " ".join(key), "the anchor has no output for the item", "add it, or drop one of them")
    rows = [(*key, text) for key, text in sorted(texts.items())]
    return pl.DataFrame(rows, schema=dict.fromkeys(["anchor", "passage", "text"], pl.String), orient="row")


def _judgments(path: Path, manifest: Manifest) -> pl.DataFrame:
    winners: dict[tuple[str, str, str], str | None] = {}
    for place, record in _known(path, ["passage", "first", "second", "winner"], manifest):
        first, second = record["first"], record["second"]
        key = record["passage"], first, second
        if first == second:
            raise BadInput(path, f"{place} {' '.join(key)}", "the anchor is compared with itself", "drop the judgment")
        if record["winner"] not in (first, second, None):
            raise BadInput(path, f"{place} winner", f"is {record['winner']!r}, neither of the two", REMEDY)
        if key in winners:
            raise BadInput(path, f"{place} {' '.join(key)}", "the pair is judged twice in this order", "keep one")
        winners[key] = record["winner"]
    met = {name for _, first, second in winners for name in (first, second)}
    if idle := sorted(set(manifest.anchors) - met):
        raise BadInput(
            path, ", ".join(idle), "has no judgment", "have it judged against the others, or drop the anchor"
        )
    rows = [(*key, winner) for key, winner in sorted(winners.items())]
    names = ["passage", "first", "second", "winner"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _check_contract(warehouse: Warehouse, folder: Path, manifest: Manifest, stored: pl.DataFrame) -> None:
    columns = ["base_set", "version", "judge", "judged", "settings"]
    for key, version, judge, judged, settings in stored.select(columns).iter_rows():
        if version.rpartition(".")[0] != manifest.version.rpartition(".")[0]:
            continue
        outputs = warehouse.read("anchor_output", pl.DataFrame({"base_set": [key]}), ["anchor"])
        other = sorted(set(outputs["anchor"]) ^ set(manifest.anchors))
        changed = {
            f"anchors ({', '.join(other)})": bool(other),
            f"judge ({judge})": judge != manifest.judge or judged != _judged(manifest),
            "settings": settings != _settings(manifest),
        }
        if problem := ", ".join(name for name, differs in changed.items() if differs):
            remedy = "raise the second number of the version, or the first for another pool"
            raise BadInput(
                folder / MANIFEST, "version", f"{key}, of the same minor version, has other {problem}", remedy
            )


def _judged(manifest: Manifest) -> str | None:
    return manifest.judged.model_dump_json() if manifest.judged else None


def _settings(manifest: Manifest) -> str:
    return json.dumps(manifest.judging.model_dump(mode="json"), sort_keys=True)


def _rows(warehouse: Warehouse, folder: Path, read: BaseSet) -> Mapping[str, pl.DataFrame]:
    """Rows of the four tables."""
    manifest, content = read.manifest, read.hashes.content
    source, target = _languages(warehouse, folder, manifest)
    stamp = [pl.lit(manifest.key).alias("base_set"), pl.lit(content).alias("fingerprint")]
    entry = {
        "name": manifest.name, "version": manifest.version, "folder": str(folder.resolve()), "source_language": source,
        "target_language": target, "judge": manifest.judge, "judged": _judged(manifest),
        "settings": _settings(manifest), "content": content,
    }  # fmt: skip
    items = pl.DataFrame([item.model_dump() for item in manifest.items]).rename({"source": "source_hash"})
    frames = (pl.DataFrame([entry], schema=dict.fromkeys(entry, pl.String)), items, read.outputs, read.judgments)
    return {table: rows.with_columns(stamp) for table, rows in zip(TABLES, frames, strict=True)}


def _languages(warehouse: Warehouse, folder: Path, manifest: Manifest) -> tuple[str | None, str | None]:
    """The languages of all items; (None, None) where they have several."""
    corpora = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    languages = {corpus: tuple(own) for corpus, *own in corpora.iter_rows()}
    passages = pl.DataFrame({"passage": [item.passage for item in manifest.items]})
    known = dict(warehouse.read("source_text", passages, ["passage", "corpus"]).iter_rows())
    found = set()
    for number, item in enumerate(manifest.items):
        if item.passage not in known:
            raise BadInput(
                folder / MANIFEST, f"items.{number} {item.passage}", "is no passage of this warehouse",
                "`variorum import corpus FILE` first",
            )  # fmt: skip
        source, target = languages[known[item.passage]]
        if source and target and item.direction != f"{source}-{target}":
            problem = f"is {item.direction}, the corpus of {item.passage} is {source}-{target}"
            raise BadInput(folder / MANIFEST, f"items.{number}.direction", problem, "write the direction of the corpus")
        found.add((source, target))
    return found.pop() if len(found) == 1 else (None, None)


def _differing(warehouse: Warehouse, manifest: Manifest) -> list[str]:
    hashes = {item.passage: item.source for item in manifest.items}
    texts = warehouse.read("source_text", pl.DataFrame({"passage": list(hashes)}), ["passage", "text"])
    return [passage for passage, text in texts.iter_rows() if text_hash(text) != hashes[passage]]
