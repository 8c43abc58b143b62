"""Exports of annotation tools: Label Studio, Pearmut, and the project's own sheets and tasks.

Label Studio: JSON of tasks whose fields name source, translation, system and passage (`FIELDS`), with regions whose
labels or choices name a severity; the other words of a region are its category. Pearmut: a download with models by name
in `tgt`. The project's own samples are blind: each output is a system of its own. Not here: tables of WMT (wmt).
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, SUBSTANTIVE
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.people import answers, label_studio
from benchmark_assets.people.items import SOURCES, is_reference
from benchmark_assets.people.mqm import LABEL_POINTS
from benchmark_assets.people.pearmut import RESET
from benchmark_assets.people.places import Marked, Units, marked_span, units_span
from benchmark_assets.people.sheets import ENDINGS
from benchmark_assets.validation.gold import ESA, MQM, PENALTY, Error, Rating, Scale, is_human, severity
from benchmark_assets.validation.readers.wmt import BETWEEN, GoldLine, RatedTexts, number_in
from resources.errors import BadInput
from resources.warehouse import Warehouse

FIELDS = {
    "source": ("source", "source_text", "src", "original"),
    "target": ("target", "translation", "tgt", "mt", "hypothesis", "candidate", "output"),
    "system": ("system", "model", "mt_system", "system_id"),
    "passage": ("passage", "paragraph", "paragraph_id", "par_id", "segment_id", "seg_id", "id"),
    "document": ("document", "doc", "doc_id", "book", "work", "title"),
}
"""Fields of tasks in Label Studio, by what they hold. Without a passage, equal sources are one passage."""

Seen = dict[tuple[str, str], list[tuple[str, str]]]
"""The texts of a system for a source in Pearmut, each with the id of its item, in their order."""

_WORD = re.compile(r"[^\W\d_]+")


def read(path: Path, warehouse: Warehouse | None, seen: Seen) -> tuple[Scale, RatedTexts] | None:
    """The ratings in a file of a tool, with the scale of their scores; None if the file is of another kind.

    References are outputs by `reference` and the like, without ratings. Control items of the project's own samples,
    which the warehouse knows, are left out. Raises BadInput for a fault.
    """
    ending = path.suffix.lower()
    if ending in ENDINGS:
        sheet = ending != ".csv" or re.search(r"\bitem\b", decode(path).partition("\n")[0].casefold())
        return _own(path, warehouse) if sheet else None
    content = label_studio.parsed_json(path) if ending == ".json" else None
    if isinstance(content, dict):
        entries = [entry for each in content.values() if isinstance(each, list) for entry in each]
        known = any(isinstance(entry, dict) and "user_id" in entry for entry in entries)
        return _pearmut(path, content, warehouse, seen) if known else None
    if not content or not isinstance(content, list):
        return None
    tasks = label_studio.read(path, content)
    ours = all("item" in task.fields for task in tasks)
    return _own(path, warehouse) if ours else (MQM, _label_studio(path, tasks))


def _label_studio(path: Path, tasks: Sequence[label_studio.Task]) -> RatedTexts:
    rated, unread = RatedTexts({}, {}, [], []), 0
    for task in tasks:
        key = f"task {task.place}"
        fields = {name: _field(path, key, task.fields, name) for name in FIELDS}
        if not fields["target"] or not fields["system"]:
            missing = "target" if fields["system"] else "system"
            remedy = f"name the field {' or '.join(FIELDS[missing])}"
            raise BadInput(path, key, f"has no field for the {missing}", remedy)
        system, text, own = fields["system"], fields["target"], fields["passage"] or fields["source"]
        if not own:
            remedy = f"name the field {' or '.join(FIELDS['passage'])}"
            raise BadInput(path, key, "has neither a passage nor a source", remedy)
        passage = f"{fields['document'] or fields['source']}{BETWEEN}{own}"
        rated.lines.setdefault(passage, GoldLine(own, fields["document"], fields["source"]))
        rated.texts.setdefault((system, passage), text)
        for name, value in task.fields.items():
            if is_human(name) and isinstance(value, str) and value.strip():
                rated.texts.setdefault((name, passage), value)
        for account, values in task.annotations:
            found = list(_regions(path, key, values, text))
            rated.ratings.append(Rating(system, passage, label_studio.account_name(account), found))
            unread += not found and any(isinstance(parts, list) and parts for parts in values.values())
    if unread and unread == len(rated.ratings):
        problem = "has annotations, but none marks words"
        raise BadInput(path, "", problem, "let raters mark the words of an error, and label them")
    return rated


def _field(path: Path, key: str, fields: Mapping[str, Any], meaning: str) -> str:
    """A task's field with this meaning; '' without one. Raises BadInput if several fields have it."""
    found = {name: fields[name] for name in fields if name.strip().casefold() in FIELDS[meaning]}
    if len({str(value) for value in found.values()}) > 1 and meaning == "target":
        raise BadInput(path, key, f"has several translations ({', '.join(found)})", "give each a task of its own")
    return str(next(iter(found.values()), "")).strip("\r\n") if found else ""


def _regions(path: Path, key: str, values: Mapping[str, Any], text: str) -> Iterator[Error]:
    """The errors that an annotation marks: regions with the same ends are one error."""
    words: dict[tuple[Any, Any], list[str]] = {}
    marks: dict[tuple[Any, Any], str] = {}
    for parts in values.values():
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and "start" in part and "end" in part:
                place = part["start"], part["end"]
                words.setdefault(place, []).extend(_words(part))
                marks[place] = marks.get(place) or str(part.get("text") or "")
    for place, named in words.items():
        found = [word for name in named for word in _WORD.findall(name.casefold()) if word in PENALTY]
        if not found:
            problem = f"has a region without a severity ({', '.join(named) or 'no label'})"
            raise BadInput(path, key, problem, f"label each region with one of {', '.join(PENALTY)}")
        category = "/".join(name.casefold() for name in named if not _is_severity(name))
        try:
            span: tuple[int | None, int | None] = marked_span(Marked(*place, marks[place]), text)
        except ValueError:  # in the source, or in a text that Label Studio shows otherwise
            span = None, None
        yield Error(found[0], category, *span)


def _words(part: Mapping[str, Any]) -> list[str]:
    """The words of a region: labels, choices, and paths of a taxonomy."""
    lists = [part.get(name) or [] for name in ("labels", "hypertextlabels", "choices", "taxonomy")]
    return [str(word) for words in lists for each in words for word in (each if isinstance(each, list) else [each])]


def _is_severity(name: str) -> bool:
    return [word for word in _WORD.findall(name.casefold()) if word not in ("error", "severity")][:1] == [
        word for word in _WORD.findall(name.casefold()) if word in PENALTY
    ]


def _pearmut(
    path: Path, content: Mapping[str, Any], warehouse: Warehouse | None, seen: Seen
) -> tuple[Scale, RatedTexts]:
    """The last rating of each output by each user of a campaign. Attention checks and tutorials, which have a
    `validation`, are left out; so is what a user did before a reset."""
    rated, items = RatedTexts({}, {}, [], []), set[str]()
    for campaign, entries in content.items():
        last: dict[tuple[str, str, str], Rating] = {}
        for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
            key = f"{campaign} {number}"
            try:
                user = str(entry["user_id"])
                if entry["annotation"] == RESET:
                    last = {at: rating for at, rating in last.items() if at[0] != user}
                    continue
                task = f"{campaign} {entry.get('item_i')}"
                for place, (shown, answer) in enumerate(zip(entry["item"], entry["annotation"], strict=True)):
                    if "tgt" in shown and "validation" not in shown and isinstance(answer, dict):
                        own = str(shown.get("item_id") or f"{task} {place}")
                        items |= {str(item) for item in (shown.get("outputs") or {}).values()}
                        for rating in _shown(path, key, user, shown, answer, rated, task, own, seen):
                            last[user, rating.system, rating.passage] = rating
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problem = f"is not an annotation of Pearmut ({error!r})"
                raise BadInput(path, key, problem, "download the annotations from Pearmut's dashboard") from error
        rated.ratings.extend(last.values())
    scored = any(rating.score is not None for rating in rated.ratings)
    return ESA if scored else MQM, _without_controls(path, rated, items, warehouse)


def _shown(
    path: Path, key: str, user: str, shown: Mapping[str, Any], answer: Mapping[str, Any], rated: RatedTexts, task: str,
    own: str, seen: Seen,
) -> Iterator[Rating]:  # fmt: skip
    """The ratings of the outputs of one item, whose texts are added to `rated`. `own` is the item's id: of equal
    sources, another item of a system, or another text of an item, is another passage."""
    source = str(shown.get("src") or "")
    for name, text in shown["tgt"].items():
        system = str((shown.get("outputs") or {}).get(name, name))
        places = seen.setdefault((system, source or own), [])
        if (own, text) not in places:
            places.append((own, text))
        if name not in answer:
            continue
        passage = f"{places.index((own, text))}{BETWEEN}{source or own}"
        rated.lines.setdefault(passage, GoldLine(source or own, task, source))
        rated.texts.setdefault((system, passage), text)
        if shown.get("ref"):
            rated.texts.setdefault(("reference", passage), shown["ref"])
        spans = answer[name].get("error_spans")
        errors = None if spans is None else [
            Error(
                severity(str(span["severity"] or "undecided"), path, key), str(span.get("category") or "").casefold(),
                *(units_span(Units(span["start_i"], span["end_i"]), text, exact=True) or (None, None)),
            )
            for span in spans
        ]  # fmt: skip
        score = answer[name].get("score")
        score = None if score is None else number_in(score, path, key, esa=True)
        yield Rating(system, passage, user, errors, score)


def _without_controls(path: Path, rated: RatedTexts, items: Set[str], warehouse: Warehouse | None) -> RatedTexts:
    """Leave out the ratings of control items. In the project's own samples, each output is a system that has the name
    of its item; `items` are these names."""
    if not items or warehouse is None:
        return rated
    controls = {*warehouse.read("control_item", pl.DataFrame({"item": sorted(items)}), ["item"])["item"]}
    kept = [rating for rating in rated.ratings if rating.system not in controls]
    unknown = len(items - answers.candidates(warehouse, items).keys())
    if left_out := len(rated.ratings) - len(kept):
        rated.notes.append(f"{path.name}: {left_out} answers about control items are left out")
    if unknown:
        rated.notes.append(f"{path.name}: this home lacks {unknown} of {len(items)} items, and cannot tell controls")
    return rated._replace(ratings=kept)


def _own(path: Path, warehouse: Warehouse | None) -> tuple[Scale, RatedTexts]:
    """The answers in a sheet, or in tasks of Label Studio, from `variorum annotate`. Faulty answers are refused."""
    form, found, _ = answers.read(path)
    rated = RatedTexts({}, {}, [], [])
    for answer in found:
        key, text = f"row {answer.place}", answer.texts.get("candidate", "")
        source = next((answer.texts[name] for name in SOURCES if name in answer.texts), "")
        if not text or not source:
            raise BadInput(path, key, "lacks the source or the candidate", "give the file with its texts")
        try:
            if answer.fault:
                raise ValueError(answer.fault)
            row, parts, _ = form.checked(answer.values, text, exact=True)
        except ValueError as fault:
            raise BadInput(path, key, str(fault), "correct the answer") from fault
        if row.get("label", SUBSTANTIVE[0]) not in SUBSTANTIVE:
            continue  # the rater could not decide
        rated.lines.setdefault(source, GoldLine(source, "", source))
        rated.texts.setdefault((answer.item, source), text)
        for name, reference in answer.texts.items():
            if is_reference(name):
                rated.texts.setdefault((name, source), reference)
        rated.ratings.append(_of_answer(row, parts, answer.item, source, answer.annotator))
    rated = _without_controls(path, rated, {answer.item for answer in found}, warehouse)
    return (MQM if "label" in form.columns else ESA), rated


def _of_answer(
    row: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], item: str, source: str, annotator: str
) -> Rating:
    """A rating from the stored columns of an answer: a label with a category, or errors with a score."""
    if "label" not in row:
        errors = [
            Error(part["severity"], part["category"] or "", part["span_start"], part["span_end"]) for part in parts
        ]
        return Rating(item, source, annotator, errors, row["esa"])
    label = row["label"]
    category = str(row["error_category"]).casefold()
    word = label.partition("_")[0].casefold()
    errors = [Error(word, category, row["span_start"], row["span_end"])] if label in ERRORS else []
    return Rating(item, source, annotator, errors, float(LABEL_POINTS[label]))
