"""Campaigns for Pearmut, in which people mark the errors of outputs and score them (ESA, MQM).

Here: the campaign file, with the sample and its control items. Not here: drawing the sample and choosing control items
(adjudication), reading the annotations (human_spans). Format: README of Pearmut 1.1, section "Campaign Configuration".
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from benchmark_assets.adjudication.annotation import (
    SentItem,
    checked_names,
    drawn_items,
    record_controls,
    with_controls,
)
from benchmark_assets.adjudication.controls import ATTENTION
from benchmark_assets.adjudication.items import SheetItem
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import named, rights_of
from benchmark_assets.error_spans.judging import CATEGORIES, WEIGHTS
from resources import whole_files
from resources.errors import BadInput
from resources.warehouse import Warehouse

ESA, MQM = "ESA", "MQM"
PROTOCOLS = (ESA, MQM)

OUTPUT = "output"
"""Key of the only candidate of an item. Models are not named: Pearmut's page receives these keys."""

MISSING = "[missing]"
"""What annotators mark behind the output where it lacks something."""

MOST_IF_BROKEN = 33
"""Highest score of an attention check that counts as passed on Pearmut's dashboard, where 0 is broken and 33 flawed."""


def write_campaign(
    warehouse: Warehouse, file: Path, corpus: str, annotators: Sequence[str], protocol: str, private: bool = False
) -> SentItem:
    """Write the sample of a corpus as a campaign, with a task for each annotator.

    Parameters
    ----------
    file
        JSON file, which must not exist yet.
    protocol
        `ESA`: minor and major errors, and a score. `MQM`: also critical errors, and categories.
    private
        Whether the file may contain restricted texts.

    Raises
    ------
    BadInput
        If the corpus is unknown, cannot be read, or has no sample; an output changed since it was drawn; there are
        restricted texts and `private` is false; a name is empty, occurs twice, or cannot stand in Pearmut's links; or
        the file exists or cannot be written.
    """
    names = checked_names(annotators)
    for name in names:
        if any(mark in name for mark in "&#+%/"):
            raise BadInput("annotator", name, "cannot stand in a link", "give a name without any of & # + % /")
    if file.exists():
        raise BadInput(file, "", "already exists", "give another file")
    with warehouse.exclusively():  # all tables in one consistent state
        current(warehouse, corpus)
        items = drawn_items(warehouse, corpus)
        texts = ["", *sorted({name for item in items for name in item.references})]
        rights = rights_of(warehouse, corpus, texts).filter("restricted", pl.col("translator").is_in(texts))
        lists, controls = with_controls(items, names, audits(warehouse)[corpus].seed)
    restricted = named(rights["translator"])
    if restricted and not private:
        problem = f"would contain texts that may not be passed on: {', '.join(restricted)}"
        raise BadInput(file, "", problem, "add --private, and give the file only to people who may have these texts")
    checks = {control.shown.item for control in controls if control.kind == ATTENTION}
    content = json.dumps(campaign(corpus, protocol, lists, checks), ensure_ascii=False, indent=1)
    whole_files.hand_over(file, f"{content}\n")
    record_controls(warehouse, corpus, controls)
    return SentItem(len(items), restricted, max(map(len, lists.values())) - len(items))


def campaign(
    corpus: str, protocol: str, lists: Mapping[str, Sequence[SheetItem]], checks: set[str]
) -> dict[str, object]:
    """A campaign whose tasks are the lists of annotators by name. `checks` are the keys of attention checks."""
    info: dict[str, object] = {
        "assignment": "task-based", "protocol": protocol, "users": list(lists), "shuffle": False,
        "special_tokens": [MISSING],
    }  # fmt: skip
    if protocol == MQM:
        categories: dict[str, list[str]] = {}
        for category in CATEGORIES:
            main, _, sub = category.partition("/")
            categories.setdefault(main, []).extend([sub] if sub else [])
        info |= {"mqm_categories": categories, "mqm_severities": [name.capitalize() for name in WEIGHTS]}
    tasks = [[[_item(item, item.item in checks)] for item in ordered] for ordered in lists.values()]
    return {"campaign_id": f"{corpus}-{protocol}", "info": info, "data": tasks}


def _item(item: SheetItem, check: bool) -> dict[str, Any]:
    references = "\n\n".join(f"[{name}]\n{text}" for name, text in sorted(item.references.items()))
    shown = {"item_id": item.item, "instructions": escape(item.place), "src": item.source}
    shown |= {"ref": references} if references else {}
    validation = {"validation": {OUTPUT: {"score": [0, MOST_IF_BROKEN]}}} if check else {}
    return {**shown, "tgt": {OUTPUT: item.candidate}, **validation}
