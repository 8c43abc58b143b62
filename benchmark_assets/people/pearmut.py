"""Pearmut, in which people mark errors in outputs and score the outputs (ESA, MQM): campaigns, and what comes back.

Here: the campaign file, with the sample and its control items, and the content of downloads. Not here: drawing the
sample and choosing control items (sample, controls), checks and storage (answers). Format: README of Pearmut 1.1,
section "Campaign Configuration".
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import audits, item_key
from benchmark_assets.people.controls import ATTENTION, CHECKED, GROSS, REPEAT, SOUND, Control, record_controls
from benchmark_assets.people.form import Answer, Errors, Mark
from benchmark_assets.people.forms import ESA, FORMS, MQM
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.mqm import BEST, MISSING, MOST_IF_BROKEN
from benchmark_assets.people.places import Units, utf16
from benchmark_assets.people.sample import SentItem, drawn, restricted_texts
from resources import whole_files
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse

CONTRASTIVE = "cESA"
PROTOCOLS = (ESA, MQM, CONTRASTIVE)

RESET = "__RESET__"
"""Pearmut's marker that a user's earlier annotations are void."""


Shown = Mapping[str, SheetItem]
"""Items that Pearmut shows together. The keys are the names under which Pearmut's page receives the outputs of
items."""

_REMEDY = "download the annotations from Pearmut's dashboard"

_SCORES = {ATTENTION: (0, MOST_IF_BROKEN), GROSS: (0, BEST // 2), SOUND: (2 * MOST_IF_BROKEN + 1, BEST)}
"""Scores with which Pearmut's dashboard marks a check as passed, by kind."""

_MEDIA = re.compile("^<(audio|video|img|iframe) ")


class Plan(NamedTuple):
    """How people annotate.

    - `protocol`: `ESA` has minor and major errors, and a score. `MQM` also has critical errors, and categories. `cESA`
      is like ESA, but shows all sampled outputs of a passage side by side.
    - `judge`: a judge; the errors that it marks are prefilled, for annotators to correct (ESA^AI).
    - `dynamic`: whether Pearmut chooses passages and models while people annotate, so that models with a high score are
      annotated more often. The campaign then has all outputs of the sampled passages, and no repeated items.
    """

    protocol: str = ESA
    judge: str | None = None
    dynamic: bool = False


def write_campaign(
    warehouse: Warehouse, file: Path, corpus: str, annotators: Sequence[str], plan: Plan, private: bool = False
) -> SentItem:
    """Write the sample of a corpus to a campaign file, with a task for each annotator.

    Parameters
    ----------
    file
        JSON file, which must not exist yet.
    private
        Whether the file may contain restricted texts.

    Returns
    -------
    The number of items, the restricted texts (translators, or 'source'), and the largest number of control items in any
    annotator's task. In a dynamic campaign, the last number is the number of attention checks.

    Raises
    ------
    BadInput
        If the corpus is unknown, cannot be read or has no sample; if an output changed after it was drawn; if the judge
        has marked no error in the corpus; if the campaign is dynamic and fewer than two models have outputs of all
        sampled passages; if there are restricted texts and `private` is false; if a name is empty, occurs twice, or
        cannot be used in Pearmut's links; or if the file exists or cannot be written.
    """
    for name in annotators:
        if any(mark in name for mark in "&#+%/"):
            raise BadInput("annotator", name, "cannot be used in a link", "give a name without any of & # + % /")
    if file.exists():
        raise BadInput(file, "", "already exists", "give another file")
    with warehouse.consistently():
        sample = drawn(warehouse, corpus, annotators, together=plan.protocol == CONTRASTIVE)
        marks, controls = _marks(warehouse, corpus, plan), sample.controls
        tasks = [[_numbered(group) for group in groups] for groups in sample.lists.values()]
        sent = sample.sent
        if plan.dynamic:
            controls = [control for control in controls if control.kind != REPEAT]
            tasks = [_of_all_models(warehouse, corpus, sample.items, audits(warehouse)[corpus].seed)]
            shown = [item for group in tasks[0] for item in group.values()]
            sent = SentItem(len(shown), restricted_texts(warehouse, corpus, shown), len(controls))
    if sent.restricted and not private:
        problem = f"would contain texts that may not be passed on: {', '.join(sent.restricted)}"
        raise BadInput(file, "", problem, "add --private, and give the file only to people who may have these texts")
    made = campaign(corpus, list(sample.lists), plan, tasks, controls, marks)
    whole_files.hand_over(file, f"{json.dumps(made, ensure_ascii=False, indent=1)}\n")
    record_controls(warehouse, corpus, controls)
    return sent


def campaign(
    corpus: str, names: Sequence[str], plan: Plan, tasks: Sequence[Sequence[Shown]], controls: Sequence[Control],
    marks: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:  # fmt: skip
    """A campaign with a task for each annotator or, if dynamic, with one task for all annotators.

    `marks` are the prefilled errors in Pearmut's format, by item. A repeated item has the errors of the item that it
    repeats.
    """
    repeated = {control.shown.item: marks.get(control.original, []) for control in controls if control.kind == REPEAT}
    checks = {control.shown.item: control for control in controls if control.kind != REPEAT}
    info, further = _info(plan.protocol, names), {}

    def document(group: Shown) -> list[dict[str, Any]]:
        return [_segment(group, checks, plan.judge, {**marks, **repeated})]

    data = [[document(group) for group in task] for task in tasks]
    if plan.dynamic:
        info |= {"assignment": "dynamic", "dynamic_models": 2}
        if checks:
            info |= {"data_random_prob": 1 / CHECKED}
            further = {"data_random": [document(_numbered([check.shown])) for check in checks.values()]}
    name = f"{corpus}-{plan.protocol}"
    return {"campaign_id": name, "info": info, "data": data[0] if plan.dynamic else data, **further}


def candidate(number: int) -> str:
    """Name under which Pearmut's page receives an output. Pearmut refuses names that consist of digits."""
    return f"candidate {number}"


def _info(protocol: str, names: Sequence[str]) -> dict[str, Any]:
    info: dict[str, Any] = {
        "assignment": "task-based", "protocol": protocol, "users": list(names), "shuffle": False,
        "special_tokens": [MISSING],
    }  # fmt: skip
    errors = _errors(protocol)
    if errors.categories:
        categories: dict[str, list[str]] = {}
        for category in errors.categories:
            main, _, sub = category.partition("/")
            categories.setdefault(main, []).extend([sub] if sub else [])
        info |= {"mqm_categories": categories, "mqm_severities": [name.capitalize() for name in errors.severities]}
    return info


def _errors(protocol: str) -> Errors:
    """The field in which people mark errors."""
    form = FORMS[ESA if protocol == CONTRASTIVE else protocol]
    return next(field for field in form.fields if isinstance(field, Errors))


def _of_all_models(warehouse: Warehouse, corpus: str, items: Sequence[SheetItem], seed: int) -> list[Shown]:
    """The sampled passages, each with the outputs of all models that translated every sampled passage.

    The models are in the order of a hash.
    """
    passages = {item.place: item for item in items}
    keys = pl.DataFrame({"passage": [f"{corpus}/{place}" for place in passages]})
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).drop_nulls("text")
    complete = outputs.group_by("model").len().filter(len=len(passages))["model"].to_list()
    if len(complete) < 2:
        raise BadInput(
            corpus, "", "has fewer than two models with outputs of all sampled passages",
            "run `variorum evaluate MODEL`, or write the campaign without --dynamic",
        )  # fmt: skip
    texts = {(passage, model): text for model, passage, text in outputs.iter_rows()}
    models = sorted(complete, key=lambda model: item_key(str(seed), model, ""))
    groups = []
    for place, shown in sorted(passages.items()):
        passage = f"{corpus}/{place}"
        outputs_of = [(item_key(model, passage, texts[passage, model]), texts[passage, model]) for model in models]
        groups.append(_numbered([shown._replace(item=item, candidate=text) for item, text in outputs_of]))
    return groups


def _marks(warehouse: Warehouse, corpus: str, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """The errors that a judge marks, in Pearmut's format, by item. If errors overlap, only the first is kept."""
    judge, asked = plan.judge, _errors(plan.protocol)
    severities = list(asked.severities)
    if judge is None:
        return {}
    spans = warehouse.read("error_span", pl.DataFrame({"judge": [judge]})).filter(corpus == CORPUS)
    texts = warehouse.read("model_output", spans.select("model", "passage").unique(), ["model", "passage", "text"])
    marks: dict[str, list[dict[str, Any]]] = {}
    for row in spans.join(texts, on=["model", "passage"]).sort("model", "passage", "place").iter_rows(named=True):
        text = row["text_right"]
        start, end = (utf16(text, len(text)),) * 2  # after the output: something is missing
        if row["side"] == "output":
            if row["span_start"] is None:
                continue
            start, end = utf16(text, row["span_start"]), utf16(text, row["span_end"]) - 1
        own = marks.setdefault(item_key(row["model"], row["passage"], text), [])
        if any(start <= other["end_i"] and other["start_i"] <= end for other in own):
            continue
        severity = row["severity"] if row["severity"] in severities else severities[-1]
        main, _, sub = row["category"].partition("/")
        category = f"{main}/{sub or main}" if asked.categories else None
        own.append({"start_i": start, "end_i": end, "severity": severity.capitalize(), "category": category})
    if not marks:
        raise BadInput(
            judge, "", f"has marked no error in {corpus}", "run `variorum update`, or name another judge of `spans`"
        )
    return marks


def as_text(text: str) -> str:
    """A text that Pearmut shows as text. It would show one that begins like these as HTML, and run its scripts; with
    another space of the same length, it does not, and offsets stay right."""
    return _MEDIA.sub("<\\1\u00a0", text)


def _numbered(group: Sequence[SheetItem]) -> Shown:
    return {candidate(number): item for number, item in enumerate(group, start=1)}


def _segment(
    group: Shown, checks: Mapping[str, Control], judge: str | None, marks: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    """The texts of a passage, and the fields that the import needs. `checks` are the checks by key."""
    first = next(iter(group.values()))
    shared = min((item.references for item in group.values()), key=len)  # a check lacks the reference that it shows
    references = "\n\n".join(f"[{name}]\n{text}" for name, text in sorted(shared.items()))
    segment: dict[str, Any] = {"item_id": first.item, "instructions": escape(first.place), "src": as_text(first.source)}
    if references:
        segment["ref"] = references
    segment["tgt"] = {name: as_text(item.candidate) for name, item in group.items()}
    segment["outputs"] = {name: item.item for name, item in group.items()}
    kinds = {name: checks[item.item].kind for name, item in group.items() if item.item in checks}
    if validation := {name: {"score": list(_SCORES[kind])} for name, kind in kinds.items() if kind in _SCORES}:
        segment["validation"] = validation
    if judge is not None:
        segment |= {"prefilled": judge, "error_spans": {name: marks.get(item.item, []) for name, item in group.items()}}
    return segment


def submissions(path: Path, content: Mapping[str, Any]) -> list[Answer]:
    """The last submission of each annotator for each item, in a download that has a list for each campaign.

    A submission with Pearmut's reset marker voids the user's earlier submissions. Tutorials, forms and skipped items
    have no `item_id` or no annotation, and are left out. Raises BadInput if an entry is not a submission.
    """
    if not content or not all(isinstance(entries, list) for entries in content.values()):
        raise BadInput(path, "", "is not an object with a list for each campaign", _REMEDY)
    last: dict[tuple[str, str], Answer] = {}
    place = 0
    for campaign_id, entries in content.items():
        of_campaign: dict[tuple[str, str], Answer] = {}
        for entry in entries:
            place += 1
            try:
                user = str(entry["user_id"])
                if entry["annotation"] == RESET:
                    of_campaign = {key: value for key, value in of_campaign.items() if key[0] != user}
                    continue
                for shown, answer in zip(entry["item"], entry["annotation"], strict=True):
                    if "item_id" in shown and isinstance(answer, dict):
                        of_campaign |= {(user, each.item): each for each in _outputs(place, user, shown, answer)}
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problem = "is not an annotation from a campaign of `variorum annotate --as pearmut`"
                raise BadInput(path, f"{campaign_id} {place}", problem, _REMEDY) from error
        last |= of_campaign
    return sorted(last.values(), key=lambda answer: (answer.place, answer.item))


def _outputs(place: int, user: str, shown: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Answer]:
    """Split a submission into one for each output that was shown."""
    for name, item in shown["outputs"].items():
        if name not in answer:
            continue  # dynamic campaigns show some of the outputs
        spans = answer[name].get("error_spans")
        fault = "" if isinstance(spans, list) else "error_spans is not a list"
        errors = [_mark(span) for span in spans] if isinstance(spans, list) else []
        values = {"score": answer[name].get("score"), "errors": errors, "prefilled": shown.get("prefilled")}
        yield Answer(place, str(item), user, values, fault, {"candidate": shown["tgt"][name]})


def _mark(span: Any) -> Mark:
    fields = span if isinstance(span, dict) else {}
    category = fields.get("category")
    main, _, sub = str(category).partition("/")
    category = main if sub == main else category  # Pearmut repeats a category without subcategories
    return Mark(fields.get("severity"), category, Units(fields.get("start_i"), fields.get("end_i")))
