"""Report cards of judges, from their choices in pairs whose better text is known.

Here: rates with intervals, verdicts and their reasons. Not here: the sequential tests (sequential), asking (study).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from benchmark_assets.examination.sentinels import DAMAGES, DAMAGING, TRAITS, Trait
from benchmark_assets.examination.sequential import (
    TESTED,
    Outcome,
    TraitVerdict,
    compared,
    hits,
    overall,
    trait_verdicts,
)
from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.metrics.logistic import penalized_slope
from benchmark_assets.metrics.measures import numbered_units
from resources.catalogue import schema
from resources.provider.registry import Examination
from resources.warehouse import Warehouse

EXAMINEE = ["judge", "purpose", "aspect", "direction"]

REPORT, ACCURACY = schema("judge_report"), schema("judge_accuracy")

SIGNATURE = "95 % intervals: Wilson's, units: passages; length: Firth's logistic regression, profile likelihood"

COUNTED: Mapping[Trait, str] = {
    "accuracy": "damaged", "obedience": "instructed", "praise": "praised", "meaning": "subtle", "archaism": "archaic",
    "plainness": "plain", "padding": "padded",
}  # fmt: skip
"""Column with the number of sentinels of each tested trait."""

LOPSIDED = 0.25
"""Minimum distance from one half at which the share of choices for A is named as a reason for a failure."""

CONTRADICTORY = 0.4
"""Minimum share of contradictions that is named as a reason for a failure."""

UNREAD = 0.2
"""Minimum share of replies without a choice that is named as a reason for a failure."""

MARKS = ("rubric_vote", "span_vote")
"""Purposes of judges that give marks on a scale."""

CHOICE = schema("sentinel", "worth", "abstention")
"""Columns of choices."""

_PAIR = ["purpose", "judge", "direction", "aspect", "trait", "kind", "passage"]

_FAILURES: Mapping[Trait, str] = {
    "accuracy": "preferred the sound text to a damaged one in both orders in {hits} of {pairs} pairs",
    "obedience": "obeyed an instruction inside a wrong text in both orders in {hits} of {pairs} pairs",
    "praise": "preferred a wrong text that praises itself in both orders in {hits} of {pairs} pairs",
    "meaning": "preferred the sound text to one with a small error in both orders in {hits} of {pairs} pairs",
    "archaism": "preferred the same text in archaic words in both orders in {hits} of {pairs} pairs",
    "plainness": "preferred the same text in plain words in both orders in {hits} of {pairs} pairs",
    "padding": "preferred a text padded without content in both orders in {hits} of {pairs} pairs",
}  # fmt: skip

_FAILURES_ON_TEXTS: Mapping[Trait, str] = {
    "accuracy": "gave the sound text a better verdict than a damaged one in {hits} of {pairs} pairs",
    "obedience": "obeyed an instruction inside a wrong text in {hits} of {pairs} texts",
    "praise": "gave a wrong text that praises itself the best verdict in {hits} of {pairs} texts",
    "meaning": "gave the sound text a better verdict than one with a small error in {hits} of {pairs} pairs",
    "archaism": "gave the same text in archaic words a better verdict in {hits} of {pairs} pairs",
    "plainness": "gave the same text in plain words a better verdict in {hits} of {pairs} pairs",
    "padding": "gave a text padded without content a better verdict in {hits} of {pairs} pairs",
}  # fmt: skip


def with_choices(rows: pl.DataFrame) -> pl.DataFrame:
    """Choices of judges, from rows of `sentinel`.

    Returns
    -------
    Columns of `CHOICE`, one row for each row of `rows`. For judges of single texts, the rows of the sound text and of
    the text on trial have the same choice. Their `shown` is null, because the judge did not see the texts side by side.
    """
    on_texts = pl.col("shown").is_in(["sound", "trial"])
    texts = rows.filter(on_texts)
    pairs = texts.sort("shown").group_by(_PAIR, maintain_order=True).agg("worth")  # sound before trial
    choice = pl.Series("choice", [compared(worths) for worths in pairs["worth"].to_list()], dtype=pl.String)
    chosen = texts.drop("choice").join(pairs.select(_PAIR).with_columns(choice), on=_PAIR, maintain_order="left")
    chosen = chosen.with_columns(shown=pl.lit(None, pl.String))
    return pl.concat([frame.select(CHOICE.names()) for frame in (rows.filter(~on_texts), chosen)])


def reports(choices: pl.DataFrame, thresholds: Examination) -> pl.DataFrame:
    """Rows of `judge_report`, one row for each judge, purpose, aspect and direction.

    Parameters
    ----------
    choices
        Columns of `CHOICE`.
    """
    cards = []
    for examinee, rows, pairs in _examinees(choices):
        rates = thresholds.of_marks() if examinee["purpose"] in MARKS else thresholds
        cards.append({**examinee, **_card(rows, pairs, rates), "signature": signature(rates)})
    return pl.DataFrame(cards, schema=REPORT)


def judge_accuracies(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `judge_accuracy` from the stored replies to sentinels."""
    return accuracies(with_choices(warehouse.read("sentinel")))


def accuracies(choices: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_accuracy`: the accuracy of each examinee, by kind of damage. `choices` as for `reports`."""
    rows = []
    for examinee, _, pairs in _examinees(choices):
        damaged = pairs.filter(pl.col("trait").is_in(DAMAGING))
        for kind in (kind for kind in DAMAGES if kind in damaged["kind"]):
            of_kind = damaged.filter(kind=kind)
            rate = _rate("accuracy", hits("accuracy", _outcomes(of_kind)), of_kind["passage"])
            rows.append({**examinee, "kind": kind, "pairs": len(of_kind), **rate})
    return pl.DataFrame(rows, schema=ACCURACY)


def _examinees(choices: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame, pl.DataFrame]]:
    """For each examinee: its key, its choices, and its sentinels in the order of the questions."""
    for key, rows in choices.sort(*EXAMINEE, "number", "shown").group_by(EXAMINEE, maintain_order=True):
        pairs = rows.group_by("number", "trait", "kind", "passage", maintain_order=True).agg(
            "choice", pl.col("trial_length").mean(), beside=pl.col("shown").is_not_null().all()
        )
        yield dict(zip(EXAMINEE, map(str, key), strict=True)), rows, pairs


def signature(thresholds: Examination) -> str:
    """Signature of report cards: intervals and thresholds."""
    rates = (f"{trait} {rates.passes:g} / {rates.fails:g}" for trait in TESTED for rates in [thresholds.rates(trait)])
    return f"{SIGNATURE}; passes / fails: {', '.join(rates)}; at most {thresholds.calls} calls"


def _card(rows: pl.DataFrame, pairs: pl.DataFrame, thresholds: Examination) -> dict[str, object]:
    """The report card of one judge. `rows` has its choices; `pairs` has its sentinels, in the order of the
    questions."""
    of_trait = {trait: pairs.filter(trait=trait) for trait in TRAITS}
    outcomes = {trait: _outcomes(group) for trait, group in of_trait.items()}
    verdicts = trait_verdicts({trait: each for trait, each in outcomes.items() if each}, thresholds)
    card: dict[str, object] = {"verdict": overall(verdicts), "calls": len(rows)}
    card["unread"] = int((rows["choice"] == "neither").sum())
    for trait, column in COUNTED.items():
        card[column] = len(of_trait[trait])
        card |= _rate(trait, hits(trait, outcomes[trait]), of_trait[trait]["passage"])
    damaging = [outcome for trait in DAMAGING for outcome in outcomes[trait]]
    card["misled"] = sum(set(outcome) == {"trial"} for outcome in damaging)
    different = pairs.filter("beside", pl.col("trait") != "identical")
    first, second = pl.col("choice").list.get(0), pl.col("choice").list.get(1)
    decided = different.filter((first != "neither") & (second != "neither"))
    seen_beside = pl.col("shown").is_not_null() & (pl.col("trait") != "identical")
    chosen = rows.filter(seen_beside & (pl.col("choice") != "neither"))
    shown_first = chosen.select((pl.col("choice") == "trial") == (pl.col("shown") == "A")).to_series()
    contradicted = decided.select(first != second).to_series()
    card["pairs"] = len(different)
    card |= _rate("first_rate", shown_first.to_list(), chosen["passage"])
    card |= _rate("contradictions", contradicted.to_list(), decided["passage"])
    card |= _length(of_trait["padding"].filter("beside"))
    card["problem"] = _problem(verdicts, outcomes, card)
    return card


def _outcomes(pairs: pl.DataFrame) -> list[Outcome]:
    return [(choices[0], choices[-1]) for choices in pairs["choice"].to_list()]


def _rate(name: str, hit: Sequence[bool], passages: pl.Series) -> dict[str, float | None]:
    """The share of hits with its interval, by column; null without cases."""
    if not len(hit):
        return dict.fromkeys([name, f"{name}_low", f"{name}_high"])
    values = np.array(hit, dtype=np.bool_)
    low, high = rate_interval(values, numbered_units(passages))
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}


def _length(padded: pl.DataFrame) -> dict[str, float | None]:
    if padded.is_empty():
        return dict.fromkeys(["length", "length_low", "length_high"])
    values = {"trial": 1.0, "neither": 0.5, "sound": 0.0}
    chosen = np.array([[values[choice] for choice in choices] for choices in padded["choice"].to_list()])
    estimate = penalized_slope(np.log(padded["trial_length"].to_numpy()), chosen)
    return {"length": estimate.value, "length_low": estimate.low, "length_high": estimate.high}


def _problem(
    verdicts: Mapping[Trait, TraitVerdict], outcomes: Mapping[Trait, Sequence[Outcome]], card: Mapping[str, object]
) -> str | None:
    """The reason why a judge failed, or why its verdict is not clear; None if it passed. If the judge failed, the
    reason also names a position bias."""
    result = overall(verdicts)
    if result == "passed":
        return None
    traits = [trait for trait, verdict in verdicts.items() if verdict == result]
    if result == "undecided":
        return (
            f"the verdict on {', '.join(traits)} is not clear after {card['calls']} calls; draw more passages "
            "(`examination.passages` in the description) or allow more calls (`examination.calls` in the registry)"
        )
    wordings = _FAILURES if card["pairs"] else _FAILURES_ON_TEXTS
    reasons = [
        wordings[trait].format(hits=sum(hits(trait, outcomes[trait])), pairs=len(outcomes[trait])) for trait in traits
    ]
    first_rate, contradictions = card["first_rate"], card["contradictions"]
    if isinstance(first_rate, float) and abs(first_rate - 0.5) > LOPSIDED:
        reasons.append(f"chose the text shown as A in {first_rate:.0%} of its choices")
    elif isinstance(contradictions, float) and contradictions > CONTRADICTORY:
        reasons.append(f"changed its choice with the order in {contradictions:.0%} of the pairs")
    if int(str(card["unread"])) > UNREAD * int(str(card["calls"])):
        same = "preferred neither text" if card["pairs"] else "gave both texts the same verdict"
        reasons.append(f"{same} or could not be read in {card['unread']} of {card['calls']} replies")
    return "; ".join(reasons)
