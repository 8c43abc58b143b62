"""Reading gold sets: from a folder or file in any known form to `GoldSet`.

The form is detected by content, not by names of files. Here: detection, and what all forms share. To add a form, write
a module that gives `RatedTexts`, and call it in `read`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmark_assets.validation import gold as form
from benchmark_assets.validation.gold import ESA, MQM, GoldSet, Rating, Scale, is_human
from benchmark_assets.validation.readers import folders, tools, wmt
from benchmark_assets.validation.readers.folders import LanguagePair
from benchmark_assets.validation.readers.wmt import RatedTexts
from resources.errors import BadInput

FORMS = (
    "a table of MQM ratings (system, seg_id, rater, source, target, category, severity) or of ESA (system, annotator, "
    "line_id, src, tgt, esa_score), a folder with sources, references, system-outputs and human-scores, an export of "
    "Label Studio or Pearmut, or completed spreadsheets"
)

_TABLES: list[tuple[set[str], Callable[[Path, wmt.Rows], RatedTexts], Scale]] = [
    (wmt.MQM_TABLE, wmt.mqm, MQM), (wmt.ESA_TABLE, wmt.esa, ESA),
]  # fmt: skip


def read(place: Path) -> list[GoldSet]:
    """The gold sets in a folder or file, one for each form and language pair.

    Ratings with texts come first; then texts by line with their scores; then files of annotation tools.

    Raises
    ------
    BadInput
        If nothing rated is found, or a file of a known form has a fault.
    """
    if not place.exists():
        raise BadInput(place, "", "does not exist", "give a folder with rated translations")
    paths = [place] if place.is_file() else sorted(path for path in place.iterdir() if path.is_file())
    tables = {path: wmt.table(path) for path in paths if path.suffix.lower() in (".tsv", ".jsonl", ".txt")}
    scores = [
        rating for path, (found, rows) in tables.items() if "target" not in found and found >= wmt.AVERAGES
        for rating in wmt.averages(path, rows)
    ]  # fmt: skip
    lines = folders.pairs(place)
    sets = [_with_notes(made, lines, scores) for made in _of_tables(place.stem, tables)]
    sets = sets or [made for pair in lines if (made := _of_lines(place, pair, scores, len(lines) == 1))]
    if not sets:
        found = [each for path in paths if (each := tools.read(path))]
        by_scale = {scale: [rated for other, rated in found if other == scale] for scale, _ in found}
        sets = [_gold(place.stem, "", scale, _joined(parts)) for scale, parts in by_scale.items()]
    if not any(len(made.ratings) for made in sets):
        raise BadInput(place, "", "holds no rated translations in a known form", f"give {FORMS}")
    return sets


def _of_tables(name: str, tables: dict[Path, tuple[set[str], wmt.Rows]]) -> Iterator[GoldSet]:
    """A gold set for each kind of ratings and language pair in tables."""
    for columns, reader, scale in _TABLES:
        by_pair: dict[str, list[RatedTexts]] = {}
        for path, (found, rows) in tables.items():
            if found >= columns:
                parts: dict[str, list[tuple[int, Any]]] = {}
                for row in rows:
                    parts.setdefault(str(row[1].get("pair", "")), []).append(row)
                for pair, of_pair in parts.items():
                    by_pair.setdefault(pair, []).append(reader(path, of_pair))
        for pair, rated in by_pair.items():
            yield _gold(" ".join(filter(None, (name, pair))), pair, scale, _joined(rated))


def _joined(parts: Sequence[RatedTexts]) -> RatedTexts:
    first, *others = parts
    for part in others:
        first.lines.update(part.lines)
        first.texts.update(part.texts)
        first.ratings.extend(part.ratings)
        first.notes.extend(part.notes)
    return first


def _with_notes(gold: GoldSet, lines: Sequence[LanguagePair], scores: Iterable[Rating]) -> GoldSet:
    """Add references of the same sources from texts by line, and the agreement of published segment scores."""
    sources = gold.passages.select("passage", "source")
    parts = [gold.references]
    for pair in lines:
        texts = pl.DataFrame({"passage": [str(n + 1) for n in range(len(pair.source))], "source": pair.source})
        same = sources.join(texts, on=["passage", "source"], how="semi")
        parts.append(folders.references(pair).join(same, on="passage", how="semi"))
    references = pl.concat(parts).unique(["passage", "translator"], keep="first", maintain_order=True)
    return gold._replace(references=references, notes=(*gold.notes, *_agreement(gold, scores)))


def _agreement(gold: GoldSet, scores: Iterable[Rating]) -> Iterator[str]:
    """How many published segment scores agree with the scores of the ratings, whatever their sign."""
    published = {(rating.system, rating.passage): rating.score for rating in scores}
    known = folders.matched(list({system for system, _ in published}), gold.outputs["system"].unique().to_list())
    means = gold.ratings.group_by("system", "passage").agg(pl.col("score").mean()).iter_rows()
    own = {(system, passage): score for system, passage, score in means}
    pairs = [
        (score, own[known[system], passage]) for (system, passage), score in published.items()
        if score is not None and system in known and (known[system], passage) in own
    ]  # fmt: skip
    agreeing = sum(abs(abs(score) - abs(mean)) < 5e-4 for score, mean in pairs)
    if pairs:
        yield f"{agreeing:,} of {len(pairs):,} published segment scores follow from the ratings"


def _of_lines(place: Path, lines: LanguagePair, scores: Sequence[Rating], alone: bool) -> GoldSet | None:
    """A gold set from texts by line; None if the language pair has no ratings."""
    protocol, ratings = folders.rated(place, lines) or ("mqm", scores if alone else [])
    if not ratings:
        return None
    references, rated = folders.references(lines), folders.of_lines(lines)
    for translator, passage, text in references.select("translator", "passage", "text").iter_rows():
        rated.texts.setdefault((translator, passage), text)  # people's translations may be rated as outputs
    names = sorted({rating.system for rating in ratings})
    known = folders.matched(names, sorted({system for system, _ in rated.texts}))
    # WMT20 published MQM scores as penalties.
    sign = -1 if protocol == "mqm" and all((rating.score or 0) >= 0 for rating in ratings) else 1
    rated.ratings.extend(
        rating._replace(system=known[rating.system], score=None if rating.score is None else sign * rating.score)
        for rating in ratings if rating.system in known
    )  # fmt: skip
    if len(names) > len(known):
        rated.notes.append(f"scores without texts: {', '.join(name for name in names if name not in known)}")
    name = place.stem if alone else f"{place.stem} {lines.pair}"
    return _gold(name, lines.pair, ESA if protocol == "esa" else MQM, rated, references)


def _gold(name: str, pair: str, scale: Scale, rated: RatedTexts, references: pl.DataFrame | None = None) -> GoldSet:
    """A gold set from rated texts. By default, texts by people are its references; those that were rated are outputs
    too."""
    texts = [(system, passage, text) for (system, passage), text in rated.texts.items()]
    if references is None:
        rows = [(passage, system, text) for system, passage, text in texts if is_human(system) and text.strip()]
        references = pl.DataFrame(rows, form.REFERENCES, orient="row")
    translators = set(references["translator"])
    ratings, spans = form.frames(rated.ratings)
    order = list(rated.lines.values())
    if all(line.passage.isdigit() for line in order):
        order.sort(key=lambda line: int(line.passage))
    passages = [(line.passage, place, line.document or None, line.source or None) for place, line in enumerate(order)]
    outputs = pl.DataFrame(
        [(*row, row[0] in translators or is_human(row[0])) for row in texts], form.OUTPUTS, orient="row"
    )
    return GoldSet(
        name, pair.partition("-")[2].partition("_")[0], scale, pl.DataFrame(passages, form.PASSAGES, orient="row"),
        references, outputs.join(ratings, on=["system", "passage"], how="semi", maintain_order="left"), ratings, spans,
        tuple(rated.notes),
    )  # fmt: skip
