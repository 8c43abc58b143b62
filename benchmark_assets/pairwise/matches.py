"""Which comparisons an output needs, asking for them, and what came of them as rows.

Here: base sets that an output is an item of, the order in which texts are shown, what determines a comparison, the
calls of a run. Not here: comparing two texts (comparing), base sets themselves (base_sets), strengths (scores), which
pairs adaptive mode asks for (rounds).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, Output, Said
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.pairwise.base_sets import Judged, Judging, Ranks, Within, text_hash
from benchmark_assets.pairwise.comparing import Outcome, Pair, Side, compare, comparing, judged_by, settled, shown
from benchmark_assets.pairwise.rounds import Ladder, following, ladder
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Ask, Task
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.pairwise")

SIDES: tuple[Side, Side] = ("A", "B")

Key = tuple[str, str, str, str, str]

_KEY = [*OUTPUT, "base_set", "anchor", "shown"]
_FOUND = {"winner": pl.String, "excluded": pl.String, "asked": pl.Int32}
_WON = dict.fromkeys(["passage", "anchor", "winner"], pl.String)


class Contest(NamedTuple):
    """Outputs of one model and corpus (`model`, `passage`) that are items of a base set, and how they are compared.

    `task` is what the judge is asked with, or why it is not asked; `content` the hash of the base set.
    """

    base_set: str
    outputs: pl.DataFrame
    judging: Judging
    content: str
    task: Task | BadInput

    @property
    def fingerprint(self) -> str:
        """Hash of what determines the comparisons besides source and output; of a fault, its words."""
        how = str(self.task) if isinstance(self.task, BadInput) else self.task.determinants
        return digest(self.base_set, self.content, self.judging.model_dump(), how)


class Match(NamedTuple):
    """An output once beside an anchor's text; `shown` says where the output stands."""

    model: str
    passage: str
    base_set: str
    anchor: str
    shown: Side
    task: Task
    pair: Pair

    @property
    def key(self) -> Key:
        """The row that it fills."""
        return self.model, self.passage, self.base_set, self.anchor, self.shown

    def winner(self, outcome: Outcome) -> str | None:
        """Whose text won, 'output' or 'anchor'; None where none did."""
        if outcome.winner is None:
            return None
        return "output" if outcome.winner == self.shown else "anchor"


def orders(judging: Judging, model: str, passage: str, anchor: str) -> tuple[Side, ...]:
    """Where an output is shown beside an anchor's: on either side in turn, or on the one that a hash draws.

    Either side is equally likely, the same in every process, and whatever else is compared changes nothing.
    """
    if judging.orders == "both":
        return SIDES
    return (SIDES[int(digest(passage, model, anchor), 16) % 2],)


def contests(warehouse: Warehouse, provider: Provider, outputs: pl.DataFrame) -> Iterator[Contest]:
    """The contests that outputs take part in. An anchor of a base set takes part in none against it: how the anchors
    stand to each other is frozen. Nor does an item whose source is not the text which the anchors translated."""
    items = warehouse.read("base_set_item", outputs.select("passage"), ["passage", "base_set", "source_hash"])
    sources = warehouse.read("source_text", items.select("passage").unique(), ["passage", "text"])
    now = pl.col("text").map_elements(text_hash, return_dtype=pl.String)
    items = items.join(sources.select("passage", source_hash=now), on=["passage", "source_hash"], how="semi")
    items = items.drop("source_hash")
    wanted = outputs.select(OUTPUT).join(items, on="passage", maintain_order="left_right")
    own_sets = wanted.select("base_set").unique()
    anchors = warehouse.read("anchor_output", own_sets, ["base_set", "anchor"]).unique()
    wanted = wanted.join(anchors, left_on=["base_set", "model"], right_on=["base_set", "anchor"], how="anti")
    entries = warehouse.read("base_set", own_sets, ["base_set", "judge", "judged", "settings", "content"])
    sets = {base_set: entry for base_set, *entry in entries.iter_rows()}
    languages = on_trial.languages(warehouse)
    for (model, base_set, corpus), own in wanted.group_by("model", "base_set", CORPUS, maintain_order=True):
        judge, judged, settings, content = sets[str(base_set)]
        task: Task | BadInput
        try:
            (model_of_judge,) = impartial(provider, [judge], str(model), f"base set {base_set}", "judge")
            task = comparing(model_of_judge, languages[str(corpus)])
            if judged:
                _same_judge(str(base_set), judge, Judged.model_validate_json(judged), judged_by(provider, judge))
        except BadInput as fault:
            task = fault
        yield Contest(str(base_set), own.select(OUTPUT), Judging.model_validate_json(settings), content, task)


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the comparisons of each output besides its texts: see adjudication.outputs.settings.

    Outputs that are items of no base set are left out.
    """
    every = contests(warehouse, systems.provider, asked)
    return on_trial.settings(systems, asked, ((contest.outputs, contest.fingerprint) for contest in every))


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What comparing outputs would ask of judges, in adaptive mode at most; None where they are asked nothing."""
    found = _matches(warehouse, contests(warehouse, provider, due))
    return on_trial.cost(provider, _questions(found.matches))


def compare_outputs(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """Have outputs compared with the anchors of their base sets. The run pays.

    Base sets whose judge may not judge an output, or is not the one that judged the anchors, are left out, and the log
    says so; an output for which none is left has failed, as one has of which a call failed. It has no comparisons then;
    what was answered is in the ledger. In adaptive mode an output may need none: it has no rows either, and no failure.
    """
    wanted = list(contests(warehouse, provider, due))
    found = _matches(warehouse, wanted)
    for words in found.bars:
        logger.warning("comparison: not compared; %s", words)
    given = _in_rounds(provider, found.matches, _ladders(warehouse, wanted), run)
    said = [_said(match, given[match.key]) for match in found.matches if match.key in given]
    return on_trial.tabulate("comparison", _KEY, _FOUND, said, found.failures)


def outcomes(provider: Provider, matches: Sequence[Match], run: str) -> list[Outcome]:
    """What comes of each match, after saying how many calls that is and about what it will cost. The run pays."""
    given = _in_rounds(provider, matches, {}, run)
    return [given[match.key] for match in matches]


class _Found(NamedTuple):
    """Matches, output by output; by model and passage, why some outputs have none; and why some contests that others
    are not in have none, each once."""

    matches: list[Match]
    failures: dict[Output, str]
    bars: list[str]


def _matches(warehouse: Warehouse, wanted: Iterable[Contest]) -> _Found:
    found: list[Match] = []
    barred: dict[Output, list[str]] = {}
    lost: dict[Output, str] = {}
    for contest in wanted:
        if isinstance(contest.task, BadInput):
            for output in contest.outputs.iter_rows():
                barred.setdefault((output[0], output[1]), []).append(str(contest.task))
            continue
        passages = contest.outputs.select("passage", base_set=pl.lit(contest.base_set))
        sources = dict(warehouse.read("source_text", passages.select("passage"), ["passage", "text"]).iter_rows())
        frozen: dict[str, dict[str, str]] = {}
        for passage, anchor, text in warehouse.read(
            "anchor_output", passages, ["passage", "anchor", "text"]
        ).iter_rows():
            frozen.setdefault(passage, {})[anchor] = text
        own = on_trial.texts(warehouse, contest.outputs)
        kept, without = on_trial.whole(contest.outputs, own, sources)
        lost |= without
        for model, passage in kept:
            for anchor, other in sorted(frozen[passage].items()):
                for side in orders(contest.judging, model, passage, anchor):
                    text, source = own[model, passage], sources[passage]
                    pair = Pair(source, text, other) if side == "A" else Pair(source, other, text)
                    found.append(Match(model, passage, contest.base_set, anchor, side, contest.task, pair))
    met = {(match.model, match.passage) for match in found}
    failures = {output: "; ".join(words) for output, words in barred.items() if output not in met} | lost
    bars = dict.fromkeys(each for output, words in barred.items() if output in met for each in words)
    return _Found([match for match in found if (match.model, match.passage) not in failures], failures, list(bars))


def _same_judge(base_set: str, judge: str, then: Judged, now: Judged) -> None:
    """Refuse to compare where the anchors were judged by another judge, or by another prompt: JP-TL-Bench, section 4.5.

    Raises
    ------
    BadInput
        Where they were.
    """
    if other := then.other(now):
        problem = f"judged the anchors as {then}, and has another {', '.join(other)} now"
        raise BadInput(f"base set {base_set}", f"judge {judge}", problem, "restore it, or build the set anew with it")


def _said(match: Match, outcome: Outcome) -> Said:
    error = outcome.error and f"{match.base_set} {match.anchor}: {outcome.error}"
    return Said(match.key, (match.winner(outcome), outcome.excluded, outcome.asked), outcome.call, error)


def _questions(matches: Iterable[Match]) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    """What judges are asked about those matches that need one."""
    return ((match.task, shown(match.pair)) for match in matches if settled(match.pair) is None)


def _ladders(warehouse: Warehouse, wanted: Iterable[Contest]) -> dict[tuple[str, str], Ladder]:
    """By model and base set, what adaptive mode starts from; without an entry all is asked."""
    due: dict[tuple[str, str], tuple[Within | Ranks, list[str]]] = {}
    for contest in wanted:
        if contest.judging.adaptive:
            who = contest.outputs["model"][0], contest.base_set
            due.setdefault(who, (contest.judging.adaptive, []))[1].extend(contest.outputs["passage"])
    found = {who: ladder(warehouse, *who, mode, passages) for who, (mode, passages) in due.items()}
    return {who: each for who, each in found.items() if each}


def _in_rounds(
    provider: Provider, matches: Sequence[Match], ladders: Mapping[tuple[str, str], Ladder], run: str
) -> dict[Key, Outcome]:
    """What came of the matches that were asked: of models without a ladder all of them, in the first round."""
    if said := on_trial.cost(provider, _questions(matches)):
        logger.info("comparison: %s%s", "at most " * bool(ladders), said)

    async def one(ask: Ask, match: Match) -> Outcome:
        return await compare(ask, match.task, match.pair)

    def next_round(given: Sequence[tuple[Match, Outcome]]) -> list[Match]:
        return _next(matches, ladders, {match.key: outcome for match, outcome in given})

    asked = on_trial.ask_all(
        provider, "comparison", one, next_round([]), lambda match: match.task, run, following=next_round
    )
    return {match.key: outcome for match, outcome in asked}


def _next(
    matches: Sequence[Match], ladders: Mapping[tuple[str, str], Ladder], given: Mapping[Key, Outcome]
) -> list[Match]:
    """The matches of the next round."""
    by_contest: dict[tuple[str, str], list[Match]] = {}
    for match in matches:
        by_contest.setdefault((match.model, match.base_set), []).append(match)
    batch: list[Match] = []
    for who, own in by_contest.items():
        left = [match for match in own if match.key not in given]
        if who in ladders and left:
            won = [(match.passage, match.anchor, match.winner(given[match.key])) for match in own if match.key in given]
            had = pl.DataFrame(won, schema=_WON, orient="row")
            pairs = following(ladders[who], had, ((match.passage, match.anchor) for match in left))
            left = [match for match in left if (match.passage, match.anchor) in pairs]
        batch += left
    return batch
