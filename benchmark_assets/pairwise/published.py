"""Base sets as JP-TL-Bench publishes them, made into a folder of `base_sets`.

Here: the published files of translations and judgments, and their description. Not here: the import (base_sets), the
items' sources (corpus.readers.anchored), totals of wins (totals).

A published base set has a file of translations for each anchor, named after it, with `__` for a slash; and a file of
judgments, in which a line has the keys `name` and `english` of an item, `llm_a` and `llm_b`, whose translations were
shown as A and B, and `analysis`, the reply of the judge with its choice in `<answer>`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
from pydantic import Field

from benchmark_assets.corpus.readers.anchored import ENGLISH, identity, items
from benchmark_assets.pairwise.base_sets import JUDGMENT, MANIFEST, Identity, Manifest, Slug, checked
from benchmark_assets.pairwise.building import write_base_set
from resources import yaml_files
from resources.digest import text_hash
from resources.errors import BadInput

REMEDY = "compare it with warehouse/benchmarks/jp-tl-bench/baseset.yaml"

_ANSWER = re.compile("<answer>(.*?)</answer>")

_KEYS = ("name", "english", "llm_a", "llm_b", "analysis")


class PublishedSet(Identity):
    """The description of a published base set.

    - `anchors`: names of the anchors. Judgments of other systems in the file are not read.
    - `corpora`: corpus of the items by direction, such as `en-ja`.
    - `translations`, `judgments`: paths of the folder of translations and of the file of judgments.
    """

    anchors: tuple[Slug, ...] = Field(min_length=2)
    corpora: dict[str, Slug] = Field(min_length=1)
    translations: Path
    judgments: Path


def read_description(path: Path) -> PublishedSet:
    """Read the description of a published base set.

    Raises
    ------
    BadInput
        If the file is missing, is not YAML, lacks a key, or has an unknown key or an invalid value.
    """
    return yaml_files.read(path, PublishedSet, REMEDY)


def write_published(description: PublishedSet, root: Path, folder: Path) -> None:
    """Write a published base set, whose files are below `root`, as a folder of `base_sets`. The items are those of the
    first anchor. If the folder is there already, nothing is written: published files are pinned.

    The judge is not recorded, because its prompt is not one of ours.

    Raises
    ------
    BadInput
        If a file is missing or has a fault, an item's direction has no corpus, or the folder cannot be written.
    """
    if (folder / MANIFEST).is_file():
        return
    translated = {anchor: items(root / description.translations / _file(anchor)) for anchor in description.anchors}
    rows = [
        (anchor, _passage(description, item.english, item.id), item.translation)
        for anchor, of_anchor in translated.items() for item in of_anchor
    ]  # fmt: skip
    outputs = pl.DataFrame(rows, schema=["system", "passage", "text"], orient="row")
    manifest = checked(
        Manifest, **Identity.model_validate(description.model_dump(include={*Identity.model_fields})).model_dump(),
        anchors=description.anchors,
        items=[
            {"passage": _passage(description, item.english, item.id), "difficulty": item.difficulty,
             "direction": _direction(description, item.english), "source": text_hash(item.source)}
            for item in translated[description.anchors[0]]
        ],
    )  # fmt: skip
    judgments = pl.DataFrame(
        list(_judgments(description, root / description.judgments)),
        schema=dict.fromkeys(JUDGMENT, pl.String), orient="row",
    )  # fmt: skip
    write_base_set(folder, manifest, outputs, judgments)


def _file(anchor: str) -> str:
    return f"{anchor.replace('/', '__')}.jsonl"


def _direction(description: PublishedSet, english: bool) -> str:
    """The direction of items whose source is English, or of the others."""
    for direction in description.corpora:
        if english == (direction.partition("-")[0] == ENGLISH):
            return direction
    which = "from English" if english else "into English"
    raise BadInput(description.name, "corpora", f"has no direction {which}, but there are such items", REMEDY)


def _passage(description: PublishedSet, english: bool, item: str) -> str:
    return f"{description.corpora[_direction(description, english)]}/{item}"


def _judgments(description: PublishedSet, path: Path) -> Iterator[Sequence[str | None]]:
    """Rows of `JUDGMENT`. `winner` is None if the reply has no answer, or one that is neither A nor B.

    The file has hundreds of megabytes, so it is read line by line.
    """
    anchors = {anchor.replace("/", "__"): anchor for anchor in description.anchors}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict) or any(key not in record for key in _KEYS):
                    remedy = "restore the published file"
                    raise BadInput(path, f"line {number}", f"lacks one of the keys {', '.join(_KEYS)}", remedy)
                if record["llm_a"] in anchors and record["llm_b"] in anchors:
                    first, second = anchors[record["llm_a"]], anchors[record["llm_b"]]
                    answer = _ANSWER.search(record["analysis"] or "")
                    letters = "".join(filter(str.isalpha, answer[1])).upper() if answer else ""
                    passage = _passage(description, record["english"], identity(record["name"]))
                    yield passage, first, second, {"A": first, "B": second}.get(letters)
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({str(error).splitlines()[0]})"
        raise BadInput(path, "", problem, "restore the published file") from error
