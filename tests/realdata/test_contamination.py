"""Copied references on real translations: plants are found, independent translators are not marked.

Thresholds were chosen on the Daodejing, the Dhammapada and James; Livy was not used.
"""

import csv
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.contamination.elsewhere import elsewhere
from benchmark_assets.contamination.judging import COPIES, INDEPENDENT, IS_RELATED, contamination, kinship, related
from benchmark_assets.contamination.memory import CONTINUATION, halves, summary
from benchmark_assets.contamination.wording import shared
from resources.catalogue import schema
from tests.contamination.texts import frame, pairs_of

pytestmark = pytest.mark.realdata

Texts = Mapping[str, Mapping[str, str]]
"""Texts by translator and passage."""


def by_translator(passages: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    for passage, own in passages.items():
        for name, text in own.items():
            if text.strip():
                texts.setdefault(name, {})[passage] = text
    return texts


def of_lines(path: Path) -> dict[str, dict[str, str]]:
    """References of a file with one passage a line."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return by_translator({f"c/{row['passage_id']}": row["references"] for row in rows})


def james(realdata: Path) -> dict[str, dict[str, str]]:
    """The verses of James by five translators."""
    texts: dict[str, dict[str, str]] = {}
    for name in ("Anderson", "Haweis", "Noyes", "Twenty"):
        with (realdata / "forms" / "bible" / "formats" / "csv" / f"{name}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if len(row) > 3 and row[1].isdigit()]
        texts[name.lower()] = {f"c/{row[1]}.{row[2]}": row[3] for row in rows}
    osis = (realdata / "forms" / "osis" / "eng-us-oeb.osis.xml").read_text(encoding="utf-8")
    verses = re.findall(r'<verse[^>]*sID="Jas\.(\d+)\.(\d+)[^"]*"[^>]*/>(.*?)<verse[^>]*eID', osis, re.DOTALL)
    texts["oeb"] = {f"c/{chapter}.{verse}": re.sub(r"<[^>]*>", " ", text) for chapter, verse, text in verses}
    return texts


def livy(realdata: Path, book: str) -> dict[str, dict[str, str]]:
    """The chapters of a book of Livy by three translators."""
    texts: dict[str, dict[str, str]] = {}
    for path in (realdata / book).glob("*-eng?.xml"):
        body = path.read_text(encoding="utf-8").partition("<body")[2]
        body = re.sub(r"<note\b[^>]*/>|<(note|head)\b.*?</\1>", "", body, flags=re.DOTALL)
        chapters = re.split(r"<(?=(?:div|milestone)\b[^>]*[\"']chapter[\"'])", body)[1:]
        texts[path.stem[-4:]] = {
            f"c/{number}": " ".join(re.sub(r"<[^>]*>", " ", f"<{chapter}").split())
            for number, chapter in enumerate(chapters)
        }
    return texts


class Trial:
    """Outputs of one translator, judged against the others."""

    def __init__(self, texts: Texts) -> None:
        self.texts, self.all = texts, frame(texts, "translator")
        self.units = self.all.select("passage", unit="passage").unique()
        self.people = pairs_of(self.all)
        self.kin = related(kinship(self.people, self.units))
        self.kinships = set(self.kin.select("translator", "other").iter_rows())

    def judge(self, name: str, texts: Mapping[str, str]) -> tuple[dict[str, str], pl.DataFrame]:
        """Verdicts by translator, and copied passages of a system that takes the place of a translator."""
        outputs = frame({"system": texts}, "model")
        others = self.all.filter(pl.col("translator") != name)
        people = self.people.filter(pl.col("translator") != name, pl.col("other") != name)
        wordings = shared(outputs.join(others.rename({"text": "reference"}), on="passage"))
        rows, passages = contamination(wordings, people, self.kin, elsewhere(outputs, others), self.units)
        return dict(rows.select("translator", "verdict").iter_rows()), passages


def altered(text: str, words: list[str], rng: random.Random) -> str:
    own = text.split()
    for place in rng.sample(range(len(own)), max(1, round(0.1 * len(own)))):
        own[place] = rng.choice(words)
    return " ".join(own)


def found(trial: Trial, name: str, translator: str, kind: str, rng: random.Random) -> bool:
    """Whether five passages of a translator in the texts of another are found, and no other translator is named."""
    texts, source = dict(trial.texts[name]), trial.texts[translator]
    both = [passage for passage in texts if len(source.get(passage, "").split()) >= 12]
    words = " ".join(source.values()).split()
    for passage in rng.sample(both, 5):
        other = rng.choice([each for each in both if each != passage])
        text = source[other if kind == "elsewhere" else passage]
        texts[passage] = altered(text, words, rng) if kind == "exchanged" else text
    verdicts, _ = trial.judge(name, texts)
    return {who for who, verdict in verdicts.items() if verdict == COPIES} == {translator}


SETS: dict[str, Callable[[Path], dict[str, dict[str, str]]]] = {
    "daodejing": lambda data: of_lines(data / "daodejing" / "daodejing.jsonl"),
    "dhammapada": lambda data: of_lines(data / "dhammapada" / "dhammapada_units.jsonl"),
    "livy 21": lambda data: livy(data, "perseus/data/phi0914/phi00121"),
    "livy 22": lambda data: livy(data, "perseus-more/data/phi0914/phi00122"),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("kind", ["verbatim", "exchanged", "elsewhere"])
def test_plants_of_five_passages_are_found(name: str, kind: str, realdata: Path, full: bool) -> None:
    texts = SETS[name](realdata)
    if not full:
        texts = {each: dict(list(texts[each].items())[:60]) for each in list(texts)[:3]}
    trial, rng = Trial(texts), random.Random(name)
    pairs = [(system, each) for system in texts for each in texts if system != each]
    pairs = pairs if full else pairs[:2]
    outcomes = [found(trial, *pair, kind, rng) for pair in pairs]
    assert sum(outcomes) >= 0.95 * len(pairs)


@pytest.mark.proof
def test_independent_translators_are_not_marked(realdata: Path, full: bool) -> None:
    outputs = marked = 0
    for read in SETS.values():
        texts = read(realdata)
        if not full:
            texts = {each: dict(list(texts[each].items())[:60]) for each in list(texts)[:3]}
        trial = Trial(texts)
        for name in texts:
            verdicts, passages = trial.judge(name, texts[name])
            assert set(verdicts.values()) == {INDEPENDENT}
            outputs, marked = outputs + len(texts[name]), marked + passages["passage"].n_unique()
    assert outputs >= (1000 if full else 300)
    assert marked <= 0.005 * outputs


def test_the_open_english_bible_copies_the_twentieth_century_new_testament(realdata: Path) -> None:
    texts = james(realdata)
    trial = Trial({name: own for name, own in texts.items() if name != "oeb"})
    assert trial.kinships == {
        (a, b) for a in ("anderson", "haweis", "noyes") for b in ("anderson", "haweis", "noyes") if a != b
    }
    verdicts, passages = trial.judge("oeb", texts["oeb"])
    assert verdicts == {"twenty": COPIES, **dict.fromkeys(["anderson", "haweis", "noyes"], INDEPENDENT)}
    assert len(passages) > 80
    (row,) = kinship(pairs_of(frame({name: texts[name] for name in ("noyes", "anderson")}, "translator")),
                     trial.units).filter(translator="noyes").rows(named=True)  # fmt: skip
    assert row["verdict"] == IS_RELATED


@pytest.mark.proof
@pytest.mark.parametrize("name", list(SETS))
def test_second_halves_of_others_are_not_taken_for_memory(name: str, realdata: Path, full: bool) -> None:
    """Continuations by each other translator, who is no reference then; by the translator, a tenth exchanged."""
    texts = SETS[name](realdata)
    if not full:
        texts = {each: dict(list(texts[each].items())[:40]) for each in list(texts)[:3]}
    trial, rng = Trial(texts), random.Random(name)
    rests = {who: {key: halves(text)[1] for key, text in own.items()} for who, own in texts.items()}

    def judge(replies: Texts, outsider: str = "") -> pl.DataFrame:
        rows = [
            {"model": "m", "passage": key, "translator": who, "kind": CONTINUATION, "reply": text}
            for who, own in replies.items() for key, text in own.items() if key in texts[who]
        ]  # fmt: skip
        others = trial.all.filter(pl.col("translator") != outsider)
        return summary(pl.DataFrame(rows, schema=schema("memory_vote")), others, trial.kin, trial.units)

    for outsider, own in rests.items():
        assert set(judge({who: own for who in texts if who != outsider}, outsider)["verdict"]) == {INDEPENDENT}
    words = " ".join(text for own in texts.values() for text in own.values()).split()
    rows = judge({who: {key: altered(text, words, rng) for key, text in own.items()} for who, own in rests.items()})
    assert set(rows["verdict"]) == {COPIES}
    assert rows.select(pl.sum("copied_passages") / pl.sum("passages")).item() >= 0.95


@pytest.mark.proof
def test_published_systems_that_know_sujato(realdata: Path, full: bool) -> None:
    folder = realdata / "palibench"
    manifest = pl.read_csv(folder / "metadata" / "passage_manifest.csv").select("passage_id", "segments")
    manifest = manifest if full else manifest[:300]
    segments: dict[str, str] = {}
    for file in (realdata / "suttacentral" / "translation" / "en" / "sujato").rglob("*.json"):
        segments |= json.loads(file.read_text(encoding="utf-8"))
    sujato = {f"c/{key}": " ".join(segments.get(each, "").strip() for each in own.split()).strip()
              for key, own in manifest.iter_rows()}  # fmt: skip
    outputs = {}
    for file in sorted((folder / "results" / "translations").glob("*.json")):
        texts = json.loads(file.read_text(encoding="utf-8"))["translations"]
        outputs[file.name.split("_")[0]] = {f"c/{key}": text for key, text in texts.items() if text}
    references = {"sujato": sujato}
    texts, people = frame(outputs, "model"), frame(references, "translator")
    texts = texts.join(people.select("passage"), on="passage", how="semi")
    wordings = shared(texts.join(people.rename({"text": "reference"}), on="passage"))
    units = people.select("passage", unit=pl.col("passage").str.extract("^([^:]+)"))
    measured = pairs_of(people)
    rows, _ = contamination(wordings, measured, related(kinship(measured, units)), elsewhere(texts, people), units)
    copied = dict(rows.filter(verdict=COPIES).select("model", "copied_passages").iter_rows())
    assert len(outputs) == 7
    assert copied.keys() - {"z-ai-glm-4.7"} == {"anthropic-claude-opus-4.5", "google-gemini-3-pro-preview"}
    if full:
        assert copied == {"anthropic-claude-opus-4.5": 230, "google-gemini-3-pro-preview": 222, "z-ai-glm-4.7": 2}
