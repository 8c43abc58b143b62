"""Control items of a sample: repeated items and checks, which measure annotators and never become labels.

Here: the choice of repeated items, the texts of checks, the positions of both in an annotator's list, and their keys in
the warehouse. Not here: files (sample), right answers (forms), verdicts on annotators (standing, consistency).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.items import SheetItem
from benchmark_assets.sensitivity.damage import PLANTED, Material, damage, shared_words, unlike
from benchmark_assets.sensitivity.languages import Rules
from resources.digest import digest
from resources.warehouse import Replacement, Warehouse

REPEAT, ATTENTION, SECOND = "repeat", "attention", "second"
SOUND, SUBTLE, GROSS = "sound", "subtle", "gross"
"""Kinds of checks that are made from human translations: the translation itself, with one error of meaning, and with
another passage's text from the second sentence on."""

REPEATED = 10
"""One of every `REPEATED` groups of items is repeated. About 10 % of the items are controls, as in campaigns of WMT."""

CHECKED = 20
"""One attention check is made for every `CHECKED` items, if no other checks can be made."""

BALANCED = 10
"""For every `BALANCED` items that have references, there is one check with a faulty text and one with a sound text.
120 items have 24 checks: the fewest that tell 95 % of people who sort answers apart from texts, or answer at random,
from attentive ones."""

FAULTS = (GROSS, GROSS, SUBTLE, GROSS, GROSS, ATTENTION)
"""Kinds of faulty texts, in turn. Most faults come after the first sentence, for people who read no further."""

SENTENCE = re.compile(r"""\s*\S.*?(?:[.!?…]["'”’»)\]]*(?=\s)|[。！？।॥][」』”]*|\n)\s*""", re.DOTALL)
"""The first sentence or line of a text that has more."""

SHORTEST_REST = 1 / 3
"""Smallest share of a text that comes after its first sentence, if this part is replaced."""


Group = Sequence[SheetItem]
"""Items that are shown together. Most groups have one item."""


def second_key(item: str) -> str:
    """Key of an item in the sheets of a second pass: it tells the labels of both passes apart."""
    return item_key(SECOND, "", item)


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
        others = [other for other in items if other.place != item.place and unlike(other.candidate, item.candidate)]
        if others:
            other = min(others, key=lambda other: item_key(item.item, ATTENTION, other.item))
            key = item_key(ATTENTION, item.item, other.candidate)
            checks.append(Control(ATTENTION, item.item, item._replace(item=key, candidate=other.candidate)))
    return checks


def balanced_checks(items: Sequence[SheetItem], seed: int, rules: Rules | None) -> list[Control]:
    """Control items with sound and with faulty texts, equally many, the same for all annotators.

    Both are made from human translations, which are left out of the references beside them, so that no missing
    reference shows the answer. Translations that have the fewest words in common with others come first. Each is used
    once. If there are too few for an attention check per `CHECKED` items, outputs of other passages are shown, too.
    `rules` are those of the translations' language, for subtle damage.
    """
    translations = _translations(items, seed)
    count = min(len(items) // BALANCED, len(translations) // 2)
    checks = [Control(SOUND, *_shown(SOUND, base, base.candidate)) for base in translations[:count]]
    for number, base in enumerate(translations[count : 2 * count]):
        others = [each for each in translations if each.place != base.place and unlike(each.candidate, base.candidate)]
        other = min(others, key=lambda each: item_key(base.item, ATTENTION, each.candidate), default=None)
        made = _faulty(FAULTS[number % len(FAULTS)], base, other.candidate if other else "", rules)
        checks += [Control(made[0], *_shown(made[0], base, made[1]))] if made else []
    faulty = sum(check.kind != SOUND for check in checks)
    return checks + attention_checks(items, seed)[: max(0, len(items) // CHECKED - faulty)]


def _translations(items: Sequence[SheetItem], seed: int) -> list[SheetItem]:
    """Human translations as candidates, each with the other references of its passage: first one of each passage."""
    ranked = []
    for item in {item.place: item for item in sorted(items)}.values():
        shown = [
            item._replace(candidate=text, references={k: v for k, v in item.references.items() if k != name})
            for name, text in sorted(item.references.items())
            if text.strip()
        ]
        shown.sort(key=lambda each: sum(shared_words(each.candidate, other.candidate) for other in shown))
        order = item_key(str(seed), SOUND, item.place)
        ranked += [(rank, order, each) for rank, each in enumerate(shown)]
    return [each for *_, each in sorted(ranked, key=lambda row: row[:2])]


def _shown(kind: str, base: SheetItem, text: str) -> tuple[str, SheetItem]:
    """The item from which a check is made, and the check."""
    return base.item, base._replace(item=item_key(kind, base.item, text), candidate=text)


def _faulty(kind: str, base: SheetItem, other: str, rules: Rules | None) -> tuple[str, str] | None:
    """Kind and text of a check with a fault: of this kind if it applies, else of a graver one; None if none applies."""
    first = match[0] if (match := SENTENCE.match(base.candidate)) else ""
    first = first if len(first) < len(base.candidate) else ""
    rest = base.candidate[len(first) :]
    if kind == SUBTLE:
        for damaged in sorted(PLANTED, key=lambda name: item_key(base.item, name, "")):
            if found := damage(rest, damaged, 1, base.item, Material(rules, base.source, "", {})):
                return SUBTLE, first + found.text
    if not other.strip():
        return None
    if kind != ATTENTION and first and len(rest.strip()) >= SHORTEST_REST * len(base.candidate):
        ending = match[0] if (match := SENTENCE.match(other)) else ""
        return GROSS, first + (other[len(ending) :].strip() or other)
    return ATTENTION, other


def with_repeats(
    ordered: Sequence[Group], seed: int, annotator: str, checks: Collection[str] = ()
) -> tuple[list[Group], list[Control]]:
    """Insert repetitions into an annotator's list of groups; return the new list and the repeated items.

    One of every `REPEATED` groups is repeated. The groups are chosen by a hash from the first half of the list, and
    each is repeated half a list later, so that at least `REPEATED` // 2 other groups are in between. Groups with an
    item in `checks` are not repeated.
    """
    half = len(ordered) // 2
    early = [row for row in enumerate(ordered[:half]) if not any(item.item in checks for item in row[1])]
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
    items: Sequence[SheetItem],
    annotators: Sequence[str],
    seed: int,
    together: bool = False,
    checks: Sequence[Control] | None = None,
) -> tuple[dict[str, list[Group]], list[Control]]:
    """The list of each annotator, by name, and the control items of all lists.

    Each list has all items in an individual order, and control items among them. If `together`, the items of a passage
    form one group; otherwise each item is a group of its own. `checks` are by default attention checks.
    """
    controls = [*(attention_checks(items, seed) if checks is None else checks)]
    groups: dict[str, list[SheetItem]] = {}
    for item in (*items, *(check.shown for check in controls)):
        groups.setdefault(item.place if together else item.item, []).append(item)
    lists, keys = {}, {check.shown.item for check in controls}
    for name in annotators:
        lists[name], repeats = with_repeats(in_order(groups.values(), name, seed), seed, name, keys)
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
