"""Find spans with a linear classifier of stretches. A stretch is a part of a text between punctuation marks.

Here: stretches, training, the choice of spans. Not here: n-grams (linear), overlap of two texts (overlap), the
choice of tasks (baselines).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack  # type: ignore[import-untyped]

from benchmark_assets.understanding import linear, muc
from benchmark_assets.understanding.overlap import LENGTHS, Rarity, along

SIGNS = r"|.?!\u0964\u0965\u0f0d-\u0f12\u0f14"
"""Punctuation that ends a stretch: periods, question and exclamation marks, bars, daṇḍas and shads. A line break also
ends a stretch; a tsheg or a comma does not."""

AROUND = (-2, -1, 0, 1, 2)
"""Relative positions of the stretches whose n-grams are features of a stretch: the stretch itself and its neighbors,
because the words before a quotation introduce it."""

PENALTY = 0.1
"""C of the support vector machine. This value gave better results than 1 in cross-validation on the train split of
QUDT."""

FOLDS = 4
LEVELS = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6)
CHANGES = (0.0, 0.25, 0.5, 1.0, 2.0)
"""Values to try for two parameters, the level and the change. The level is a constant that is added to the classifier's
value for each stretch. The change is the cost of beginning or ending a span. Training selects the pair of values with
the best cross-validated score on the train split."""

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
    """A span and its place: character offsets, end exclusive; both None if the text lacks the span."""

    type: str
    text: str
    first: int | None
    last: int | None


class TypeModel(NamedTuple):
    """The trained model for one type of spans. `bias` includes the level; see `CHANGES` for level and change."""

    weights: NDArray[np.float64]
    bias: float
    change: float


def stretches(text: str) -> list[tuple[int, int]]:
    """Places of the stretches in a text: character offsets, end exclusive. A stretch includes the punctuation that
    ends it, but not the white space around it."""
    places = []
    for match in _STRETCH.finditer(text):
        words = match.group()
        if words.strip():
            first = match.start() + len(words) - len(words.lstrip())
            places.append((first, match.start() + len(words.rstrip())))
    return places


class Tagger:
    """Finds spans with one linear classifier for each type of span.

    The features of a stretch are the n-grams of the stretch and of the stretches around it.

    Parameters
    ----------
    texts
        Texts of the train split.
    spans
        Gold spans of each text.
    types
        Types to find. A type can be learned only if, for each held-out fold, the other folds have both stretches inside
        and stretches outside spans of this type. Types that cannot be learned are never predicted.

    Raises
    ------
    ValueError
        If no type can be learned.
    """

    def __init__(self, texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str]) -> None:
        self.terms = linear.Terms([stretch for text in texts for stretch in _words(text)])
        self.models = _train(texts, spans, types, _surrounded(self.terms.train, texts))

    def mark(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        """Predicted spans of each text, in the order of the text."""
        words = [stretch for text in texts for stretch in _words(text)]
        return _marked(texts, self.models, lambda: _surrounded(self.terms.weigh(words), texts))


class PairTagger:
    """Finds spans with one linear classifier for each type of span.

    The features of a stretch describe its overlap with another text.

    Parameters and errors are as for `Tagger`. `others` has, for each text, the other text with which its stretches are
    compared.
    """

    def __init__(
        self, texts: Sequence[str], others: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str]
    ) -> None:
        self.rarity = Rarity(texts)
        features = self._features(texts, others)
        self.mean, self.spread = features.mean(axis=0), features.std(axis=0)
        self.spread[self.spread == 0] = 1
        self.models = _train(texts, spans, types, csr_array((features - self.mean) / self.spread))

    def mark(self, texts: Sequence[str], others: Sequence[str]) -> list[list[TaggedSpan]]:
        """Predicted spans of each text, in the order of the text."""
        return _marked(texts, self.models, lambda: csr_array((self._features(texts, others) - self.mean) / self.spread))

    def _features(self, texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        pairs = zip(texts, others, strict=True)
        return np.vstack([along(other, _words(text), self.rarity) for text, other in pairs])


def _words(text: str) -> list[str]:
    return [text[first:last] for first, last in stretches(text)]


def _surrounded(weights: csr_array, texts: Sequence[str]) -> csr_array:
    """N-gram weights of each stretch and of the stretches around it, shape (stretches, len(AROUND) * vocabulary).

    `weights` has shape (stretches, vocabulary). Weights beyond the ends of the stretch's text are 0.
    """
    of_text = np.repeat(np.arange(len(texts)), [len(stretches(text)) for text in texts])
    padded = vstack([weights, csr_array((1, weights.shape[1]))]).tocsr()
    places = np.arange(len(of_text))
    parts = []
    for distance in AROUND:
        neighbors = np.clip(places + distance, 0, len(places) - 1)
        within = (neighbors == places + distance) & (of_text[neighbors] == of_text)
        parts.append(padded[np.where(within, neighbors, len(places))])
    return hstack(parts).tocsr()


def _train(
    texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]], types: Sequence[str], features: csr_array
) -> dict[str, TypeModel]:
    """Train a model for each type that can be learned, with the level and the change that score best on held-out texts.

    `features` has shape (stretches, features), with the stretches of all texts in order.
    """
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # takes a second

    cuts = [stretches(text) for text in texts]
    folds = np.repeat(np.arange(len(texts)) % FOLDS, [len(cut) for cut in cuts])
    models: dict[str, TypeModel] = {}
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
        models[kind] = TypeModel(machine.coef_[0], float(machine.intercept_[0]) + level, change)
    if not models:
        raise ValueError(f"the train split has too few spans of {', '.join(types)}")
    return models


def _inside(spans: Sequence[TaggedSpan], cut: Sequence[tuple[int, int]]) -> Iterator[bool]:
    """For each stretch, whether more than half of it lies inside a single span."""
    placed = [(span.first, span.last) for span in spans if span.first is not None and span.last is not None]
    for first, last in cut:
        yield any(min(last, end) - max(first, begin) > (last - first) / 2 for begin, end in placed)


def _marked(
    texts: Sequence[str], models: dict[str, TypeModel], compute: Callable[[], csr_array]
) -> list[list[TaggedSpan]]:
    """Spans of all types in each text, in the order of the text. `compute` returns features of the form that `_train`
    takes."""
    spans: list[list[TaggedSpan]] = [[] for _ in texts]
    cuts = [stretches(text) for text in texts]
    if not any(cuts):
        return spans
    features = compute()
    for kind, model in models.items():
        of_type = _spans(texts, cuts, kind, features @ model.weights + model.bias, model.change)
        for place, of_text in enumerate(of_type):
            spans[place] += of_text
    return [sorted(of_text, key=lambda span: (span.first, span.type)) for of_text in spans]


def _spans(
    texts: Sequence[str], cuts: Sequence[Sequence[tuple[int, int]]], kind: str, values: NDArray[np.float64],
    change: float,
) -> list[list[TaggedSpan]]:  # fmt: skip
    """Spans of one type in each text, found by `_runs`. `cuts` has the stretches of each text. `values` has one value
    for each stretch of all texts, in order."""
    spans, start = [], 0
    for text, cut in zip(texts, cuts, strict=True):
        runs = _runs(values[start : start + len(cut)].tolist(), change)
        start += len(cut)
        places = [(cut[begin][0], cut[end - 1][1]) for begin, end in runs]
        spans.append([TaggedSpan(kind, text[first:last], first, last) for first, last in places])
    return spans


def _runs(values: Sequence[float], change: float) -> list[tuple[int, int]]:
    """Runs of stretches, half-open, that maximize the sum of their values minus `2 * change` per run (Viterbi)."""
    outside, inside = 0.0, float("-inf")
    steps: list[tuple[bool, bool]] = []  # whether the best paths to outside and to inside come from inside
    for value in values:
        leaves, stays = inside - change > outside, inside >= outside - change
        steps.append((leaves, stays))
        outside, inside = (
            inside - change if leaves else outside,
            value + (inside if stays else outside - change),
        )
    state, states = inside - change > outside, []
    for leaves, stays in reversed(steps):
        states.append(state)
        state = stays if state else leaves
    edges = np.flatnonzero(np.diff([0, *reversed(states), 0]))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def _score(texts: Sequence[str], gold: Sequence[Sequence[TaggedSpan]], spans: Sequence[Sequence[TaggedSpan]]) -> float:
    """DharmaBench's score of predicted spans, averaged over texts: 0 to 1."""
    scores = [
        muc.type_f1([span[:2] for span in predicted], [span[:2] for span in expected], text)
        for text, expected, predicted in zip(texts, gold, spans, strict=True)
    ]
    return float(np.mean(scores))
