"""The rows of a table that hold the heads, found by what the rows below hold.

Here: rows of heads, and the rows of the text. Not here: reading files (readers.grid), roles of columns (roles).
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from benchmark_assets.corpus.readers.grid import Line
from benchmark_assets.corpus.roles import are_numbers, is_head, is_number

HIGHEST = 30
"""Number of rows among which the heads are looked for."""


class FoundHeads(NamedTuple):
    """Numbers of the rows with the heads, whether they are sure, and the rows below."""

    heads: tuple[int, ...]
    sure: bool
    rows: list[Line]


def heads(rows: Sequence[Line]) -> FoundHeads:
    """The rows with the heads of a table.

    A row of the text has numbers where the column has numbers, and texts about as long as the column's. A row above
    that has not, and has two cells or more, has heads; a row with one cell is a title. Two rows of heads count only if
    the lower one leaves columns without a head of their own.
    """
    wide = [row for row in rows if sum(bool(cell.strip()) for cell in row[1]) > 1] or list(rows)
    norms = _norms(wide[1:] or wide)
    above: list[Line] = []
    sure = True
    for at, row in enumerate(wide[:HIGHEST]):
        vote = _vote(row[1], norms)
        if vote > 0 or (vote == 0 and above):
            break
        sure = vote < 0 or any(map(is_head, row[1]))
        above.append(row)
        if at + 1 == len(wide):
            break
    if not above:
        return FoundHeads((), True, list(rows))
    upper = above[-2:-1]
    own = [cell.strip() for cell in above[-1][1]]
    filled = [any(cells[at : at + 1] and cells[at].strip() for _, cells in wide) for at in range(len(own))]
    names = [name for name, is_used in zip(own, filled, strict=True) if is_used]
    joins = upper and above[-1][0] - upper[0][0] == 1 and (not all(names) or len(set(names)) < len(names))
    found = [*(upper if joins else []), above[-1]]
    return FoundHeads(tuple(number for number, _ in found), sure, [row for row in rows if row[0] > above[-1][0]])


def _norms(rows: Sequence[Line]) -> list[int]:
    """For each column, 0 if it has numbers, else the median length of its texts."""
    width = max((len(cells) for _, cells in rows), default=0)
    columns = [
        [cells[at].strip() for _, cells in rows if cells[at : at + 1] and cells[at].strip()] for at in range(width)
    ]
    return [0 if are_numbers(cells) else int(median(map(len, cells))) if cells else -1 for cells in columns]


def _vote(cells: Sequence[str], norms: Sequence[int]) -> int:
    """Above 0 for a row of the text, below 0 for heads, 0 where nothing tells them apart."""
    vote = 0
    for cell, norm in zip(map(str.strip, cells), norms, strict=False):
        if not cell or norm < 0:
            continue
        if norm == 0:
            vote += 2 if is_number(cell) and not (cell.isalpha() and is_head(cell)) else -2
        elif is_head(cell):
            vote -= 1
        elif norm >= 12:
            vote += 1 if len(cell) > 0.4 * norm else -1
    return vote
