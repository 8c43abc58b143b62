"""Detection of copies: letters in a row that texts share with restricted texts, anywhere in these.

Here: an index of texts, the runs of letters that others share with it, and the amounts that distinguish a copy from an
independent translation. Not here: the letters of a text (folding), which texts are restricted, and which outputs are
left out (rights).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.corpus.folding import letters, with_names

Integers = NDArray[np.int64]

SHINGLE = 12
"""Letters of a shingle, the unit of the index."""

WINDOW = 5
"""Of this many consecutive shingles, the index contains at least one, so that it stays small (winnowing)."""

RUN = SHINGLE + WINDOW - 1
"""Minimum number of letters in a row that count as shared; every such run is found. About four English words."""

LEAST = 40
"""Minimum number of letters that are evidence if they are most of a passage and of the output, about nine words. Less
decides nothing, such as a whole restricted text that is shorter."""

LEAST_PART = 60
"""Minimum number of letters that are evidence if they are a part, about 13 words."""

LONG = 90
"""A run of this many letters makes an output a copy, about 20 words."""

PART = 0.3
"""A run of this share of the shorter text, of at least `LEAST_PART` letters, makes an output a copy of a short text."""

TENTH = 0.1
"""Up to `LONG` letters, less than this share of the output is no evidence: short formulas occur in long outputs."""

SHARE = 0.4
"""An output is a copy if this share of its letters, or of the letters of a restricted passage, is shared. Each stretch
of shared letters counts as `SHINGLE` letters less than it has, since independent translations share short stretches."""

COVERED = 0.6
"""An output is a copy if this share of its letters and of the letters of a passage is shared, in any stretches."""

FORMULA = 0.5
"""What a letter counts that recurs in another restricted text: translators of texts with formulas share these."""

SAME = 0.5
"""Documents that share this much of the shorter one are the same text, stored twice. It does not recur in itself."""

DIVIDED = 0.6
"""Outputs of one model in one document are copies if together they share this much of a restricted passage."""

PLACES = 40
"""Maximum number of places in the index at which a shingle is looked up, to limit the work for refrains."""

BLOCK = 500_000
"""Letters that are processed at once, to limit memory use."""

_NONE = np.uint64(2**64 - 1)
_FACTOR, _STEP, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(3), np.uint64(29)


class Copy(NamedTuple):
    """Why an output is a copy: the number of the document that it copies, and how much, in words."""

    document: int
    amount: str


class _Runs(NamedTuple):
    """Runs of letters that outputs share with an index, arrays of shape (runs,).

    Letters `start` to `end` of the output with the number `output` are the letters from `place` of the index.
    """

    output: Integers
    start: Integers
    end: Integers
    place: Integers

    def where(self, condition: NDArray[np.bool_]) -> Self:
        return type(self)(*(column[condition] for column in self))


class Index(NamedTuple):
    """Documents in which copied letters are looked up.

    - `letters`: letters of all documents, with 0 after each document.
    - `weights`: how much each letter counts as evidence: 0 in names, `FORMULA` where it recurs in another text.
    - `units`: start of each unit in `letters`, and the length of `letters`. A unit is a passage, or several consecutive
      passages that only together have `LEAST` letters.
    - `document`: number of the document of each unit.
    - `hashes`, `places`: chosen shingles, sorted, and their places in `letters`.
    """

    letters: NDArray[np.uint32]
    weights: NDArray[np.float32]
    units: Integers
    document: Integers
    hashes: NDArray[np.uint64]
    places: Integers

    @classmethod
    def of(cls, documents: Sequence[Sequence[str]]) -> Self:
        """The index of documents, each a sequence of passages in their order."""
        parts, starts, owners, length = [np.zeros(0, np.uint32)], [0], [], 0
        weights = [np.zeros(0, np.float32)]
        for number, document in enumerate(documents):
            folds = list(with_names(document))
            passages = [passage for passage, _ in folds]
            weights += [*((~is_name).astype(np.float32) for _, is_name in folds), np.zeros(1, np.float32)]
            sizes = _merged([len(passage) for passage in passages])
            starts += [length + end for end in np.cumsum(sizes)[:-1]]
            owners += [number] * len(sizes)
            parts += [*passages, np.zeros(1, np.uint32)]
            length += sum(sizes) + 1
            starts.append(length)
        joined = np.concatenate(parts)
        blocks = [(at, *_shingles(joined[at : at + BLOCK + RUN - 1])) for at in range(0, len(joined), BLOCK)]
        hashes = np.concatenate([np.zeros(0, np.uint64), *(hashes for _, hashes, _ in blocks)])
        places = np.concatenate([np.zeros(0, np.int64), *(at + places for at, _, places in blocks)])
        places, firsts = np.unique(places, return_index=True)  # blocks overlap by less than a run
        hashes = hashes[firsts]
        order = np.argsort(hashes, kind="stable")
        hashes, places, units, owner = hashes[order], places[order], np.array(starts), np.array(owners, np.int64)
        recurring = places[_recurring(hashes, owner[np.searchsorted(units, places, "right") - 1])]
        weight = np.concatenate(weights)
        weight[np.unique(recurring[:, None] + np.arange(SHINGLE))] *= FORMULA
        return cls(joined, weight, units, owner, hashes, places)

    def shared(self, outputs: Sequence[NDArray[np.uint32]], least: int = RUN) -> _Runs:
        """The runs of at least `least` letters that outputs share with this index."""
        found, at = [_Runs(*(np.zeros(0, np.int64) for _ in range(4)))], 0
        for block in _grouped(outputs, BLOCK):
            ends = np.cumsum([len(output) + 1 for output in block])
            joined = np.concatenate([part for output in block for part in (output, np.zeros(1, np.uint32))])
            start, end, place = self._runs(joined, least)
            output = np.searchsorted(ends, start, side="right")
            offset = np.concatenate([[0], ends])[output]
            found.append(_Runs(output + at, start - offset, end - offset, place))
            at += len(block)
        return _Runs(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def _runs(self, text: NDArray[np.uint32], least: int) -> tuple[Integers, Integers, Integers]:
        """Start and end of each run in a text, and its place in the index."""
        hashes, at = _shingles(text)
        first, last = (np.searchsorted(self.hashes, hashes, side=side) for side in ("left", "right"))
        counts = np.minimum(last - first, PLACES)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        start, place = np.repeat(at, counts), self.places[np.repeat(first, counts) + offsets]
        same = np.ones(len(start), dtype=bool)
        for step in range(SHINGLE):
            same &= text[start + step] == self.letters[place + step]
        start, place = start[same], place[same]
        before, after = (self._extended(text, start, place, step) for step in (-1, 1))
        return _united(start - before, start + SHINGLE + after, place - start, least)

    def _extended(self, text: NDArray[np.uint32], start: Integers, place: Integers, step: int) -> Integers:
        """By how many letters each shared shingle can be extended in one direction, at most `RUN`."""
        more, going = np.zeros(len(start), dtype=np.int64), np.ones(len(start), dtype=bool)
        at, other = (start, place) if step < 0 else (start + SHINGLE - 1, place + SHINGLE - 1)
        for distance in range(step, step * (RUN + 1), step):
            own = text[np.clip(at + distance, 0, len(text) - 1)]
            inside = (at + distance >= 0) & (other + distance >= 0)
            going = (
                going & inside & (own != 0) & (own == self.letters[np.clip(other + distance, 0, len(self.letters) - 1)])
            )
            if not going.any():
                break
            more += going
        return more


def copies(
    outputs: Sequence[str], groups: Sequence[Hashable], restricted: Index, openly_licensed: Callable[[], Index]
) -> list[Copy | None]:
    """Find the outputs that copy a restricted text.

    An output is a copy if it shares one of these with the restricted documents, in runs of at least `RUN` letters:

    - a run of `LONG` letters, or of `PART` of the shorter text and at least `LEAST_PART` letters;
    - `SHARE` of the letters of a passage, or `SHARE` of the letters of the output in one document;
    - `COVERED` of the letters of a passage and of the output;
    - part of a passage, if the outputs of its group together share `DIVIDED` of the passage.

    Names do not count, nor letters that stand in a run of at least `LEAST` in an openly licensed text. Letters
    of formulas count `FORMULA`.

    Parameters
    ----------
    groups
        What the outputs of one model in one document have in common, parallel to `outputs`.
    openly_licensed
        Called only if there are copies.

    Returns
    -------
    Parallel to `outputs`; None for an output that is not a copy.
    """
    texts = [letters(output) for output in outputs]
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    group = np.array([numbers[key] for key in groups], dtype=np.int64)
    runs = restricted.shared(texts)
    found = _copies(texts, group, restricted, runs, {})
    if found:
        suspects = np.array(sorted(found))
        free = openly_licensed().shared([texts[number] for number in suspects], LEAST)
        counts = {number: np.ones(len(texts[number]), bool) for number in found}
        for number, start, end, _ in zip(*free, strict=True):
            counts[int(suspects[number])][start:end] = False
        found = _copies(texts, group, restricted, runs.where(np.isin(runs.output, suspects)), counts)
    return [found.get(number) for number in range(len(outputs))]


def _copies(
    texts: Sequence[NDArray[np.uint32]], group: Integers, index: Index, runs: _Runs,
    own_counts: Mapping[int, NDArray[np.bool_]],
) -> dict[int, Copy]:  # fmt: skip
    """Copies by the number of the output. `own_counts` says which letters of an output are evidence; by default all."""
    copied: dict[int, Copy] = {}
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    unit_sizes = np.diff(np.concatenate([[0], np.cumsum(index.weights, dtype=np.float64)])[index.units])
    lengths = np.diff(index.units)
    length, place_end = runs.end - runs.start, runs.place + runs.end - runs.start
    # Each run is divided where a unit ends.
    first, last = np.searchsorted(index.units, runs.place, "right") - 1, np.searchsorted(index.units, place_end) - 1
    parts = last - first + 1
    run = np.repeat(np.arange(len(first)), parts)
    unit = np.repeat(first, parts) + np.arange(len(run)) - np.repeat(np.cumsum(parts) - parts, parts)
    low, high = np.maximum(runs.place[run], index.units[unit]), np.minimum(place_end[run], index.units[unit + 1])
    output, shift = runs.output[run], (runs.start - runs.place)[run]

    def weights(place: int) -> NDArray[np.float32]:
        """How much the letters of a part of a run count."""
        of_index = index.weights[low[place] : high[place]]
        own = own_counts.get(int(output[place]))
        return of_index if own is None else of_index * own[low[place] + shift[place] : high[place] + shift[place]]

    def amount(places: Integers, begins: Integers, size: int, whole: float = np.inf) -> float:
        """Evidence in a text of `size` letters that shares the parts with these numbers, from their places on.

        Stretches count completely if they are `COVERED` of `whole`.
        """
        shared, counts = np.zeros(size, dtype=bool), np.zeros(size)
        for place, begin in zip(places.tolist(), begins.tolist(), strict=True):
            end = begin + int(high[place] - low[place])
            shared[begin:end] = True
            counts[begin:end] = np.maximum(counts[begin:end], weights(place))
        edges = np.flatnonzero(np.diff(shared, prepend=False, append=False)).reshape(-1, 2)
        before = np.concatenate([[0], np.cumsum(counts)])
        if before[-1] >= max(LEAST, COVERED * whole):
            return float(before[-1])
        return float(np.maximum(before[edges[:, 1]] - before[edges[:, 0]] - SHINGLE, 0).sum())

    for place in np.flatnonzero(length[run] >= LEAST).tolist():
        whole = range(*np.searchsorted(run, [run[place], run[place] + 1]).tolist())
        evidence = sum(float(weights(part).sum()) for part in whole)
        size = float(sizes[output[place]])
        if evidence >= min(LONG, max(LEAST_PART, PART * min(size, unit_sizes[unit[place]]), TENTH * size)):
            found = Copy(int(index.document[unit[place]]), f"letters in a row: {evidence:.0f}")
            copied.setdefault(int(output[place]), found)
    for places, size in _together(output * len(unit_sizes) + unit, high - low, unit_sizes[unit]):
        number, of = int(output[places[0]]), int(unit[places[0]])
        longer = max(size, float(sizes[number]))
        evidence = min(  # a part that the output repeats counts once
            amount(places, low[places] + shift[places], int(sizes[number]), longer),
            amount(places, low[places] - index.units[of], int(lengths[of]), longer),
        )
        if evidence >= max(_enough(LEAST, SHARE, size), min(LONG, TENTH * sizes[number]) - SHINGLE):
            copied.setdefault(number, Copy(int(index.document[of]), f"share of a passage: {evidence / size:.0%}"))
    documents = index.document[unit]
    for places, size in _together(output * (len(index.document) + 1) + documents, high - low, sizes[output]):
        number = int(output[places[0]])
        evidence = amount(places, low[places] + shift[places], int(size))
        if evidence >= _enough(LEAST_PART, SHARE, size):
            copied.setdefault(number, Copy(int(documents[places[0]]), f"share of the output: {evidence / size:.0%}"))
    for places, size in _together(group[output] * len(unit_sizes) + unit, high - low, unit_sizes[unit]):
        of = int(unit[places[0]])
        if amount(places, low[places] - index.units[of], int(lengths[of])) >= _enough(LEAST, DIVIDED, size):
            for number in set(output[places].tolist()):
                copied.setdefault(number, Copy(int(index.document[of]), "part of a passage that outputs divide"))
    return copied


def _together(
    keys: Integers, lengths: Integers, sizes: Integers | NDArray[np.float64]
) -> Iterator[tuple[Integers, float]]:
    """Numbers of the parts with the same key, and their size, where the lengths may reach `SHARE` of the size."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if len(order):
        ends = np.append(begins[1:], len(order))
        amounts, of_each = np.add.reduceat(lengths[order], begins), sizes[order[begins]]
        for number in np.flatnonzero(amounts - SHINGLE >= np.maximum(LEAST - SHINGLE, SHARE * of_each)).tolist():
            yield order[begins[number] : ends[number]], float(of_each[number])


def _enough(least: int, share: float, size: float) -> float:
    """The least evidence in several stretches of a text of this size."""
    return max(least - SHINGLE, share * size)


def _recurring(hashes: NDArray[np.uint64], document: Integers) -> NDArray[np.bool_]:
    """Which of the shingles, sorted by hash, stand in several texts. Documents with the same text are one text."""
    if not len(hashes):
        return np.zeros(0, bool)
    from scipy.sparse import coo_array  # type: ignore[import-untyped]  # takes 0.2 s to import
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    count = int(document.max()) + 1
    number = np.cumsum(np.diff(hashes, prepend=hashes[:1]) != 0)
    shingle, owner = np.divmod(np.unique(number * count + document), count)
    both = np.flatnonzero(np.diff(shingle) == 0)
    pairs, shared = np.unique(owner[both] * count + owner[both + 1], return_counts=True)
    first, second = np.divmod(pairs, count)
    sizes = np.bincount(owner, minlength=count)
    same = shared >= SAME * np.minimum(sizes[first], sizes[second])
    graph = coo_array((same[same], (first[same], second[same])), shape=(count, count))
    text = connected_components(graph, directed=False)[1]
    texts = np.unique(shingle * count + text[owner]) // count
    recurring: NDArray[np.bool_] = np.bincount(texts)[number] > 1
    return recurring


def _merged(sizes: Sequence[int]) -> list[int]:
    """Sizes of units: of passages, where consecutive passages are merged until they have `LEAST` letters."""
    merged, rest = list[int](), 0
    for size in sizes:
        rest += size
        if rest >= LEAST:
            merged.append(rest)
            rest = 0
    if merged:
        merged[-1] += rest
    return merged or [rest]


def _grouped(texts: Sequence[NDArray[np.uint32]], most: int) -> Iterator[list[NDArray[np.uint32]]]:
    """Consecutive texts in groups of about `most` letters."""
    group, length = list[NDArray[np.uint32]](), 0
    for text in texts:
        group.append(text)
        length += len(text)
        if length >= most:
            yield group
            group, length = [], 0
    if group:
        yield group


def _united(start: Integers, end: Integers, shift: Integers, least: int) -> tuple[Integers, Integers, Integers]:
    """Runs of at least `least` letters that overlapping shingles with the same shift belong to."""
    order = np.lexsort((start, shift))
    start, end, shift = start[order], end[order], shift[order]
    is_first = np.concatenate([[True], (np.diff(shift) > 0) | (start[1:] > end[:-1])])[: len(start)]
    firsts = np.flatnonzero(is_first)
    lasts = np.concatenate([firsts[1:], [len(start)]])[: len(firsts)] - 1
    begin, finish, by = start[firsts], end[lasts], shift[firsts]
    is_long = finish - begin >= least
    return begin[is_long], finish[is_long], (begin + by)[is_long]


def _shingles(text: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], Integers]:
    """Hashes and places of the chosen shingles of a text: in each window, those with the lowest hash.

    Source: Schleimer, Wilkerson and Aiken, Winnowing: local algorithms for document fingerprinting (2003).
    """
    if len(text) < RUN:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    single = _mixed(text.astype(np.uint64))
    two = _mixed(single[:-1] * _STEP + single[1:])
    four = _mixed(two[:-2] * _STEP + two[2:])
    eight = _mixed(four[:-4] * _STEP + four[4:])
    hashes = _mixed(eight[:-4] * _STEP + four[8:])
    zeros = np.concatenate([[0], np.cumsum(text == 0)])
    divided = zeros[SHINGLE:] > zeros[:-SHINGLE]
    hashes[divided] = _NONE
    windows = np.lib.stride_tricks.sliding_window_view(hashes, WINDOW)
    lowest = windows.min(axis=1)
    chosen = np.zeros(len(hashes), dtype=bool)
    for place in range(WINDOW):
        chosen[place : place + len(lowest)] |= windows[:, place] == lowest
    places = np.flatnonzero(chosen & ~divided)
    return hashes[places], places


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    product = hashes * _FACTOR
    mixed: NDArray[np.uint64] = product ^ (product >> _SHIFT)
    return mixed
