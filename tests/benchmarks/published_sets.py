"""A base set in the form in which JP-TL-Bench publishes its own, with texts that were made for tests.

Its files are Git LFS objects: the mirror has pointers where the repository has them, and the objects where GitHub's
media host has them.
"""

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmark_assets.benchmarks.recipe import SHIPPED
from benchmark_assets.metrics.intervals import Floats
from tests.benchmarks.mirror import Mirror
from tests.benchmarks.recipes import change

NAME = "jp-tl-bench"
START = "/shisa-ai/jp-tl-bench/45df9c9a3b816474bc8be8bb8f2daa735277945e/"
MEDIA = "/media.githubusercontent.com/media"
ROOT = "baseset/v1.0"
JUDGMENTS = f"{ROOT}/base_set.gemini-2.5-flash.jsonl"
TWICE = "Two faces"
"""Name of an item with two lines in every file; the second line counts."""

Items = Mapping[str, tuple[bool, str]]
"""Whether the source is English, and the difficulty, by the name of an item."""


def lines_of(anchor: str, items: Items) -> bytes:
    """The file of an anchor's translations."""
    rows = [
        {"name": name, "source_text": f"Text of {name}, {time}.", "difficulty": difficulty, "english": english,
         "full_response": "…", "translation": f"{anchor} on {name}", "prompt": "…", "temperature": 0.1}
        for name, (english, difficulty) in items.items() for time in (("old", "new") if name == TWICE else ("new",))
    ]  # fmt: skip
    return _lines(rows)


def judgments(anchors: list[str], items: Items, wins: Mapping[bool, Floats], filler: str = "") -> bytes:
    """The file of judgments.

    `wins` has, for items from English and into English, the number of items on which the row's anchor wins against the
    column's. Every second pair is shown the other way round. The file also has a judgment of another system.
    """
    rows: list[dict[str, Any]] = []
    for english, table in wins.items():
        names = [name for name, (source, _) in items.items() if source == english]
        for pair, (one, other) in enumerate(combinations(range(len(anchors)), 2)):
            for place, name in enumerate(names):
                won = (place + pair) % len(names) < table[one, other]
                a, b = (other, one) if (place + pair) % 2 else (one, other)
                answer = "A" if won == (a == one) else "B"
                rows.append(_judgment(name, items, anchors[a], anchors[b], f"<answer>{answer}</answer>", filler))
    first = rows[0]["name"]
    rows.append(_judgment(first, items, "another/model", anchors[0], "<answer>A</answer>", filler))
    return _lines(rows)


def _judgment(name: str, items: Items, a: str, b: str, answer: str, filler: str) -> dict[str, Any]:
    english, difficulty = items[name]
    return {
        "name": name, "english": english, "difficulty": difficulty, "id": sha256(f"{a}{b}{name}".encode()).hexdigest(),
        "llm_a": a.replace("/", "__"), "llm_b": b.replace("/", "__"), "formatted_data": f"## Name: {name}\n{filler}",
        "analysis": f"A carries over more than B.\n{answer}",
    }  # fmt: skip


def publish_set(
    folder: Path, mirror: Mirror, anchors: list[str], items: Items, wins: Mapping[bool, Floats], filler: str = ""
) -> Path:
    """Let the mirror serve a published base set; return a copy of the shipped recipe that pins its objects."""
    shutil.copytree(SHIPPED / NAME, folder)
    bodies = {f"{ROOT}/translations/{anchor.replace('/', '__')}.jsonl": lines_of(anchor, items) for anchor in anchors}
    bodies[JUDGMENTS] = judgments(anchors, items, wins, filler)
    pin(folder, mirror, bodies)
    change(folder / "baseset.yaml", {"anchors": anchors})
    return folder


def pin(recipe: Path, mirror: Mirror, bodies: Mapping[str, bytes]) -> None:
    """Let the mirror serve objects and their pointers; pin these objects, and no others, in the recipe."""
    pins = []
    for path, body in sorted(bodies.items()):
        digest = sha256(body).hexdigest()
        pins.append(f"{digest}  {path}\n")
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(body)}\n"
        mirror.spoiled |= {f"{MEDIA}{START}{path}": body, f"{START}{path}": pointer.encode()}
    (recipe / "objects.sha256").write_text("".join(pins))


def objects(mirror: Mirror) -> dict[str, bytes]:
    """The objects at the mirror, by their paths in the repository."""
    start = MEDIA + START
    return {path.removeprefix(start): body for path, body in mirror.spoiled.items() if path.startswith(start)}


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
