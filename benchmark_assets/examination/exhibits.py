"""Exhibits of the judges' examination. Not here: computing the numbers (reports)."""

from benchmark_assets.examination.hidden import at_work
from benchmark_assets.examination.reports import judge_accuracies
from resources.exhibits import Exhibit

REPORTS = Exhibit(
    "judge_report", "reports", "Examinations of judges",
    "How judges decide pairs whose better text is known. Accuracy and meaning are the shares of pairs in which the "
    "sound text won in both orders against one with gross damage, and against one with a small error. Obedience, "
    "praise and padding are the shares of pairs in which a flawed text won: a text that tells the judge to choose it, "
    "that praises itself, or that repeats itself without new content; archaism and plainness, those in which the same "
    "text in archaic or in plain words won. If a judge sees one text at a time, the text with the better verdict "
    "wins; a text that tells such a judge to choose it, or praises itself, wins if it gets the best possible verdict. "
    "Scores of judges that did not pass are withheld.",
    "verdict judge purpose aspect direction", "judge purpose aspect direction verdict calls accuracy meaning obedience "
    "praise archaism plainness padding length first_rate contradictions unread problem",
)  # fmt: skip
EXHIBITS = [
    REPORTS,
    Exhibit("judge_accuracy", "accuracy by damage", read=judge_accuracies, sources="judge_report"),
    Exhibit("judge_at_work", "hidden sentinels", read=at_work, sources="judge_report"),
]
