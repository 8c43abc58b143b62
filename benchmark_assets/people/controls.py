"""Control items of a sample: repeated items and attention checks, which measure annotators and never become labels.

Here: the choice of repeated items, the texts of attention checks, the positions of both in an annotator's list, and
their keys in the warehouse. Not here: files (sample), the consistency of annotators (consistency).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.items import SheetItem
from resources.digest import digest
from resources.warehouse import Replacement, Warehouse

REPEAT, ATTENTION = "repeat", "attention"

REPEATED = 10
"""One of every `REPEATED` groups of items is repeated. About 10 % of the items are controls, as in campaigns of WMT."""

CHECKED = 20
"""One attention check is made for every `CHECKED` items."""

MOST_ALIKE = 0.3
"""Maximum share of words that an output may have in common with the text that replaces it in an attention check. A more
similar text is unsuitable: if two passages are parallel, the output of one may be a valid translation of the other."""


Group = Sequence[SheetItem]
"""Items that are shown together. Most groups have one item."""


class Control(NamedTuple):
    """A control item as annotators see it.

    `original` is the key of the repeated item or, for an attention check, of the item whose candidate was replaced.
    """

    kind: str
    original: str
    shown: SheetItem


def attention_checks(items: Sequence[SheetItem], seed: int) -> list[Control]:
    """Control items whose candidate is the output of another passage: any attentive reader labels them MAJOR_ERROR.

    One check is made for every `CHECKED` items. The items are chosen by a hash, and are the same for all annotators. An
    item is passed over if its output is similar to the outputs of all other passages in the sample.
    """
    checks: list[Control] = []
    for item in sorted(items, key=lambda item: item_key(str(seed), ATTENTION, item.item)):
        if len(checks) == len(items) // CHECKED:
            break
        others = [other for other in items if other.place != item.place and _alike(other, item) <= MOST_ALIKE]
        if others:
            other = min(others, key=lambda other: item_key(item.item, ATTENTION, other.item))
            key = item_key(ATTENTION, item.item, other.candidate)
            checks.append(Control(ATTENTION, item.item, item._replace(item=key, candidate=other.candidate)))
    return checks


def with_repeats(ordered: Sequence[Group], seed: int, annotator: str) -> tuple[list[Group], list[Control]]:
    """Insert repetitions into an annotator's list of groups; return the new list and the repeated items.

    One of every `REPEATED` groups is repeated. The groups are chosen by a hash from the first half of the list, and
    each is repeated half a list later, so that at least `REPEATED` // 2 other groups are in between.
    """
    half = len(ordered) // 2
    early = list(enumerate(ordered[:half]))
    chosen = sorted(early, key=lambda row: item_key(str(seed), f"{REPEAT} {annotator}", row[1][0].item))
    again = {place + half: group for place, group in chosen[: len(ordered) // REPEATED]}
    groups, repeats = [], []
    for place, group in enumerate(ordered):
        groups.append(group)
        if place in again:
            repeated = [(item.item, item._replace(item=item_key(REPEAT, "", item.item))) for item in again[place]]
            repeats += [Control(REPEAT, original, repeat) for original, repeat in repeated]
            groups.append([repeat for _, repeat in repeated])
    return groups, repeats


def with_controls(
    items: Sequence[SheetItem], annotators: Sequence[str], seed: int, together: bool = False
) -> tuple[dict[str, list[Group]], list[Control]]:
    """The list of each annotator, by name, and the control items of all lists.

    Each list has all items in an individual order, and control items among them. If `together`, the items of a passage
    form one group; otherwise each item is a group of its own.
    """
    controls = attention_checks(items, seed)
    groups: dict[str, list[SheetItem]] = {}
    for item in (*items, *(check.shown for check in controls)):
        groups.setdefault(item.place if together else item.item, []).append(item)
    lists = {}
    for name in annotators:
        lists[name], repeats = with_repeats(in_order(groups.values(), name, seed), seed, name)
        controls += repeats
    return lists, controls


def record_controls(warehouse: Warehouse, corpus: str, controls: Iterable[Control]) -> None:
    """Store control items, so that answers to them are recognized."""
    rows = [
        {"item": shown.item, "kind": kind, "original": original, "passage": f"{corpus}/{shown.place}",
         "text": shown.candidate, "fingerprint": digest(kind, original, shown.candidate)}
        for kind, original, shown in controls
    ]  # fmt: skip
    stored = pl.DataFrame(rows, schema=warehouse.empty("control_item").schema).unique("item", maintain_order=True)
    if len(stored):
        warehouse.write([Replacement("control_item", stored, stored.select("item"))], run_id="export")


def in_order(groups: Iterable[Group], annotator: str, seed: int) -> list[Group]:
    """Order items for an annotator by a hash, so that the order reveals nothing and differs between annotators."""

    def place(item: SheetItem) -> str:
        return item_key(str(seed), annotator, item.item)

    ordered = [sorted(group, key=place) for group in groups]
    return sorted(ordered, key=lambda group: place(group[0]))


def _alike(one: SheetItem, other: SheetItem) -> float:
    """Jaccard similarity of the words of two candidates, in [0, 1]; 1 if neither has words."""
    words, others = (set(item.candidate.casefold().split()) for item in (one, other))
    return len(words & others) / len(words | others) if words | others else 1.0
