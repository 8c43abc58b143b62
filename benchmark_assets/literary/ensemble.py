"""The ensemble: which votes an output needs beside the human translation, asking for them, and what they come to.

Here: the seats of a corpus, the order in which texts are shown, texts that need no judge, votes and verdicts as rows.
Not here: what one judge is asked about one pair (versus), scores of models (scores), how far seats are right
(calibration).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, Output, Said
from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.literary.versus import PROMPT, Pair, Preference, prefer, shown, versus
from benchmark_assets.metrics.measures import Floats
from benchmark_assets.pairwise.comparing import Side
from benchmark_assets.pairwise.matches import SIDES
from benchmark_assets.references import glossary
from benchmark_assets.translation.systems import Systems
from resources import prompts
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Ask, Task, Told
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.literary")

MACHINE, HUMAN, UNSURE = "machine", "human", "unsure"
BETTER = (MACHINE, HUMAN, UNSURE)

SEAT = ["judge", "aspect"]
DECIMALS = 9
"""Of a balance: beyond them is the rounding of weights such as 0.1, which must not decide anything."""

_KEY = [*OUTPUT, *SEAT, "shown"]
_FOUND = dict.fromkeys(["better", "justification", "abstention"], pl.String)

VERDICT = schema("head_to_head")


class Bench(NamedTuple):
    """Outputs of one model and corpus (`model`, `passage`), the corpus's description, and what each judge of its
    ensemble is asked with, by name, or why none is asked."""

    outputs: pl.DataFrame
    literary: Literary
    tasks: Mapping[str, Task] | BadInput

    @property
    def fingerprint(self) -> str:
        """Hash of what determines the votes besides the texts; of a fault, its words.

        Weights and margin are no part of it: they only say what votes amount to.
        """
        if isinstance(self.tasks, BadInput):
            return str(self.tasks)
        how = sorted((name, task.determinants) for name, task in self.tasks.items())
        seats = sorted((seat.judge, seat.aspect) for seat in self.literary.ensemble)
        return digest(how, seats, self.literary.orders, self.literary.human)


class Ballot(NamedTuple):
    """One vote that is wanted: an output once beside the human translation. `shown` says where the output stands."""

    model: str
    passage: str
    judge: str
    aspect: str
    shown: Side
    task: Task
    pair: Pair

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """The row that it fills."""
        return self.model, self.passage, self.judge, self.aspect, self.shown

    def better(self, preference: Preference) -> str:
        """Whose text a judge prefers."""
        if preference.better == "unsure":
            return UNSURE
        return MACHINE if preference.better == self.shown else HUMAN


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


def settled(ballot: Ballot) -> Preference | None:
    """What comes of a pair that needs no judge: an output without a text loses, one that is the human translation is
    as good as it."""
    own, human = (ballot.pair.a, ballot.pair.b)[:: 1 if ballot.shown == "A" else -1]
    if not own.strip():
        return Preference("B" if ballot.shown == "A" else "A", "the output is empty")
    if alike(own, human):
        return Preference("unsure", "the texts are the same")
    return None


def benches(warehouse: Warehouse, provider: Provider, outputs: pl.DataFrame) -> Iterator[Bench]:
    """The benches of those outputs whose corpus names an ensemble and whose human translation is complete."""
    named = {corpus: own for corpus, own in glossary.literary(warehouse).items() if own.ensemble}
    wanted = outputs.select(OUTPUT).filter(CORPUS.is_in(list(named)))
    if wanted.is_empty():
        return
    humans = pl.DataFrame({"corpus": list(named), "translator": [own.human for own in named.values()]})
    whole = warehouse.read("reference", wanted.select("passage"), ["passage", "translator", "complete"])
    whole = whole.filter("complete").with_columns(CORPUS).join(humans, on=["corpus", "translator"], how="semi")
    wanted = wanted.join(whole, on="passage", how="semi", maintain_order="left")
    languages = on_trial.languages(warehouse)
    for (model, corpus), own in wanted.group_by("model", CORPUS, maintain_order=True):
        name = str(corpus)
        judges = sorted({seat.judge for seat in named[name].ensemble})
        try:
            seated = impartial(provider, judges, str(model), f"corpus {name}", "literary.ensemble")
            tasks = {judge.name: versus(judge, languages[name]) for judge in seated}
            yield Bench(own, named[name], tasks)
        except BadInput as fault:
            yield Bench(own, named[name], fault)


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the votes on each output besides its texts: see adjudication.outputs.settings.

    Outputs that nobody votes on are left out.
    """
    every = benches(warehouse, systems.provider, asked)
    return on_trial.settings(systems, asked, ((bench.outputs, bench.fingerprint) for bench in every))


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What the votes would ask of judges; None where they are asked nothing."""
    wanted, _ = ballots(warehouse, benches(warehouse, provider, due))
    return on_trial.cost(provider, _questions(wanted))


def ask_ensemble(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """Have the ensembles of their corpora vote on outputs. The run pays.

    An output has failed where a judge may not judge it, where it lost a text, or where a call failed. It has no votes
    then; what was answered is in the ledger.
    """
    wanted, failures = ballots(warehouse, benches(warehouse, provider, due))
    if expected := on_trial.cost(provider, _questions(wanted)):
        logger.info("ensemble: %s", expected)
    told = on_trial.ask_all(provider, "ensemble", vote, wanted, lambda ballot: ballot.task, run)
    return on_trial.tabulate("aspect_vote", _KEY, _FOUND, [_said(*each) for each in told], failures)


async def vote(ask: Ask, ballot: Ballot) -> Told[Preference]:
    """What comes of one ballot; `call` is '' where nobody was asked."""
    if found := settled(ballot):
        return Told("", 0, found)
    return await prefer(ask, ballot.task, ballot.pair, ballot.aspect)


def ballots(warehouse: Warehouse, seated: Iterable[Bench]) -> tuple[list[Ballot], dict[Output, str]]:
    """All votes that benches are to give, output by output; and by model and passage, why some outputs get none."""
    wanted: list[Ballot] = []
    failures: dict[Output, str] = {}
    for bench in seated:
        if isinstance(bench.tasks, BadInput):
            failures |= dict.fromkeys(bench.outputs.rows(), str(bench.tasks))
            continue
        passages = bench.outputs.select("passage")
        columns = ["passage", "text", "previous", "following"]
        sources = {row[0]: row[1:] for row in warehouse.read("source_text", passages, columns).iter_rows()}
        human = passages.with_columns(translator=pl.lit(bench.literary.human), complete=True)
        humans = dict(warehouse.read("reference", human, ["passage", "text"]).iter_rows())
        terms, own = glossary.entries(warehouse, passages), on_trial.texts(warehouse, bench.outputs)
        kept, lost = on_trial.whole(bench.outputs, own, sources, humans)
        failures |= lost
        for model, passage in kept:
            source, previous, following = sources[passage]
            context = source, previous or "", following or "", tuple(terms.get(passage, ()))
            for side in sides(bench.literary, model, passage):
                shown_texts = (own[model, passage], humans[passage])[:: 1 if side == "A" else -1]
                pair = Pair(*context, *shown_texts)
                for seat in bench.literary.ensemble:
                    task = bench.tasks[seat.judge]
                    wanted.append(Ballot(model, passage, seat.judge, seat.aspect, side, task, pair))
    return wanted, failures


def _said(ballot: Ballot, told: Told[Preference]) -> Said:
    row = (ballot.better(told.value), told.value.justification) if told.value else (None, None)
    error = told.error and f"{ballot.judge} on {ballot.aspect}: {told.error}"
    return Said(ballot.key, (*row, told.abstention), told.call, error)


def _questions(wanted: Iterable[Ballot]) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    """What judges are asked about those ballots that need one."""
    return ((ballot.task, shown(ballot.pair, ballot.aspect)) for ballot in wanted if settled(ballot) is None)


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
