"""Mark spans by a linear classifier that labels stretches of text between signs of punctuation.

Here: stretches, training, the choice of spans. Not here: n-grams (linear), overlap of two texts (overlap), which tasks
it applies to (baselines).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack  # type: ignore[import-untyped]

from benchmark_assets.understanding import linear, muc
from benchmark_assets.understanding.overlap import LENGTHS, Rarity, along

SIGNS = r"|.?!\u0964\u0965\u0f0d-\u0f12\u0f14"
"""Signs that end a stretch: dots, daṇḍas and shads. A line break ends one too; the tsheg and the comma do not."""

AROUND = (-2, -1, 0, 1, 2)
"""Distances of the stretches whose n-grams are features: the words that introduce a quotation lie before it."""

PENALTY = 0.1
"""C of the support vector machine: the better of 0.1 and 1 in cross-validation on the train split of QUDT."""

FOLDS = 4
LEVELS = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6)
CHANGES = (0.0, 0.25, 0.5, 1.0, 2.0)
"""Candidates for the constant added to the classifier's value of each stretch, and for the cost of beginning or ending
a span. The pair with the best cross-validated score on the train split is taken."""

_HOW = (
    f"linear support vector machine, C {PENALTY:g}, over stretches between signs of punctuation; level and cost of a "
    f"span's ends by {FOLDS}-fold cross-validation on the train split, {muc.SIGNATURE_TYPE}; tolerance "
    f"{linear.TOLERANCE:g}, seed {linear.SEED}, {linear.LIBRARY}"
)
SIGNATURE = f"{linear.WEIGHTS}, of a stretch and two on either side; {_HOW}"
SIGNATURE_PAIR = (
    f"standardized features of what a stretch, those around it and the whole share with the other text: character "
    f"{LENGTHS[0]}- to {LENGTHS[-1]}-grams and their rarity; place; {_HOW}"
)

_STRETCH = re.compile(rf"[^{SIGNS}\n]+[{SIGNS}\s]*")


class TaggedSpan(NamedTuple):
    """A span and its place: characters, half-open; None if the text does not contain it."""

    type: str
    text: str
    first: int | None
    last: int | None


class Chosen(NamedTuple):
    """The model of one type of spans: weights of the features, bias including the level, cost of a change."""

    weights: NDArray[np.float64]
    bias: float
    change: float


def stretches(text: str) -> list[tuple[int, int]]:
    """Places of the stretches of a text, half-open, with their signs and without surrounding white space."""
    places = []
    for match in _STRETCH.finditer(text):
        words = match.group()
        if words.strip():
            first = match.start() + len(words) - len(words.lstrip())
            places.append((first, match.start() + len(words.rstrip())))
    return places


class Tagger:
    """A linear classifier over the n-grams of each stretch and the stretches around it, for each type of spans.

    Parameters
    ----------
    texts
        Train texts.
    spans
        Gold spans of each text.
    types
        Types to mark. A type that is missing in some fold cannot be learned, and is never marked.

    Raises
    ------
    ValueError
        If no type can be learned.
    """

    def __init__(self, texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str]) -> None:
        self.terms = linear.Terms([words for text in texts for words in _words(text)])
        self.chosen = _train(texts, spans, types, _surrounded(self.terms.train, texts))

    def mark(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        """The spans of each text."""
        if not any(map(stretches, texts)):
            return [[] for _ in texts]
        weights = self.terms.weigh([words for text in texts for words in _words(text)])
        return _marked(texts, self.chosen, _surrounded(weights, texts))


class PairTagger:
    """A linear classifier over the overlap of each stretch with another text, for each type of spans.

    Parameters and errors as for `Tagger`; `others` are the other texts.
    """

    def __init__(
        self, texts: Sequence[str], others: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str]
    ) -> None:
        self.rarity = Rarity(texts)
        features = self._features(texts, others)
        self.mean, self.spread = features.mean(axis=0), features.std(axis=0)
        self.spread[self.spread == 0] = 1
        self.chosen = _train(texts, spans, types, csr_array((features - self.mean) / self.spread))

    def mark(self, texts: Sequence[str], others: Sequence[str]) -> list[list[TaggedSpan]]:
        """The spans of each text."""
        if not any(map(stretches, texts)):
            return [[] for _ in texts]
        return _marked(texts, self.chosen, csr_array((self._features(texts, others) - self.mean) / self.spread))

    def _features(self, texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        pairs = zip(texts, others, strict=True)
        return np.vstack([along(other, _words(text), self.rarity) for text, other in pairs])


def _words(text: str) -> list[str]:
    return [text[first:last] for first, last in stretches(text)]


def _surrounded(weights: csr_array, texts: Sequence[str]) -> csr_array:
    """Weights of each stretch, joined with those of the stretches around it; zeros beyond the ends of its text."""
    of_text = np.repeat(np.arange(len(texts)), [len(stretches(text)) for text in texts])
    padded = vstack([weights, csr_array((1, weights.shape[1]))]).tocsr()
    places = np.arange(len(of_text))
    parts = []
    for distance in AROUND:
        others = np.clip(places + distance, 0, len(places) - 1)
        within = (others == places + distance) & (of_text[others] == of_text)
        parts.append(padded[np.where(within, others, len(places))])
    return hstack(parts).tocsr()


def _train(
    texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str], features: csr_array
) -> dict[str, Chosen]:
    """The model of each type that can be learned, with the level and cost that do best on held-out texts."""
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # takes a second

    cuts = [stretches(text) for text in texts]
    folds = np.repeat(np.arange(len(texts)) % FOLDS, [len(cut) for cut in cuts])
    chosen: dict[str, Chosen] = {}
    for kind in types:
        gold = [[span for span in of_text if span.type == kind] for of_text in spans]
        inside = np.array([within for marks, cut in zip(gold, cuts, strict=True) for within in _inside(marks, cut)])
        if any(len(set(inside[folds != fold])) < 2 for fold in range(FOLDS)):
            continue

        def fit(rows: NDArray[np.bool_], inside: NDArray[np.bool_] = inside) -> LinearSVC:
            machine = LinearSVC(C=PENALTY, tol=linear.TOLERANCE, random_state=linear.SEED)
            return machine.fit(features[rows], inside[rows])

        values = np.zeros(len(inside))
        for fold in range(FOLDS):
            held_out = folds == fold
            if held_out.any():
                values[held_out] = fit(~held_out).decision_function(features[held_out])
        level, change = max(
            ((level, change) for level in LEVELS for change in CHANGES),
            key=lambda pair: _score(texts, gold, _spans(texts, cuts, kind, values + pair[0], pair[1])),
        )
        machine = fit(np.ones(len(inside), dtype=bool))
        chosen[kind] = Chosen(machine.coef_[0], float(machine.intercept_[0]) + level, change)
    if not chosen:
        raise ValueError(f"its train split has too few spans of {', '.join(types)}")
    return chosen


def _inside(spans: Sequence[TaggedSpan], cut: Sequence[tuple[int, int]]) -> Iterator[bool]:
    """For each stretch, whether more than half of it lies in one span."""
    placed = [(span.first, span.last) for span in spans if span.first is not None and span.last is not None]
    for first, last in cut:
        yield any(min(last, end) - max(first, begin) > (last - first) / 2 for begin, end in placed)


def _marked(texts: Sequence[str], chosen: dict[str, Chosen], features: csr_array) -> list[list[TaggedSpan]]:
    marked: list[list[TaggedSpan]] = [[] for _ in texts]
    cuts = [stretches(text) for text in texts]
    for kind, model in chosen.items():
        spans = _spans(texts, cuts, kind, features @ model.weights + model.bias, model.change)
        for place, of_text in enumerate(spans):
            marked[place] += of_text
    return [sorted(of_text, key=lambda span: (span.first, span.type)) for of_text in marked]


def _spans(
    texts: Sequence[str], cuts: Sequence[Sequence[tuple[int, int]]], kind: str, values: NDArray[np.float64],
    change: float,
) -> list[list[TaggedSpan]]:  # fmt: skip
    """For each text, the spans with the greatest sum of values minus the cost of their ends."""
    marked, start = [], 0
    for text, cut in zip(texts, cuts, strict=True):
        runs = _runs(values[start : start + len(cut)].tolist(), change)
        start += len(cut)
        of_text = []
        for begin, end in runs:
            first, last = cut[begin][0], cut[end - 1][1]
            of_text.append(TaggedSpan(kind, text[first:last], first, last))
        marked.append(of_text)
    return marked


def _runs(values: Sequence[float], change: float) -> list[tuple[int, int]]:
    """Runs of stretches, half-open, with the greatest sum of values minus `change` for each end (Viterbi)."""
    outside, inside = 0.0, float("-inf")
    came: list[tuple[bool, bool]] = []  # whether the best path to outside, and to inside, was inside before
    for value in values:
        leaves, stays = inside - change > outside, inside >= outside - change
        came.append((leaves, stays))
        outside, inside = (
            inside - change if leaves else outside,
            value + (inside if stays else outside - change),
        )
    state, states = inside - change > outside, []
    for leaves, stays in reversed(came):
        states.append(state)
        state = stays if state else leaves
    edges = np.flatnonzero(np.diff([0, *reversed(states), 0]))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def _score(texts: Sequence[str], gold: Sequence[Sequence[TaggedSpan]], found: Sequence[Sequence[TaggedSpan]]) -> float:
    """DharmaBench's score of spans, mean over texts: 0 to 1."""
    scores = [
        muc.type_f1([span[:2] for span in ours], [span[:2] for span in right], text)
        for text, right, ours in zip(texts, gold, found, strict=True)
    ]
    return float(np.mean(scores))
