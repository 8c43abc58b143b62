"""A small corpus with two segmented translations and one that is prose, and what the assets make of it.

Here: the corpus on disk, its construction, and what came of it. Not here: the texts of single tests.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.alignment.words import WordEmbedder
from tests.corpus.support import edit
from tests.support import CONSTRUCTED, run, write_corpus
from tests.systems import provider

SOURCES = {
    "doc1": {
        "doc1:1.1": "Molitor mane surrexit.", "doc1:1.2": "Uxor panem quaesivit.",
        "doc1:2.1": "Corvus in quercu sedebat.", "doc1:2.2": "Lupus sub arbore dormivit.",
        "doc1:3.1": "Vesperi rex domum rediit.", "doc1:3.2": "Nemo regem salutavit.",
    },
    "doc2": {
        "doc2:1.1": "Hieme flumen congelavit.", "doc2:1.2": "Pueri in glacie luserunt.",
        "doc2:2.1": "Vere nix soluta est.", "doc2:2.2": "Agricola agrum aravit.",
    },
}  # fmt: skip
ANN = {
    "doc1": {
        "doc1:1.1": "The miller got up early in the morning.", "doc1:1.2": "His wife looked for bread in the house.",
        "doc1:2.1": "A raven was sitting in the oak tree.", "doc1:2.2": "Under the branches a wolf was sleeping.",
        "doc1:3.1": "In the evening the king came home again.", "doc1:3.2": "Nobody there greeted his majesty.",
    },
    "doc2": {
        "doc2:1.1": "In winter the river froze over.", "doc2:1.2": "The boys played on the thick ice.",
        "doc2:2.1": "When spring came the snow melted away.", "doc2:2.2": "The farmer ploughed his field again.",
    },
}  # fmt: skip
BEN = {
    "doc1": {
        "doc1:1.1": "Early that morning the miller rose.", "doc1:1.2": "Bread was what his wife was looking for.",
        "doc1:2.1": "In the oak there sat a black raven.", "doc1:2.2": "The wolf slept below the branches.",
        "doc1:3.1": "The king went home in the evening.", "doc1:3.2": "His majesty was greeted by nobody.",
    },
    "doc2": {
        "doc2:1.1": "The river was frozen all winter.", "doc2:1.2": "There were boys playing on its ice.",
        "doc2:2.1": "In the spring all the snow melted.", "doc2:2.2": "Again the farmer ploughed the field.",
    },
}  # fmt: skip
PROSE = {
    "doc1": {
        "doc1:1.1": "Early in the morning the miller got up.", "doc1:1.2": "In the house his wife looked for bread.",
        "doc1:2.1": "Up in the oak tree a raven sat;", "doc1:2.2": "there was a wolf sleeping under the branches.",
        "doc1:3.1": "The king came home in the evening,", "doc1:3.2": "and his majesty was greeted there by nobody.",
    },
    "doc2": {
        "doc2:1.1": "That winter the river froze.", "doc2:1.2": "Boys were playing on the ice.",
        "doc2:2.1": "When it was spring the snow melted,", "doc2:2.2": "and again the farmer ploughed his field.",
    },
}  # fmt: skip
"""Dora's translation, by the segments to which it belongs."""
PASSAGES = ["tales/doc1:1", "tales/doc1:2", "tales/doc1:3", "tales/doc2:1", "tales/doc2:2"]


def prose(segments: Mapping[str, str]) -> str:
    """Segments as running text: a paragraph a passage."""
    passages = dict.fromkeys(each.rpartition(".")[0] for each in segments)
    return "\n\n".join(
        " ".join(segments[each] for each in segments if each.startswith(f"{passage}.")) for passage in passages
    )


class Tales:
    """The corpus `tales`, with a warehouse and an instance."""

    def __init__(
        self, folder: Path, warehouse: Warehouse, instance: dg.DagsterInstance, models: Provider | None = None
    ) -> None:
        self.folder, self.warehouse, self.instance = folder, warehouse, instance
        self.description = write_corpus(folder, SOURCES, {"ann": ANN, "ben": BEN}, "tales")
        self.refer("dora")
        for document, segments in PROSE.items():
            self.write("dora", document, prose(segments))
        resources = {"warehouse": warehouse, "embedder": WordEmbedder(), "provider": models or provider(folder)}
        self.definitions = build_definitions(rooms=CONSTRUCTED, resource_overrides=resources)

    def refer(self, translator: str, **settings: str) -> None:
        """Describe a continuous translation, or describe it anew."""
        entry = {"language": "en", "licence": "CC0-1.0", "layout": "text", "root": translator} | settings
        known = json.loads(self.description.read_text(encoding="utf-8"))["references"]
        edit(self.description, {"references": known | {translator: entry}})

    def write(self, translator: str, document: str, text: str) -> None:
        """Write the file of a continuous translation."""
        path = self.folder / translator / f"{document}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def look(self) -> bool:
        """Import the corpus and look at its files; whether they have no fault."""
        register(self.warehouse, self.description)
        return run(self.definitions, self.instance, "scan", raise_on_error=False).success

    def build(self, stage: str = "construction", passages: Sequence[str] = PASSAGES) -> str:
        """Look at the files, and materialize a stage for passages; what the alignment failed with, '' for nothing."""
        self.look()
        ends = passages[0], passages[-1]
        result = run(self.definitions, self.instance, stage, ends, raise_on_error=False)
        failures = [each.step_failure_data for each in result.get_step_failure_events()]
        return "".join(str(each.error) + str(each.user_failure_data) for each in failures)

    def correct(self, **texts: str | None) -> None:
        """Write Dora's corrections, by segment, in place of earlier ones."""
        lines = [json.dumps({"segment": key, "translator": "dora", "text": text}) for key, text in texts.items()]
        (self.folder / "corrections.jsonl").write_text("\n".join(lines), encoding="utf-8")
        edit(self.description, {"corrections": "corrections.jsonl"})

    def content(self) -> dict[str, list[tuple[Any, ...]]]:
        """Rows of all tables of alignment and verification, without the run that wrote them and its time."""
        names = ("alignment", "unassigned", "verification")
        return {name: self.warehouse.read(name).drop("run_id", "updated_at").rows() for name in names}

    def rows(self, translator: str = "dora") -> pl.DataFrame:
        """Rows of `alignment`, with the ids of the segments."""
        rows = self.warehouse.read("alignment").filter(translator=translator)
        return rows.join(self.warehouse.read("source_text", columns=["passage", "segment_ids"]), on="passage")

    def texts(self, translator: str = "dora") -> dict[str, str | None]:
        """Texts by segment."""
        rows = self.rows(translator).select("segment_ids", "segments").iter_rows()
        return {segment: text for ids, texts in rows for segment, text in zip(ids, texts, strict=True)}

    def doubts(self) -> dict[str, str]:
        """Doubts by passage."""
        return dict(self.rows().drop_nulls("doubt").select("passage", "doubt").iter_rows())

    def versions(self) -> dict[tuple[str, str], str]:
        """Versions by asset and passage."""
        return {
            (asset, passage): version
            for asset, passage, version in self.warehouse.read(
                "materialization", columns=["asset", "passage", "version"]
            ).iter_rows()
        }


def changed(before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]) -> dict[str, set[str]]:
    """Passages whose version changed, by asset."""
    found: dict[str, set[str]] = {}
    for (asset, passage), version in after.items():
        if before.get((asset, passage)) != version:
            found.setdefault(asset, set()).add(passage)
    return found


def expected(**others: Any) -> dict[str, Any]:
    """Dora's texts, by segment, but for some documents."""
    return {key: text for document, own in (PROSE | others).items() for key, text in own.items()}
