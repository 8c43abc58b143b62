"""Standing of annotators: who fails by answers to control items, and who copied another person's sheet.

Here: the rule, which was fixed before any data were seen, and its application to answers. Not here: control items
(controls), which answers are right (form), rates with intervals (consistency), leaving out labels (answers).
"""

from collections.abc import Sequence
from math import comb, exp, lgamma, log
from typing import Literal, NamedTuple

import polars as pl

from benchmark_assets.people.controls import ATTENTION, GROSS, REPEAT, SOUND
from benchmark_assets.people.form import Form

AnnotatorVerdict = Literal["passed", "failed", "undecided"]

ATTENTIVE = 0.75
"""Lowest probability that an attentive person answers a check rightly."""

STEADY = 0.55
"""Lowest probability that an attentive person answers a repeated item as before. People who are right independently
with probability 0.75 and else give one of two wrong answers agree with themselves in 59 %."""

FALSE = {"sound": 0.004, "faulty": 0.0145, "all": 0.006}
"""Highest probability that each test fails an attentive person: right answers to checks with sound texts, to checks
with faulty texts, and to all checks and repeated items. Faulty texts have the largest share, because people who do not
read call most texts sound. With 24 checks and 14 repeated items, the three tests together fail 1.9 % of people at the
lowest probabilities."""

CHANCE, LUCK = 0.5, 0.025
"""Share of right answers of a person whose answers do not depend on the texts, and highest probability that such a
person passes."""

TELLS = 0.005
"""Highest probability that a person who does not read finds grave errors so much rarer in sound texts than in wrong
ones. Who does is strict, and does not fail for errors in sound texts: of eight professional raters of TED talks, four
mark a major error in more than a third of the human translations."""

ALIKE, COPIED = 0.92, 0.005
"""Highest probability that two attentive people give the same answer to an item, and highest probability that two
sheets of such people are taken for copies."""

VARIED = 10
"""Lowest number of items on which one of two sheets differs from the most common answer. On fewer items, equal sheets
prove nothing: two people may find no error in a good translation."""


class Hits(NamedTuple):
    """Number of right answers, and number of answers."""

    right: int = 0
    answers: int = 0


def verdict(sound: Hits, faulty: Hits, repeats: Hits, spared: Hits, seen: Hits) -> tuple[AnnotatorVerdict, str | None]:
    """The verdict on an annotator, and the reason for a failure.

    Parameters
    ----------
    sound, faulty
        Checks whose text is sound, and checks whose text is damaged or belongs to another passage.
    repeats
        Repeated items; right if the answer is the same as the first one.
    spared, seen
        Sound texts without a grave error, and wrong texts with one.

    Notes
    -----
    Exact one-sided binomial tests. An annotator fails if so few right answers have a probability of at most `FALSE` for
    an attentive person; passes if there are checks of both kinds, and as many right answers have a probability of at
    most `LUCK` without reading; and is undecided otherwise.
    """
    checks = Hits(sound.right + faulty.right, sound.answers + faulty.answers)
    if at_most(sound.right, [(sound.answers, ATTENTIVE)]) <= FALSE["sound"] and unrelated(spared, seen) > TELLS:
        return "failed", "finds errors in sound texts"
    if at_most(faulty.right, [(faulty.answers, ATTENTIVE)]) <= FALSE["faulty"]:
        return "failed", "finds no errors in faulty texts"
    trials = [(checks.answers, ATTENTIVE), (repeats.answers, STEADY)]
    if at_most(checks.right + repeats.right, trials) <= FALSE["all"]:
        return "failed", "answers like someone who does not read the texts"
    wrong = checks.answers - checks.right
    if sound.answers and faulty.answers and at_most(wrong, [(checks.answers, 1 - CHANCE)]) <= LUCK:
        return "passed", None
    return "undecided", None


def unrelated(spared: Hits, seen: Hits) -> float:
    """Probability of at least so many hits of the first kind, if both kinds have the same share of grave errors
    (Fisher's exact test)."""
    grave, number = spared.answers - spared.right + seen.right, spared.answers + seen.answers
    most = min(spared.answers, number - grave)
    ways = sum(comb(spared.answers, k) * comb(seen.answers, number - grave - k) for k in range(spared.right, most + 1))
    return ways / comb(number, grave)


def at_most(hits: int, trials: Sequence[tuple[int, float]]) -> float:
    """Probability of at most this number of hits. `trials` has numbers of trials with their probability of a hit."""
    chances = [1.0]
    for number, rate in trials:
        binomial = [_chance(k, number, rate) for k in range(min(hits, number) + 1)]
        chances = [
            sum(chance * binomial[end - k] for k, chance in enumerate(chances) if 0 <= end - k < len(binomial))
            for end in range(hits + 1)
        ]
    return min(1.0, sum(chances[: hits + 1]))


def _chance(hits: int, number: int, rate: float) -> float:
    """Probability of exactly this number of hits. Logarithms, because factorials of a large sheet exceed a float."""
    ways = lgamma(number + 1) - lgamma(hits + 1) - lgamma(number - hits + 1)
    return exp(ways + hits * log(rate) + (number - hits) * log(1 - rate))


def graded(answers: pl.DataFrame, controls: pl.DataFrame, form: Form) -> pl.DataFrame:
    """Answers with the columns `kind`, `original` (see `control_item`) and `right`.

    `right` tells whether the answer to a check is right, or whether the answer to a repeated item is the same as the
    first one. It is null for other items, and for repeated items without a first answer. `grave` tells whether the
    answer would be right for a wrong text.
    """
    rows = answers.join(controls.select("item", "kind", "original"), on="item", how="left", maintain_order="left")
    once = rows.filter(pl.col("kind").ne_missing(REPEAT))
    first = once.select("annotator", original="item", first=form.compared[0])
    rows = rows.join(first, on=["annotator", "original"], how="left", maintain_order="left")
    checked = pl.when(pl.col("kind").is_not_null()).then(form.right)
    right, grave = pl.when(kind=REPEAT).then(form.repeated).otherwise(checked), form.checks.get(GROSS, form.passed)
    return rows.with_columns(right=right, grave=grave).drop("first")


def standings(answers: pl.DataFrame, form: Form) -> pl.DataFrame:
    """The standing of each annotator in each corpus, from answers by `graded` with the column `corpus`.

    Returns
    -------
    Columns `corpus`, `annotator`, `accepted` (share of sound texts that were called sound; null without such checks),
    `standing` and `problem` (reason for a failure, or null).
    """
    people = ["corpus", "annotator"]
    kind = pl.col("kind")
    sound, again = kind == SOUND, kind == REPEAT
    scopes = {"sound": sound, "faulty": ~sound & ~again, "repeats": again}
    counts = answers.group_by(people).agg(
        *(pl.col("right").filter(scope).drop_nulls().alias(name) for name, scope in scopes.items()),
        spared=(~pl.col("grave")).filter(sound).drop_nulls(),
        seen=pl.col("grave").filter(kind.is_in([GROSS, ATTENTION])).drop_nulls(),
    )
    copied = _copies(answers, form)
    rows = []
    for corpus, annotator, *answered in counts.sort(people).iter_rows():
        hits = [Hits(sum(right), len(right)) for right in answered]
        result = verdict(*hits)
        if result[0] != "failed" and (corpus, annotator) in copied:
            result = "failed", "repeats the answers of another annotator"
        accepted = hits[0].right / hits[0].answers if hits[0].answers else None
        rows.append((corpus, annotator, accepted, *result))
    schema = {"corpus": pl.String, "annotator": pl.String, "accepted": pl.Float64, "standing": pl.String}
    return pl.DataFrame(rows, schema={**schema, "problem": pl.String}, orient="row")


def _copies(answers: pl.DataFrame, form: Form) -> set[tuple[str, str]]:
    """Corpora and annotators whose answers repeat those of a person whose answers were imported earlier."""
    people = ["corpus", "annotator"]
    since = pl.col("updated_at").min() if "updated_at" in answers.columns else pl.lit(0)
    order = answers.group_by(people).agg(since=since).sort("since", *people).with_row_index("order")
    words = [pl.col(name).cast(pl.String).fill_null("") for name in form.compared if name in answers.columns]
    once = answers.filter(pl.col("kind").ne_missing(REPEAT)).join(order, on=people)
    once = once.select(*people, "item", "order", answer=pl.concat_str(words, separator="\n"))
    once = once.with_columns(usual=pl.col("answer").mode().sort().first().over(people))
    pairs = once.join(once, on=["corpus", "item"]).filter(pl.col("order") < pl.col("order_right"))
    same = pl.col("answer") == pl.col("answer_right")
    varied = (pl.col("answer") != pl.col("usual")) | (pl.col("answer_right") != pl.col("usual"))
    counts = pairs.group_by("corpus", "annotator", "annotator_right").agg(
        pl.len(), differ=(~same).sum(), varied=varied.sum()
    )
    return {
        (corpus, annotator)
        for corpus, _, annotator, number, differ, _ in counts.filter(pl.col("varied") >= VARIED).iter_rows()
        if at_most(differ, [(number, 1 - ALIKE)]) <= COPIED
    }
