"""The identity of a home: whether its warehouse, its ledger and Dagster's state belong together.

Each store carries a mark with the home's id and an epoch. An update advances the epoch of all three when it begins and
when it ends, so a store whose epoch lags by two or more is an older copy.

Here: marks, and the faults that the marks of the three stores reveal. Not here: the storage of a mark (warehouse,
ledger); the times at which marks are compared, and the consequences (automation.identity).
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

LAG = 1
"""Number of epochs by which a store may lag: a process may be killed while it advances one store after the other."""


class StoreMark(NamedTuple):
    """The mark of a store: id of the home, epoch, and whether the home had a ledger at that epoch."""

    home: str
    epoch: int
    ledger: bool


class Marks(NamedTuple):
    """The marks of a home's stores; None for a store without a mark."""

    dagster: StoreMark | None
    warehouse: StoreMark | None
    ledger: StoreMark | None


def faults(marks: Marks) -> Mapping[str, str]:
    """Faults by store (a field of Marks): one for each store whose home or epoch differs from that of the other stores.

    A home without any marks has no faults: it is new, or was last used before marks were introduced. A store without a
    mark is lost, unless the other stores have just got their first marks, or the store is the ledger and the home had
    no ledger.
    """
    known = [mark for mark in marks if mark]
    if not known:
        return {}
    newest = max(known, key=lambda mark: mark.epoch)
    ids = Counter(mark.home for mark in known)
    found = {}
    for store, mark in marks._asdict().items():
        if mark is None:
            if newest.epoch > 1 and (store != "ledger" or newest.ledger):
                found[store] = "was lost: it contains nothing from this home"
        elif ids[mark.home] < len(known) and ids[mark.home] <= len(known) / 2:
            found[store] = "belongs to another home"
        elif mark.home == newest.home and newest.epoch - mark.epoch > LAG:
            found[store] = "is older than the rest of this home"
    return found
