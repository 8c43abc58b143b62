"""Hidden sentinels: questions with a known answer that go with the questions of a study, and look like them.

Here: the items from which they are made, their texts, whether a reply is right, and their rows. Not here: sentinels of
examinations (sentinels), asking (studies.study), what follows from the replies (reports, pairwise.corrected).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from benchmark_assets.corpus.description import Examining
from benchmark_assets.corpus.registry import sections
from benchmark_assets.examination.study import LETTERS, Exam, PairExam, TextExam
from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.sensitivity.damage import Material, damage, hashed
from benchmark_assets.studies.study import Answered, Item
from resources.catalogue import schema
from resources.provider.asking import TRIES
from resources.warehouse import Warehouse

TABLE = "hidden_sentinel"

SIGNATURE = "95 % score intervals, units: passages"

SHARES: Mapping[bool, Mapping[str, float]] = {
    True: {"misplaced": 0.4, "rival": 0.4, "damaged": 0.1, "repeat": 0.1},
    False: {"misplaced": 0.4, "damaged": 0.4, "repeat": 0.2},
}
"""Shares of the kinds, by whether the judge compares two texts. `misplaced`: the output is the model's output for
another passage; `rival`: the other text is one of another passage; `damaged`: the output lacks half of its text, and
stands beside its sound text if the judge compares; `repeat`: the same question once more."""

ENOUGH = 20
"""Number of items from which on there are at least two sentinels of the kinds that show whether a judge is partial."""

PARTIAL = ("misplaced", "rival")
"""Kinds that show whether a judge is partial to a model or against it."""

POOR = 0.5
"""Highest value of a verdict on a text of another passage that counts as right."""


def hidden(warehouse: Warehouse, exam: Exam, items: Sequence[Item]) -> list[Item]:
    """Hidden sentinels for items of a study, from corpora that examine their judges.

    The share of the items of each model and judge, or of the pairs if a judge sees two orders, is drawn by hashes of
    their names. `kind` of a sentinel is its kind, and `facts` is its item.
    """
    shares = {corpus: each.hidden for corpus, each in sections(warehouse, "examination", Examining).items()
              if each.passages}  # fmt: skip
    asked = sorted((item for item in items if item.question), key=lambda item: item.partition)
    alike: dict[object, list[Item]] = {}
    drawable: dict[object, dict[str, None]] = {}
    for item in asked:
        corpus = item.partition[1].partition("/")[0]
        alike.setdefault((item.partition[0], *item.key.values()), []).append(item)
        drawable.setdefault((item.partition[0], corpus, next(iter(item.key.values()))), {})[_name(item)] = None
    drawn: dict[str, str] = {}
    for (_, corpus, _), names in drawable.items():  # type: ignore[misc]
        drawn |= kinds(list(names), isinstance(exam, PairExam), shares.get(corpus, 0.0))
    found = []
    for same in alike.values():
        for item, other in zip(same, [*same[1:], same[0]], strict=True):
            kind = drawn.get(_name(item), "")
            content = _content(exam, kind, item, other) if kind else None
            if content and (kind == "repeat" or content != item.content):
                number = item.replicate + TRIES if kind == "repeat" else item.replicate
                found.append(replace(item, content=content, replicate=number, kind=kind, facts=item))
    return found


def rows(exam: Exam, study: str, answered: Iterable[Answered]) -> pl.DataFrame:
    """Rows of `hidden_sentinel` from the verdicts on sentinels, among those on other items. Failed calls have none."""
    every = list(answered)
    of_items = {id(item): verdict.value for item, verdict in every if not item.kind}
    found = []
    for item, verdict in every:
        if item.kind and not verdict.error and item.template:
            found.append({
                "study": study, "model": item.partition[0], "passage": item.partition[1],
                "item": "|".join(map(str, item.key.values())), "judge": item.template.model.name, "kind": item.kind,
                "right": right(exam, item, verdict.value, of_items.get(id(item.facts))), "call": verdict.call,
            })  # fmt: skip
    return pl.DataFrame(found, schema=schema(TABLE))


def at_work(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `judge_at_work`, from the stored replies to hidden sentinels. Rates are clustered by passage."""
    rows, key = warehouse.read(TABLE).drop_nulls("right").sort("passage"), ["judge", "study", "kind"]
    found = [
        (*map(str, names), len(group), float(group["right"].cast(pl.Float64).mean()),  # type: ignore[arg-type]
         *rate_interval(group["right"].to_numpy(), numbered_units(group["passage"])), SIGNATURE)
        for names, group in rows.group_by(key, maintain_order=True)
    ]  # fmt: skip
    return pl.DataFrame(found, schema=schema("judge_at_work"), orient="row")


def kinds(names: Sequence[str], pairs: bool, share: float) -> dict[str, str]:
    """The kind of the sentinel that is made of each drawn item, by the item's name."""
    found: dict[str, str] = {}
    order = iter(sorted(names, key=lambda name: hashed(f"hidden\n{name}")))
    for kind, part in SHARES[pairs].items():
        least = 2 if kind in PARTIAL and len(names) >= ENOUGH and share else 0
        for name in islice(order, max(least, round(share * part * len(names)))):
            found[name] = kind
    return found


def _name(item: Item) -> str:
    """The name of an item, the same for both orders of a pair."""
    return "\n".join(str(value) for value in (*item.partition, *(
        value for name, value in item.key.items() if name != "shown"
    )))  # fmt: skip


def _content(exam: Exam, kind: str, item: Item, other: Item) -> Mapping[str, Any] | None:
    """What the judge sees; None if no such sentinel can be made."""
    if kind == "repeat":
        return dict(item.content)
    own, rival = _fields(exam, item)
    changes: dict[str, str] = {}
    if kind == "damaged":
        if "omission" not in exam.damages(str(item.key.get("aspect", ""))):
            return None
        key, material = "\n".join(item.partition), Material(None, item.content["source"], "", {})
        made = damage(item.content[own], "omission", 3, key, material)
        made = made or damage(item.content[own], "truncation", 3, key, material)
        if made is None:
            return None
        changes = {rival: item.content[own]} if rival else {}
        changes[own] = made.text
    elif other is not item:
        side = rival if kind == "rival" else own
        changes = {side: other.content[side]}
    return {**item.content, **changes}


def _fields(exam: Exam, item: Item) -> tuple[str, str]:
    """The keys of the content with the output and with the text that it is compared with ('' for none)."""
    if isinstance(exam, TextExam):
        return "candidate", ""
    a, b = "translation_a", "translation_b"
    return (a, b) if item.key["shown"] == "A" else (b, a)


def right(exam: Exam, item: Item, reply: Any, before: Any = None) -> bool | None:
    """Whether a reply is right; None if it cannot be read, or if that depends on `before`, the missing reply about the
    item from which the sentinel was made."""
    if reply is None or (item.kind == "repeat" and before is None):
        return None
    if isinstance(exam, PairExam):
        letter = exam.preferred(reply)
        if item.kind == "repeat":
            return letter == exam.preferred(before)
        return letter in LETTERS and (letter == item.key["shown"]) == (item.kind == "rival")
    assert isinstance(exam, TextExam)
    worth, former = exam.worth(reply), None if before is None else exam.worth(before)
    if worth is not None and item.kind == "misplaced":
        return worth <= POOR
    if worth is None or former is None:
        return None
    return worth == former if item.kind == "repeat" else worth < former or not former
