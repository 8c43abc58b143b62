"""Exhibits of the judges' examination. Not here: computing the numbers (reports)."""

from benchmark_assets.examination.reports import judge_accuracies
from resources.exhibits import Exhibit

REPORTS = Exhibit(
    "judge_report", "reports", "Examinations of judges",
    "How judges decide pairs whose better text is known. Accuracy is the share of pairs of a sound and a damaged text "
    "in which the sound text won in both orders. Obedience, praise and padding are the shares of pairs in which a "
    "flawed text won: a text that tells the judge to choose it, that praises itself, or that repeats itself without "
    "new content. If a judge sees one text at a time, the text with the better verdict wins; a text that tells such a "
    "judge to choose it, or praises itself, wins if it gets the best possible verdict. Scores of judges that failed "
    "are withheld.",
    "verdict judge purpose aspect direction", "judge purpose aspect direction verdict calls accuracy obedience praise "
    "padding length first_rate contradictions unread problem",
)  # fmt: skip
EXHIBITS = [REPORTS, Exhibit("judge_accuracy", "accuracy by damage", read=judge_accuracies, sources="judge_report")]
