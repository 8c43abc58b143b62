"""The ensemble: collect the votes of a corpus's seats on outputs against the human translation, and combine them.

Here: the seats of a corpus, the order in which texts are shown, pairs that need no judge, votes and verdicts as rows.
Not here: the question to one judge (versus), scores of models (scores), accuracy of seats (calibration).
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
"""Decimals of a balance. Rounding errors of weights such as 0.1 must not decide."""

VERDICT = schema("head_to_head")


def contract(literary: Literary, provider: Provider) -> str | None:
    """What scores must have in common to be compared; None if a judge is no longer in the registry, since its settings
    are then unknown."""
    prompt, judges = prompts.load(PROMPT), provider.registry().judges
    if not all(seat.judge in judges for seat in literary.ensemble):
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
    """The sides on which an output is shown: both in turn, or one chosen by a hash; the same for all seats."""
    if literary.orders == "both":
        return SIDES
    return (SIDES[int(digest(passage, model), 16) % 2],)


def alike(text: str, other: str) -> bool:
    """Whether two texts are equal apart from white space."""
    return text.split() == other.split()


def settled(machine: str, human: str, side: Side) -> Verdict[Preference] | None:
    """The verdict on a pair that needs no judge: an empty output loses, an output equal to the human translation ties.
    `side` is the side of the output."""
    if not machine.strip():
        return Verdict(value=Preference("B" if side == "A" else "A", "the output is empty"))
    if alike(machine, human):
        return Verdict(value=Preference("unsure", "the texts are the same"))
    return None


Bench = tuple[Literary, Mapping[str, Template[Preference]]]
"""The description of a corpus, and the question template of each judge of its ensemble, by name."""


class AspectVotes(OutputStudy[Bench]):
    """Vote of each seat of the corpus's ensemble, a judge with an aspect: is an output better than the human
    translation?

    A judge is asked again only if the output, its source, context or glossary, the human translation or the judge
    changed.
    """

    name = "aspect_vote"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Bench]]:
        """Outputs whose corpus names an ensemble and whose human translation is complete.

        Weights and margin are not part of the fingerprint: they do not change the votes, only their combination.
        """
        corpora = glossary.literary(self.warehouse)
        named = {corpus: described for corpus, described in corpora.items() if described.ensemble}
        wanted = partitions.select(OUTPUT).filter(CORPUS.is_in(list(named)))
        humans = pl.DataFrame(
            [(corpus, described.human) for corpus, described in named.items()],
            schema=dict.fromkeys(["corpus", "translator"], pl.String), orient="row",
        )  # fmt: skip
        whole = self.warehouse.read("reference", wanted.select("passage"), ["passage", "translator", "complete"])
        whole = whole.filter("complete").with_columns(CORPUS).join(humans, on=["corpus", "translator"], how="semi")
        wanted = wanted.join(whole, on="passage", how="semi", maintain_order="left")
        languages = self.languages()

        def seated(model: str, corpus: str) -> tuple[Bench, str]:
            described = named[corpus]
            judges = sorted({seat.judge for seat in described.ensemble})
            panel = impartial(self.provider, judges, model, f"corpus {corpus}", "literary.ensemble")
            templates = {judge.name: versus(judge, languages[corpus]) for judge in panel}
            how = sorted((name, template.determinants) for name, template in templates.items())
            seats = sorted((seat.judge, seat.aspect) for seat in described.ensemble)
            return (described, templates), digest(how, seats, described.orders, described.human)

        return self.by_corpus(wanted, seated)

    def items(self, partitions: pl.DataFrame, how: Bench) -> Iterator[Item]:
        """One item for each output, seat and side of the output."""
        described, templates = how
        passages = partitions.select("passage")
        columns = ["passage", "text", "previous", "following"]
        sources = {row[0]: row[1:] for row in self.warehouse.read("source_text", passages, columns).iter_rows()}
        humans = self.texts("reference", passages.with_columns(translator=pl.lit(described.human), complete=True))
        terms, outputs = glossary.entries(self.warehouse, passages), on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            model, passage = output
            if output not in outputs or passage not in sources or passage not in humans:
                continue
            source, previous, following = sources[passage]
            context = {
                "previous": previous or "", "source": source, "next": following or "",
                "glossary": list(terms.get(passage, ())),
            }  # fmt: skip
            for side in sides(described, model, passage):
                first, second = (outputs[output], humans[passage])[:: 1 if side == "A" else -1]
                decided = settled(outputs[output], humans[passage], side)
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
    """The vote of each seat on an output, averaged over the orders shown.

    Parameters
    ----------
    given
        Rows of `aspect_vote`.

    Returns
    -------
    Columns `model`, `passage`, `judge`, `aspect`, `vote`: 1 for the machine, -1 for the human, 0 for unsure, mean over
    the orders with a vote. A seat that changes its mind with the order gets 0; a seat that abstained in all orders,
    null.
    """
    values = pl.col("better").replace_strict({MACHINE: 1.0, HUMAN: -1.0, UNSURE: 0.0}, return_dtype=pl.Float64)
    means = given.with_columns(vote=values).group_by(*OUTPUT, *SEAT).agg(pl.col("vote").mean())
    return means.sort(*OUTPUT, *SEAT)


def balances(cast: Floats, weights: Floats) -> Floats:
    """The weighted mean of votes, without abstentions; 0 if no seat with a weight voted.

    Parameters
    ----------
    cast
        Votes in [-1, 1], shape (pairs, seats), NaN for an abstention.
    weights
        Shape (..., seats), 0 or above.

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
    signs: Floats = np.where(balance > margin, 1.0, np.where(balance < -margin, -1.0, 0.0))
    return signs


def cast_by(seats: Sequence[Seat], given: pl.DataFrame) -> tuple[pl.DataFrame, Floats]:
    """The outputs with votes or abstentions of these seats, in order, and the votes.

    Parameters
    ----------
    given
        Votes as `seat_votes` returns them; votes of other seats are left out.

    Returns
    -------
    Columns `model`, `passage`; votes of shape (outputs, seats), NaN where a seat abstained or was not asked.
    """
    votes = given.join(_named(seats).with_row_index("seat"), on=SEAT)
    outputs = votes.select(OUTPUT).unique().sort(OUTPUT)
    placed = votes.join(outputs.with_row_index("output"), on=OUTPUT).drop_nulls("vote")
    cast = np.full((len(outputs), len(seats)), np.nan)
    cast[placed["output"].to_numpy(), placed["seat"].to_numpy()] = placed["vote"].to_numpy()
    return outputs, cast


def verdicts(given: pl.DataFrame, literary: Literary, aspect: str = "") -> pl.DataFrame:
    """Verdicts of an ensemble on outputs.

    Parameters
    ----------
    given
        Rows of `aspect_vote` of one corpus. Votes of seats that its description no longer names do not count.
    aspect
        Only the seats with this aspect; '' for all.

    Returns
    -------
    Columns of `VERDICT`, by model and passage: the balance of the weighted votes, and the verdict with its points:
    machine (1) if the balance is above the margin, human (0) if it is below -margin, else unsure (½); LiTERatE, Scoring
    Methodology. An output on which all seats abstained has no row.
    """
    seats = [seat for seat in literary.ensemble if aspect in ("", seat.aspect)]
    votes = seat_votes(given)
    outputs, cast = cast_by(seats, votes)
    balance = balances(cast, np.array([seat.weight for seat in seats]))
    won, voted = winners(balance, literary.margin), np.isfinite(cast).sum(axis=1)
    names = pl.Series([(MACHINE, UNSURE, HUMAN)[1 - int(sign)] for sign in won], dtype=pl.String)
    counts = votes.join(_named(seats), on=SEAT, how="semi").group_by(OUTPUT).agg(abstained=pl.col("vote").null_count())
    rows = outputs.with_columns(
        verdict=names, points=pl.Series((won + 1) / 2), balance=pl.Series(balance), seats=pl.Series(voted)
    )
    judged = rows.join(counts, on=OUTPUT, how="left", maintain_order="left").filter(pl.col("seats") > 0)
    return judged.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())


def _named(seats: Sequence[Seat]) -> pl.DataFrame:
    return pl.DataFrame(
        [(seat.judge, seat.aspect) for seat in seats], schema=dict.fromkeys(SEAT, pl.String), orient="row"
    )
