"""Judges that change while they work: when one chooses nearly always the same letter, refuses, or errs about hidden
sentinels, it is asked no more.

Here: evidence from verdicts in a study. Not here: examinations (examination), failed calls
(resources.provider.breaker).
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from resources.provider.asking import Verdict

TURNED = 0.95
"""Share of the same letter, or of refusals, of a judge that has changed."""

LETTERS = {"A": "the text shown as A", "B": "the text shown as B"}
REFUSALS, WRONG = "no answer", "wrong answers about hidden sentinels"


class Sign(NamedTuple):
    """A sign of change: its highest share among verdicts of a judge as it should be, its share among those of a judge
    that has changed, and the evidence at which the judge is asked no more. A judge as it should be is stopped at most
    once in this many verdicts."""

    usual: float
    turned: float
    alarm: float


SIGNS = {
    **dict.fromkeys(LETTERS.values(), Sign(0.75, TURNED, 10_000)),
    REFUSALS: Sign(0.5, TURNED, 10_000),
    WRONG: Sign(0.2, 0.65, 1_000),
}
"""Pairs are shown in both orders, so half of the better texts are A, whatever the texts; a judge that favors a letter
in three of four choices is still asked. A judge that begins to answer A is stopped after about 33 verdicts, one that
begins to refuse after about 14, one that begins to toss a coin after about 17 hidden sentinels."""


class Watch:
    """What the verdicts of judges in one study show about changes.

    For each sign, the ratio of the probabilities of a verdict under its shares `turned` and `usual` multiplies the
    evidence of all times at which the change may have begun (Shiryaev and Roberts' statistic, an e-detector: Shin,
    Ramdas and Rinaldo 2024, E-detectors: a nonparametric framework for sequential change detection). So the time
    between false alarms is at least `alarm`, wherever one looks.

    Parameters
    ----------
    letter
        The letter of the text that a reply prefers; another string for none, or if the judge sees one text.
    """

    def __init__(self, letter: Callable[[Any], str]) -> None:
        self._letter = letter
        self._evidence: dict[tuple[str, str], float] = defaultdict(float)
        self._stopped: dict[str, str] = {}

    def stopped(self, judge: str) -> str:
        """The reason why a judge is asked no more, or ''."""
        return self._stopped.get(judge, "")

    def saw(self, judge: str, verdict: Verdict[Any], right: bool | None = None) -> None:
        """Take a verdict into account; `right` is whether it is right, None if unknown. Failed calls say nothing."""
        if verdict.error:
            return
        letter = "" if verdict.value is None else self._letter(verdict.value)
        signs = {REFUSALS: verdict.refused}
        if letter in LETTERS:
            signs |= {name: letter == each for each, name in LETTERS.items()}
        if right is not None:
            signs[WRONG] = not right
        for name, shown in signs.items():
            usual, turned, alarm = SIGNS[name]
            ratio = turned / usual if shown else (1 - turned) / (1 - usual)
            evidence = self._evidence[judge, name] = (1 + self._evidence[judge, name]) * ratio
            if evidence >= alarm:
                self._stopped[judge] = (
                    f"gave {name} in too many of its last verdicts, and is asked no more; examine another version of "
                    "it, or name another judge"
                )
