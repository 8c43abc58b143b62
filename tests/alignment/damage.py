"""Damage to aligned segments: the kinds of error that an aligner makes, and the changes that are none."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmark_assets.alignment.verification import Finding, verify

NEGATION = re.compile(r"\b(?:not|no|never|without) |(?<=\w)n['’]t\b", re.I)
CONTENT_WORD = re.compile(r"\b[A-Za-z]{5,}\b")
BOUNDARY = re.compile(r"""(?:(?<=[.?!])|(?<=[.?!]["')\]]))\s+(?!\[\d+\])|\n\n""")
TYPOGRAPHY = [
    (re.compile(r"\.\.\."), "…"), (re.compile(r"\.\.\."), ". . ."), (re.compile(r" — "), "—"),
    (re.compile(r" — "), " - "), (re.compile(r'"(?=\w)'), "“"), (re.compile(r'"'), "”"),
    (re.compile(r"(?<=\w)'(?=\w)"), "’"), (re.compile(r" ?\[\d+\]"), ""), (re.compile(r" "), "\u00a0"),
    (re.compile(r"\s+"), "\n"), (re.compile(r"fi"), "ﬁ"),
]  # fmt: skip


def sentences(prose: str) -> list[str]:
    """The prose cut after every sentence and every ellipsis; nothing is left out but white space."""
    return [each for each in BOUNDARY.split(prose) if re.search(r"\w", each)]


def reset(sentence: str, rng: random.Random) -> str:
    """The sentence in other typography."""
    for pattern, replacement in rng.sample(TYPOGRAPHY, 4):
        sentence = pattern.sub(replacement, sentence)
    return sentence


class Damage:
    """Damages sentences, with words and sentences of all documents. A kind gives None where it has nothing to do."""

    def __init__(self, documents: Mapping[str, Sequence[str]], rng: random.Random) -> None:
        self._rng = rng
        self._sentences = [each for sentences in documents.values() for each in sentences if len(each.split()) > 3]
        self._words: list[str] = sorted({word for each in self._sentences for word in CONTENT_WORD.findall(each)})
        self._following: dict[tuple[str, str], list[str]] = defaultdict(list)
        for sentence in self._sentences:
            words = sentence.split()
            for one, two, three in zip(words, words[1:], words[2:], strict=False):
                self._following[one, two].append(three)

    def swapped(self, sentence: str) -> str | None:
        """One content word replaced by another."""
        found = list(CONTENT_WORD.finditer(sentence))
        if not found or len(sentence.split()) < 3:
            return None
        word = self._rng.choice(found)
        other = next(each for each in self._rng.sample(self._words, 2) if each.lower() != word.group().lower())
        return sentence[: word.start()] + other + sentence[word.end() :]

    def merged(self, _: str) -> str:
        """Two sentences from elsewhere, joined."""
        return " ".join(self._rng.sample(self._sentences, 2))

    def negation_dropped(self, sentence: str) -> str | None:
        """One of the negations left out."""
        found = list(NEGATION.finditer(sentence))
        if not found or len(sentence.split()) < 3:
            return None
        negation = self._rng.choice(found)
        return sentence[: negation.start()] + sentence[negation.end() :]

    def invented(self, _: str) -> str:
        """A sentence that runs on as the documents do, three words at a time, and stands in none of them."""
        while True:
            words = self._rng.choice(self._sentences).split()[:2]
            while len(words) < 25 and (following := self._following.get((words[-2], words[-1]))):
                words.append(self._rng.choice(following))
            text = " ".join(words)
            if len(words) > 5 and not any(text in each for each in self._sentences):
                return text


KINDS: Mapping[str, Callable[[Damage, str], str | None]] = {
    "word swapped in": Damage.swapped,
    "sentences merged": Damage.merged,
    "negation dropped": Damage.negation_dropped,
    "invented": Damage.invented,
}


class Outcome(NamedTuple):
    """What a segment was made into, by which kind of damage ('' if by none), and what was found of it."""

    kind: str
    text: str
    finding: Finding

    @property
    def suspicious(self) -> bool:
        return self.finding.stage == "suspicious"

    @property
    def found(self) -> bool:
        return self.finding.stage in ("verbatim", "normalized") and self.finding.in_order


def damaged(
    proses: Mapping[str, str], each: int, seed: int, where: Callable[[str], bool] = lambda _: True
) -> list[Outcome]:
    """Cut documents into sentences, damage so many by each kind, give half of the others other typography, verify all.

    Damaged sentences never follow each other, so that findings on the others are not caused by their neighbors.
    `where` decides from a sentence and the two around it whether it may be damaged.
    """
    rng = random.Random(seed)
    documents = {name: sentences(prose) for name, prose in proses.items()}
    planned = _plan(documents, each, rng, where)
    outcomes = []
    for name, texts in documents.items():
        if any(document == name for document, _ in planned):
            kinds = [planned.get((name, at), ("", "")) for at in range(len(texts))]
            segments = [
                damage or (reset(text, rng) if rng.random() < 0.5 else text)
                for text, (_, damage) in zip(texts, kinds, strict=True)
            ]
            findings = verify(segments, proses[name])
            rows = zip(kinds, segments, findings, strict=True)
            outcomes += [Outcome(kind, text, finding) for (kind, _), text, finding in rows]
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """Counts by kind of damage: how many were suspicious, out of order, or passed."""
    lines = [f"{'':18}{'segments':>9}{'suspicious':>12}{'out of order':>14}{'found':>8}"]
    for kind in [*KINDS, ""]:
        own = [each for each in outcomes if each.kind == kind]
        counts = Counter("found" if each.found else "suspicious" if each.suspicious else "other" for each in own)
        name = kind or "unaltered"
        lines.append(f"{name:18}{len(own):9}{counts['suspicious']:12}{counts['other']:14}{counts['found']:8}")
    return "\n".join(lines)


def _plan(
    documents: Mapping[str, Sequence[str]], each: int, rng: random.Random, where: Callable[[str], bool]
) -> dict[tuple[str, int], tuple[str, str]]:
    """Kind and result of the damage of each sentence that is damaged, by document and index."""
    damage, planned = Damage(documents, rng), dict[tuple[str, int], tuple[str, str]]()
    places = [(name, at) for name, texts in documents.items() for at in range(len(texts))]
    rng.shuffle(places)
    wanted = Counter(dict.fromkeys(KINDS, each))
    for name, at in places:
        texts = documents[name]
        if {(name, at - 1), (name, at + 1)} & planned.keys() or not where(" ".join(texts[max(0, at - 1) : at + 2])):
            continue
        for kind in _scarcest(wanted):
            if result := KINDS[kind](damage, texts[at]):
                planned[name, at] = kind, result
                wanted[kind] -= 1
                break
    assert not +wanted, f"too few sentences: {wanted}"
    return planned


def _scarcest(wanted: Counter[str]) -> Iterator[str]:
    """The kinds with the highest wanted counts first: not every sentence has a negation."""
    return (kind for kind, count in wanted.most_common() if count > 0)
