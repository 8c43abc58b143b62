"""Hidden sentinels: questions with a known answer that go with the questions of a study, and look like them.

Here: the items from which they are made, their texts, whether a reply is right, and their rows. Not here: sentinels of
examinations (sentinels), asking (studies.study), what follows from the replies (reports, pairwise.corrected).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from benchmark_assets.corpus.description import Examining
from benchmark_assets.corpus.registry import sections
from benchmark_assets.examination.study import LETTERS, Exam, PairExam, TextExam
from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.sensitivity.damage import Material, damage, hashed, unlike
from benchmark_assets.studies.study import Answered, Item
from resources.catalogue import schema
from resources.provider.asking import TRIES
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.studies")

TABLE = "hidden_sentinel"

SIGNATURE = "95 % score intervals, units: passages"

SHARES: Mapping[bool, Mapping[str, float]] = {
    True: {"misplaced": 0.45, "rival": 0.45, "damaged": 0.05, "repeat": 0.05},
    False: {"misplaced": 0.4, "damaged": 0.4, "repeat": 0.2},
}
"""Shares of the kinds, by whether the judge compares two texts. `misplaced`: the output is the model's output for
another passage; `rival`: the other text is one of another passage; `damaged`: the output lacks half of its text, and
stands beside its sound text if the judge compares; `repeat`: the same question once more."""

POOR = 0.5
"""Highest value of a verdict on a text of another passage that counts as right."""


def hidden(warehouse: Warehouse, exam: Exam, items: Sequence[Item]) -> list[Item]:
    """Hidden sentinels for items of a study, from corpora that examine their judges.

    An item or, if a judge sees two orders, both of its items are drawn by a hash of their names, so that the same ones
    are drawn whatever else is asked. `kind` of a sentinel is its kind, and `facts` is its item.
    """
    shares = {corpus: each.hidden for corpus, each in sections(warehouse, "examination", Examining).items()
              if each.passages}  # fmt: skip
    alike: dict[object, list[Item]] = {}
    for item in sorted((item for item in items if item.question), key=lambda item: item.partition):
        alike.setdefault((item.partition[0], *item.key.values()), []).append(item)
    found = []
    for same in alike.values():
        for place, item in enumerate(same):
            share = shares.get(item.partition[1].partition("/")[0], 0.0)
            kind = drawn(_name(item), isinstance(exam, PairExam), share)
            content = _content(exam, kind, item, [*same[place + 1 :], *same[:place]]) if kind else None
            if content:
                number = item.replicate + TRIES if kind == "repeat" else item.replicate
                found.append(replace(item, content=content, replicate=number, kind=kind, facts=item))
    return found


def rows(exam: Exam, study: str, answered: Iterable[Answered]) -> pl.DataFrame:
    """Rows of `hidden_sentinel` from the verdicts on sentinels, among those on other items. Failed calls have none."""
    every = list(answered)
    if lost := [verdict.error for item, verdict in every if item.kind and verdict.error]:
        logger.warning("%s: %d hidden sentinels have no reply: %s", study, len(lost), lost[0])
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


def drawn(name: str, pairs: bool, share: float) -> str:
    """The kind of the sentinel that is made of the item with this name; '' for none."""
    place = hashed(f"hidden\n{name}") / 2**64
    for kind, part in SHARES[pairs].items():
        if place < share * part:
            return kind
        place -= share * part
    return ""


def _name(item: Item) -> str:
    """The name of an item, the same for both orders of a pair."""
    return "\n".join(str(value) for value in (*item.partition, *(
        value for name, value in item.key.items() if name != "shown"
    )))  # fmt: skip


def _content(exam: Exam, kind: str, item: Item, others: Sequence[Item]) -> Mapping[str, Any] | None:
    """What the judge sees; None if no such sentinel can be made. `others` are the same items of other passages."""
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
    else:
        side = rival if kind == "rival" else own
        other = next((other for other in others if _unlike(item, other, side)), None)
        changes = {side: other.content[side]} if other else {}
    return {**item.content, **changes} if changes else None


def _unlike(item: Item, other: Item, side: str) -> bool:
    """Whether another passage differs, in its source and in the text on this side."""
    return all(unlike(item.content[name], other.content[name]) for name in ("source", side))


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
