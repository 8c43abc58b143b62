"""Exceptions for input that a user can correct, and for failed runs.

Messages reach logs, Dagster and notifications, but input may contain restricted texts, even where a name is expected.
The number of consecutive words that a message quotes is therefore below the number that counts as copying.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from resources.harmless import visible
from resources.wording import RUN, UNSPACED

_BEGINNING = re.compile(rf"(?:\s*(?:[{UNSPACED}]|[^\s{UNSPACED}]+)){{0,{RUN - 1}}}\s*")
_LONGEST = 100


def beginning(text: str) -> str:
    """A text, cut to the number of words that a message may quote; a text that was cut ends with '…'."""
    start = _BEGINNING.match(text)
    words = start[0][:_LONGEST] if start else ""
    return text if words == text else f"{words.rstrip()}…"


def quoted(value: object) -> str:
    """A value in quotation marks, for messages; a long value is cut to its first words."""
    return repr(beginning(value)) if isinstance(value, str) else beginning(repr(value))


def one_of(names: Iterable[object]) -> str:
    """Names as a choice, for messages: 'a', or 'one of a, b, c'."""
    words = [str(name) for name in names]
    return f"{'one of ' if len(words) > 1 else ''}{', '.join(words) or 'none, because there are none'}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to a name, whatever the case of its letters; None if none is similar."""
    by_folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.strip().casefold(), by_folded, 1, cutoff=0.65)
    return by_folded[near[0]] if near else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Words about an unknown name: the most similar known one, as in ' (did you mean seneca?)'; '' if none is."""
    near = closest(name, known)
    return f" (did you mean {near}?)" if near else ""


def meant(path: Path) -> str:
    """Words about a path that does not exist: the most similar name in its folder; '' if none is similar."""
    return suggestion(path.name, [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else [])


class BadInput(Exception):  # noqa: N818 - named for its cause
    """Input that cannot be used.

    Parameters
    ----------
    where
        The file, table or resource with the fault.
    key
        The passage, segment, line or setting with the fault, shortened to its `beginning`. Empty if the fault concerns
        the whole file.
    problem
        The fault, as a clause.
    remedy
        The remedy, as a clause.
    """

    def __init__(self, where: object, key: str, problem: str, remedy: str) -> None:
        self.where, self.key, self.problem, self.remedy = str(where), beginning(key), problem, remedy
        super().__init__(self.where, self.key, problem, remedy)

    @property
    def faults(self) -> tuple["BadInput", ...]:
        """The faults, as separate exceptions."""
        return (self,)

    def __str__(self) -> str:
        """`where: key: problem; remedy`, on one line."""
        return visible(f"{self.where}: {self.key + ': ' if self.key else ''}{self.problem}; {self.remedy}")


class UnreachableError(BadInput):
    """A database that cannot be reached, or a connection to it that was lost."""


class DamagedError(BadInput):
    """A damaged file in the home folder: not all of the file can be read."""


class SeveralFaults(BadInput):
    """Input with several faults. `where`, `key`, `problem` and `remedy` describe the first fault."""

    def __init__(self, faults: Sequence[BadInput]) -> None:
        self._faults = tuple(faults)
        first = faults[0]
        super().__init__(first.where, first.key, first.problem, first.remedy)

    @property
    def faults(self) -> tuple[BadInput, ...]:
        """The faults, as separate exceptions."""
        return self._faults

    def __str__(self) -> str:
        """One line for each fault."""
        return "\n".join(map(str, self._faults))


class RunFailedError(Exception):
    """A run failed. The message gives the reasons of its failed steps.

    `failed` and `succeeded` are the names of steps. `checks` has a message for each failed check, and whether it found
    problems that its last run did not find.
    """

    def __init__(
        self, message: str, failed: Iterable[str] = (), succeeded: Iterable[str] = (),
        checks: Mapping[str, bool] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.failed, self.succeeded, self.checks = {*failed}, {*succeeded}, dict(checks or {})


@contextmanager
def collecting(faults: list[BadInput]) -> Iterator[None]:
    """Add the faults that the block raises to `faults`, and continue after the block."""
    try:
        yield
    except BadInput as fault:
        faults += fault.faults


def raise_all(faults: Sequence[BadInput]) -> None:
    """Raise a single fault unchanged, and several faults as SeveralFaults. Return if there are no faults."""
    if len(faults) > 1:
        raise SeveralFaults([single for fault in faults for single in fault.faults])
    if faults:
        raise faults[0]
