"""The examination of judges as a study: a judge is asked about sentinels with the prompt of its own study.

Here: items, rounds and rows, common to all kinds of judges. Not here: who is examined, and the content of a question
(pairwise.examining, literary.examining), sentinels (sentinels, sample), the verdict on a judge (sequential, reports).
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import polars as pl

from benchmark_assets.examination.sample import Direction, sounds
from benchmark_assets.examination.sentinels import DAMAGES, TRAITS, Sentinel, Trait, sentinels
from benchmark_assets.examination.sequential import Choice, Outcome, calls_of, counts, next_round
from benchmark_assets.studies.study import Answered, Group, Item, ItemStudy, Rounds
from resources.digest import digest
from resources.provider.asking import Template, Verdict

Letter = Literal["A", "B"]
LETTERS: tuple[Letter, Letter] = ("A", "B")


class Examinee(NamedTuple):
    """A judge that is examined in one direction, with the template of its questions, and the aspect that it compares,
    '' if it compares translations as wholes."""

    judge: str
    aspect: str
    direction: Direction
    template: Template[Any]


class Examinations(ItemStudy[Examinee]):
    """A study that examines judges. It has no partitions."""

    dims: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def examinees(self) -> Iterator[Examinee]:
        """The judges to examine, once for each direction and aspect."""

    @abstractmethod
    def contexts(self, examinee: Examinee, passages: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """The content of a question before the translations, by passage. Passages without one are not asked about."""

    def shown(self, examinee: Examinee, context: Mapping[str, Any], a: str, b: str) -> Mapping[str, Any]:
        """The content of a question about the translations `a` and `b`."""
        return {**context, "translation_a": a, "translation_b": b}

    def damages(self, aspect: str) -> Sequence[str]:
        """The kinds of damage that a judge of this aspect should see; by default all."""
        return DAMAGES

    @abstractmethod
    def preferred(self, value: Any) -> str:
        """The letter of the text that a reply prefers; another word if it prefers neither."""

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Examinee]]:
        """A group for each judge, direction and aspect."""
        thresholds = self.provider.registry().examination.model_dump()
        for examinee in self.examinees():
            judge, aspect, direction, template = examinee
            once = replace(template, tries=1)  # so that the number of calls is bounded
            determinants = template.determinants, thresholds, self.damages(aspect)
            fingerprint = digest(judge, aspect, direction, *determinants)
            yield Group(partitions, examinee._replace(template=once), fingerprint)

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """The fingerprints of all groups together; the study does not apply if no judge is to be examined."""
        fingerprints = sorted(str(group.fingerprint) for group in self.groups(partitions))
        applicable = partitions if fingerprints else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(*fingerprints)))

    def items(self, partitions: pl.DataFrame, how: Examinee) -> Iterator[Item]:
        """Two items for each sentinel, one for identical texts: the text on trial is shown as A and as B."""
        judge, aspect, direction, template = how
        texts = sounds(self.warehouse, direction)
        contexts = self.contexts(how, [text.passage for text in texts])
        known = [text for text in texts if text.passage in contexts]
        limits = counts(self.provider.registry().examination.calls)
        made = sentinels(known, direction.settings[0].seed, limits, self.damages(aspect))
        for number, sentinel in enumerate(made):
            key = {
                "judge": judge, "direction": direction.name, "aspect": aspect, "trait": sentinel.trait,
                "kind": sentinel.kind, "passage": sentinel.passage,
            }  # fmt: skip
            for side, trial in list(zip(LETTERS, sentinel.trials, strict=True))[: calls_of(sentinel.trait)]:
                a, b = (trial, sentinel.sound) if side == "A" else (sentinel.sound, trial)
                content = self.shown(how, contexts[sentinel.passage], a, b)
                yield Item((), {**key, "shown": side}, template, content, facts=(number, _ratio(sentinel, trial)))

    def most(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items of each judge up to the limit of calls."""
        calls = self.provider.registry().examination.calls
        return [item for of_judge in _by_examinee(items).values() for item in of_judge[:calls]]

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """Ask about sentinels round by round until the verdict on each judge is clear."""
        thresholds = self.provider.registry().examination

        def following(answered: Sequence[Answered]) -> list[Item]:
            verdicts = {id(item): verdict for item, verdict in answered}
            batch: list[Item] = []
            for of_judge in _by_examinee(items).values():
                pairs: dict[Trait, list[list[Item]]] = {trait: [] for trait in TRAITS}
                for pair in _pairs(of_judge):
                    pairs[pair[0].key["trait"]].append(pair)  # type: ignore[index]
                asked = {
                    trait: [pair for pair in of_trait if id(pair[0]) in verdicts] for trait, of_trait in pairs.items()
                }
                outcomes = {
                    trait: [self._outcome([(item, verdicts[id(item)]) for item in pair]) for pair in of_trait]
                    for trait, of_trait in asked.items()
                    if of_trait
                }
                if any(verdicts[id(pair[0])].error for of_trait in asked.values() for pair in of_trait):
                    continue  # the examination fails in any case
                for trait, size in next_round(outcomes, thresholds).items():
                    start = len(asked[trait])
                    batch += [item for pair in pairs[trait][start : start + size] for item in pair]
            return batch

        return following

    def rows_of(self, item: Item, verdict: Verdict[Any]) -> Iterable[Mapping[str, object]]:
        """One row: the choice, the ratio of lengths, and the reason for an abstention."""
        number, ratio = item.facts
        choice = self._choice(item, verdict)
        yield {"number": number, "choice": choice, "trial_length": ratio, "abstention": verdict.abstention}

    def _choice(self, item: Item, verdict: Verdict[Any]) -> Choice:
        preferred = "" if verdict.value is None else self.preferred(verdict.value)
        if preferred not in LETTERS:
            return "neither"
        return "trial" if preferred == item.key["shown"] else "sound"

    def _outcome(self, pair: Sequence[Answered]) -> Outcome:
        choices = [self._choice(item, verdict) for item, verdict in pair]
        return choices[0], choices[-1]


def _by_examinee(items: Sequence[Item]) -> dict[tuple[object, ...], list[Item]]:
    groups: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        groups.setdefault(tuple(item.key[name] for name in ("judge", "direction", "aspect")), []).append(item)
    return groups


def _pairs(items: Sequence[Item]) -> list[list[Item]]:
    """Items of one judge by sentinel, in order."""
    pairs: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        pairs.setdefault(tuple(item.key[name] for name in ("trait", "kind", "passage")), []).append(item)
    return list(pairs.values())


def _ratio(sentinel: Sentinel, trial: str) -> float:
    """Length of the text on trial in lengths of the sound one."""
    return len(trial) / len(sentinel.sound)
