"""The examination of judges as a study: a judge is asked about sentinels with the prompt of its own study.

Here: how a study says how its judges are examined (`Exam`), items, rounds and rows. Not here: the exams of studies,
which stand beside these studies (adjudication.panel, error_spans.judging, literary.ensemble, pairwise.matches and
pairwise.rubric), sentinels (sentinels, sample), the verdict on a judge (sequential, reports).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import polars as pl

from benchmark_assets.examination.reports import MARKS
from benchmark_assets.examination.sample import Direction, directions, sounds
from benchmark_assets.examination.sentinels import DAMAGES, Sentinel, Sound, Trait, sentinels
from benchmark_assets.examination.sequential import (
    CALLS_ABOUT_PAIRS,
    CALLS_ABOUT_TEXTS,
    Choice,
    Outcome,
    compared,
    counts,
    next_round,
)
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.studies.study import CALLS, Answered, Group, Item, ItemStudy, Rounds
from resources import catalogue
from resources.catalogue import schema
from resources.digest import digest
from resources.provider.asking import Template, Verdict
from resources.provider.provider import Provider
from resources.provider.reading import Outcome as OutcomeOfCall
from resources.provider.registry import Examination, Model
from resources.provider.served import versioned
from resources.warehouse import Warehouse

Letter = Literal["A", "B"]
LETTERS: tuple[Letter, Letter] = ("A", "B")

Asked = tuple[str, Mapping[str, Any], Mapping[str, object]]
"""A question about a sentinel, as a tuple: what the judge sees (`shown`); its content; and the columns of its row that
are known before the reply."""

FINAL = (OutcomeOfCall.EMPTY, OutcomeOfCall.TOO_LONG, OutcomeOfCall.REJECTED)
"""Outcomes of failed calls that count as replies without a choice, because asking again would not change them. After
other failures, such as an outage, the judge's examination lacks a reply, and the next update asks again."""

_EXAMINEE = ("purpose", "judge", "direction", "aspect")
"""Columns that identify an examinee."""


class Examinee(NamedTuple):
    """A judge that is examined in one direction, with the template of its questions, and the aspect that it judges (''
    if it judges whole translations). `options` are settings of its study that change the content of questions."""

    judge: str
    aspect: str
    direction: Direction
    template: Template[Any]
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exam(ABC):
    """How the judges of a study are examined.

    `purpose` is the name of the study, `asked` has the number of questions about a sentinel, by trait. `best` names, in
    words, the best verdict that a judge of single texts can give; '' for judges that choose between two texts.
    """

    warehouse: Warehouse
    provider: Provider

    purpose: ClassVar[str]
    asked: ClassVar[Mapping[Trait, int]]
    best: ClassVar[str] = ""

    @abstractmethod
    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """The name of each judge and the aspect that it judges, by corpus."""

    @abstractmethod
    def template(self, judge: Model, direction: Direction) -> Template[Any]:
        """The template of a judge's questions about outputs."""

    @abstractmethod
    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The content of the questions about each passage, except the translations. Passages that are not in the result
        are not used."""

    @abstractmethod
    def questions(self, examinee: Examinee, context: Mapping[str, Any], sentinel: Sentinel) -> Iterator[Asked]:
        """The questions about a sentinel."""

    @abstractmethod
    def outcome(self, answers: Sequence[Answered]) -> Outcome:
        """The choices on a sentinel, from the answers to its questions."""

    @abstractmethod
    def reply(self, item: Item, verdict: Verdict[Any]) -> Mapping[str, object]:
        """The columns of a row that hold the judge's reply."""

    def damages(self, aspect: str) -> Sequence[str]:
        """The kinds of damage that a judge of this aspect should notice; by default all."""
        return DAMAGES

    def options(self, judge: str, direction: Direction) -> tuple[str, ...]:
        """Settings of the study that change the content of a judge's questions; by default none."""
        return ()

    def thresholds(self) -> Examination:
        """Thresholds of the examination."""
        examination = self.provider.registry().examination
        return examination.of_marks() if self.purpose in MARKS else examination

    def examinees(self) -> Iterator[Examinee]:
        """The registered judges of corpora that request an examination, once for each direction and aspect."""
        registry, of_corpora = self.provider.registry(), directions(self.warehouse)
        used = {
            (judge, aspect, of_corpora[corpus]): None
            for corpus, seats in sorted(self.seats().items()) if corpus in of_corpora
            for judge, aspect in seats if judge in registry.judges
        }  # fmt: skip
        for judge, aspect, direction in used:
            template = self.template(versioned(registry.model(judge), self.provider.ledger), direction)
            yield Examinee(judge, aspect, direction, template, self.options(judge, direction))


class PairExam(Exam):
    """The exam of judges that choose between two texts. Each pair is shown in both orders."""

    asked: ClassVar[Mapping[Trait, int]] = CALLS_ABOUT_PAIRS

    def shown(self, examinee: Examinee, context: Mapping[str, Any], a: str, b: str) -> Mapping[str, Any]:
        """The content of a question about the translations `a` and `b`."""
        return {**context, "translation_a": a, "translation_b": b}

    @abstractmethod
    def preferred(self, value: Any) -> str:
        """The letter of the text that a reply prefers, or any other string if the reply prefers neither text."""

    def questions(self, examinee: Examinee, context: Mapping[str, Any], sentinel: Sentinel) -> Iterator[Asked]:
        """Two questions about each sentinel, with the text on trial as A and as B; one question if the texts are
        identical."""
        for side, trial in list(zip(LETTERS, sentinel.trials, strict=True))[: self.asked[sentinel.trait]]:
            a, b = (trial, sentinel.sound) if side == "A" else (sentinel.sound, trial)
            ratio = len(trial) / len(sentinel.sound)
            yield side, self.shown(examinee, context, a, b), {"trial_length": ratio}

    def outcome(self, answers: Sequence[Answered]) -> Outcome:
        """The choices with the text on trial shown as A and as B."""
        choices = [self._choice(item, verdict) for item, verdict in answers]
        return choices[0], choices[-1]

    def reply(self, item: Item, verdict: Verdict[Any]) -> Mapping[str, object]:
        """The choice."""
        return {"choice": self._choice(item, verdict)}

    def _choice(self, item: Item, verdict: Verdict[Any]) -> Choice:
        preferred = "" if verdict.value is None else self.preferred(verdict.value)
        if preferred not in LETTERS:
            return "neither"
        return "trial" if preferred == item.key["shown"] else "sound"


class TextExam(Exam):
    """The exam of judges of single texts. The sound text and the text on trial are shown in separate questions."""

    asked: ClassVar[Mapping[Trait, int]] = CALLS_ABOUT_TEXTS

    @abstractmethod
    def worth(self, value: Any) -> float | None:
        """The value of a verdict from 0 (worst) to 1 (best); None if it does not rate the translation."""

    def questions(self, examinee: Examinee, context: Mapping[str, Any], sentinel: Sentinel) -> Iterator[Asked]:
        """A question about the sound text, if the trait compares both texts; and a question about the text on trial."""
        if self.asked[sentinel.trait] > 1:
            yield "sound", {**context, "candidate": sentinel.sound}, {}
        yield "trial", {**context, "candidate": sentinel.trials[0]}, {}

    def outcome(self, answers: Sequence[Answered]) -> Outcome:
        """The outcome. Both of its choices are the same: the text with the better verdict, or neither."""
        choice = compared([self._worth(verdict) for _, verdict in answers])
        return choice, choice

    def reply(self, item: Item, verdict: Verdict[Any]) -> Mapping[str, object]:
        """The value of the verdict."""
        return {"worth": self._worth(verdict)}

    def _worth(self, verdict: Verdict[Any]) -> float | None:
        return None if verdict.value is None else self.worth(verdict.value)


class Examinations(ItemStudy[tuple[Exam, Examinee]]):
    """The study that examines the judges of all studies. It has no partitions. `exams` says how each is examined."""

    name = "sentinel"
    dims: ClassVar[tuple[str, ...]] = ()
    exams: ClassVar[Sequence[type[Exam]]]

    @cached_property
    def _by_purpose(self) -> Mapping[object, Exam]:
        return {exam.purpose: exam(self.warehouse, self.provider) for exam in self.exams}

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[Exam, Examinee]]]:
        """A group for each purpose, judge, direction and aspect."""
        for purpose, exam in self._by_purpose.items():
            thresholds = exam.thresholds().model_dump(exclude={"marks"})
            for examinee in exam.examinees():
                judge, aspect, direction, template, options = examinee
                once = replace(template, tries=1, final=FINAL)  # so that the number of calls is bounded
                determinants = template.determinants, thresholds, exam.damages(aspect)
                fingerprint = digest(purpose, judge, aspect, direction, *determinants, *options)
                yield Group(partitions, (exam, examinee._replace(template=once)), fingerprint)

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """A hash of the fingerprints of all groups. The study does not apply if no judge is to be examined."""
        fingerprints = sorted(str(group.fingerprint) for group in self.groups(partitions))
        applicable = partitions if fingerprints else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(*fingerprints)))

    def rereadable(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """None: a newly read reply would change which sentinels a judge is asked about next."""
        return partitions.clear()

    def items(self, partitions: pl.DataFrame, how: tuple[Exam, Examinee]) -> Iterator[Item]:
        """The questions about each sentinel."""
        exam, (judge, aspect, direction, template, _) = how
        texts = sounds(self.warehouse, direction)
        contexts = exam.contexts(how[1], texts)
        known = [text for text in texts if text.passage in contexts]
        limits = counts(self.provider.registry().examination.calls)
        wanted = {trait: limits[trait] for trait in exam.asked}
        made = sentinels(known, direction.settings[0].seed, wanted, exam.damages(aspect), exam.best)
        for number, sentinel in enumerate(made):
            of_sentinel = {
                "purpose": exam.purpose, "judge": judge, "direction": direction.name, "aspect": aspect,
                "trait": sentinel.trait, "kind": sentinel.kind, "passage": sentinel.passage,
            }  # fmt: skip
            for shown, content, row in exam.questions(how[1], contexts[sentinel.passage], sentinel):
                facts = {"number": number, **row}
                yield Item((), {**of_sentinel, "shown": shown}, template, content, facts=facts)

    def most(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items of each judge up to the limit of calls."""
        calls = self.provider.registry().examination.calls
        return [item for of_judge in _by_examinee(items).values() for item in of_judge[:calls]]

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """Ask about sentinels round by round until the verdict on each judge is clear."""

        def following(answered: Sequence[Answered]) -> list[Item]:
            verdicts = {id(item): verdict for item, verdict in answered}
            batch: list[Item] = []
            for (purpose, *_), of_judge in _by_examinee(items).items():
                exam = self._by_purpose[purpose]
                pairs: dict[Trait, list[list[Item]]] = {trait: [] for trait in exam.asked}
                for pair in _pairs(of_judge):
                    pairs[pair[0].key["trait"]].append(pair)  # type: ignore[index]
                asked = {
                    trait: [pair for pair in of_trait if id(pair[0]) in verdicts] for trait, of_trait in pairs.items()
                }
                outcomes = {
                    trait: [exam.outcome([(item, verdicts[id(item)]) for item in pair]) for pair in of_trait]
                    for trait, of_trait in asked.items()
                    if of_trait
                }
                if any(verdicts[id(item)].error for of_trait in asked.values() for pair in of_trait for item in pair):
                    continue  # this examination is incomplete anyway
                made = {trait: len(of_trait) for trait, of_trait in pairs.items()}
                for trait, size in next_round(outcomes, exam.thresholds(), made, exam.asked).items():
                    start = len(asked[trait])
                    batch += [item for pair in pairs[trait][start : start + size] for item in pair]
            return batch

        return following

    def rows_of(self, item: Item, verdict: Verdict[Any]) -> Iterable[Mapping[str, object]]:
        """One row: the judge's reply, what is known of the question, and the reason for an abstention."""
        reply = self._by_purpose[item.key["purpose"]].reply(item, verdict)
        yield {**item.facts, **reply, "abstention": verdict.abstention}

    def fault(self, item: Item, verdict: Verdict[Any]) -> str:
        """A message with the judge and the error. If a judge is unavailable, all its questions have the same
        message."""
        _, judge, direction, aspect = _examinee(item)
        of_aspect = f" ({aspect})" if aspect else ""
        return f"{judge}{of_aspect} is not examined in {direction}: {verdict.error}" if verdict.error else ""

    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Ask about sentinels.

        A judge that did not reply to all its questions keeps the rows of an earlier examination, if it has such rows.
        The other judges get new rows. The asset fails as a whole only if no judge replied to all its questions.
        """
        plan, judged = self.answers(stale, run)
        faults: dict[tuple[object, ...], str] = {}
        for item, verdict in judged:
            if fault := self.fault(item, verdict):
                faults.setdefault(_examinee(item), fault)
        examined = [(item, verdict) for item, verdict in judged if _examinee(item) not in faults]
        if not faults or not examined:
            return self.computed(plan, judged)
        computed, (rows, calls) = self.computed(plan, examined), self._earlier(list(faults))
        tables = {self.name: pl.concat([computed.tables[self.name], rows])}
        notes = {CALLS: pl.concat([computed.notes[CALLS], calls])}
        return Computed(tables, computed.failures, notes, "; ".join(dict.fromkeys(faults.values())))

    def _earlier(self, examinees: Sequence[tuple[object, ...]]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The stored rows of examinees, and the stored calls from which these rows come."""
        keys = pl.DataFrame(examinees, schema=_EXAMINEE, orient="row")
        rows = self.warehouse.read(self.name, keys, schema(self.name).names())
        items = rows.select(pl.concat_str(catalogue.table(self.name).key, separator="|")).to_series()
        calls = self.warehouse.read(CALLS, pl.DataFrame({"study": [self.name]}), schema(CALLS).names())
        return rows, calls.filter(pl.col("item").is_in(items.implode()))


def _by_examinee(items: Sequence[Item]) -> dict[tuple[object, ...], list[Item]]:
    groups: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        groups.setdefault(_examinee(item), []).append(item)
    return groups


def _examinee(item: Item) -> tuple[object, ...]:
    return tuple(item.key[name] for name in _EXAMINEE)


def _pairs(items: Sequence[Item]) -> list[list[Item]]:
    """The items of one judge, with one list for each sentinel; the order of the items is kept."""
    pairs: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        pairs.setdefault(tuple(item.key[name] for name in ("trait", "kind", "passage")), []).append(item)
    return list(pairs.values())
