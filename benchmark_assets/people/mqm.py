"""The vocabulary of error annotation: severities with their weights, and categories (MQM, ESA).

Here: words, weights and the score of an output, once for judges and people, and for labels that are scored like errors.
Not here: questions to judges (error_spans.judging), forms for people (forms).
"""

from collections.abc import Iterable

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID

WEIGHTS = {"minor": 1, "major": 5, "critical": 25}
"""Points that an error costs, by severity (GEMBA-MQM; minor and major errors as in Freitag et al. 2021)."""

LABEL_POINTS = {VALID: 0, MINOR: -WEIGHTS["minor"], MAJOR: -WEIGHTS["major"]}
"""Score of an output by its label in the audit. Other labels have no score."""

MOST_POINTS = 25
"""Maximum number of points that the errors of an output cost (GEMBA-MQM)."""

BEST = 100
"""Highest overall score (ESA)."""

MOST_IF_BROKEN = 33
"""Highest score with which an annotator passes an attention check on Pearmut's dashboard. On Pearmut's scale, 0 means
broken and 33 flawed."""

OMISSION = "accuracy/omission"
"""The category whose span is in the source."""

MISSING = "[missing]"
"""Text that follows the output. Annotators mark it if the output lacks something."""

CATEGORIES = (
    "accuracy/addition", OMISSION, "accuracy/mistranslation", "accuracy/untranslated", "fluency/grammar",
    "fluency/spelling", "fluency/punctuation", "fluency/register", "fluency/inconsistency", "style", "terminology",
    "other",
)  # fmt: skip
"""Categories of MQM for translations."""


def mqm(severities: Iterable[str]) -> float:
    """Score of an output from the severities of its errors, -25 to 0; 0 without errors.

    Source: GEMBA-MQM (Kocmi and Federmann 2023), with its weights and its cap. The published code counts only the five
    most severe errors; here, all errors count.
    """
    return -float(min(sum(WEIGHTS[severity] for severity in severities), MOST_POINTS))
