"""A literary corpus that is ready to be judged: three chunks of two works, two models, two judges at the server."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.registry import register
from benchmark_assets.pairwise.comparing import SIDES
from benchmark_assets.translation.systems import Systems
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse
from tests.provider.server import Server, dumps

SOURCES = {"botchan:1": "親譲りの無鉄砲で。", "botchan:2": "清は泣いた。", "dream:1": "雨村忙回頭看時。"}
PASSAGES = [f"novels/{each}" for each in SOURCES]
CONTEXT: dict[str, dict[str, str]] = {
    "botchan:1": {"previous": "前", "next": "後"}, "botchan:2": {}, "dream:1": {},
}  # fmt: skip
HUMAN = {
    "botchan:1": "Because of an hereditary recklessness.",
    "botchan:2": "Kiyo cried.",
    "dream:1": "Yü-ts'un turned round speedily.",
}
OURS = {"botchan:1": "Born reckless.", "botchan:2": "Kiyo was in tears.", "dream:1": "Yucun looked back in a hurry."}
THEIRS = {"botchan:1": "Reckless by birth.", "botchan:2": "Kiyo wept.", "dream:1": "Rain village turned."}
OUTPUTS = {"ours": OURS, "theirs": THEIRS}
ENSEMBLE = ({"judge": "exact", "aspect": "meaning"}, {"judge": "stylist", "aspect": "prose"})
MINE = pl.DataFrame({"model": ["ours"] * len(PASSAGES), "passage": PASSAGES})


def prefers(better: str) -> str:
    """What a judge says who prefers A, B or neither."""
    return dumps({"justification": "So it is.", "better": better})


def sided(votes: Mapping[str, str], model: Mapping[str, str] = OURS) -> dict[str, list[str]]:
    """What judges say who prefer the machine, the human or neither by `judge|aspect|passage id`, on whichever side."""
    said = {}
    for key, better in votes.items():
        seat, passage = key.rsplit("|", 1)
        for place, side in enumerate(SIDES):
            texts = (model[passage], HUMAN[passage])[:: 1 if place == 0 else -1]
            letter = {"machine": side, "human": SIDES[1 - place], "unsure": "unsure"}[better]
            said["|".join((seat, *texts))] = [prefers(letter)]
    return said


class Salon:
    """The corpus in a warehouse, with judges that answer at `url`."""

    def __init__(self, folder: Path, warehouse: Warehouse, url: str) -> None:
        self.folder, self.warehouse, self.url = folder, warehouse, url
        self.registry = folder / "models.yaml"
        self.judges()

    @property
    def provider(self) -> Provider:
        return Provider(registry_path=str(self.registry), ledger_path=str(self.folder / "ledger.sqlite"))

    @property
    def systems(self) -> Systems:
        return Systems(warehouse=self.warehouse, provider=self.provider)

    def judges(self, **settings: Any) -> None:
        """Write the registry; `settings` are those of the judge `exact`."""
        judge = {"endpoint": "server", "family": "referee", "price": {"input": 1, "output": 2}}
        content = {
            "endpoints": {"server": {"url": self.url}},
            "judges": {"exact": judge | {"id": "exact"} | settings, "stylist": judge | {"id": "stylist"}},
            "families": {"ours": "acme", "theirs": "other"}, "embedders": {"minilm": {}}, "embedder": "minilm",
        }  # fmt: skip
        self.registry.write_text(json.dumps(content), encoding="utf-8")

    def describe(
        self, ensemble: Sequence[Mapping[str, Any]] = ENSEMBLE, restricted: Sequence[str] = (), **settings: Any
    ) -> None:
        """Import the corpus; `settings` are further ones of its key `literary`."""
        folder = self.folder / "novels"
        folder.mkdir(exist_ok=True)
        lines = [
            dumps(
                {"passage_id": each, "lang": "ja", "source": source, "references": {"morri": HUMAN[each]}}
                | CONTEXT[each]
            )
            for each, source in SOURCES.items()
        ]
        (folder / "chunks.jsonl").write_text("\n".join(lines), encoding="utf-8")
        text = {"licence": "CC0-1.0"}
        description = {
            "name": "novels", "layout": "jsonl", "root": "chunks.jsonl",
            "source": text | {"language": "ja", "restricted": "source" in restricted},
            "references": {"morri": text | {"language": "en", "restricted": "morri" in restricted}},
            "literary": {"human": "morri", "ensemble": list(ensemble)} | settings,
        }  # fmt: skip
        path = folder / "corpus.yaml"
        path.write_text(json.dumps(description), encoding="utf-8")
        register(self.warehouse, path)

    def store(self, table: str, rows: Sequence[Mapping[str, Any]], *keys: str) -> None:
        """Store rows in place of all with the same values of these columns; what is not said is null."""
        whole = [dict.fromkeys(self.warehouse.empty(table).columns) | dict(row) for row in rows]
        frame = pl.DataFrame(whole, schema=self.warehouse.empty(table).schema).with_columns(fingerprint=pl.lit("test"))
        self.warehouse.write([Replacement(table, frame, frame.select(keys).unique())], run_id="test")

    def texts(self) -> None:
        """Store sources, human translations, a term, and the outputs of two models."""
        sources, humans = [], []
        for position, (each, source) in enumerate(SOURCES.items()):
            context = {"previous": CONTEXT[each].get("previous"), "following": CONTEXT[each].get("next")}
            sources.append({
                "passage": f"novels/{each}", "corpus": "novels", "passage_id": each, "document": each.split(":")[0],
                "position": position, "language": "ja", "segment_ids": [each], "segments": [source], "text": source,
            } | context)  # fmt: skip
            humans.append({"passage": f"novels/{each}", "translator": "morri", "text": HUMAN[each], "complete": True})
        self.store("source_text", sources, "passage")
        self.store("reference", humans, "passage", "translator")
        term = {"passage": "novels/botchan:2", "term": "清", "translation": "Kiyo", "gender": "feminine"}
        self.store("glossary", [term | {"origin": "file", "in_source": True, "in_human": True}], "passage")
        for model, texts in OUTPUTS.items():
            self.outputs(model, texts)

    def outputs(self, model: str, texts: Mapping[str, str]) -> None:
        rows = [{"model": model, "passage": f"novels/{each}", "text": text} for each, text in texts.items()]
        self.store("model_output", rows, "model", "passage")
        file = {"model": model, "corpus": "novels", "file": "", "outputs": len(rows), "settings": "", "usage": ""}
        self.store("imported_file", [file], "model", "corpus")


@pytest.fixture
def salon(tmp_path: Path, warehouse: Warehouse, server: Server) -> Salon:
    """The corpus with its texts and an ensemble of two judges, who find no difference."""
    server.configure(answer="judge", keep_bodies=True)
    each = Salon(tmp_path, warehouse, server.url)
    each.describe()
    each.texts()
    return each
