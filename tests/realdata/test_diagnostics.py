"""How often each diagnosis is made of real outputs, and of texts that are known to be wrong."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.metrics.diagnostics import DIAGNOSES, diagnose, twins

pytestmark = pytest.mark.realdata

Texts = Mapping[str, str]
COUNTED = [name for name in DIAGNOSES if name != "empty"]


def frame(rows: Iterable[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict.fromkeys(["passage", "text"], pl.String), orient="row")


def diagnosed(outputs: Texts, references: Iterable[tuple[str, str]], sources: Texts) -> pl.DataFrame:
    rows, known = frame(outputs.items()).select(pl.lit("m").alias("model"), "passage", "text"), frame(sources.items())
    found = rows.join(twins(rows, known), on=["model", "passage"], how="left", maintain_order="left")
    return diagnose(found, frame(references), known)


def counts(found: pl.DataFrame) -> dict[str, int]:
    return {name: int(found[name].sum()) for name in COUNTED if found[name].any()}


def segments(folder: Path) -> dict[str, str]:
    merged: dict[str, str] = {}
    for path in folder.rglob("*.json"):
        merged |= json.loads(path.read_text(encoding="utf-8"))
    return merged


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


DIAGNOSED = ["mn140:15", "sn1.36:6", "sn22.95:10", "sn35.95:13", "sn4.8:2"]
"""Passages with a diagnosed output."""


@pytest.fixture(scope="module")
def passages(realdata: Path, full: bool) -> list[str]:
    """The 1,700 passages of PaliBench; in a small run, every hundredth and the diagnosed ones."""
    with (realdata / "palibench/metadata/passage_manifest.csv").open(encoding="utf-8", newline="") as file:
        every = [row["passage_id"] for row in csv.DictReader(file)]
    return every if full else sorted({*every[::100], *DIAGNOSED})


@pytest.fixture(scope="module")
def outputs(realdata: Path, passages: list[str]) -> Mapping[str, Texts]:
    """What models made of the passages, by their names."""
    found = {}
    for path in sorted((realdata / "palibench/results/translations").glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))["translations"]
        found[path.stem.partition("_")[0]] = {passage: texts[passage] for passage in texts if passage in set(passages)}
    return found


@pytest.fixture(scope="module")
def palibench(realdata: Path, passages: list[str]) -> tuple[Texts, Texts]:
    """Pali and Sujato's English of the passages."""
    pali, sujato = (segments(realdata / "suttacentral" / part) for part in ("root/pli/ms", "translation/en/sujato"))
    with (realdata / "palibench/metadata/passage_manifest.csv").open(encoding="utf-8", newline="") as file:
        ids = {row["passage_id"]: row["segments"].split() for row in csv.DictReader(file)}
    pali, sujato = (
        {passage: " ".join(texts.get(each, "").strip() for each in ids[passage]) for passage in passages}
        for texts in (pali, sujato)
    )
    return pali, sujato


@pytest.mark.proof
def test_of_11_900_outputs_seven_are_diagnosed_and_three_of_these_wrongly(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts]
) -> None:
    pali, sujato = palibench
    found = set()
    for model, texts in outputs.items():
        rows = diagnosed(texts, sujato.items(), pali)
        print(f"{model}: {counts(rows)} of {len(rows)}")
        for passage, *flags in rows.select("passage", *COUNTED).iter_rows():
            found |= {(model, passage, name) for name, flag in zip(COUNTED, flags, strict=True) if flag}
    assert found == {
        # left in Pali; and fragments, or cut in the middle of a sentence
        ("qwen-qwen3-235b-a22b-2507", "sn35.95:13", "copied"),
        ("qwen-qwen3-235b-a22b-2507", "sn35.95:13", "wrong_language"),
        ("google-gemini-3-pro-preview", "mn140:15", "truncated"),
        ("x-ai-grok-4.1-fast", "sn1.36:6", "truncated"),
        ("x-ai-grok-4.1-fast", "sn4.8:2", "truncated"),
        # a verse whose only reference is very free: false alarms
        ("deepseek-deepseek-v3.2", "sn22.95:10", "wrong_language"),
        ("qwen-qwen3-235b-a22b-2507", "sn22.95:10", "wrong_language"),
        ("x-ai-grok-4.1-fast", "sn22.95:10", "wrong_language"),
    }


@pytest.mark.proof
def test_damaged_outputs_are_diagnosed(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], full: bool
) -> None:
    pali, sujato = palibench
    sound = outputs["openai-gpt-5.2"]
    number = len(sound)
    short, ended, alike = (53, 275, 214) if full else (0, 6, 0)
    damaged = {
        "the source": pali,
        "its second half": {k: f"{t[: len(t) // 2]} {pali[k][len(pali[k]) // 2 :]}" for k, t in sound.items()},
        "cut in the middle": {k: t[: len(t) // 2] for k, t in sound.items()},
        "its last 30 characters four times more": {k: f"{t}{f' {t[-30:]}' * 4}" for k, t in sound.items()},
        "the same for each two passages": dict(
            zip(sound, [t for t in list(sound.values())[::2] for _ in "ab"][:number], strict=True)
        ),
    }
    found = {name: diagnosed(texts, sujato.items(), pali) for name, texts in damaged.items()}
    for name, rows in found.items():
        print(f"{name}: {counts(rows)} of {len(rows)}")
    assert counts(found["the source"]) == {"copied": number, "wrong_language": number - short}
    assert found["the source"]["wrong_language"].null_count() == short
    assert counts(found["its second half"])["copied"] == number
    # Others end with a sentence, or their halves are long; or the sources of two passages are alike.
    assert counts(found["cut in the middle"])["truncated"] == number - ended
    assert counts(found["the same for each two passages"])["repeated"] == number - alike
    assert counts(found["its last 30 characters four times more"])["repeated"] == number


def test_translations_by_people_and_other_languages(realdata: Path) -> None:
    verses = lines(realdata / "dhammapada/dhammapada_units.jsonl")
    chapters = lines(realdata / "daodejing/daodejing.jsonl")
    for units in (verses, chapters):
        sources = {unit["passage_id"]: unit["source"] for unit in units}
        for translator in units[0]["references"]:
            own = {unit["passage_id"]: text for unit in units if (text := unit["references"].get(translator))}
            others = [
                (unit["passage_id"], text) for unit in units
                for name, text in unit["references"].items() if name != translator and text
            ]  # fmt: skip
            assert counts(diagnosed(own, others, sources)) == {}, translator
    english = [[(unit["passage_id"], text) for unit in units for text in unit["references"].values() if text]
               for units in (verses, chapters)]  # fmt: skip
    pali, chinese = ({unit["passage_id"]: unit["source"] for unit in units} for units in (verses, chapters))
    latin = {unit["passage_id"]: unit["latin_fausboll"] for unit in verses}
    assert counts(diagnosed(pali, english[0], pali)) == {"copied": 412, "wrong_language": 346}
    assert counts(diagnosed(latin, english[0], pali)) == {"wrong_language": 380}
    assert counts(diagnosed(chinese, english[1], chinese)) == {"copied": 81, "wrong_script": 81, "wrong_language": 81}
