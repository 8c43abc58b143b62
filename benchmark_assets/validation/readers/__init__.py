"""Reading gold sets: from a folder or file in any known form to `GoldSet`.

The form is detected by content, not by names of files. Here: detection, and what all forms share. To add a form, write
a module that gives `RatedTexts`, and call it in `read`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmark_assets.corpus.languages import identified
from benchmark_assets.validation import gold as form
from benchmark_assets.validation.gold import ESA, MQM, GoldSet, Rating, Scale, is_human
from benchmark_assets.validation.readers import folders, tools, wmt
from benchmark_assets.validation.readers.folders import LanguagePair
from benchmark_assets.validation.readers.wmt import BETWEEN, RatedTexts
from resources.errors import BadInput
from resources.warehouse import Warehouse

FORMS = (
    "a table (TSV, CSV or JSON lines) of MQM ratings (system, seg_id, rater, source, target, category, severity) or of "
    "ESA (system, annotator, line_id, src, tgt, esa_score), a folder with sources, references, system-outputs and "
    "human-scores, an export of Label Studio or Pearmut, or completed spreadsheets"
)

_TABLES: list[tuple[set[str], Callable[[Path, wmt.Rows], RatedTexts], Scale]] = [
    (wmt.MQM_TABLE, wmt.mqm, MQM),
    *((wmt.TEXTS | {kind}, partial(wmt.scored, kind=kind), MQM if kind == "points" else ESA) for kind in wmt.SCORES),
]
"""The columns, reader and scale of each kind of table; a table is of the first kind that it has the columns of."""

SAMPLE = 200
"""Outputs whose language is identified."""


def read(place: Path, warehouse: Warehouse | None = None) -> list[GoldSet]:
    """The gold sets in a folder or file, one for each form and language pair.

    Ratings with texts come first; then texts by line with their scores; then files of annotation tools. Items of the
    project's own sheets that are control items in `warehouse` are left out.

    Raises
    ------
    BadInput
        If nothing rated is found, or a file of a known form has a fault.
    """
    if not place.exists():
        raise BadInput(place, "", "does not exist", "give a folder with rated translations")
    paths = [place] if place.is_file() else sorted(path for path in place.iterdir() if path.is_file())
    tables = {path: wmt.table(path) for path in paths if path.suffix.lower() in (".tsv", ".csv", ".jsonl", ".txt")}
    scores = {path: means for path, table in tables.items() if (means := wmt.averages(path, *table))}
    lines = folders.pairs(place)
    published = [rating for table in scores.values() for rating in table.ratings]
    made, used = _of_tables(place.stem, tables)
    sets = [_with_notes(gold, place, lines, published) for gold in made]
    sets = sets or [gold for pair in lines if (gold := _of_lines(place, pair, list(scores.values()), len(lines) == 1))]
    if not sets:
        seen: tools.Seen = {}
        found = {path: each for path in paths if (each := tools.read(path, warehouse, seen))}
        by_scale = {scale: [rated for other, rated in found.values() if other == scale] for scale, _ in found.values()}
        sets, used = [_gold(place.stem, "", scale, _joined(parts)) for scale, parts in by_scale.items()], {*found}
    unread = ", ".join(path.name for path in paths if path not in {*scores, *used} and path.name != folders.RANGES)
    if not any(len(gold.ratings) for gold in sets):
        reasons = [*(note for gold in sets for note in gold.notes), *([f"looked at {unread}"] if unread else [])]
        reason = f" ({'; '.join(reasons)})" if reasons else ""
        raise BadInput(place, "", f"holds no rated translations in a known form{reason}", f"give {FORMS}")
    sets = [gold for gold in sets if len(gold.ratings)]
    twice = {name for name, count in Counter(gold.name for gold in sets).items() if count > 1}
    notes = (f"without ratings, not read: {unread}",) if unread else ()
    return [
        gold._replace(name=f"{gold.name} {gold.scale}" if gold.name in twice else gold.name, notes=gold.notes + notes)
        for gold in sets
    ]  # fmt: skip


def _of_tables(name: str, tables: dict[Path, tuple[set[str], wmt.Rows]]) -> tuple[list[GoldSet], set[Path]]:
    """A gold set for each kind of ratings and language pair in tables, and the tables that have ratings."""
    rated: dict[tuple[Scale, str], list[RatedTexts]] = {}
    used = set()
    for path, (found, rows) in tables.items():
        kind = next((kind for kind in _TABLES if found >= kind[0]), None)
        if kind is None:
            continue
        columns, reader, scale = kind
        used.add(path)
        parts: dict[str, list[tuple[int, Any]]] = {}
        for row in wmt.complete(path, rows, columns):
            parts.setdefault(row[1].get("pair", ""), []).append(row)
        for pair, of_pair in parts.items():
            rated.setdefault((scale, pair), []).append(reader(path, of_pair))
    sets = [
        _gold(" ".join(filter(None, (name, pair))), pair, scale, _joined(parts))
        for (scale, pair), parts in rated.items()
    ]  # fmt: skip
    return sets, used


def _joined(parts: Sequence[RatedTexts]) -> RatedTexts:
    first, *others = parts
    for part in others:
        first.lines.update(part.lines)
        first.texts.update(part.texts)
        first.ratings.extend(part.ratings)
        first.notes.extend(part.notes)
    return first


def _with_notes(gold: GoldSet, place: Path, lines: Sequence[LanguagePair], scores: Iterable[Rating]) -> GoldSet:
    """Add references of the same sources from texts by line, and the agreement of published segment scores."""
    sources = gold.passages.select("passage", "source")
    parts, notes = [gold.references], [*gold.notes, *_agreement(gold, place, scores)]
    for pair in lines:
        texts = pl.DataFrame({"passage": [str(n + 1) for n in range(len(pair.source))], "source": pair.source})
        same = sources.join(texts, on=["passage", "source"], how="semi")
        parts.append(folders.references(pair).join(same, on="passage", how="semi"))
        notes.append(f"{len(same):,} of {len(sources):,} passages are lines of {folders.SOURCES} by number and text")
    references = pl.concat(parts).unique(["passage", "translator"], keep="first", maintain_order=True)
    return gold._replace(references=references, notes=tuple(notes))


def _agreement(gold: GoldSet, place: Path, scores: Iterable[Rating]) -> Iterator[str]:
    """How many published segment scores agree with the scores of the ratings, whatever their sign."""
    published = {(rating.system, rating.passage): rating.score for rating in scores}
    known = folders.matched(sorted({name for name, _ in published}), sorted(gold.outputs["system"].unique()), place)
    means = gold.ratings.group_by("system", "passage").agg(pl.col("score").mean()).iter_rows()
    own = {(system, passage): score for system, passage, score in means}
    pairs = [
        (score, own[known[system], passage]) for (system, passage), score in published.items()
        if score is not None and system in known and (known[system], passage) in own
    ]  # fmt: skip
    agreeing = sum(abs(abs(score) - abs(mean)) < 5e-4 for score, mean in pairs)
    if pairs:
        yield f"{agreeing:,} of {len(pairs):,} published segment scores follow from the ratings"


def _of_lines(place: Path, lines: LanguagePair, scores: Sequence[wmt.Averages], alone: bool) -> GoldSet | None:
    """A gold set from texts by line; None if the language pair has no ratings."""
    found = folders.rated(place, lines)
    if not found and alone and scores:
        scaled = [table.scaled() for table in scores]
        found = scaled[0][0], [rating for kind, ratings in scaled if kind == scaled[0][0] for rating in ratings]
    if not found or not found[1]:
        return None
    scale, ratings = found
    references, rated = folders.references(lines), folders.of_lines(lines)
    for translator, passage, text in references.select("translator", "passage", "text").iter_rows():
        rated.texts.setdefault((translator, passage), text)  # people's translations may be rated as outputs
    names = sorted({rating.system for rating in ratings})
    known = folders.matched(names, sorted({system for system, _ in rated.texts}), place)
    rated.ratings.extend(rating._replace(system=known[rating.system]) for rating in ratings if rating.system in known)
    if len(names) > len(known):
        rated.notes.append(f"scores without texts: {', '.join(name for name in names if name not in known)}")
    name = place.stem if alone else f"{place.stem} {lines.pair}"
    return _gold(name, lines.pair, scale, rated, references)


def _gold(name: str, pair: str, scale: Scale, rated: RatedTexts, references: pl.DataFrame | None = None) -> GoldSet:
    """A gold set from rated texts. By default, texts by people are its references; those that were rated are outputs
    too."""
    names = _names(rated)
    texts = [(system, names[key], text) for (system, key), text in rated.texts.items()]
    if references is None:
        rows = [(passage, system, text) for system, passage, text in texts if is_human(system) and text.strip()]
        references = pl.DataFrame(rows, form.REFERENCES, orient="row")
    translators = set(references["translator"])
    ratings, spans = form.frames([rating._replace(passage=names[rating.passage]) for rating in rated.ratings])
    order = [line._replace(passage=names[key]) for key, line in rated.lines.items()]
    if all(line.passage.isdecimal() for line in order):
        order.sort(key=lambda line: int(line.passage))
    passages = [(line.passage, place, line.document or None, line.source or None) for place, line in enumerate(order)]
    language, notes = pair.partition("-")[2].partition("_")[0], list(rated.notes)
    outputs = pl.DataFrame(
        [(*row, row[0] in translators or is_human(row[0])) for row in texts], form.OUTPUTS, orient="row"
    )
    lengths = outputs.select("system", "passage", length=pl.col("text").str.len_chars())
    spans = spans.join(lengths, on=["system", "passage"], how="left", maintain_order="left")
    inside = pl.col("start").ge(0) & (pl.col("start") <= pl.col("end")) & (pl.col("end") <= pl.col("length"))
    placed = pl.when(inside).then(pl.col("start", "end"))
    if outside := len(spans.filter(~inside)):
        notes.append(f"{outside:,} marked errors lie outside their text: they count, without a place")
    if not language:
        found = identified(" ".join(text for *_, text in texts[:SAMPLE]))
        language = found.tag if found and found.reliable else ""
        notes.append(f"language of the outputs, by their letters and words: {language or 'unknown'}")
    return GoldSet(
        name, language, scale, pl.DataFrame(passages, form.PASSAGES, orient="row"),
        references, outputs.join(ratings, on=["system", "passage"], how="semi", maintain_order="left"), ratings,
        spans.select("system", "passage", "rater", placed, "severity", "category"),
        tuple(notes),
    )  # fmt: skip


def _names(rated: RatedTexts) -> dict[str, str]:
    """Names of passages by key: the id, with the document or a number if the id occurs in several (`BETWEEN`)."""
    counts = Counter(key.rpartition(BETWEEN)[2] for key in rated.lines)
    names, numbers = {}, Counter[str]()
    for key, line in rated.lines.items():
        place, _, own = key.rpartition(BETWEEN)
        numbers[own] += 1
        names[key] = own if counts[own] == 1 else f"{place if place == line.document else numbers[own]} {own}"
    return names
