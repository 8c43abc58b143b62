"""How often each diagnosis is made of real outputs, and of texts that are known to be wrong."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
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


def diagnosed_alone(outputs: Texts, references: Iterable[tuple[str, str]], sources: Texts) -> pl.DataFrame:
    """Diagnoses without the model's other outputs."""
    rows = frame(outputs.items()).select(pl.lit("m").alias("model"), "passage", "text")
    return of_texts(rows, references, sources)


def of_texts(rows: pl.DataFrame, references: Iterable[tuple[str, str]], sources: Texts) -> pl.DataFrame:
    alone = rows.with_columns(twins=pl.lit(None, pl.List(pl.String)))
    return diagnose(alone, frame(references), frame(sources.items()))


def counts(found: pl.DataFrame) -> dict[str, int]:
    return {name: int(found[name].sum()) for name in COUNTED if found[name].any()}


def segments(folder: Path) -> dict[str, str]:
    merged: dict[str, str] = {}
    for path in folder.rglob("*.json"):
        merged |= json.loads(path.read_text(encoding="utf-8"))
    return merged


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


RIGHT = {
    "copied": ("gpt an4.52:1, gpt sn12.17:6, qwen sn35.95:13, "),
    "wrong_language": ("qwen sn35.95:13, "),
    "truncated": (
        "qwen an10.20:1, qwen an3.60:19, claude an3.60:3, qwen an3.60:3, glm an3.63:1, claude an5.28:1, qwen "
        "an5.28:1, claude an5.28:9, claude an8.6:2, claude an8.8:6, claude mn13:19, gemini mn140:15, claude "
        "mn22:23, qwen mn22:23, claude mn22:24, qwen mn22:24, qwen mn22:25, qwen mn36:10, claude mn36:45, qwen "
        "mn36:45, claude mn41:6, qwen mn41:6, grok mn4:29, glm mn52:15, glm mn52:2, claude mn54:18, qwen mn60:30, "
        "qwen mn60:4, claude mn70:25, claude mn75:13, qwen mn75:13, claude mn75:18, qwen mn75:18, claude mn9:2, "
        "grok sn1.36:6, claude sn11.3:12, claude sn12.31:1, qwen sn12.46:2, qwen sn12.51:14, qwen sn12.51:2, "
        "claude sn12.68:6, claude sn12.70:10, claude sn12.70:11, claude sn12.70:12, qwen sn12.70:18, deepseek "
        "sn16.11:1, qwen sn22.100:2, qwen sn22.1:8, claude sn22.55:9, qwen sn22.89:12, claude sn35.95:36, grok "
        "sn4.8:2, claude sn44.1:9, claude sn46.14:2, qwen sn46.53:5, qwen sn46.53:8, glm sn47.19:2, glm sn47.20:2, "
        "glm sn47.29:3, claude sn56.11:10, deepseek sn56.11:10, qwen sn56.11:10, "
    ),
    "other_passage": ("glm mn26:34, grok mn4:22-26, grok mn4:29, qwen sn22.89:12, "),
}
"""Faults of the published outputs: model and passage, by diagnosis. Each was compared with the source."""

MODELS = {"anthropic": "claude", "google": "gemini", "openai": "gpt", "x": "grok", "z": "glm"}
"""Short names in the lists above, by the start of a model's name, if they differ from it."""


def listed(lists: Mapping[str, str]) -> set[tuple[str, ...]]:
    """Diagnosis, model and passage of each entry."""
    return {
        (name, *entry.split()) for name, entries in lists.items() for entry in entries.split(", ") if entry.strip(", ")
    }


DIAGNOSED = sorted({passage for _, _, passage in listed(RIGHT)})[::8]
"""Some passages with a diagnosed output."""


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
def test_known_faults_of_11_900_outputs_are_diagnosed_and_less_than_1_percent_of_all_else(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], passages: list[str], full: bool
) -> None:
    pali, sujato = palibench
    found, number = set(), 0
    for model, texts in outputs.items():
        rows = diagnosed(texts, sujato.items(), pali)
        print(f"{model}: {counts(rows)} of {len(rows)}")
        number += len(rows)
        vendor = model.partition("-")[0]
        for passage, *flags in rows.select("passage", *COUNTED).iter_rows():
            found |= {(n, MODELS.get(vendor, vendor), passage) for n, flag in zip(COUNTED, flags, strict=True) if flag}
    known = {entry for entry in listed(RIGHT) if entry[2] in set(passages)}
    print(f"not found: {sorted(known - found)}; further: {sorted(found - known)}")
    assert len(known & found) >= 0.9 * len(known)
    assert len(found - known) < (0.01 if full else 0.1) * number


@pytest.mark.proof
def test_damaged_outputs_are_diagnosed(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], full: bool
) -> None:
    pali, sujato = palibench
    sound = outputs["openai-gpt-5.2"]
    number = len(sound)
    alike = 214 if full else 0
    damaged = {
        "the source": pali,
        "its second half": {k: f"{t[: len(t) // 2]} {pali[k][len(pali[k]) // 2 :]}" for k, t in sound.items()},
        "its last 30 characters four times more": {k: f"{t}{f' {t[-30:]}' * 4}" for k, t in sound.items()},
        "the same for each two passages": dict(
            zip(sound, [t for t in list(sound.values())[::2] for _ in "ab"][:number], strict=True)
        ),
    }
    found = {name: diagnosed(texts, sujato.items(), pali) for name, texts in damaged.items()}
    for name, rows in found.items():
        print(f"{name}: {counts(rows)} of {len(rows)}")
    assert counts(found["the source"])["copied"] == number
    assert counts(found["its second half"])["copied"] == number
    # The sources of two passages may be alike.
    assert counts(found["the same for each two passages"])["repeated"] == number - number % 2 - alike
    assert counts(found["its last 30 characters four times more"])["repeated"] == number


MISSING: dict[str, Callable[[list[str]], list[str]]] = {
    "first half": lambda words: words[len(words) // 2 :],
    "middle half": lambda words: [*words[: len(words) // 4], *words[-len(words) // 4 :]],
    "last half": lambda words: words[: len(words) // 2],
}
"""Ways in which a part of a text may be missing, by words."""


@pytest.mark.proof
@pytest.mark.parametrize("part", MISSING)
def test_missing_parts_are_found(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], full: bool, part: str
) -> None:
    pali, sujato = palibench
    step, hits, number = 30 if full else 7, 0, 0
    for turn, texts in enumerate(outputs.values()):
        damaged = {passage: " ".join(MISSING[part](text.split())) for passage, text in [*texts.items()][turn::step]}
        rows = diagnosed_alone(damaged, sujato.items(), pali)
        hits, number = hits + int(rows["truncated"].sum()), number + len(rows)
    print(f"{part}: {hits} of {number}")
    assert hits >= (0.6 if full else 0.5) * number


@pytest.mark.proof
def test_translations_of_other_passages_are_found(
    palibench: tuple[Texts, Texts], outputs: Mapping[str, Texts], full: bool
) -> None:
    """About 61 % of next passages are found, where 80 % were asked for: with a limit that finds more, free translations
    would be taken for translations of other passages."""
    pali, sujato = palibench
    step, hits, neighbors, number = 30 if full else 7, 0, 0, 0
    for turn, texts in enumerate(outputs.values()):
        keys = sorted(texts)
        chosen = range(turn, len(keys) - 1, step)
        far = {keys[place]: texts[keys[(place + len(keys) // 2) % len(keys)]] for place in chosen}
        near = {keys[place]: texts[keys[place + 1]] for place in chosen}
        hits += int(diagnosed_alone(far, sujato.items(), pali)["other_passage"].sum())
        neighbors += int(diagnosed_alone(near, sujato.items(), pali)["other_passage"].sum())
        number += len(chosen)
    print(f"other_passage: {hits} of {number} distant passages, {neighbors} of {number} next passages")
    assert hits >= (0.9 if full else 0.7) * number
    assert neighbors >= 0.6 * number


@pytest.mark.proof
def test_translations_by_people_and_other_languages(realdata: Path, full: bool) -> None:
    """Free translations of short verses seem to lack a part, or to have another fault, in less than 2.5 %."""
    step = 1 if full else 20
    verses = lines(realdata / "dhammapada/dhammapada_units.jsonl")[::step]
    chapters = lines(realdata / "daodejing/daodejing.jsonl")[::step]
    for units, abridged in ((verses, ""), (chapters, "giles")):
        sources = {unit["passage_id"]: unit["source"] for unit in units}
        alarms = texts = 0
        for translator in set(units[0]["references"]) - {abridged}:
            own = {unit["passage_id"]: text for unit in units if (text := unit["references"].get(translator))}
            others = [
                (unit["passage_id"], text) for unit in units
                for name, text in unit["references"].items() if name != translator and text
            ]  # fmt: skip
            alarms, texts = alarms + sum(counts(diagnosed(own, others, sources)).values()), texts + len(own)
        print(f"{alarms} faults in {texts} texts")
        assert alarms < (0.025 if full else 0.1) * texts
    english = [[(unit["passage_id"], text) for unit in units for text in unit["references"].values() if text]
               for units in (verses, chapters)]  # fmt: skip
    pali, chinese = ({unit["passage_id"]: unit["source"] for unit in units} for units in (verses, chapters))
    latin = {unit["passage_id"]: unit["latin_fausboll"] for unit in verses}
    found = counts(diagnosed(latin, english[0], pali))
    print(f"Latin: {found} of {len(latin)}")
    assert found["wrong_language"] >= 0.9 * len(latin)
    assert counts(diagnosed(pali, english[0], pali))["copied"] == len(pali)
    assert counts(diagnosed(chinese, english[1], chinese)) == dict.fromkeys(
        ["copied", "wrong_script", "wrong_language"], len(chinese)
    )
