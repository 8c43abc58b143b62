"""A home that suffers a random sequence of edits, kills and actions in Dagster's UI, and then equals a new one.

`python -m tests.automation.sequences FOLDER JUDGES MODELS FIRST NUMBER` runs the sequences with seeds from FIRST on, in
a copy of the project, because sequences change prompts. JUDGES and MODELS are URLs of endpoints.

Here: the operations, the updates between them, the comparison at the end. Not here: single faults of the log of changes
(tests of automation.runs).
"""

import gc
import json
import logging
import multiprocessing
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from dagster._core.storage.tags import BACKFILL_ID_TAG

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.automation import repairing, runs
from benchmark_assets.automation.due import EVERYTHING, Scope, determinants, due, missed, order
from benchmark_assets.automation.safekeeping import agreement, back_up
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import ROOMS, build_definitions
from benchmark_assets.lineage.looks import Looks
from benchmark_assets.literary import assets as literary
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.partitions import dimensions, range_tags
from benchmark_assets.people.answers import import_labels
from benchmark_assets.translation import assets as translation
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import System
from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, RunFailedError
from resources.home import PROJECT
from resources.provider.provider import Provider
from resources.state_sums import SUMS
from resources.warehouse import STATES, Replacement, Warehouse
from tests.automation.test_edits import LENIENT, rewrite
from tests.corpus.prose import DORA
from tests.support import CONSTRUCTED, LetterEmbedder, by_hand, made_home, write_corpus, write_outputs
from tests.systems import RuleSystem, RuleSystems

IMPORTED = (
    "imported_output", "imported_file", "imported_label", "label_quarantine", "control_item", "passage_shard",
)  # fmt: skip
"""Tables that people fill: a new home gets their rows, as it gets the files."""

HISTORY = {"embedding", "unit_sum", "model_call", "change", "removal"}
"""Tables about what a home has gone through: caches, the accounts, the log, and what was removed."""

RULED, ADDED, OUTSIDE = ("alpha", "beta"), ("aaa", "delta", "omega"), ("gamma", "zeta")
"""Models that translate by rule from the beginning; those that are added; those whose outputs are imported."""

CALLED = "epsilon"
"""A model of the registry."""

WORDS = ["mus", "felis", "sol", "luna", "nihil", "dicit", "currit", "sedet", "oritur", "amen", "indeed", "thus"]

SIZES = {
    "files": CONSTRUCTED, "scores": [*CONSTRUCTED, literary, translation, metrics, adjudication], "all": ROOMS,
}  # fmt: skip
"""Rooms of the code location. An update with all of them takes five times as long as one with the first."""

ENDS = {"files": 3.0, "scores": 5.0, "all": 10.0}
"""CPU seconds in which an update ends, for kills at random moments."""

FORKED = multiprocessing.get_context("forkserver")
"""Starts processes that have imported everything and have no threads."""


class Mixed(RuleSystems):
    """Systems by rule, next to those of the registry and of imported outputs."""

    def system(self, model: str) -> System:
        """The system of a model."""
        ruled = model in (*RULED, *ADDED)
        return RuleSystem(model, Path(self.folder)) if ruled else super(RuleSystems, self).system(model)


class Course:
    """A home in the folder `place`, and the files that it is made from in `inputs`."""

    def __init__(self, place: Path, inputs: Path, rooms: str, patch: pytest.MonkeyPatch) -> None:
        self.place, self.inputs, self.rooms = place, inputs, rooms
        self.home = made_home(patch, place)
        patch.setenv("VARIORUM_MODELS", str(inputs / "models.yaml"))
        self.corpus, self.novels = inputs / "corpus", inputs / "novels"
        self.warehouse: Warehouse = DuckDBWarehouse(path=str(self.home / "variorum.duckdb"))
        self.provider = Provider(
            registry_path=str(inputs / "models.yaml"), ledger_path=str(self.home / "ledger.sqlite")
        )
        self.instance = dg.DagsterInstance.get()

    @cached_property
    def definitions(self) -> dg.Definitions:
        """The code location over the home."""
        systems = Mixed(warehouse=self.warehouse, provider=self.provider, folder=str(self.inputs))
        resources = {"warehouse": self.warehouse, "embedder": LetterEmbedder(), "provider": self.provider}
        return build_definitions(rooms=SIZES[self.rooms], resource_overrides=resources | {"systems": systems})

    def look(self) -> str:
        """Scan the files; return what was refused."""
        return _refused(lambda: runs.look(self.definitions, self.instance))

    def update(self, scope: Scope = EVERYTHING, whole: bool = False) -> str:
        """Scan the files and materialize what is stale; return what failed."""
        return self.look() + _refused(lambda: runs.update(self.definitions, self.instance, scope, whole=whole))

    def unseen(self) -> list[str]:
        """What an audit finds that the next update would not examine."""
        mark = self.warehouse.mark()
        assert mark
        with self.warehouse.kept_open():
            looks = Looks.of(self.instance, self.warehouse, determinants(self.definitions), mark.epoch + 1)
            return missed(self.definitions, self.instance, looks)

    def stale(self) -> dict[str, dict[str, str]]:
        """All stale partitions and the reasons, by asset."""
        found = {}
        with self.warehouse.kept_open():
            for asset in order(self.definitions):
                if len(rows := due(self.definitions, self.instance, asset).rows):
                    keys = rows.select(pl.concat_str(pl.exclude("reason"), separator="|"), "reason")
                    found[asset.to_user_string()] = dict(keys.iter_rows())
        return found

    def content(self) -> dict[str, pl.DataFrame]:
        """All tables except those of HISTORY, without the run and the time of each row."""
        with self.warehouse.consistently():
            tables = {
                name: self.warehouse.read(name, columns=[column for column in table.content if column != "home"])
                for name, table in catalogue.tables().items() if name not in HISTORY
            }  # fmt: skip
        return tables | {name: tables[name].filter(~pl.col("asset").is_in(HISTORY)) for name in (STATES, SUMS)}

    def failed(self) -> dict[str, list[str]]:
        """Partitions that Dagster's pages show as failed or under way, by asset."""
        found = {}
        graph = self.definitions.resolve_asset_graph()
        for asset in order(self.definitions):
            if partitions := graph.get(asset).partitions_def:
                keys = list(partitions.get_partition_keys(dynamic_partitions_store=self.instance))
                known = self.instance.get_status_by_partition(asset, keys, partitions) or {}
                bad = [key for key, status in known.items() if status and status.value in ("FAILED", "IN_PROGRESS")]
                if bad:
                    found[asset.to_user_string()] = sorted(bad)
        return found


def _refused(work: Callable[[], object]) -> str:
    """What an update or a scan reports at its end; '' if nothing."""
    try:
        work()
    except (BadInput, RunFailedError) as fault:
        return str(fault)
    return ""


def written(inputs: Path, judges: str, models: str) -> None:
    """Write the files of two small corpora, one literary, and a registry."""
    description = write_corpus(inputs / "corpus")
    (inputs / "corpus" / "prose").mkdir()
    for document, text in DORA.items():
        (inputs / "corpus" / "prose" / f"{document}.txt").write_text(text, encoding="utf-8")
    prose = {"language": "en", "licence": "CC0-1.0", "layout": "text", "root": "prose", "numbering": r"\d+\."}

    def extend(content: dict[str, Any]) -> None:
        content["references"]["dora"] = prose
        content["filters"] = dict(LENIENT)
        content["audit"] = {"judges": ["comparer"], "threshold": 0.5, "bands": [0.3, 0.5, 2.0, 3.0]}
        content["rubric"] = {"judges": ["marker"]}

    rewrite(description, extend)
    novels = inputs / "novels"
    novels.mkdir()
    lines = [
        {"passage_id": f"b:{number}", "lang": "ja", "source": source, "references": {"morri": english}}
        for number, source, english in ((1, "無鉄砲で。", "Recklessness."), (2, "清は泣いた。", "Kiyo cried."))
    ]  # fmt: skip
    (novels / "chunks.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    glossary(novels, "Kiyo")
    content = {
        "name": "novels", "layout": "jsonl", "root": "chunks.jsonl", "source": {"licence": "CC0-1.0", "language": "ja"},
        "references": {"morri": {"licence": "CC0-1.0", "language": "en"}},
        "literary": {"human": "morri", "glossary": "glossary.csv"},
    }  # fmt: skip
    (novels / "corpus.yaml").write_text(json.dumps(content), encoding="utf-8")
    judge = {"endpoint": "judges", "family": "referee", "price": {"input": 1, "output": 2}}
    registry = {
        "endpoints": {"judges": {"url": judges}, "models": {"url": models}},
        "judges": {"comparer": judge | {"id": "comparer"}, "marker": judge | {"id": "marker"}},
        "models": {CALLED: {"endpoint": "models", "id": CALLED, "price": {"input": 1, "output": 1}, "batch_tokens": 1,
                            "family": "acme", "corpora": ["tiny"]}},
        "families": dict.fromkeys((*RULED, *ADDED, *OUTSIDE), "acme"), "embedders": {"minilm": {}},
        "embedder": "minilm",
    }  # fmt: skip
    (inputs / "models.yaml").write_text(json.dumps(registry), encoding="utf-8")


def glossary(novels: Path, word: str) -> None:
    (novels / "glossary.csv").write_text(f"passage,term,translation,gender\nnovels/b:2,清,{word},feminine\n", "utf-8")


def built(
    place: Path, inputs: Path, rooms: str, patch: pytest.MonkeyPatch, models: Sequence[str], of: Course | None = None
) -> Course:
    """A new home from files, and from what people gave another home."""
    course = Course(place, inputs, rooms, patch)
    for corpus in (course.corpus, course.novels):
        register(course.warehouse, corpus / "corpus.yaml")
    if of:
        tables = {name: of.warehouse.read(name).drop("run_id", "updated_at") for name in IMPORTED}
        course.warehouse.write([Replacement(name, rows, None) for name, rows in tables.items()], "import")
    course.look()
    course.instance.add_dynamic_partitions("model", list(models))
    assert course.update() == ""
    return course


class Operations:
    """What happens to a home: each public method is an operation, and returns what it did."""

    def __init__(self, course: Course, dice: random.Random, prompts: Path, backups: Path) -> None:
        self._course, self._dice, self._prompts, self._backups = course, dice, prompts, backups
        self._count = 0
        self._deleted: list[str] = []

    def settle(self) -> None:
        """Undo what would not end: models that were deleted on Dagster's page come back, and no passage fails."""
        self._course.instance.add_dynamic_partitions("model", self._deleted)
        self._deleted = []
        for file in ("failing", "silent"):
            (self._course.inputs / file).unlink(missing_ok=True)

    # Files

    def edit_source(self) -> object:
        return self._lengthen(self._pick(self._files("root/**/*.json")))

    def edit_reference(self) -> object:
        return self._lengthen(self._pick(self._files("translation/**/*.json")))

    def edit_prose(self) -> object:
        if not (files := self._files("prose/*.txt")):
            return ""
        words = (path := self._pick(files)).read_text("utf-8").split(" ")
        words[self._dice.randrange(1, len(words))] += f" {self._word()}"
        path.write_text(" ".join(words), "utf-8")
        return path.name

    def correct(self) -> object:
        line = {"segment": self._pick(self._segments()), "translator": "dora", "text": self._pick([None, self._word()])}
        (self._course.corpus / "corrections.jsonl").write_text(json.dumps(line), "utf-8")
        self._describe(lambda content: content.update(corrections="corrections.jsonl"))
        return line

    def add_passage(self) -> object:
        document = self._pick(self._documents())
        numbers = [int(key.split(":")[1].split(".")[0]) for key in self._segments(document)]
        key = f"{document}:{max(numbers) + 1}.1"
        self._change(document, lambda segments: segments.update({key: f"Carmen {self._word()} de sole."}))
        return key

    def remove_passage(self) -> object:
        passages = self._passages(document := self._pick(self._documents()))
        if len(passages) < 2:
            return ""
        gone = self._pick(passages)

        def drop(segments: dict[str, str]) -> None:
            for key in [key for key in segments if key.startswith(f"{gone}.")]:
                del segments[key]

        self._change(document, drop)
        self._uncorrect()
        return gone

    def rename_passage(self) -> object:
        old = self._pick(self._passages(document := self._pick(self._documents())))
        self._count += 1
        new = f"{document}:{50 + self._count}"

        def rename(segments: dict[str, str]) -> None:
            moved = {
                new + key[len(old) :] if key.startswith(f"{old}.") else key: text for key, text in segments.items()
            }
            segments.clear()
            segments.update(moved)

        self._change(document, rename)
        self._uncorrect()
        return old, new

    def rename_document(self) -> object:
        self._count += 1
        old, new = self._pick(self._documents()), f"doc{10 + self._count}"
        for path in self._files(f"**/{old}[_.]*"):
            if path.suffix == ".json":
                segments = json.loads(path.read_text("utf-8"))
                moved = {key.replace(f"{old}:", f"{new}:"): text for key, text in segments.items()}
                path.write_text(json.dumps(moved), "utf-8")
            path.rename(path.with_name(path.name.replace(old, new, 1)))
        self._uncorrect()
        return old, new

    def rename_translator(self) -> object:
        folder = self._pick(self._files("translation/en/*"))
        self._count += 1
        old, new = folder.name, f"tr{self._count}"
        for path in folder.iterdir():
            path.rename(path.with_name(path.name.replace(f"-{old}", f"-{new}")))
        folder.rename(folder.with_name(new))
        self._describe(lambda content: content["references"].update({new: content["references"].pop(old)}))
        return old, new

    def add_translator(self) -> object:
        self._count += 1
        name = f"tr{self._count}"
        for path in self._files("root/**/*.json"):
            segments, document = json.loads(path.read_text("utf-8")), path.name.partition("_")[0]
            text = {key: f"New {self._word()} of {source}" for key, source in segments.items()}
            place = self._course.corpus / f"translation/en/{name}/{document}_translation-en-{name}.json"
            place.parent.mkdir(exist_ok=True)
            place.write_text(json.dumps(text), "utf-8")
        terms = {"language": "en", "licence": "CC0-1.0"}
        self._describe(lambda content: content["references"].update({name: terms}))
        return name

    def remove_translator(self) -> object:
        folders = self._files("translation/en/*")
        if len(folders) < 2:
            return ""
        shutil.rmtree(gone := self._pick(folders))
        self._describe(lambda content: content["references"].pop(gone.name))
        return gone.name

    def edit_novel(self) -> object:
        path = self._course.novels / "chunks.jsonl"
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        line = self._pick(lines)
        if self._dice.random() < 0.5:
            line["source"] += self._pick("清雨村忙")
        else:
            line["references"]["morri"] += f" {self._word()}"
        path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
        return line["passage_id"]

    def edit_glossary(self) -> object:
        glossary(self._course.novels, word := self._word())
        return word

    # Descriptions, the registry and the program

    def filter(self) -> object:
        key, value = self._pick([
            ("max_duplicate", round(self._dice.uniform(0.3, 0.99), 2)), ("min_characters", self._pick([1, 10, 18, 25])),
            ("complete", True), ("verified", True),
        ])  # fmt: skip
        self._describe(lambda content: content["filters"].update({key: value}))
        return key, value

    def unfilter(self) -> object:
        self._describe(lambda content: content.update(filters=dict(LENIENT)))
        return ""

    def describe(self) -> object:
        self._count += 1
        change = self._pick([
            {"audit": {"judges": ["comparer"], "threshold": self._pick([0.3, 0.5, 2.0]), "bands": [0.3, 0.5, 2.0, 3.0],
                       "seed": self._count}},
            {"sensitivity": {"passages": self._pick([0, 1, 2, 12]), "seed": self._count % 3}},
            {"scoring": {"cluster": self._pick(["document", "passage"]), "missing": self._pick(["worst", "omit"])}},
            {"addressing": self._pick(["judge", "withhold"])}, {"rubric": {"judges": self._pick([[], ["marker"]])}},
        ])  # fmt: skip
        self._describe(lambda content: content.update(change))
        return change

    def relicense(self) -> object:
        self._count += 1
        name = self._pick([path.name for path in self._files("translation/en/*")])
        self._describe(lambda content: content["references"][name].update(licence=f"licence {self._count}"))
        return name

    def change_literary(self) -> object:
        def switch(content: dict[str, Any]) -> None:
            content["literary"] = {} if content.get("literary") else {"human": "morri", "glossary": "glossary.csv"}

        rewrite(path := self._course.novels / "corpus.yaml", switch)
        return path.name

    def change_registry(self) -> object:
        family = {name: self._pick(["acme", "other"]) for name in (*RULED, *ADDED, *OUTSIDE)}
        model = {"price": {"input": self._pick([1, 2]), "output": 1}, "temperature": self._pick([0, 0.3, 0.7])}

        def change(content: dict[str, Any]) -> None:
            content["families"] = family
            content["models"][CALLED] |= model

        rewrite(self._course.inputs / "models.yaml", change)
        return model

    def change_prompt(self) -> object:
        self._count += 1
        path = self._prompts / f"{self._pick(['judge', 'rubric', 'translate', 'chunk'])}.yaml"
        rewrite(path, lambda prompt: prompt.update(system=prompt["system"] + f" {self._count}"))
        return path.name

    def touch_program(self) -> object:
        os.utime(path := self._prompts.parent / "resources" / "digest.py")
        return path.name

    # Models and people

    def add_model(self) -> object:
        self._course.instance.add_dynamic_partitions("model", [name := self._pick(ADDED)])
        return name

    def remove_model(self) -> object:
        names = [name for name in self._models() if name in (*ADDED, *OUTSIDE)]
        if not names:
            return ""
        course, name = self._course, self._pick(names)
        return name, _refused(lambda: runs.remove(course.definitions, course.instance, "model", name))

    def import_outputs(self) -> object:
        known = self._course.warehouse.read("source_text", pl.DataFrame({"corpus": ["tiny"]}), ["passage_id"])
        texts = {key: f"A {self._word()} runs." for key in known["passage_id"] if self._dice.random() < 0.9}
        if len(texts) > 1 and self._dice.random() < 0.3:
            texts.update(dict.fromkeys(self._dice.sample(sorted(texts), 2), "The very same sentence stands in both."))
        if not texts:
            return ""
        path = write_outputs(self._course.inputs / f"{self._pick(OUTSIDE)}.jsonl", texts)
        name, _ = import_outputs(self._course.warehouse, path, "tiny", path.stem, {CALLED})
        self._course.instance.add_dynamic_partitions("model", [name])
        return name, sorted(texts)

    def import_labels(self) -> object:
        items = self._course.warehouse.read("triage", columns=["item"])["item"].to_list()
        if not items:
            return ""
        rows = ["item,annotator,label,error_category,severity,confidence,notes"]
        for item in self._dice.sample(items, min(len(items), 3)):
            self._count += 1
            labels = ["VALID_VARIATION,,none,high", "MINOR_ERROR,OTHER,medium,low", "MAJOR_ERROR,OTHER,high,low"]
            said = self._pick(labels)
            rows.append(f"{item},{self._pick(['ann', 'bob'])},{said},note {self._count}")
        path = self._course.inputs / f"labels{self._pick('12')}.csv"
        path.write_text("\n".join(rows) + "\n", "utf-8")
        return import_labels(self._course.warehouse, [path])

    # Dagster's pages

    def materialize(self) -> object:
        return self._by_hand()

    def backfill(self) -> object:
        return self._by_hand({BACKFILL_ID_TAG: "backfill"})

    def edit_and_materialize(self) -> object:
        return self.edit_source(), self._course.look(), self._by_hand()

    def report(self) -> object:
        asset = self._pick(order(self._course.definitions))
        keys = self._keys(asset)
        partition = self._pick(keys) if keys else None
        self._course.instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=partition))
        return asset.to_user_string(), partition

    def wipe(self) -> object:
        self._course.instance.wipe_assets([asset := self._pick(order(self._course.definitions))])
        return asset.to_user_string()

    def delete_run(self) -> object:
        run = self._pick(self._course.instance.get_runs(limit=8))
        self._course.instance.delete_run(run.run_id)
        return run.tags.get("dagster/asset_partition_range_start")

    def delete_model(self) -> object:
        if len(models := self._models()) < 3:
            return ""
        self._deleted.append(model := self._pick(models))
        self._course.instance.delete_dynamic_partition("model", model)
        return model

    def delete_passage(self) -> object:
        passage = self._pick(self._course.instance.get_dynamic_partitions("passage"))
        self._course.instance.delete_dynamic_partition("passage", passage)
        return passage

    def forget(self) -> object:
        asset = self._pick(sorted(self._assets()))
        return asset, _refused(lambda: runs.forget(self._course.definitions, self._course.instance, asset))

    # Updates that do not go well

    def fail(self) -> object:
        passage = f"tiny/{self._pick(self._passages())}"
        (self._course.inputs / "failing").write_text(passage, "utf-8")
        self.edit_source()
        return passage, self._course.update()

    def limit(self) -> object:
        scope = self._pick([
            Scope(models=["alpha"]), Scope(models=[]), Scope(corpora=["tiny"]), Scope(corpora=["novels"]),
            Scope(models=["beta"], corpora=["tiny"]),
        ])  # fmt: skip
        return self.edit_source(), scope, self._course.update(scope)

    def kill(self) -> object:
        self.edit_source()
        seconds = self._dice.uniform(0, ENDS[self._course.rooms])
        with self._other() as process:
            while process.is_alive() and cpu_seconds(process) < seconds:
                time.sleep(0.01)
            process.kill()
        return round(seconds, 1)

    def update_twice(self) -> object:
        self.edit_source()
        with self._other() as process:
            self.edit_reference()
            failed = self._course.update()
            process.join()
        return failed, process.exitcode

    def restore(self) -> object:
        """Go back to a backup, with everything that was imported and done since."""
        back_up(self._course.warehouse, self._course.provider, self._backups)
        self.edit_reference()
        self._course.update()
        self._course.instance.dispose()
        lines = list(repairing.restore(lambda: self._course.definitions, self._backups, as_of_backup=True))
        self._course.instance = dg.DagsterInstance.get()
        return lines[:1]

    @contextmanager
    def _other(self) -> Iterator[ForkServerProcess]:
        """A process that updates the home."""
        course = self._course
        process = FORKED.Process(target=update_alone, args=(course.place, course.inputs, course.rooms))
        process.start()
        yield process
        process.join()

    def _by_hand(self, tags: Mapping[str, str] | None = None) -> object:
        asset = self._pick(order(self._course.definitions))
        dims = dimensions(self._course.definitions.resolve_asset_graph().get(asset).partitions_def)
        keys = {dim: self._course.instance.get_dynamic_partitions(dim) for dim in dims}
        if not all(keys.values()):
            return ""  # tasks
        ends = [sorted(self._dice.choices(range(len(keys[dim])), k=2)) for dim in dims]
        first, last = ("|".join(keys[dim][ends[at][end]] for at, dim in enumerate(dims)) for end in (0, 1))
        job = self._course.definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={asset})
        ran = job.execute_in_process(
            instance=self._course.instance, tags={**(range_tags(first, last) if dims else {}), **(tags or {})},
            raise_on_error=False,
        )  # fmt: skip
        return asset.to_user_string(), first, last, ran.success

    def _assets(self) -> set[str]:
        keys = self._course.definitions.resolve_asset_graph().executable_asset_keys
        return {key.to_user_string() for key in keys} - {"report"}

    def _keys(self, asset: dg.AssetKey) -> Sequence[str]:
        partitions = self._course.definitions.resolve_asset_graph().get(asset).partitions_def
        return partitions.get_partition_keys(dynamic_partitions_store=self._course.instance) if partitions else []

    def _models(self) -> list[str]:
        return list(self._course.instance.get_dynamic_partitions("model"))

    def _pick(self, values: Sequence[Any]) -> Any:
        return self._dice.choice(values)

    def _word(self) -> str:
        self._count += 1
        return f"{self._pick(WORDS)}{self._count}"

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self._course.corpus.glob(pattern))

    def _documents(self) -> list[str]:
        return [path.name.partition("_")[0] for path in self._files("root/**/*.json")]

    def _segments(self, document: str = "") -> list[str]:
        paths = self._files("root/**/*.json")
        return [
            key for path in paths if path.name.startswith(f"{document}_" if document else "")
            for key in json.loads(path.read_text("utf-8"))
        ]  # fmt: skip

    def _passages(self, document: str = "") -> list[str]:
        return sorted({key.rpartition(".")[0] for key in self._segments(document)})

    def _lengthen(self, path: Path) -> object:
        segment = self._pick(list(json.loads(path.read_text("utf-8"))))
        rewrite(path, lambda segments: segments.update({segment: f"{segments[segment]} {self._word()}."}))
        return path.name, segment

    def _change(self, document: str, change: Callable[[dict[str, str]], object]) -> None:
        for path in self._files(f"**/{document}_*.json"):
            rewrite(path, change)

    def _uncorrect(self) -> None:
        """Drop corrections, which may name segments that are gone."""
        self._describe(lambda content: content.pop("corrections", None))

    def _describe(self, change: Callable[[dict[str, Any]], object]) -> None:
        rewrite(self._course.corpus / "corpus.yaml", change)


def update_alone(place: Path, inputs: Path, rooms: str) -> None:
    """Update a home, in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        Course(place, inputs, rooms, patch).update()


def cpu_seconds(process: ForkServerProcess) -> float:
    """CPU seconds that a process has used; all of them once it has ended."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Program:
    """The files of the program that operations change, and their return to what they were."""

    def __init__(self, project: Path) -> None:
        self.prompts = project / "prompts"
        files = [*self.prompts.glob("*.yaml"), project / "resources" / "digest.py"]
        self._files = {path: (path.read_bytes(), path.stat()) for path in files}

    def restore(self) -> None:
        """Give each file its content and time."""
        for path, (content, state) in self._files.items():
            path.write_bytes(content)
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def plant(course: Course, dice: random.Random) -> tuple[str, str, str]:
    """Change a partition of an asset behind the program's back: its state, or its rows."""
    states = course.warehouse.read("materialization", columns=["asset", "model", "passage", "task", "row_count"])
    kind = dice.choice(["forgotten", "gone", "emptied"])
    rows = states.filter(pl.col("asset").is_in([key.to_user_string() for key in order(course.definitions)]))
    rows = rows.filter(pl.col("row_count") > 0) if kind == "emptied" else rows
    asset, *keys, _ = dice.choice(rows.rows())
    where = "asset = $1 AND model = $2 AND passage = $3 AND task = $4"
    with by_hand(course.warehouse.name) as connection:
        if kind == "forgotten":
            connection.execute(f"UPDATE materialization SET made_from = '' WHERE {where}", [asset, *keys])
        elif kind == "gone":
            connection.execute(f"DELETE FROM materialization WHERE {where}", [asset, *keys])
        else:
            dims = [(name, key) for name, key in zip(("model", "passage", "task"), keys, strict=True) if key]
            condition = " AND ".join(f"{name} = ?" for name, _ in dims) or "TRUE"
            connection.execute(f'DELETE FROM "{asset}" WHERE {condition}', [key for _, key in dims])
    return kind, asset, "|".join(filter(None, keys))


def audited(course: Course, failed: str) -> list[str]:
    """Problems of a home after an update that ended with some failures."""
    problems = [f"the update would not examine {found}" for found in course.unseen()]
    if not failed:
        problems += [f"Dagster shows as failed: {asset} {keys}" for asset, keys in course.failed().items()]
    return problems


def mended(course: Course, dice: random.Random) -> list[str]:
    """Plant a change and mend it; return what went wrong."""
    kind, asset, _ = planted = plant(course, dice)
    differing = agreement(course.definitions, course.instance).filter(pl.col("problem") != "")["asset"].to_list()
    if not course.unseen() and asset not in differing:
        return [f"no audit finds what was planted: {planted}"]
    if kind == "emptied":
        runs.forget(course.definitions, course.instance, asset)
    course.update(whole=True)  # tells what it finds, and mends it
    failed = course.update(whole=True)
    return [f"{planted}: {failed}"] if failed else []


def sequence(folder: Path, seed: int, program: Program) -> tuple[list[str], list[str]]:
    """Carry out a sequence; return the names of its operations, and what went wrong."""
    dice = random.Random(seed)
    rooms = size(seed)
    done: list[str] = []
    life = restored(folder, rooms)
    with pytest.MonkeyPatch.context() as patch:
        course = Course(life, life / "inputs", rooms, patch)
        operations = Operations(course, dice, program.prompts, folder / "backups")
        names = [name for name in vars(Operations) if not name.startswith("_") and name != "settle"]
        number = dice.randint(5, 12)
        while len(done) < number:
            if (result := getattr(operations, name := dice.choice(names))()) == "":
                continue
            done.append(name)
            print(f"  {name} {result}"[:300], flush=True)
            if dice.random() < 0.3 and (problems := audited(course, course.update())):
                return done, problems
        operations.settle()
        if problems := [failed for failed in [course.update()] if failed] or audited(course, ""):
            return done, problems
        if dice.random() < 0.3:
            done.append("plant")
            if problems := mended(course, dice):
                return done, problems
        problems = [f"stale after an update: {asset} {keys}" for asset, keys in course.stale().items()]
        models = course.instance.get_dynamic_partitions("model")
        new = built(folder / "new", course.inputs, rooms, patch, models, course)
        ours, theirs = course.content(), new.content()
        different = [name for name in ours if not ours[name].equals(theirs[name])]
        for name in different:
            on = [column for column in ours[name].columns if not ours[name].schema[column].is_nested()]
            for rows, others in ((ours[name], theirs[name]), (theirs[name], ours[name])):
                print(f"  {name}", rows.join(others, on=on, how="anti", nulls_equal=True).head(3).to_dicts())
        for each in (course, new):
            each.instance.dispose()
    return done, problems + [f"differs from a new home: {name}" for name in different]


def size(seed: int) -> str:
    """The rooms of a sequence: all of them in every twentieth."""
    return "all" if seed % 20 == 0 else "scores" if seed % 5 == 1 else "files"


def restored(folder: Path, rooms: str) -> Path:
    """A copy of the home that sequences begin with, always in the same place."""
    for name in ("life", "new", "backups"):
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(folder / rooms, folder / "life", symlinks=True)
    return folder / "life"


def prepare(folder: Path, rooms: str, judges: str, models: str) -> None:
    """Make the home that sequences begin with."""
    shutil.rmtree(life := folder / "life", ignore_errors=True)
    (life / "inputs").mkdir(parents=True)
    written(life / "inputs", judges, models)
    with pytest.MonkeyPatch.context() as patch:
        course = built(life, life / "inputs", rooms, patch, [*RULED, CALLED])
        course.update()
        assert rooms == "files" or len(course.warehouse.read("model_output")), "no model translates"
        course.instance.dispose()
    life.rename(folder / rooms)


def main() -> None:
    """Carry out sequences; exit with 1 if something went wrong."""
    folder, judges, models = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    FORKED.set_forkserver_preload(["tests.automation.sequences"])
    gc.freeze()  # modules leave more than a million objects
    logging.disable(logging.CRITICAL)
    program, counts, faults = Program(PROJECT), Counter[str](), 0
    for seed in map(int, sys.argv[4:]):
        if not (folder / size(seed)).exists():
            prepare(folder, size(seed), judges, models)
        begun = os.times()
        done, problems = sequence(folder, seed, program)
        program.restore()
        counts.update(done)
        faults += bool(problems)
        spent = sum(os.times()[:4]) - sum(begun[:4])
        print(f"{seed} {size(seed)}: {len(done)} operations, {spent:.1f} CPU s; {'; '.join(problems) or 'equal'}")
    print(f"{counts.total()} operations: {dict(counts)}")
    sys.exit(faults > 0)
