"""The blind sample for people: its items, and a folder with a spreadsheet and Label Studio tasks for each annotator.

Here: the sampled outputs, the files. Not here: drawing the sample (adjudication.triage), what annotators answer
(forms), control items (controls), files that come back (answers). Columns are listed explicitly, so that nothing about
models or judges leaks into a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from xml.etree.ElementTree import Element

import polars as pl

from benchmark_assets.adjudication.triage import audits, item_key
from benchmark_assets.corpus.registry import corpus_languages, current, taxonomies
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.people import label_studio
from benchmark_assets.people.controls import (
    REPEATED,
    Control,
    Group,
    balanced_checks,
    record_controls,
    second_key,
    with_controls,
)
from benchmark_assets.people.form import CANDIDATE, Form
from benchmark_assets.people.forms import LABEL_FORM, fitting
from benchmark_assets.people.items import SheetItem, columns
from benchmark_assets.people.names import checked_names
from benchmark_assets.people.second_pass import drawn_for, record_draws
from benchmark_assets.people.sheets import sheet
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.sensitivity.languages import rules
from resources.errors import BadInput
from resources.folders import PRIVATE, README, check_vacant, put, room
from resources.warehouse import Warehouse


class SentItem(NamedTuple):
    """Number of items in an export, names of its restricted texts (translators, or 'source'), and the largest number
    of control items in any annotator's list."""

    items: int
    restricted: list[str]
    controls: int = 0


class Drawn(NamedTuple):
    """The sampled items, the list of each annotator by name, all control items, the names of restricted texts, and the
    draws of a second pass."""

    items: Sequence[SheetItem]
    lists: Mapping[str, Sequence[Group]]
    controls: Sequence[Control]
    restricted: list[str]
    draws: pl.DataFrame | None = None

    @property
    def sent(self) -> SentItem:
        """What is sent if each annotator gets one's list."""
        longest = max(sum(map(len, groups)) for groups in self.lists.values())
        return SentItem(len(self.items), self.restricted, longest - len(self.items))


def drawn(
    warehouse: Warehouse, corpus: str, annotators: Sequence[str], together: bool = False, second: float | None = None
) -> Drawn:
    """The sample of a corpus with control items. If `together`, the items of a passage form one group.

    `second` is the share of agreed labels in a second pass, whose outputs are taken instead of the whole sample (see
    `second_pass.draw`).

    Raises
    ------
    BadInput
        If a name is empty, has several lines or occurs twice; if the corpus is unknown, unreadable or without a sample;
        or if an output changed after it was drawn; as `drawn_for`.
    """
    names = checked_names(annotators)
    with warehouse.consistently():
        current(warehouse, corpus)
        items, draws = drawn_items(warehouse, corpus), None
        if second:
            draws = drawn_for(warehouse, corpus, names, second)
            keys = {*draws.filter("drawn")["item"]}
            items = [item._replace(item=key) for item in items if (key := second_key(item.item)) in keys]
        seed, language = audits(warehouse)[corpus].seed, corpus_languages(warehouse)[corpus][1]
        checks = balanced_checks(items, seed, rules(language))
        lists, controls = with_controls(items, names, seed, together, checks)
        return Drawn(items, lists, controls, restricted_texts(warehouse, corpus, items), draws)


def export_items(
    warehouse: Warehouse, folder: Path, corpus: str, annotators: Sequence[str], form: Form = LABEL_FORM,
    second: float | None = None,
) -> SentItem:  # fmt: skip
    """Write the sample of a corpus to a folder for annotators. Equal inputs give equal files, byte for byte.

    Control items are added to the lists and recorded in the table `control_item`, so that the import recognizes them.

    Parameters
    ----------
    folder
        Written completely or not at all. Restricted texts are included, because annotators need them. If there are
        restricted texts, all files with texts go into a subfolder with the name `resources.folders.PRIVATE`.
    annotators
        Names; each annotator gets all items, in an individual order.
    form
        What annotators answer.
    second
        As for `drawn`. The draw is recorded in the table `second_pass`.

    Raises
    ------
    BadInput
        As `drawn`; also if the folder contains files or cannot be written.
    """
    folder = folder.resolve()
    check_vacant(folder, "labels")
    form = fitted(warehouse, corpus, form)
    items, lists, controls, restricted, draws = sample = drawn(warehouse, corpus, annotators, second=second)
    translators = sorted({name for item in items for name in item.references})
    place = room(bool(restricted))
    files = {
        README: _readme(corpus, len(items), restricted, form).encode(),
        f"{place}labeling-config.xml": labeling_config(translators, form),
    }
    for name, groups in lists.items():
        ordered = [item for (item,) in groups]
        files[f"{place}tasks.{quote(name, safe='')}.json"] = tasks(ordered, translators, name)
        files[f"{place}items.{quote(name, safe='')}.csv"] = items_sheet(ordered, translators, name, form)
    put(files, folder)
    record_controls(warehouse, corpus, controls)
    if draws is not None:
        record_draws(warehouse, draws)
    return sample.sent


def fitted(warehouse: Warehouse, corpus: str, form: Form = LABEL_FORM) -> Form:
    """A form with the error categories of a corpus. Raises BadInput for an unknown or unreadable corpus."""
    current(warehouse, corpus)
    return fitting(form, taxonomies(warehouse)[corpus])


def restricted_texts(warehouse: Warehouse, corpus: str, items: Iterable[SheetItem]) -> list[str]:
    """The names of the restricted texts that the items show.

    If the items show no restricted text, but an output copies one, the result is a single phrase that says so.
    """
    shown = list(items)
    outputs = pl.DataFrame({"passage": [f"{corpus}/{item.place}" for item in shown]}, {"passage": pl.String})
    outputs = outputs.with_columns(text=pl.Series([item.candidate for item in shown], dtype=pl.String))
    texts = {"", *(name for item in shown for name in item.references)}
    terms = disclosure(warehouse, corpus, texts, private=False)
    names = named(sorted(texts & terms.hidden))
    return names or (["outputs that copy a restricted text"] if terms.withheld(outputs).count() else [])


def tasks(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items as tasks for Label Studio."""
    return label_studio.tasks({"data": item.fields(translators, annotator)} for item in items)


def labeling_config(translators: Sequence[str], form: Form) -> bytes:
    """Label Studio's interface: source and references, then the candidate with the controls of a form."""

    def fill(view: Element) -> None:
        references = [(f"Reference: {name}", f"reference_{n}") for n, name in enumerate(translators, start=1)]
        for title, name in (("Place", "place"), ("Source", "source_text"), *references):
            label_studio.add_text(view, title, name)
        for field in form.fields:
            field.mark(view)
        label_studio.add_text(view, "Candidate", CANDIDATE)
        # Controls of marked words are next to the words.
        for field in sorted(form.fields, key=lambda field: field.controls == (field.name,)):
            field.ask(view)

    return label_studio.interface(fill)


def items_sheet(items: Iterable[SheetItem], translators: Sequence[str], annotator: str, form: Form) -> bytes:
    """Items as a spreadsheet (CSV) with empty columns for the answers."""
    empty = [""] * len(form.columns)
    return sheet([*columns(translators), *form.columns], (item.cells(translators, annotator) + empty for item in items))


def drawn_items(warehouse: Warehouse, corpus: str) -> list[SheetItem]:
    """The sampled outputs of a corpus. Raises BadInput if there are none, or if one changed after it was drawn."""
    sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage", "passage_id", "text"])
    drawn = warehouse.read("triage", sources.select("passage"), ["model", "passage", "sampled", "item"])
    drawn = drawn.filter("sampled").drop("sampled")
    if drawn.is_empty():
        raise BadInput(
            corpus, "", "has no output in the sample for annotation",
            "run `variorum evaluate MODEL` first; `audit.sample` in the corpus description sets the size of the sample",
        )  # fmt: skip
    keys = drawn.select("model", "passage")
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"text": "candidate"})
    references = complete_texts(warehouse, keys)
    rows = drawn.join(outputs, on=["model", "passage"], how="left").join(sources, on="passage")
    items = []
    for row in rows.iter_rows(named=True):
        model, passage, candidate = row["model"], row["passage"], row["candidate"]
        if candidate is None or item_key(model, passage, candidate) != row["item"]:
            raise BadInput(
                corpus, f"{model}|{passage}", "changed after it was drawn for the sample", "run `variorum update`"
            )
        items.append(SheetItem(row["item"], row["passage_id"], row["text"], references.get(passage, {}), candidate))
    return items


def _readme(corpus: str, count: int, restricted: Sequence[str], form: Form) -> str:
    title, warning = "# Items to label: ", ""
    extra = ", plus control items" if count >= REPEATED else ""
    if restricted:
        title = "# Items to label, private, do not pass on: "
        warning = f"`{PRIVATE}` contains texts that may not be passed on: {', '.join(restricted)}.\n\n"
    return (
        f"{title}{corpus}\n\n{warning}{count} items{extra}.\n\n"
        f"## What to look at\n\n{form.guide}\n## How to send it back\n\n{form.returning}"
    )
