"""Judges that change while they work: when one chooses nearly always the same letter, or refuses, it is asked no more.

Here: evidence from verdicts on real items. Not here: verdicts on sentinels (examination), failed calls
(resources.provider.breaker).
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from resources.provider.asking import Verdict

TURNED = 0.95
"""Share of the same letter, or of refusals, of a judge that has changed."""

USUAL = {"the text shown as A": 0.75, "the text shown as B": 0.75, "no answer": 0.5}
"""Highest share of each among the verdicts of a judge as it should be. Pairs are shown in both orders, so half of the
better texts are A, whatever the texts; a judge that favors a letter in three of four choices is still asked."""

ALARM = 10_000
"""Evidence at which a judge is asked no more. A judge as it should be is stopped once in this many verdicts, at most. A
judge that begins to answer A is stopped after about 33 verdicts, one that begins to refuse after about 14."""


class Watch:
    """What the verdicts of judges in one study show about changes.

    For each sign, the ratio of the probabilities of a verdict under `TURNED` and `USUAL` multiplies the evidence of all
    times at which the change may have begun (Shiryaev and Roberts' statistic, an e-detector: Shin, Ramdas and Rinaldo
    2024, E-detectors: a nonparametric framework for sequential change detection). So the time between false alarms is
    at least `ALARM`, wherever one looks.

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

    def saw(self, judge: str, verdict: Verdict[Any]) -> None:
        """Take a verdict into account. Failed calls say nothing."""
        if verdict.error:
            return
        letter = "" if verdict.value is None else self._letter(verdict.value)
        signs = {"no answer": verdict.refused}
        if letter in ("A", "B"):
            signs |= {f"the text shown as {each}": letter == each for each in "AB"}
        for sign, shown in signs.items():
            usual = USUAL[sign]
            ratio = TURNED / usual if shown else (1 - TURNED) / (1 - usual)
            evidence = self._evidence[judge, sign] = (1 + self._evidence[judge, sign]) * ratio
            if evidence >= ALARM:
                self._stopped[judge] = (
                    f"{judge} gave {sign} in nearly all of its last verdicts, and is asked no more; examine another "
                    "version of it, or name another judge"
                )
