"""Comparisons of outputs with the anchors of base sets, as items and rows.

Here: the base sets and anchors with which an output is compared, the fingerprint of a comparison, and examinations of
judges with their results for base sets. Not here: the comparison of two texts (comparing), base sets themselves
(base_sets), strengths (scores), the pairs of adaptive mode (adaptive).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import FAILED, JudgeStanding, Report, cards, together
from benchmark_assets.examination.sample import Direction
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, PairExam
from benchmark_assets.metrics.measures import NONE, Estimate
from benchmark_assets.pairwise.adaptive import adaptive_inputs, round_pairs
from benchmark_assets.pairwise.adjusted import Known
from benchmark_assets.pairwise.base_sets import JudgeRecord, Judging, judgings
from benchmark_assets.pairwise.comparing import (
    Contenders,
    Side,
    arranged,
    comparing,
    drawn_sides,
    judged_by,
    settled,
    sides,
)
from benchmark_assets.pairwise.corrected import SentinelCounts
from benchmark_assets.studies.protocols import protocols
from benchmark_assets.studies.study import Answered, Group, Item, Rounds
from resources.digest import digest, text_hash
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict
from resources.provider.registry import Model
from resources.warehouse import Warehouse

PARTIAL = {1: (0.2, 0.7), 2: (0.05, 0.7)}
"""By the number of orders: rates at which a judge prefers a text of another passage in all of them, if it is right in
80 % of its verdicts, and if it is partial."""

PARTIALITY = math.log(50)
"""Log likelihood ratio of the second against the first rate at which a judge counts as partial. Two wrong pairs in both
orders are enough if no other pair is right."""

_PARTIAL = {
    "misplaced": "preferred the model's text for another passage to the anchor's text",
    "rival": "preferred the anchor's text for another passage to the model's text",
}
_RIGHT = (("accuracy", "damaged"), ("meaning", "subtle"))
_COUNTS = ["meaning", "damaged", "subtle", "misled"]

_KEY = dict.fromkeys(["system", "passage"], pl.String)


class Contest(NamedTuple):
    """The base set, options of judging and question template for one model's outputs on one corpus; and whether sides
    are drawn as JP-TL-Bench draws them."""

    base_set: str
    judging: Judging
    template: Template[Side]
    by_protocol: bool = False


def match(
    output: tuple[str, str], base_set: str, anchor: str, side: Side, template: Template[Side], pair: Contenders
) -> Item:
    """The item of a comparison between an output (model and passage) and the text of an anchor.

    `side` is the side on which the output is shown.
    """
    key = {"base_set": base_set, "anchor": anchor, "shown": side}
    return Item(output, key, template, pair._asdict(), settled(pair))


def winner(item: Item, verdict: Verdict[Side]) -> str | None:
    """The winner of a comparison, 'output' or 'anchor'; None if the judge named no winner."""
    return verdict.value and ("output" if verdict.value == item.key["shown"] else "anchor")


class Comparisons(OutputStudy[Contest]):
    """Comparisons of an output with the text of each anchor of each base set whose items include the passage.

    The judge is asked again only if the output, its source, the base set or the judge changes.
    """

    name = "comparison"

    def exam(self) -> PairExam:
        """The exam of the judges of base sets."""
        return ComparisonExam(self.warehouse, self.provider)

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Contest]]:
        """One group of outputs, with its `Contest`, for each model, base set and corpus.

        Two kinds of outputs are not compared with a base set: outputs of its anchors, because the judgments among
        anchors are frozen, and outputs for a passage whose source has changed since the anchors translated it. If the
        judge of a base set may not judge the model, or differs from the judge of the anchors, the group has a BadInput
        instead of a contest.
        """
        read = self.warehouse.read
        items = read("base_set_item", partitions.select("passage"), ["passage", "base_set", "source_hash"])
        sources = read("source_text", items.select("passage").unique(), ["passage", "text"])
        current = pl.col("text").map_elements(text_hash, return_dtype=pl.String)
        items = items.join(sources.select("passage", source_hash=current), on=["passage", "source_hash"], how="semi")
        items = items.drop("source_hash")
        outputs = partitions.select(OUTPUT).join(items, on="passage", maintain_order="left_right")
        base_sets = outputs.select("base_set").unique()
        anchors = read("anchor_output", base_sets, ["base_set", "anchor"]).unique()
        outputs = outputs.join(anchors, left_on=["base_set", "model"], right_on=["base_set", "anchor"], how="anti")
        columns = ["base_set", "judge", "judged", "content"]
        entries = {base_set: entry for base_set, *entry in read("base_set", base_sets, columns).iter_rows()}
        tags, judging_of = corpus_languages(self.warehouse), judgings(self.warehouse)
        published = protocols(self.warehouse, "compare")
        for (model, base_set, corpus), group in outputs.group_by("model", "base_set", CORPUS, maintain_order=True):
            name = str(base_set)
            (judge, judged, content), judging = entries[name], judging_of[name]
            how: Contest | BadInput
            try:
                (model_of_judge,) = impartial(self.provider, [judge], str(model), f"base set {name}", "judge")
                template = comparing(model_of_judge, tags[str(corpus)], published.get(name))
                how = Contest(name, judging, template, name in published)
                if judged:
                    _same_judge(name, judge, JudgeRecord.model_validate_json(judged), judged_by(self.provider, judge))
                determinants: object = template.determinants
            except BadInput as fault:
                how, determinants = fault, str(fault)
            fingerprint = digest(name, content, judging.model_dump(), determinants)
            yield Group(group.select(OUTPUT), how, fingerprint)

    def older(self, calls: pl.DataFrame) -> pl.DataFrame:
        """All calls, except those of outputs that are compared adaptively: a newly read reply would change which pairs
        are asked about next."""
        adaptive = [name for name, judging in judgings(self.warehouse).items() if judging.adaptive]
        rows = self.warehouse.read("comparison", pl.DataFrame({"base_set": adaptive}, {"base_set": pl.String}), OUTPUT)
        return calls.join(rows, on=OUTPUT, how="anti")

    def items(self, partitions: pl.DataFrame, how: Contest) -> Iterator[Item]:
        """One item for each output, anchor and side on which the output is shown."""
        base_set, judging, template, by_protocol = how
        passages = partitions.select("passage", base_set=pl.lit(base_set))
        sources = self.texts("source_text", passages.select("passage"))
        anchor_outputs = self.warehouse.read("anchor_output", passages, ["passage", "anchor", "text"]).sort("anchor")
        anchor_texts = anchor_outputs.rows_by_key("passage")
        texts = on_trial.texts(self.warehouse, partitions)
        drawn = self._drawn(base_set) if by_protocol else {}
        for model, passage in partitions.select(OUTPUT).iter_rows():
            output = model, passage
            if output in texts and passage in sources:
                for anchor, anchor_text in anchor_texts[passage]:
                    lot = drawn.get((anchor, passage))
                    for side in (lot,) if lot else sides(judging.orders, passage, model, anchor):
                        pair = Contenders(sources[passage], *arranged(texts[output], anchor_text, side))
                        item = match(output, base_set, anchor, side, template, pair)
                        shown = {"name": passage.partition("/")[2], "first": side}
                        yield replace(item, content={**item.content, **shown}) if lot else item

    def _drawn(self, base_set: str) -> Mapping[tuple[str, str], Side]:
        """The side of a model's text by anchor and passage. Items are drawn in the order of their names."""
        rows = self.warehouse.read("anchor_output", pl.DataFrame({"base_set": [base_set]}), ["anchor", "passage"])
        passages = {passage.partition("/")[2]: passage for passage in rows["passage"].unique()}
        lots = drawn_sides(rows["anchor"].unique(), passages)
        return {(anchor, passages[item]): side for (anchor, item), side in lots.items()}

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """In adaptive mode, compare a model with a base set round by round until the model's strength is known
        precisely enough. Outputs that no round compared get no rows. Without adaptive mode, there is one round.
        """
        items_of: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            items_of.setdefault((item.partition[0], str(item.key["base_set"])), []).append(item)
        judging_of = judgings(self.warehouse)
        adaptive = {
            (model, base_set): adaptive_inputs(
                self.warehouse, model, base_set, mode, stale.filter(model=model)["passage"]
            )
            for model, base_set in items_of if (mode := judging_of[base_set].adaptive)
        }  # fmt: skip

        def next_round(answered: Sequence[Answered]) -> list[Item]:
            verdicts = {id(item): verdict for item, verdict in answered}
            batch: list[Item] = []
            for contest, contest_items in items_of.items():
                open_items = [item for item in contest_items if id(item) not in verdicts]
                inputs = adaptive.get(contest)
                if inputs and open_items:
                    judged_items = (item for item in contest_items if id(item) in verdicts)
                    judged = [(*_pair(item), winner(item, verdicts[id(item)])) for item in judged_items]
                    pairs = round_pairs(inputs, judged, map(_pair, open_items))
                    open_items = [item for item in open_items if _pair(item) in pairs]
                batch += open_items
            return batch

        return next_round

    def rows_of(self, item: Item, verdict: Verdict[Side]) -> Iterable[Mapping[str, object]]:
        """One row: the winner, the reason for an exclusion, and the number of questions asked."""
        yield {"winner": winner(item, verdict), "excluded": verdict.abstention, "asked": verdict.asked}

    def fault(self, item: Item, verdict: Verdict[Side]) -> str:
        """The base set, the anchor and the error of a failed call; '' if the call did not fail."""
        return f"{item.key['base_set']} {item.key['anchor']}: {verdict.error}" if verdict.error else ""


class ComparisonExam(PairExam):
    """The exam of the judges of base sets."""

    purpose = Comparisons.name

    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """The judges of base sets with items from a corpus, by corpus."""
        items = self.warehouse.read("base_set_item", columns=["base_set", "passage"])
        judges = self.warehouse.read("base_set", columns=["base_set", "judge"])
        used = items.join(judges, on="base_set").select(CORPUS, "judge", aspect=pl.lit("")).unique().sort("judge")
        return used.rows_by_key("corpus")

    def template(self, judge: Model, direction: Direction) -> Template[Side]:
        """The template of the question about a pair of texts, by the protocol of a base set of the judge, if any."""
        judges = self.warehouse.read("base_set", columns=["base_set", "judge"]).filter(judge=judge.name)["base_set"]
        published = protocols(self.warehouse, "compare")
        protocol = next((published[name] for name in judges.sort() if name in published), None)
        return comparing(judge, (direction.source, direction.target), protocol)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source text of each passage."""
        return {text.passage: {"source": text.material.source} for text in texts}

    def preferred(self, value: Side) -> str:
        """The letter in the reply."""
        return value


def text_lengths(warehouse: Warehouse, base_set: str, outputs: pl.DataFrame) -> pl.DataFrame:
    """Lengths of all anchor texts of a base set, and of the given outputs (columns `model` and `passage`).

    Returns
    -------
    Columns `system`, `passage` and `length`, in characters; 0 for a blank text.
    """
    key = pl.DataFrame({"base_set": [base_set]})
    anchors = warehouse.read("anchor_output", key, ["anchor", "passage", "text"]).rows()
    texts = on_trial.texts(warehouse, outputs.select(OUTPUT).unique())
    rows = [*anchors, *((*output, text) for output, text in texts.items())]
    lengths = [(system, passage, len(text) if text.strip() else 0) for system, passage, text in rows]
    return pl.DataFrame(lengths, schema={**_KEY, "length": pl.Int64}, orient="row")


def _pair(item: Item) -> tuple[str, str]:
    """Passage and anchor of an item."""
    return item.partition[1], str(item.key["anchor"])


def _same_judge(base_set: str, judge: str, then: JudgeRecord, now: JudgeRecord) -> None:
    """Check that the anchors were judged by the same judge with the same settings and prompt: JP-TL-Bench, section 4.5.

    Raises
    ------
    BadInput
        If a field of the record differs; the message names the fields.
    """
    if differences := then.differences(now):
        # This text is part of the fingerprint of outputs that are compared with several base sets.
        problem = f"judged the anchors as {then}, and has another {', '.join(differences)} now"
        raise BadInput(f"base set {base_set}", f"judge {judge}", problem, "restore it, or build the set anew with it")


def known_of_base_sets(warehouse: Warehouse, models: pl.DataFrame) -> dict[str, Known]:
    """What is known of each base set's judge: from its report cards, one for each direction, and from hidden sentinels
    of `models` (column `model`)."""
    columns = ["judge", "aspect", "direction", *NONE.columns("length"), "accuracy", *_COUNTS]
    rows = warehouse.read("judge_report", pl.DataFrame({"purpose": [Comparisons.name]}), columns)
    of_cards = {(row["judge"], row["aspect"], row["direction"]): row for row in rows.iter_rows(named=True)}
    same, right = pl.col("same"), pl.col("right")
    hidden = hidden_pairs(warehouse, models).filter("both").group_by("base_set", "model").agg(
        right=(same & right).sum(), misled=(same & ~right).sum(), split=(~same).sum()
    )  # fmt: skip
    known = {}
    for (base_set, direction), reports in _reports(warehouse).items():
        if not direction:
            of_set = [of_cards[report] for report in dict.fromkeys(reports) if report in of_cards]
            padding = [Estimate(*(row[end] for end in NONE.columns("length"))) for row in of_set]
            misled = sum(row["misled"] for row in of_set)
            right = sum(round((row[rate] or 0.0) * row[count]) for row in of_set for rate, count in _RIGHT)
            split = sum(row[count] for row in of_set for _, count in _RIGHT) - right - misled
            own = {model: SentinelCounts(*counts) for _, model, *counts in hidden.filter(base_set=base_set).iter_rows()}
            lengths = [each for each in padding if each.value is not None]
            known[base_set] = Known(lengths, SentinelCounts(right, misled, split), own)
    return known


def hidden_pairs(warehouse: Warehouse, models: pl.DataFrame) -> pl.DataFrame:
    """Hidden sentinels with a known better text, of the given models (column `model`).

    Returns
    -------
    One row for each pair: `model`, `passage`, `base_set`, `anchor`, `kind`; `both`, whether it was shown in both
    orders; `same`, whether the judge named the same text whenever it was asked; `right`, whether it was the better
    one.
    """
    keys = models.select("model").unique().with_columns(study=pl.lit(Comparisons.name))
    columns = ["model", "passage", "item", "kind", "right"]
    rows = warehouse.read("hidden_sentinel", keys, columns).filter(pl.col("kind") != "repeat")
    names = pl.col("item").str.split("|").list.slice(0, 2).list.to_struct(fields=["base_set", "anchor"])
    pairs = rows.drop_nulls("right").with_columns(names.alias("names")).unnest("names")
    pairs = pairs.group_by("model", "passage", "base_set", "anchor", "kind").agg(
        both=pl.len() == 2, same=pl.col("right").n_unique() == 1, right=pl.col("right").all()
    )  # fmt: skip
    return pairs.sort("model", "passage", "base_set", "anchor")


def partial_to(warehouse: Warehouse, models: pl.DataFrame) -> dict[tuple[str, str], JudgeStanding]:
    """Models whose judge prefers their texts, or others to them, although they are those of another passage, by model
    and base set."""
    found = {}
    for (model, base_set, kind), pairs in hidden_pairs(warehouse, models).group_by("model", "base_set", "kind"):
        wrong = (pairs["same"] & ~pairs["right"]).to_numpy()
        if kind in _PARTIAL and is_partial(wrong, pairs["both"].to_numpy()):
            problem = f"the judge {_PARTIAL[str(kind)]} in {wrong.sum()} of {len(wrong)} hidden sentinels"
            found[str(model), str(base_set)] = JudgeStanding(FAILED, problem)
    return found


def is_partial(wrong: NDArray[np.bool_], both: NDArray[np.bool_]) -> bool:
    """Whether hidden sentinels show that a judge is partial: `wrong`, whether it preferred the text of another passage
    whenever it was asked; `both`, whether it was asked in both orders; shape (pairs,)."""
    rates = np.where(both[:, None], PARTIAL[2], PARTIAL[1])
    evidence = np.where(wrong[:, None], rates, 1 - rates)
    return float(np.log(evidence[:, 1] / evidence[:, 0]).sum()) >= PARTIALITY


def _reports(warehouse: Warehouse) -> dict[tuple[str, str], list[Report]]:
    """Report cards of each base set's judge, by base set and direction ('' for all directions).

    Only cards for the language pairs of the base set's items are included.
    """
    languages = corpus_languages(warehouse)
    judges = warehouse.read("base_set", columns=["base_set", "judge"])
    items = warehouse.read("base_set_item", columns=["base_set", "passage", "direction"])
    items = items.select("base_set", CORPUS, "direction").unique()
    reports: dict[tuple[str, str], list[Report]] = {(base_set, ""): [] for base_set in judges["base_set"]}
    for base_set, corpus, direction, judge in items.join(judges, on="base_set").iter_rows():
        if corpus in languages:
            for name in ("", direction):
                reports.setdefault((base_set, name), []).append((judge, "", "-".join(languages[corpus])))
    return reports


def of_slices(warehouse: Warehouse, slices: Iterable[tuple[str, str]]) -> list[JudgeStanding]:
    """The verdict on the judge for each base set and slice in `slices`. A slice of one direction, such as 'ja-en easy',
    depends only on the examination in this direction."""
    of_cards = cards(warehouse, "comparison")
    standings = {key: together(of_set, of_cards) for key, of_set in _reports(warehouse).items()}
    return [standings.get((base_set, name.partition(" ")[0]), standings[base_set, ""]) for base_set, name in slices]
