"""Tables with a row for each text, such as `id, translator, text`, rather than one for each segment.

Here: recognizing them. Not here: making them wide (readers.table), the roles of columns (roles).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from benchmark_assets.corpus.languages import plain
from benchmark_assets.corpus.roles import (
    UNKNOWN,
    CellColumn,
    Cells,
    agreement,
    are_numbers,
    are_texts,
    follows,
    is_of_texts,
    language_of,
    repeated,
)

MOST = 20
"""Most texts of a segment."""


class LongForm(NamedTuple):
    """The columns of the ids (none if nothing tells which rows belong to one segment), the column that says whose text
    a row has, and the column of the texts."""

    ids: tuple[str, ...]
    by: str
    text: str


def long_form(columns: Sequence[CellColumn]) -> LongForm | None:
    """Whether a table has a row for each text; None if it has not.

    A column has a few names that are repeated (`by`), together with an id it is unique, and one column of texts is not
    the same in all rows of an id, unlike the source beside it. Without a source, the texts are known to be translations
    of each other by their languages, by lengths and words, or by the head of `by`.
    """
    texts = [column for column in columns if are_texts(column.cells)]
    others = [column for column in columns if column not in texts]
    without_ids: LongForm | None = None
    numbers = [column for column in others if are_numbers(column.cells)][:6]
    for by in others[:MOST]:
        names = {cell.strip() for cell in by.cells}
        if not (1 < len(names) <= MOST and 2 * len(names) <= len(by.cells)) or are_numbers(by.cells):
            continue
        for chosen in (each for size in (1, 2, 3) for each in combinations(numbers, size)):
            keys = list(zip(*(repeated(column.cells) for column in chosen), strict=True))
            pairs = {*zip(keys, map(str.strip, by.cells), strict=True)}
            if len(pairs) < len(keys) or 3 * len({*keys}) > 2 * len(keys) or not all(map(all, keys)):
                continue
            varying = [column for column in texts if not is_constant(column.cells, keys)]
            if len(varying) == 1 and (len(texts) > 1 or _are_renderings(keys, by, varying[0])):
                return LongForm(tuple(column.name for column in chosen), by.name, varying[0].name)
        if len(texts) == 1 and len({*_languages(_by_name(range(len(by.cells)), by, texts[0])).values()}) > 1:
            without_ids = LongForm((), by.name, texts[0].name)
    return without_ids


def is_constant(cells: Cells, keys: Sequence[object]) -> bool:
    """Whether the rows with one key have one cell."""
    first: dict[object, str] = {}
    return all(first.setdefault(key, cell) == cell for key, cell in zip(keys, map(str.strip, cells), strict=True))


def _by_name(keys: Sequence[object], by: CellColumn, text: CellColumn) -> dict[str, list[str]]:
    """The texts of each name, in the order of the keys."""
    found: dict[str, dict[object, str]] = {}
    for key, name, cell in zip(keys, map(str.strip, by.cells), text.cells, strict=True):
        found.setdefault(name, {})[key] = cell
    return {name: [own.get(key, "") for key in dict.fromkeys(keys)] for name, own in found.items()}


def _languages(texts: dict[str, list[str]]) -> dict[str, str]:
    found = {name: plain(language_of(cells)) for name, cells in texts.items() if sum(map(bool, cells)) > 1}
    return {name: language for name, language in found.items() if language != UNKNOWN}


def _are_renderings(keys: Sequence[object], by: CellColumn, text: CellColumn) -> bool:
    """Whether the texts of the names are source and translations, or translations, of the same segments."""
    texts = _by_name(keys, by, text)
    if len({*_languages(texts).values()}) > 1 or is_of_texts(by.head):
        return True
    return any(
        min(agreement(one, other) or 0, follows([*map(len, one)], [*map(len, other)]) or 0) > 0.6
        for one, other in combinations(texts.values(), 2)
    )
