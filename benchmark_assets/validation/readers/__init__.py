"""Reading gold sets: from a folder or file in any known form to `GoldSet`.

The form is detected by content, not by names of files. Here: detection, and what all forms share. To add a form, write
a module that gives `RatedTexts`, and add it to `_found`.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from benchmark_assets.validation import gold as form
from benchmark_assets.validation.gold import ESA, MQM, GoldSet, Rating, is_human
from benchmark_assets.validation.readers import folders, wmt
from benchmark_assets.validation.readers.wmt import RatedTexts
from resources.errors import BadInput

FORMS = (
    "a table of MQM ratings (system, seg_id, rater, source, target, category, severity), of ESA (system, annotator, "
    "line_id, src, tgt, esa_score), a folder with sources, references, system-outputs and human-scores"
)


def read(place: Path) -> list[GoldSet]:
    """The gold sets in a folder or file, one for each language pair.

    Raises
    ------
    BadInput
        If nothing rated is found, or a file of a known form has a fault.
    """
    if not place.exists():
        raise BadInput(place, "", "does not exist", "give a folder with rated translations")
    tables = {path: wmt.table(path) for path in _tables(place)}
    scores = [
        rating for path, (found, rows) in tables.items() if "target" not in found and found >= wmt.AVERAGES
        for rating in wmt.averages(path, rows)
    ]  # fmt: skip
    sets = []
    if (place / folders.SOURCES).is_dir():
        sets = [each for lines in folders.pairs(place) if (each := _of_lines(place, lines, scores))]
    readers: list[tuple[set[str], Callable[[Path, wmt.Rows], RatedTexts], form.Scale]] = [
        (wmt.MQM_TABLE, wmt.mqm, "mqm"), (wmt.ESA_TABLE, wmt.esa, "esa"),
    ]  # fmt: skip
    for form_of, reader, scale in readers:
        parts = [reader(path, rows) for path, (found, rows) in tables.items() if found >= form_of]
        if parts:
            sets.append(_of_table(place.stem, scale, _joined(parts), scores))
    if not sets:
        raise BadInput(place, "", "holds no rated translations in a known form", f"give {FORMS}")
    return sets


def _tables(place: Path) -> list[Path]:
    paths = [place] if place.is_file() else sorted(place.iterdir())
    return [path for path in paths if path.suffix.lower() in (".tsv", ".jsonl", ".txt")]


def _joined(parts: Sequence[RatedTexts]) -> RatedTexts:
    first, *others = parts
    for part in others:
        first.lines.update(part.lines)
        first.texts.update(part.texts)
        first.ratings.extend(part.ratings)
    return first


def _of_table(name: str, scale: form.Scale, rated: RatedTexts, scores: Iterable[Rating]) -> GoldSet:
    """A gold set from a table with texts. Translations by people are references, and rated outputs too."""
    texts = [(system, passage, text) for (system, passage), text in rated.texts.items()]
    references = [(passage, system, text) for system, passage, text in texts if is_human(system)]
    made = _gold(name, "", scale, rated, pl.DataFrame(references, form.REFERENCES, orient="row"))
    return made._replace(notes=_agreement(made, scores)) if scale == MQM else made


def _agreement(gold: GoldSet, scores: Iterable[Rating]) -> tuple[str, ...]:
    """How many published segment scores agree with the scores of the ratings."""
    published = {(rating.system, rating.passage): rating.score for rating in scores}
    known = folders.matched(list({system for system, _ in published}), gold.outputs["system"].unique().to_list())
    means = gold.ratings.group_by("system", "passage").agg(pl.col("score").mean()).iter_rows()
    own = {(system, passage): score for system, passage, score in means}
    pairs = [
        (score, own[known[system], passage]) for (system, passage), score in published.items()
        if score is not None and system in known and (known[system], passage) in own
    ]  # fmt: skip
    agreeing = sum(abs(score - mean) < 5e-4 for score, mean in pairs)
    return (f"{agreeing:,} of {len(pairs):,} published segment scores follow from the ratings",) if pairs else ()


def _of_lines(place: Path, lines: folders.LanguagePair, scores: Sequence[Rating]) -> GoldSet | None:
    """A gold set from texts by line; None if the language pair has no ratings."""
    protocol, ratings = folders.rated(place, lines) or (MQM, scores)
    if not ratings:
        return None
    references = folders.references(lines)
    rated = folders.of_lines(lines)
    for translator, passage, text in references.select("translator", "passage", "text").iter_rows():
        rated.texts.setdefault((translator, passage), text)  # people's translations may be rated as outputs
    names = sorted({rating.system for rating in ratings})
    known = folders.matched(names, sorted({system for system, _ in rated.texts}))
    negative = protocol == ESA or any((rating.score or 0) < 0 for rating in ratings)
    rated.ratings.extend(
        rating._replace(
            system=known[rating.system], score=rating.score if negative or rating.score is None else -rating.score
        )
        for rating in ratings if rating.system in known
    )  # fmt: skip
    name = place.stem if len(folders.pairs(place)) == 1 else f"{place.stem} {lines.pair}"
    notes = [f"scores without texts: {', '.join(name for name in names if name not in known)}"]
    made = _gold(name, lines.pair.partition("-")[2], "esa" if protocol == ESA else "mqm", rated, references)
    return made._replace(notes=tuple(notes[: len(names) > len(known)]))


def _gold(name: str, language: str, scale: form.Scale, rated: RatedTexts, references: pl.DataFrame) -> GoldSet:
    translators = set(references["translator"])
    ratings, spans = form.frames(rated.ratings)
    order = sorted(rated.lines.values(), key=lambda line: (not line.passage.isdigit(), line.passage.zfill(9)))
    passages = [(line.passage, place, line.document or None, line.source or None) for place, line in enumerate(order)]
    outputs = [
        (system, passage, text, system in translators or is_human(system))
        for (system, passage), text in rated.texts.items()
    ]
    frame = pl.DataFrame(outputs, form.OUTPUTS, orient="row")
    return GoldSet(
        name, language.partition("_")[0], scale, pl.DataFrame(passages, form.PASSAGES, orient="row"), references,
        frame.join(ratings, on=["system", "passage"], how="semi", maintain_order="left"), ratings, spans,
    )  # fmt: skip
