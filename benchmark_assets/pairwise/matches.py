"""Which comparisons an output needs, asking for them, and what came of them as rows.

Here: base sets that an output is an item of, the order in which texts are shown, what determines a comparison, the
calls of a run. Not here: comparing two texts (comparing), base sets themselves (base_sets), strengths (scores), which
pairs adaptive mode asks for (rounds).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.lineage.refresh import Computed
from benchmark_assets.lineage.standing import digest
from benchmark_assets.pairwise.base_sets import Adaptive, Judging, text_hash
from benchmark_assets.pairwise.comparing import Outcome, Pair, Side, compare, comparing, settled, shown
from benchmark_assets.pairwise.rounds import Ladder, following, ladder
from benchmark_assets.partitions import CORPUS
from benchmark_assets.translation.systems import Systems
from resources.errors import BadInput
from resources.provider.asking import Task, at_once, estimate_asking
from resources.provider.client import complete
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.pairwise")

SIDES: tuple[Side, Side] = ("A", "B")

Key = tuple[str, str, str, str, str]

_OUTPUT = ["model", "passage"]
_KEY = [*_OUTPUT, "base_set", "anchor", "shown"]
_COMPARISON = {**dict.fromkeys([*_KEY, "winner", "excluded"], pl.String), "asked": pl.Int32}
_CALL = dict.fromkeys([*_KEY, "call"], pl.String)
_WON = dict.fromkeys(["passage", "anchor", "winner"], pl.String)
_FAILURE = dict.fromkeys([*_OUTPUT, "error"], pl.String)


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
    wanted = outputs.select(_OUTPUT).join(items, on="passage", maintain_order="left_right")
    own_sets = wanted.select("base_set").unique()
    anchors = warehouse.read("anchor_output", own_sets, ["base_set", "anchor"]).unique()
    wanted = wanted.join(anchors, left_on=["base_set", "model"], right_on=["base_set", "anchor"], how="anti")
    entries = warehouse.read("base_set", own_sets, ["base_set", "judge", "settings", "content"])
    sets = {base_set: entry for base_set, *entry in entries.iter_rows()}
    corpora = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    languages = {corpus: (source, target) for corpus, source, target in corpora.iter_rows()}
    for (model, base_set, corpus), own in wanted.group_by("model", "base_set", CORPUS, maintain_order=True):
        judge, settings, content = sets[str(base_set)]
        task: Task | BadInput
        try:
            (model_of_judge,) = impartial(provider, [judge], str(model), f"base set {base_set}", "judge")
            task = comparing(model_of_judge, languages[str(corpus)])
        except BadInput as fault:
            task = fault
        yield Contest(str(base_set), own.select(_OUTPUT), Judging.model_validate_json(settings), content, task)


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the comparisons of each output besides its texts: columns `model`, `passage` and `settings`.

    Outputs that are items of no base set are left out. Of models that are known no more, `settings` is null.
    """
    known = systems.known(asked["model"].unique())
    rows = [pl.DataFrame(schema=dict.fromkeys([*_OUTPUT, "settings"], pl.String))]
    for contest in contests(warehouse, systems.provider, asked):
        of_known = contest.fingerprint if contest.outputs["model"][0] in known else None
        rows.append(contest.outputs.with_columns(settings=pl.lit(of_known, pl.String)))
    whole = pl.when(pl.col("settings").has_nulls()).then(None).otherwise(pl.col("settings").sort().str.join(" "))
    return pl.concat(rows).group_by(_OUTPUT, maintain_order=True).agg(settings=whole)


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What comparing outputs would ask of judges, in adaptive mode at most; None where they are asked nothing."""
    found, _ = _matches(warehouse, contests(warehouse, provider, due))
    said = estimate(provider, found)
    return said if said.calls else None


def estimate(provider: Provider, matches: Iterable[Match]) -> Estimate:
    """Calls and cost of those matches that need a judge, taking every first answer to be one."""
    needed = (match for match in matches if settled(match.pair) is None)
    return estimate_asking(provider.ledger, ((match.task, shown(match.pair)) for match in needed))


def compare_outputs(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """Have outputs compared with the anchors of their base sets. The run pays.

    An output has failed where one of its base sets has a judge that may not judge it, or where a call failed. It has
    no comparisons then; what was answered is in the ledger. In adaptive mode an output may need none: it has no rows
    either, and no failure.
    """
    wanted = list(contests(warehouse, provider, due))
    found, failures = _matches(warehouse, wanted)
    given = _in_rounds(provider, found, _ladders(warehouse, wanted), run)
    asked = [match for match in found if match.key in given]
    return tabulate(asked, [given[match.key] for match in asked], failures)


def outcomes(provider: Provider, matches: Sequence[Match], run: str) -> list[Outcome]:
    """What comes of each match, after saying how many calls that is and about what it will cost. The run pays."""
    given = _in_rounds(provider, matches, {}, run)
    return [given[match.key] for match in matches]


def tabulate(
    matches: Sequence[Match], outcomes: Sequence[Outcome], failures: Mapping[tuple[str, str], str]
) -> Computed:
    """Sort outcomes, one for each match, into tables; an output of which one is an error failed.

    Parameters
    ----------
    failures
        By model and passage, why others were not compared.
    """
    errors = {output: [words] for output, words in failures.items()}
    for match, outcome in zip(matches, outcomes, strict=True):
        if outcome.error:
            words = f"{match.base_set} {match.anchor}: {outcome.error}"
            errors.setdefault((match.model, match.passage), []).append(words)
    good = [
        (match, outcome) for match, outcome in zip(matches, outcomes, strict=True)
        if (match.model, match.passage) not in errors
    ]  # fmt: skip
    rows = [(*match.key, match.winner(outcome), outcome.excluded, outcome.asked) for match, outcome in good]
    calls = [(*match.key, outcome.call) for match, outcome in good if outcome.call]
    failed = [(*output, "; ".join(dict.fromkeys(words))) for output, words in errors.items()]
    return Computed(
        {"comparison": pl.DataFrame(rows, schema=_COMPARISON, orient="row")},
        pl.DataFrame(failed, schema=_FAILURE, orient="row"),
        {"comparison_call": pl.DataFrame(calls, schema=_CALL, orient="row")},
    )


def texts(warehouse: Warehouse, outputs: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Texts of outputs by model and passage; '' where the model declined to translate."""
    declined = warehouse.read("refusal", outputs.select(_OUTPUT), _OUTPUT)
    found = warehouse.read("model_output", outputs.select(_OUTPUT), [*_OUTPUT, "text"])
    own = {(model, passage): text for model, passage, text in found.iter_rows()}
    return dict.fromkeys(declined.rows(), "") | own


def _matches(warehouse: Warehouse, wanted: Iterable[Contest]) -> tuple[list[Match], dict[tuple[str, str], str]]:
    """All matches of contests, output by output; and by model and passage, why some outputs have none."""
    found: list[Match] = []
    failures: dict[tuple[str, str], str] = {}
    for contest in wanted:
        if isinstance(contest.task, BadInput):
            failures |= dict.fromkeys(contest.outputs.rows(), str(contest.task))
            continue
        passages = contest.outputs.select("passage", base_set=pl.lit(contest.base_set))
        sources = dict(warehouse.read("source_text", passages.select("passage"), ["passage", "text"]).iter_rows())
        frozen: dict[str, dict[str, str]] = {}
        for passage, anchor, text in warehouse.read(
            "anchor_output", passages, ["passage", "anchor", "text"]
        ).iter_rows():
            frozen.setdefault(passage, {})[anchor] = text
        own = texts(warehouse, contest.outputs)
        for model, passage in contest.outputs.iter_rows():
            source = sources.get(passage)
            if source is None or (model, passage) not in own:
                failures[model, passage] = "it lost its source or its text: materialize model_output first"
            else:
                for anchor, other in sorted(frozen[passage].items()):
                    for side in orders(contest.judging, model, passage, anchor):
                        text = own[model, passage]
                        pair = Pair(source, text, other) if side == "A" else Pair(source, other, text)
                        found.append(Match(model, passage, contest.base_set, anchor, side, contest.task, pair))
    return [match for match in found if (match.model, match.passage) not in failures], failures


def _ladders(warehouse: Warehouse, wanted: Iterable[Contest]) -> dict[tuple[str, str], Ladder]:
    """By model and base set, what adaptive mode starts from; without an entry all is asked."""
    due: dict[tuple[str, str], tuple[Adaptive, list[str]]] = {}
    for contest in wanted:
        if contest.judging.adaptive:
            who = contest.outputs["model"][0], contest.base_set
            due.setdefault(who, (contest.judging.adaptive, []))[1].extend(contest.outputs["passage"])
    found = {who: ladder(warehouse, *who, mode.within, passages) for who, (mode, passages) in due.items()}
    return {who: each for who, each in found.items() if each}


def _in_rounds(
    provider: Provider, matches: Sequence[Match], ladders: Mapping[tuple[str, str], Ladder], run: str
) -> dict[Key, Outcome]:
    """What came of the matches that were asked: of models without a ladder all of them, in the first round."""
    given: dict[Key, Outcome] = {}
    if not matches:
        return given
    logger.info("comparison: %s%s", "at most " * bool(ladders), estimate(provider, matches))

    async def ask_all() -> None:
        async with provider.opened(run) as client:

            async def one(match: Match) -> Outcome:
                return await compare(client.ask, match.task, match.pair)

            while batch := _next(matches, ladders, given):
                said = await at_once(client, one, batch, (match.task.model for match in batch), "comparison")
                given.update(zip((match.key for match in batch), said, strict=True))

    complete(ask_all())
    return given


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
