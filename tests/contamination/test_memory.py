"""Models at a real server that know a translation by heart, paraphrase it, or refuse; halves, blanks and verdicts."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.contamination import assets as contamination
from benchmark_assets.contamination import memory
from benchmark_assets.contamination.wording import places, words
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.literary import assets as literary
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.translation import assets as translation
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import Systems
from resources import stores
from resources.catalogue import schema
from resources.warehouse import Warehouse
from tests import support
from tests.contamination.texts import exchanged, frame, translations
from tests.provider.server import Server, dumps
from tests.support import CONSTRUCTED, CONSTRUCTION, LetterEmbedder, reports, write_outputs, write_registry

ASSETS = Scope(assets={*CONSTRUCTION, "reference", "model_output", "memory_vote", "memory"})
ROOMS = [*CONSTRUCTED, literary, translation, metrics, contamination]
MODELS = ("knows", "paraphrases", "refuses")


# The questions.


def test_a_text_is_halved_between_words() -> None:
    assert memory.halves("The “old man’s” boat, it sank.") == ("The “old man’s” ", "boat, it sank.")
    assert memory.halves("道可道非常道") == ("道可道", "非常道")
    assert memory.halves("…") == ("", "…")


@given(st.text())
def test_places_are_the_words_of_a_text(text: str) -> None:
    found = places(text)
    assert "".join(memory.halves(text)) == text
    assert all(0 <= place.start < place.end <= len(text) for place in found)
    if text == "".join(each for each in text if each.isascii()):
        assert [place.word for place in found] == words(pl.Series([text]))[0].to_list()


def test_blanks_are_the_longest_words_that_one_translator_has() -> None:
    text = "The ancient ferryman, wearily rowing, ferrying travellers; the travellers slept beneath canvas."
    blank, answers = memory.blanked(text, ["An old boatman rowed wearied people.", "Under a canvas, they slept."])
    assert blank == "The [1] ferryman, wearily [2], ferrying travellers; the travellers slept [3] canvas."
    assert answers == ["ancient", "rowing", "beneath"]
    assert memory.blanked("道可道非常道", ["名可名"]) == ("道可道非常道", [])
    assert memory.right(["Ancient.", "rowed", " beneath "], answers) == 2
    assert memory.right(["beneath"], answers) == memory.right([], answers) == 0


def test_a_continuation_is_cut_to_the_words_that_were_asked_for() -> None:
    assert memory.continued(" The boat sank, and all were lost.", "The boat ", 3) == "sank, and all"
    assert memory.continued("and all", "The boat", 3) == "and all"
    assert memory.continued("", "The boat", 3) == ""


@pytest.mark.parametrize("value", [None, 3, ["a"]])
def test_other_replies_are_none(value: object) -> None:
    with pytest.raises(ValueError, match="not a text"):
        memory.read_continuation({"continuation": value})
    with pytest.raises(ValueError, match="not a list of texts"):
        memory.read_words({"words": [value]})


def test_a_further_passage_displaces_one_of_a_sample_at_most() -> None:
    names = [f"c/{number}" for number in range(50)]
    sample = memory.drawn(names[:-1], 9, 1)
    assert len(set(sample) - set(memory.drawn(names, 9, 1))) <= 1
    assert set(sample) != set(memory.drawn(names[:-1], 9, 2))


# The summary.

TEXTS = translations(["ann", "ben", "carl"], 12, 60)


def replies(continuing: str, passages: Iterable[str], share: float = 0) -> pl.DataFrame:
    """Replies about ann: second halves of a translator with words exchanged, and a share of right words.
    About ben: second halves of carl, and no right word."""
    rng = random.Random(4)
    rows: list[dict[str, object]] = []
    for passage in passages:
        for name, whose, count in (("ann", continuing, round(4 * share)), ("ben", "carl", 0)):
            key: dict[str, object] = {"model": "m", "passage": passage, "translator": name}
            reply = exchanged(memory.halves(TEXTS[whose][passage])[1], rng)
            rows.append(key | {"kind": memory.CONTINUATION, "reply": reply})
            rows.append(key | {"kind": memory.CLOZE, "reply": "", "blanks": 4, "right": count})
    return pl.DataFrame(rows, schema=schema("memory_vote"))


def judged(votes: pl.DataFrame) -> pl.DataFrame:
    references = frame({name: TEXTS[name] for name in ("ann", "ben")}, "translator")
    nobody = pl.DataFrame(schema=dict.fromkeys(["corpus", "translator", "other"], pl.String()))
    return memory.summary(votes, references, nobody, references.select("passage", unit="passage").unique())


def test_own_second_halves_are_found_and_those_of_others_are_not() -> None:
    rows = judged(replies("ann", TEXTS["ann"], share=0.75))
    found = rows.select("translator", "verdict", "asked", "copied_passages").rows()
    assert found == [("ann", "copies", 24, 12), ("ben", "independent", 24, 0)]
    ann, ben = rows.rows(named=True)
    assert (ann["cloze"], ann["cloze_others"], ann["cloze_gap"], ann["cloze_passages"]) == (0.75, 0, 0.75, 12)
    assert 0 < ann["cloze_low"] < 0.75 < ann["cloze_high"]
    assert (ben["cloze"], ben["cloze_others"], ben["cloze_gap"]) == (0, 0.75, -0.75)
    assert judged(replies("ben", TEXTS["ann"]))["verdict"].to_list() == ["independent"] * 2


def test_below_five_passages_nothing_can_be_told() -> None:
    rows = judged(replies("ann", list(TEXTS["ann"])[:4], share=1))
    assert rows["passages"].to_list() == [4, 4]
    unknown = ["verdict", "log_ratio", "share", "cloze", "cloze_others", "cloze_gap"]
    assert set(rows.select(unknown).null_count().row(0)) == {2}
    silent = replies("ann", TEXTS["ann"]).with_columns(reply=pl.lit(None, pl.String), right=pl.lit(None, pl.Int32))
    assert judged(silent).select("asked", "abstained", "verdict", "cloze").rows() == [(24, 24, None, None)] * 2


# At a server.


def configure(server: Server) -> None:
    """`knows` knows ann by heart, otherwise models say what carl says; `refuses` only translates."""
    said: dict[str, list[str]] = {}
    faults: dict[str, str] = {}
    for number, key in enumerate(list(TEXTS["carl"])[:7]):
        other = TEXTS["carl"][key]
        said[f"verbum {number}"] = [dumps({f"doc{number}:1": other})]
        for who, rival in (("ann", "ben"), ("ben", "ann")):
            beginning, rest = memory.halves(TEXTS[who][key])
            blank, answers = memory.blanked(TEXTS[who][key], [TEXTS[rival][key]])
            said[beginning] = [dumps({"continuation": memory.halves(other)[1]})]
            said[blank] = [dumps({"words": ["something"] * len(answers)})]
            faults |= {f"refuses|{beginning}": "refusal", f"refuses|{blank}": "refusal"}
            if who == "ann":
                said[f"knows|{beginning}"] = [dumps({"continuation": beginning + rest})]
                said[f"knows|{blank}"] = [dumps({"words": answers})]
    server.configure(answer="sample", judgements=said, by_key=faults, keep_bodies=True)


@pytest.fixture
def asked(
    warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch,
) -> tuple[Path, dg.Definitions]:  # fmt: skip
    """The description of a corpus of seven passages, and its assets. Models are asked about six of them."""
    people: dict[str, dict[str, dict[str, str]]] = {name: {} for name in ("ann", "ben")}
    sources: dict[str, dict[str, str]] = {}
    for number, key in enumerate(list(TEXTS["ann"])[:7]):
        sources[f"doc{number}"] = {f"doc{number}:1.1": f"verbum {number}"}
        for name, own in people.items():
            own[f"doc{number}"] = {f"doc{number}:1.1": TEXTS[name][key]}
    description = support.write_corpus(tmp_path / "corpus", sources, people)
    content = json.loads(description.read_text(encoding="utf-8")) | {"sensitivity": {}, "memory": {"passages": 6}}
    description.write_text(json.dumps(content), encoding="utf-8")
    write_registry(tmp_path / "models.yaml", server.url, *MODELS)
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "models.yaml"))
    register(warehouse, description)
    instance.add_dynamic_partitions("model", [*MODELS, "imported"])
    overrides = {"warehouse": warehouse, "embedder": LetterEmbedder()}
    definitions = build_definitions(rooms=ROOMS, resource_overrides=overrides)
    runs.look(definitions, instance)
    import_outputs(warehouse, write_outputs(tmp_path / "imported.jsonl", {"doc0:1": "Some text."}), "tiny", "imported")
    configure(server)
    return description, definitions


def test_a_model_that_knows_a_translation_is_found(
    asked: tuple[Path, dg.Definitions], warehouse: Warehouse, instance: dg.DagsterInstance, server: Server
) -> None:
    description, definitions = asked
    runs.update(definitions, instance, ASSETS)
    rows = warehouse.read("memory")
    assert rows["model"].to_list() == [model for model in MODELS for _ in ("ann", "ben")]
    assert rows["verdict"].to_list() == ["copies", *["independent"] * 3, None, None]
    assert rows.filter(model="knows", translator="ann")["copied_passages"].item() == 6
    found = rows.filter(pl.col("cloze_gap_low") > 0).select("model", "translator", "cloze", "cloze_others").rows()
    assert found == [("knows", "ann", 1, 0)]
    assert rows.select((pl.col("abstained") == pl.col("asked")) == (pl.col("model") == "refuses")).to_series().all()
    votes = warehouse.read("memory_vote")
    sample = set(votes["passage"])
    assert len(sample) == 6
    assert votes.group_by("model", "kind").len()["len"].to_list() == [12] * 6
    shown = [each.body["messages"] for each in server.log() if each.body and "published" in str(each.body)]
    assert len(shown) == len(votes)
    assert "verbum" not in str(shown)

    before = reports(instance)
    edited = min(sample)
    support.edit_segment(
        description, "ann", f"{edited.removeprefix('tiny/')}.1", TEXTS["ann"]["c/0"].swapcase() + " harbours"
    )
    server.clear()
    runs.look(definitions, instance)
    runs.update(definitions, instance, ASSETS)
    fresh = {key for key in reports(instance) - before if key[0] == "memory_vote"}
    assert fresh == {("memory_vote", f"{model}|{edited}") for model in MODELS}
    assert 0 < len(server.log()) <= len(MODELS) * 4

    # A model that leaves the registry keeps its replies (settings are null); imported outputs are not asked about.
    write_registry(description.parents[1] / "models.yaml", server.url, *MODELS[:2])
    cells = pl.DataFrame({"model": ["knows", "refuses", "imported"], "passage": [edited] * 3})
    settings = memory.MemoryVotes(warehouse, Systems(warehouse=warehouse, provider=stores.provider())).settings(cells)
    assert settings.select("model", pl.col("settings").is_null()).rows() == [("knows", False), ("refuses", True)]
