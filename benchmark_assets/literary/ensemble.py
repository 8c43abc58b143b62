"""The ensemble: which votes an output needs beside the human translation, asking for them, and what they come to.

Here: the seats of a corpus, the order in which texts are shown, texts that need no judge, votes and verdicts as rows.
Not here: what one judge is asked about one pair (versus), scores of models (scores), how far seats are right
(calibration).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.versus import PROMPT, Preference, shown, versus
from benchmark_assets.metrics.measures import Floats
from benchmark_assets.pairwise.comparing import SIDES, Side
from benchmark_assets.references import glossary
from benchmark_assets.studies.study import Group, Item
from resources import prompts
from resources.catalogue import schema
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict
from resources.provider.provider import Provider

MACHINE, HUMAN, UNSURE = "machine", "human", "unsure"
BETTER = (MACHINE, HUMAN, UNSURE)

SEAT = ["judge", "aspect"]
DECIMALS = 9
"""Of a balance: beyond them is the rounding of weights such as 0.1, which must not decide anything."""

VERDICT = schema("head_to_head")


def contract(literary: Literary, provider: Provider) -> str | None:
    """What scores must have in common to be compared; None where a judge is not in the registry any more: nobody knows
    what it was."""
    prompt, known = prompts.load(PROMPT), provider.registry().judges
    if not all(seat.judge in known for seat in literary.ensemble):
        return None
    seats = ", ".join(
        f"{seat.judge} ({digest(*provider.model(seat.judge).determinants)[:8]}) on {seat.aspect} × {seat.weight:g}"
        for seat in sorted(literary.ensemble, key=lambda seat: (seat.judge, seat.aspect))
    )
    return (
        f"human: {literary.human}; seats: {seats}; orders: {literary.orders}; margin: {literary.margin:g}; "
        f"prompt: {prompt.name} {prompt.version} ({prompt.digest()[:8]})"
    )


def sides(literary: Literary, model: str, passage: str) -> tuple[Side, ...]:
    """Where an output is shown: on either side in turn, or on the one that a hash draws, for all seats the same."""
    if literary.orders == "both":
        return SIDES
    return (SIDES[int(digest(passage, model), 16) % 2],)


def alike(text: str, other: str) -> bool:
    """Whether two texts are the same but for white space."""
    return text.split() == other.split()


def settled(machine: str, human: str, side: Side) -> Verdict[Preference] | None:
    """The verdict on a pair that needs no judge: an output without a text loses, one that is the human translation is
    as good as it. `side` says where the output stands."""
    if not machine.strip():
        return Verdict(value=Preference("B" if side == "A" else "A", "the output is empty"))
    if alike(machine, human):
        return Verdict(value=Preference("unsure", "the texts are the same"))
    return None


Bench = tuple[Literary, Mapping[str, Template[Preference]]]
"""The description of a corpus, and what each judge of its ensemble is asked with, by name."""


class AspectVotes(OutputStudy[Bench]):
    """What each seat of the corpus's ensemble, a judge with an aspect, says of an output beside the human translation.

    A judge is asked again only where the output, its source, context or glossary, the human translation or the judge
    changed.
    """

    name = "aspect_vote"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Bench]]:
        """Outputs whose corpus names an ensemble and whose human translation is complete.

        Weights and margin are no part of the fingerprint: they only say what votes amount to.
        """
        named = {corpus: own for corpus, own in glossary.literary(self.warehouse).items() if own.ensemble}
        wanted = partitions.select(OUTPUT).filter(CORPUS.is_in(list(named)))
        humans = pl.DataFrame(
            [(corpus, own.human) for corpus, own in named.items()],
            schema=dict.fromkeys(["corpus", "translator"], pl.String), orient="row",
        )  # fmt: skip
        whole = self.warehouse.read("reference", wanted.select("passage"), ["passage", "translator", "complete"])
        whole = whole.filter("complete").with_columns(CORPUS).join(humans, on=["corpus", "translator"], how="semi")
        wanted = wanted.join(whole, on="passage", how="semi", maintain_order="left")
        languages = self.languages()

        def seated(model: str, corpus: str) -> tuple[Bench, str]:
            own = named[corpus]
            judges = sorted({seat.judge for seat in own.ensemble})
            panel = impartial(self.provider, judges, model, f"corpus {corpus}", "literary.ensemble")
            templates = {judge.name: versus(judge, languages[corpus]) for judge in panel}
            how = sorted((name, template.determinants) for name, template in templates.items())
            seats = sorted((seat.judge, seat.aspect) for seat in own.ensemble)
            return (own, templates), digest(how, seats, own.orders, own.human)

        return self.by_corpus(wanted, seated)

    def items(self, partitions: pl.DataFrame, how: Bench) -> Iterator[Item]:
        """Each output for each seat beside the human translation, on one side or on either."""
        described, templates = how
        passages = partitions.select("passage")
        columns = ["passage", "text", "previous", "following"]
        sources = {row[0]: row[1:] for row in self.warehouse.read("source_text", passages, columns).iter_rows()}
        humans = self.texts("reference", passages.with_columns(translator=pl.lit(described.human), complete=True))
        terms, own = glossary.entries(self.warehouse, passages), on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            model, passage = output
            if output not in own or passage not in sources or passage not in humans:
                continue
            source, previous, following = sources[passage]
            context = {
                "previous": previous or "", "source": source, "next": following or "",
                "glossary": list(terms.get(passage, ())),
            }  # fmt: skip
            for side in sides(described, model, passage):
                first, second = (own[output], humans[passage])[:: 1 if side == "A" else -1]
                decided = settled(own[output], humans[passage], side)
                for judge, aspect in ((seat.judge, seat.aspect) for seat in described.ensemble):
                    key = {"judge": judge, "aspect": aspect, "shown": side}
                    yield Item(output, key, templates[judge], shown(context, first, second, aspect), decided)

    def rows_of(self, item: Item, verdict: Verdict[Preference]) -> Iterable[Mapping[str, object]]:
        """The seat's vote."""
        row: dict[str, object] = {"abstention": verdict.abstention}
        if verdict.value:
            better, row["justification"] = verdict.value
            row["better"] = UNSURE if better == UNSURE else MACHINE if better == item.key["shown"] else HUMAN
        yield row

    def fault(self, item: Item, verdict: Verdict[Preference]) -> str:
        """The seat of a call that failed."""
        return f"{item.key['judge']} on {item.key['aspect']}: {verdict.error}" if verdict.error else ""


def seat_votes(given: pl.DataFrame) -> pl.DataFrame:
    """What each seat says of an output over its orders.

    Parameters
    ----------
    given
        Rows of `aspect_vote`.

    Returns
    -------
    Columns `model`, `passage`, `judge`, `aspect`, `vote` (mean over the orders that it voted in, of 1 for the machine,
    -1 for the human and 0 for unsure, so that one that changes its mind with the order says 0; null where it
    abstained in all of them).
    """
    values = pl.col("better").replace_strict({MACHINE: 1.0, HUMAN: -1.0, UNSURE: 0.0}, return_dtype=pl.Float64)
    means = given.with_columns(vote=values).group_by(*OUTPUT, *SEAT).agg(pl.col("vote").mean())
    return means.sort(*OUTPUT, *SEAT)


def balances(cast: Floats, weights: Floats) -> Floats:
    """The weighted mean of the votes of those that voted, 0 where none with a weight did.

    Parameters
    ----------
    cast
        Votes in [-1, 1], shape (pairs, seats), NaN for an abstention.
    weights
        None below 0, shape (..., seats).

    Returns
    -------
    In [-1, 1], shape (..., pairs).
    """
    present = np.isfinite(cast)
    whole = weights @ present.T.astype(np.float64)
    sums = weights @ np.where(present, cast, 0.0).T
    shares: Floats = np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0)
    return shares.round(DECIMALS)


def winners(balance: Floats, margin: float) -> Floats:
    """1 where a balance is above the margin (machine), -1 where it is below -margin (human), else 0 (unsure)."""
    found: Floats = np.where(balance > margin, 1.0, np.where(balance < -margin, -1.0, 0.0))
    return found


def cast_by(seats: Sequence[Seat], given: pl.DataFrame) -> tuple[pl.DataFrame, Floats]:
    """The outputs that these seats were asked about, in order, and their votes.

    Parameters
    ----------
    given
        As `seat_votes` returns them; those of other seats are left out.

    Returns
    -------
    Columns `model`, `passage`; votes of shape (outputs, seats), NaN where a seat abstained or was not asked.
    """
    own = given.join(_named(seats).with_row_index("seat"), on=SEAT)
    outputs = own.select(OUTPUT).unique().sort(OUTPUT)
    placed = own.join(outputs.with_row_index("output"), on=OUTPUT).drop_nulls("vote")
    cast = np.full((len(outputs), len(seats)), np.nan)
    cast[placed["output"].to_numpy(), placed["seat"].to_numpy()] = placed["vote"].to_numpy()
    return outputs, cast


def verdicts(given: pl.DataFrame, literary: Literary, aspect: str = "") -> pl.DataFrame:
    """What an ensemble says of outputs.

    Parameters
    ----------
    given
        Rows of `aspect_vote` of one corpus. Votes of seats that its description does not name any more do not count.
    aspect
        Only the seats with this aspect; '' for all.

    Returns
    -------
    Columns of `VERDICT`, by model and passage: the balance of the weighted votes, and machine, human or unsure with
    1, 0 or ½ points as it is above the margin, below its negative, or between (LiTERatE, Scoring Methodology). An
    output on which all abstained has no row.
    """
    seats = [seat for seat in literary.ensemble if aspect in ("", seat.aspect)]
    said = seat_votes(given)
    outputs, cast = cast_by(seats, said)
    balance = balances(cast, np.array([seat.weight for seat in seats]))
    won, voted = winners(balance, literary.margin), np.isfinite(cast).sum(axis=1)
    names = pl.Series([(MACHINE, UNSURE, HUMAN)[1 - int(each)] for each in won], dtype=pl.String)
    asked = said.join(_named(seats), on=SEAT, how="semi").group_by(OUTPUT).agg(abstained=pl.col("vote").null_count())
    rows = outputs.with_columns(
        verdict=names, points=pl.Series((won + 1) / 2), balance=pl.Series(balance), seats=pl.Series(voted)
    )
    found = rows.join(asked, on=OUTPUT, how="left", maintain_order="left").filter(pl.col("seats") > 0)
    return found.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())


def _named(seats: Sequence[Seat]) -> pl.DataFrame:
    return pl.DataFrame(
        [(seat.judge, seat.aspect) for seat in seats], schema=dict.fromkeys(SEAT, pl.String), orient="row"
    )
