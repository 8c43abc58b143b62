"""Comparisons of outputs with the anchors of base sets, as items and rows.

Here: the base sets of an output, the order in which texts are shown, what determines a comparison. Not here: comparing
two texts (comparing), base sets themselves (base_sets), strengths (scores), the pairs of adaptive mode (rounds).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.pairwise.base_sets import JudgeRecord, Judging, text_hash
from benchmark_assets.pairwise.comparing import SIDES, Contenders, Side, comparing, judged_by, settled
from benchmark_assets.pairwise.rounds import following, ladder
from benchmark_assets.studies.study import Answered, Group, Item, Rounds
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict

_WON = dict.fromkeys(["passage", "anchor", "winner"], pl.String)


class Contest(NamedTuple):
    """How outputs of one model and corpus are compared with the anchors of a base set."""

    base_set: str
    judging: Judging
    template: Template[Side]


def orders(judging: Judging, model: str, passage: str, anchor: str) -> tuple[Side, ...]:
    """Sides on which an output is shown against an anchor's: both in turn, or one drawn by a hash.

    By the hash, either side is equally likely, the same in every process, and independent of other comparisons.
    """
    if judging.orders == "both":
        return SIDES
    return (SIDES[int(digest(passage, model, anchor), 16) % 2],)


def match(
    output: tuple[str, str], base_set: str, anchor: str, side: Side, template: Template[Side], pair: Contenders
) -> Item:
    """One comparison of an output, given by model and passage, with an anchor's text. The output is shown as `side`."""
    key = {"base_set": base_set, "anchor": anchor, "shown": side}
    return Item(output, key, template, pair._asdict(), settled(pair))


def winner(item: Item, verdict: Verdict[Side]) -> str | None:
    """The winner, 'output' or 'anchor'; None if there is none."""
    return verdict.value and ("output" if verdict.value == item.key["shown"] else "anchor")


class Comparisons(OutputStudy[Contest]):
    """Verdicts of a base set's judge on an output against each anchor's, if the passage is an item of the set.

    A judge is asked again only if the output, its source, the base set or the judge changed.
    """

    name = "comparison"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Contest]]:
        """The contests of outputs with each base set.

        An anchor of a base set has no contest with it: the judgments between anchors are frozen. An item whose source
        is not the text that the anchors translated has none either. It is a fault if the judge of a base set may not
        judge the model, or is not the judge that judged the anchors.
        """
        read = self.warehouse.read
        items = read("base_set_item", partitions.select("passage"), ["passage", "base_set", "source_hash"])
        sources = read("source_text", items.select("passage").unique(), ["passage", "text"])
        now = pl.col("text").map_elements(text_hash, return_dtype=pl.String)
        items = items.join(sources.select("passage", source_hash=now), on=["passage", "source_hash"], how="semi")
        items = items.drop("source_hash")
        wanted = partitions.select(OUTPUT).join(items, on="passage", maintain_order="left_right")
        own_sets = wanted.select("base_set").unique()
        anchors = read("anchor_output", own_sets, ["base_set", "anchor"]).unique()
        wanted = wanted.join(anchors, left_on=["base_set", "model"], right_on=["base_set", "anchor"], how="anti")
        entries = read("base_set", own_sets, ["base_set", "judge", "judged", "settings", "content"])
        sets = {base_set: entry for base_set, *entry in entries.iter_rows()}
        tags = on_trial.languages(self.warehouse)
        for (model, base_set, corpus), own in wanted.group_by("model", "base_set", CORPUS, maintain_order=True):
            name = str(base_set)
            judge, judged, settings, content = sets[name]
            judging = Judging.model_validate_json(settings)
            how: Contest | BadInput
            try:
                (model_of_judge,) = impartial(self.provider, [judge], str(model), f"base set {name}", "judge")
                template = comparing(model_of_judge, tags[str(corpus)])
                how = Contest(name, judging, template)
                if judged:
                    _same_judge(name, judge, JudgeRecord.model_validate_json(judged), judged_by(self.provider, judge))
                determinants: object = template.determinants
            except BadInput as fault:
                how, determinants = fault, str(fault)
            fingerprint = digest(name, content, judging.model_dump(), determinants)
            yield Group(own.select(OUTPUT), how, fingerprint)

    def items(self, partitions: pl.DataFrame, how: Contest) -> Iterator[Item]:
        """Each output against each anchor's, once or once on each side."""
        base_set, judging, template = how
        passages = partitions.select("passage", base_set=pl.lit(base_set))
        sources = self.texts("source_text", passages.select("passage"))
        frozen: dict[str, dict[str, str]] = {}
        for passage, anchor, text in self.warehouse.read(
            "anchor_output", passages, ["passage", "anchor", "text"]
        ).iter_rows():
            frozen.setdefault(passage, {})[anchor] = text
        own = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            if output in own and output[1] in sources:
                for anchor, other in sorted(frozen[output[1]].items()):
                    for side in orders(judging, *output, anchor):
                        texts = (own[output], other)[:: 1 if side == "A" else -1]
                        pair = Contenders(sources[output[1]], *texts)
                        yield match(output, base_set, anchor, side, template, pair)

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """In adaptive mode, ask about a contest round by round until the model's strength is known well enough. An
        output that needs no comparison then has no rows. All other items are in the first round."""
        contests: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            contests.setdefault((item.partition[0], str(item.key["base_set"])), []).append(item)
        modes = {
            base_set: Judging.model_validate_json(settings).adaptive
            for base_set, settings in self.warehouse.read("base_set", columns=["base_set", "settings"]).iter_rows()
        }
        ladders = {
            (model, base_set): ladder(
                self.warehouse, model, base_set, mode, stale.filter(model=model)["passage"].to_list()
            )
            for model, base_set in contests
            if (mode := modes[base_set])
        }

        def next_round(answered: Sequence[Answered]) -> list[Item]:
            verdicts = {id(item): verdict for item, verdict in answered}
            batch: list[Item] = []
            for contest, own in contests.items():
                left = [item for item in own if id(item) not in verdicts]
                known = ladders.get(contest)
                if known and left:
                    had = [(*_pair(item), winner(item, verdicts[id(item)])) for item in own if id(item) in verdicts]
                    pairs = following(known, pl.DataFrame(had, schema=_WON, orient="row"), map(_pair, left))
                    left = [item for item in left if _pair(item) in pairs]
                batch += left
            return batch

        return next_round

    def rows_of(self, item: Item, verdict: Verdict[Side]) -> Iterable[Mapping[str, object]]:
        """The comparison."""
        yield {"winner": winner(item, verdict), "excluded": verdict.abstention, "asked": verdict.asked}

    def fault(self, item: Item, verdict: Verdict[Side]) -> str:
        """The base set and the anchor of a call that failed."""
        return f"{item.key['base_set']} {item.key['anchor']}: {verdict.error}" if verdict.error else ""


def _pair(item: Item) -> tuple[str, str]:
    return item.partition[1], str(item.key["anchor"])


def _same_judge(base_set: str, judge: str, then: JudgeRecord, now: JudgeRecord) -> None:
    """Refuse to compare if the anchors were judged by another judge or prompt: JP-TL-Bench, section 4.5.

    Raises
    ------
    BadInput
        If the judge or its prompt differs, naming the differences.
    """
    if other := then.other(now):
        problem = f"judged the anchors as {then}, and has another {', '.join(other)} now"
        raise BadInput(f"base set {base_set}", f"judge {judge}", problem, "restore it, or build the set anew with it")
