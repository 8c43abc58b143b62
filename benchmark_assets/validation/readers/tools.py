"""Exports of annotation tools: Label Studio, Pearmut, and the project's own sheets and tasks.

Label Studio: JSON of tasks whose fields name source, translation, system and passage (`FIELDS`), with regions whose
labels or choices name a severity; the other words of a region are its category. Pearmut: a download with models by name
in `tgt`. The project's own samples are blind: each output is a system of its own. Not here: tables of WMT (wmt).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark_assets.adjudication.labels import ERRORS, SUBSTANTIVE
from benchmark_assets.people import answers, label_studio
from benchmark_assets.people.items import SOURCES, is_reference
from benchmark_assets.people.mqm import LABEL_POINTS
from benchmark_assets.people.pearmut import RESET
from benchmark_assets.people.places import Marked, Units, marked_span, units_span
from benchmark_assets.people.sheets import ENDINGS
from benchmark_assets.validation.gold import ESA, MQM, PENALTY, Error, Rating, Scale, severity
from benchmark_assets.validation.readers.wmt import GoldLine, RatedTexts
from resources.errors import BadInput

FIELDS = {
    "source": ("source", "source_text", "src", "original"),
    "target": ("target", "translation", "tgt", "mt", "hypothesis", "candidate", "output"),
    "system": ("system", "model", "mt_system", "system_id"),
    "passage": ("passage", "paragraph", "paragraph_id", "par_id", "segment_id", "seg_id", "id"),
    "document": ("document", "doc", "doc_id", "book", "work", "title"),
}
"""Fields of tasks in Label Studio, by what they hold. Without a passage, equal sources are one passage."""

_REFERENCE = re.compile(r"ref(erence)?([-_ .]?\w+)?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def read(path: Path) -> tuple[Scale, RatedTexts] | None:
    """The ratings in a file of a tool, with the scale of their scores; None if the file is of another kind.

    References are outputs by `reference` and the like, without ratings. Raises BadInput for a fault.
    """
    if path.suffix.lower() in ENDINGS:
        return _own(path)
    if path.suffix.lower() != ".json":
        return None
    content = label_studio.parsed_json(path)
    if isinstance(content, dict):
        return _pearmut(path, content)
    tasks = label_studio.read(path, content)
    return _own(path) if all("item" in task.fields for task in tasks) else (MQM, _label_studio(path, tasks))


def _label_studio(path: Path, tasks: Sequence[label_studio.Task]) -> RatedTexts:
    rated, unread = RatedTexts({}, {}, [], []), 0
    for task in tasks:
        key = f"task {task.place}"
        fields = {name: _field(path, key, task.fields, name) for name in FIELDS}
        if not fields["target"] or not fields["system"]:
            missing = "target" if fields["system"] else "system"
            remedy = f"name the field {' or '.join(FIELDS[missing])}"
            raise BadInput(path, key, f"has no field for the {missing}", remedy)
        system, text, passage = fields["system"], fields["target"], fields["passage"] or fields["source"]
        if not passage:
            remedy = f"name the field {' or '.join(FIELDS['passage'])}"
            raise BadInput(path, key, "has neither a passage nor a source", remedy)
        rated.lines.setdefault(passage, GoldLine(passage, fields["document"], fields["source"]))
        rated.texts.setdefault((system, passage), text)
        for name, value in task.fields.items():
            if _REFERENCE.fullmatch(name) and isinstance(value, str) and value.strip():
                rated.texts.setdefault((name, passage), value)
        for account, values in task.annotations:
            found = list(_regions(path, key, values, text))
            rated.ratings.append(Rating(system, passage, label_studio.account_name(account), found))
            unread += not found
    if unread == len(rated.ratings):
        raise BadInput(path, "", "has no annotation with a marked error", "export the annotations as JSON")
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


def _pearmut(path: Path, content: Mapping[str, Any]) -> tuple[Scale, RatedTexts]:
    """The last rating of each output by each user. Attention checks and tutorials, which have a `validation`, are left
    out; so is what a user did before a reset."""
    rated, last = RatedTexts({}, {}, [], []), dict[tuple[str, str, str], Rating]()
    for campaign, entries in content.items():
        of_campaign: dict[tuple[str, str, str], Rating] = {}
        for number, entry in enumerate(entries if isinstance(entries, list) else [{}], start=1):
            key = f"{campaign} {number}"
            try:
                user = str(entry["user_id"])
                if entry["annotation"] == RESET:
                    of_campaign = {at: rating for at, rating in of_campaign.items() if at[0] != user}
                    continue
                for shown, answer in zip(entry["item"], entry["annotation"], strict=True):
                    if "tgt" in shown and "validation" not in shown and isinstance(answer, dict):
                        for rating in _shown(
                            path, key, user, shown, answer, rated, f"{campaign} {entry.get('item_i')}"
                        ):
                            of_campaign[user, rating.system, rating.passage] = rating
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problem = f"is not an annotation of Pearmut ({error!r})"
                raise BadInput(path, key, problem, "download the annotations from Pearmut's dashboard") from error
        last |= of_campaign
    rated.ratings.extend(last.values())
    scored = any(rating.score is not None for rating in rated.ratings)
    return ESA if scored else MQM, rated


def _shown(
    path: Path,
    key: str,
    user: str,
    shown: Mapping[str, Any],
    answer: Mapping[str, Any],
    rated: RatedTexts,
    document: str,
) -> Iterator[Rating]:
    """The ratings of the outputs of one item, whose texts are added to `rated`."""
    source = str(shown.get("src") or "")
    passage = source or str(shown["item_id"])
    rated.lines.setdefault(passage, GoldLine(passage, document, source))
    if shown.get("ref"):
        rated.texts.setdefault(("reference", passage), shown["ref"])
    for name, text in shown["tgt"].items():
        if name not in answer:
            continue
        system = str((shown.get("outputs") or {}).get(name, name))
        rated.texts.setdefault((system, passage), text)
        spans = answer[name].get("error_spans")
        errors = None if spans is None else [
            Error(
                severity(str(span["severity"] or "undecided"), path, key), str(span.get("category") or "").casefold(),
                *(units_span(Units(span["start_i"], span["end_i"]), text, exact=True) or (None, None)),
            )
            for span in spans
        ]  # fmt: skip
        score = answer[name].get("score")
        yield Rating(system, passage, user, errors, None if score is None else float(score))


def _own(path: Path) -> tuple[Scale, RatedTexts]:
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
