"""The ensemble: collect the votes of a corpus's seats on outputs and human translations, and combine the votes.

Here: the question to one judge (LiTERatE, Evaluation Process), the seats of a corpus, how they are examined, pairs that
need no judge, votes and verdicts as rows. Not here: scores of models (scores), accuracy of seats (calibration),
sentinels and rounds (examination).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from unicodedata import category

import numpy as np
import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.description import ASPECTS, Literary, Seat
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import JudgeStanding, cards, together
from benchmark_assets.examination.sample import Direction
from benchmark_assets.examination.sentinels import DAMAGES, Sound
from benchmark_assets.examination.study import Examinee, PairExam
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.comparing import Side, arranged, sides
from benchmark_assets.references import glossary
from benchmark_assets.studies.study import Group, Item
from resources import prompts
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import quoted
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.provider import Provider
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of
from resources.warehouse import Warehouse

MACHINE, HUMAN, UNSURE = "machine", "human", "unsure"

SEAT = ["judge", "aspect"]
DECIMALS = 9
"""Decimals to which a balance is rounded, so that rounding errors of weights such as 0.1 do not decide a verdict."""

VERDICT = schema("head_to_head")

PROMPT = "versus"

Better = Literal["A", "B", "unsure"]

ANSWER = object_of({"justification": TEXT, "better": choice_of(["A", "B", "unsure"])})
"""JSON schema of a reply."""


class Preference(NamedTuple):
    """A judge's preference between two translations, and the justification."""

    better: Better
    justification: str


def versus(judge: Model, languages: Mapping[str, str]) -> Template[Preference]:
    """The question template of a judge. `languages` maps variables of the prompt to the names of the source language
    and the target language."""
    return template_of(judge, PROMPT, languages, ANSWER, read_preference, spoken="better")


def shown(context: Mapping[str, Any], a: str, b: str, aspect: str) -> dict[str, Any]:
    """The content of a question: a pair of translations, with no indication of their translators.

    Parameters
    ----------
    context
        `source`, the chunk's source text; `previous` and `next`, the source text before and after the chunk, or ''; and
        `glossary`, a list of objects with `term`, `translation` and, if known, `gender`.
    a, b
        The translations shown as A and as B.
    aspect
        The aspect to judge.
    """
    return {**context, "translation_a": a, "translation_b": b, "aspect": aspect}


def read_preference(values: Mapping[str, Any]) -> Preference:
    """Read the fields of a reply; a justification that is missing or not text becomes ''.

    Raises
    ------
    ValueError
        If `better` is not A, B or unsure.
    """
    better, why = values.get("better"), values.get("justification")
    if better not in ("A", "B", "unsure"):
        raise ValueError(f"better {quoted(better)} is not A, B or unsure")
    return Preference(better, storable(why.strip()) if isinstance(why, str) else "")


def contract(literary: Literary, provider: Provider) -> str | None:
    """The conditions under which scores are comparable: human translation, seats, orders, margin and prompt. None if a
    judge is no longer in the registry, because its settings are then unknown."""
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


def alike(text: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, apart from punctuation and capitals."""
    return _words(text) == _words(other)


def _words(text: str) -> list[str]:
    bare = ("".join(each for each in word if category(each)[0] != "P") for word in text.casefold().split())
    return [word for word in bare if word]


def settled(machine: str, human: str, side: Side) -> Verdict[Preference] | None:
    """The verdict on a pair that needs no judge; None for other pairs. A blank output loses. An output with the same
    words as the human translation is a tie. `side` is the side of the output."""
    if not machine.strip():
        return Verdict(value=Preference("B" if side == "A" else "A", "the output is empty"))
    if alike(machine, human):
        return Verdict(value=Preference("unsure", "the texts are the same"))
    return None


Bench = tuple[Literary, Mapping[str, Template[Preference]]]
"""The section `literary` of a corpus's description, and the question template of each judge of its ensemble, by the
name of the judge."""


class AspectVotes(OutputStudy[Bench]):
    """Votes of the corpus's ensemble on whether an output is better than the human translation.

    Each seat of the ensemble (a judge with an aspect) has one vote. A judge is asked again only if one of the
    following changes: the output, its source, the context or glossary, the human translation, or the judge itself.
    """

    name = "aspect_vote"

    def exam(self) -> PairExam:
        """The exam of the seats."""
        return SeatExam(self.warehouse, self.provider)

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Bench]]:
        """Outputs for passages with a complete human translation, in the corpora that name an ensemble.

        Weights and margin are not part of the fingerprint, because they change only the combination of votes.
        """
        corpora = glossary.literary(self.warehouse)
        sections = {corpus: section for corpus, section in corpora.items() if section.ensemble}
        outputs = partitions.select(OUTPUT).filter(CORPUS.is_in(list(sections)))
        humans = {corpus: section.human for corpus, section in sections.items()}
        human = CORPUS.replace_strict(humans, default=None, return_dtype=pl.String)
        references = outputs.select("passage", translator=human, complete=True).unique()
        complete_references = self.warehouse.read("reference", references, ["passage"])
        outputs = outputs.join(complete_references, on="passage", how="semi", maintain_order="left")
        languages = self.languages()

        def bench_of(model: str, corpus: str) -> tuple[Bench, str]:
            section = sections[corpus]
            judges = sorted({seat.judge for seat in section.ensemble})
            panel = impartial(self.provider, judges, model, f"corpus {corpus}", "literary.ensemble")
            templates = {judge.name: versus(judge, languages[corpus]) for judge in panel}
            determinants = sorted((name, template.determinants) for name, template in templates.items())
            seats = sorted((seat.judge, seat.aspect) for seat in section.ensemble)
            return (section, templates), digest(determinants, seats, section.orders, section.human)

        return self.by_corpus(outputs, bench_of)

    def items(self, partitions: pl.DataFrame, how: Bench) -> Iterator[Item]:
        """One item for each output, seat and side of the output."""
        section, templates = how
        passages = partitions.select("passage")
        seen = contexts(self.warehouse, passages)
        humans = self.texts("reference", passages.with_columns(translator=pl.lit(section.human), complete=True))
        outputs = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            model, passage = output
            if output not in outputs or passage not in seen or passage not in humans:
                continue
            for side in sides(section.orders, passage, model):
                first, second = arranged(outputs[output], humans[passage], side)
                verdict = settled(outputs[output], humans[passage], side)
                for seat in section.ensemble:
                    key = {"judge": seat.judge, "aspect": seat.aspect, "shown": side}
                    content = shown(seen[passage], first, second, seat.aspect)
                    yield Item(output, key, templates[seat.judge], content, verdict)

    def rows_of(self, item: Item, verdict: Verdict[Preference]) -> Iterable[Mapping[str, object]]:
        """One row: the seat's vote with its justification, or the reason for an abstention."""
        row: dict[str, object] = {"abstention": verdict.abstention}
        if verdict.value:
            better, row["justification"] = verdict.value
            row["better"] = UNSURE if better == UNSURE else MACHINE if better == item.key["shown"] else HUMAN
        yield row

    def fault(self, item: Item, verdict: Verdict[Preference]) -> str:
        """The seat and the error of a failed call; '' if the call did not fail."""
        return f"{item.key['judge']} on {item.key['aspect']}: {verdict.error}" if verdict.error else ""


_GROSS = ("foreign", "other_passage", "empty", "untranslated")

CONCERNED: Mapping[str, Sequence[str]] = {
    "meaning": DAMAGES, "prose": _GROSS, "voice": _GROSS, "terms": (*_GROSS, "term"),
}  # fmt: skip
"""Kinds of damage that concern each aspect. A seat judges its own aspect only."""


class SeatExam(PairExam):
    """The exam of the seats of literary ensembles."""

    purpose = AspectVotes.name

    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """The seats of each ensemble, by corpus."""
        corpora = glossary.literary(self.warehouse)
        return {corpus: [(seat.judge, seat.aspect) for seat in section.ensemble] for corpus, section in corpora.items()}

    def template(self, judge: Model, direction: Direction) -> Template[Preference]:
        """The template of the question about a pair of texts."""
        return versus(judge, direction.languages)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source of each chunk, the text around it, and its glossary."""
        return contexts(
            self.warehouse, pl.DataFrame({"passage": [text.passage for text in texts]}, {"passage": pl.String})
        )

    def shown(self, examinee: Examinee, context: Mapping[str, Any], a: str, b: str) -> Mapping[str, Any]:
        """The content of a question to the ensemble about a pair of texts."""
        return shown(context, a, b, examinee.aspect)

    def damages(self, aspect: str) -> Sequence[str]:
        """The kinds of damage that concern the aspect."""
        return CONCERNED[aspect]

    def preferred(self, value: Preference) -> str:
        """The letter in the reply, or `unsure`."""
        return str(value.better)


def contexts(warehouse: Warehouse, passages: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """What a judge sees beside the two texts: the source of each chunk, the text around it, and its glossary."""
    terms = glossary.entries(warehouse, passages)
    rows = warehouse.read("source_text", passages, ["passage", "text", "previous", "following"])
    return {
        passage: {
            "previous": previous or "", "source": text, "next": following or "",
            "glossary": list(terms.get(passage, ())),
        }
        for passage, text, previous, following in rows.iter_rows()
    }  # fmt: skip


def of_ensembles(warehouse: Warehouse) -> dict[tuple[str, str], JudgeStanding]:
    """The verdict on the seats of each ensemble, by corpus and aspect; the aspect '' stands for the whole ensemble."""
    of_cards, languages = cards(warehouse, AspectVotes.name), corpus_languages(warehouse)
    return {
        (corpus, aspect): together(
            [(seat.judge, seat.aspect, "-".join(languages[corpus])) for seat in seats_of(section, aspect)], of_cards,
        )
        for corpus, section in glossary.literary(warehouse).items() for aspect in ("", *ASPECTS)
    }  # fmt: skip


def seats_of(literary: Literary, aspect: str = "") -> list[Seat]:
    """The seats of an ensemble that judge an aspect; all of its seats if `aspect` is ''."""
    return [seat for seat in literary.ensemble if aspect in ("", seat.aspect)]


def keys(seats: Sequence[Seat]) -> pl.DataFrame:
    """Seats as rows of `judge` and `aspect`."""
    return pl.DataFrame(
        [(seat.judge, seat.aspect) for seat in seats], schema=dict.fromkeys(SEAT, pl.String), orient="row"
    )


def seat_votes(votes: pl.DataFrame) -> pl.DataFrame:
    """The vote of each seat on each output, averaged over the orders of the texts, from rows of `aspect_vote`.

    Returns
    -------
    Columns `model`, `passage`, `judge`, `aspect` and `vote`, the mean over orders of 1 (machine), -1 (human) and 0
    (unsure). Abstentions are left out of the mean. The vote is null, like an abstention, if the seat abstained in all
    orders. It is also null if the seat prefers the text shown as A in both orders, or the text shown as B in both
    orders.
    """
    values = pl.col("better").replace_strict({MACHINE: 1.0, HUMAN: -1.0, UNSURE: 0.0}, return_dtype=pl.Float64)
    vote = pl.col("vote")
    consistent = vote.max() - vote.min() < 2
    means = votes.with_columns(vote=values).group_by(*OUTPUT, *SEAT).agg(pl.when(consistent).then(vote.mean()))
    return means.sort(*OUTPUT, *SEAT)


def balances(cast: Floats, weights: Floats) -> Floats:
    """Weighted mean of the votes on each pair, without abstentions; 0 if no seat with a positive weight voted.

    Parameters
    ----------
    cast
        Votes in [-1, 1], shape (pairs, seats), NaN for an abstention.
    weights
        Weights of the seats, shape (..., seats), each 0 or greater.

    Returns
    -------
    Balances in [-1, 1], shape (..., pairs), rounded to `DECIMALS`.
    """
    present = np.isfinite(cast)
    totals = weights @ present.T.astype(np.float64)
    sums = weights @ np.where(present, cast, 0.0).T
    means: Floats = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return means.round(DECIMALS)


def winners(balance: Floats, margin: float) -> Floats:
    """The winner for each balance: 1 (machine) above the margin, -1 (human) below -margin, else 0 (unsure)."""
    signs: Floats = np.where(balance > margin, 1.0, np.where(balance < -margin, -1.0, 0.0))
    return signs


def cast_by(seats: Sequence[Seat], votes: pl.DataFrame) -> tuple[pl.DataFrame, Floats]:
    """Arrange the votes of `seats` in an array.

    Parameters
    ----------
    votes
        Votes as `seat_votes` returns them; votes of other seats are left out.

    Returns
    -------
    outputs
        The outputs on which any of the seats voted or abstained, sorted: columns `model` and `passage`.
    cast
        The votes on these outputs, shape (outputs, seats), NaN if a seat abstained or was not asked.
    """
    votes = votes.join(keys(seats).with_row_index("seat"), on=SEAT)
    outputs = votes.select(OUTPUT).unique().sort(OUTPUT)
    numbered = votes.join(outputs.with_row_index("output"), on=OUTPUT).drop_nulls("vote")
    cast = np.full((len(outputs), len(seats)), np.nan)
    cast[numbered["output"].to_numpy(), numbered["seat"].to_numpy()] = numbered["vote"].to_numpy()
    return outputs, cast


def verdicts(votes: pl.DataFrame, literary: Literary, aspect: str = "") -> pl.DataFrame:
    """Verdicts of an ensemble on outputs (LiTERatE, Scoring Methodology).

    Parameters
    ----------
    votes
        Rows of `aspect_vote` of one corpus. Votes of seats that the corpus description no longer names are ignored.
    aspect
        Only seats with this aspect vote; '' for all seats.

    Returns
    -------
    Columns of `VERDICT`, one row for each model and passage: the balance of the weighted votes, the verdict and its
    points. The verdict is machine (1 point) if the balance is above the margin, human (0 points) if it is below
    -margin, else unsure (½ point). An output on which all seats abstained has no row.
    """
    seats = seats_of(literary, aspect)
    means = seat_votes(votes)
    outputs, cast = cast_by(seats, means)
    balance = balances(cast, np.array([seat.weight for seat in seats]))
    won, voted = winners(balance, literary.margin), np.isfinite(cast).sum(axis=1)
    names = pl.Series([(MACHINE, UNSURE, HUMAN)[1 - int(sign)] for sign in won], dtype=pl.String)
    counts = means.join(keys(seats), on=SEAT, how="semi").group_by(OUTPUT).agg(abstained=pl.col("vote").null_count())
    rows = outputs.with_columns(
        verdict=names, points=pl.Series((won + 1) / 2), balance=pl.Series(balance), seats=pl.Series(voted)
    )
    voted_rows = rows.join(counts, on=OUTPUT, how="left", maintain_order="left").filter(pl.col("seats") > 0)
    return voted_rows.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())
