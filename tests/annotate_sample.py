"""Writes the labels of two invented annotators for the sample's outputs: `python -m tests.annotate_sample`.

They know the planted defects of `labels.jsonl`, and slip as people do, at the rates of SLIPS; a hash of annotator and
item decides where, so that the files are always the same. Run it anew after a translation or a defect has changed.
"""

import json
import re
from collections.abc import Mapping
from hashlib import blake2b

from benchmark_assets.adjudication.labels import MAJOR, MINOR, UNSURE, VALID
from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.controls import in_order
from benchmark_assets.people.forms import LABEL_FORM
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.sheets import sheet
from tests.record_sample import SAMPLE, translations

ANNOTATIONS = SAMPLE / "annotations"
ANNOTATORS = ("mori", "santos")

SHARE = {"mori": 1.0, "santos": 1 / 3}
"""How much of the outputs each labels."""

SLIPS = {
    "mori": {MAJOR: {MINOR: 1 / 10}, MINOR: {VALID: 1 / 12}, VALID: {MINOR: 1 / 40}},
    "santos": {MAJOR: {MINOR: 1 / 5}, MINOR: {VALID: 1 / 4, MAJOR: 1 / 8}, VALID: {MINOR: 1 / 16, UNSURE: 1 / 30}},
}
"""How often each gives another label than the planted one. Mori is strict, Santos lets small things pass."""

CATEGORY = "OVERLY_FREE_PARAPHRASE"
"""What they call an error that nobody planted."""

QUOTED = re.compile('"([^"]+)"')


def answers(annotator: str) -> bytes:
    """The file that an annotator sends back, without the texts: rows in the order in which they had the items."""
    planted = {}
    for line in (SAMPLE / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        defect = json.loads(line)
        planted[defect["model"], defect["passage_id"]] = defect
    items, defects = [], {}
    for model, texts in translations().items():
        for passage, text in texts.items():
            item = item_key(model, f"sample/{passage}", text)
            items.append(SheetItem(item, passage, "", {}, text))
            defects[item] = planted.get((model, passage), {"label": VALID})
    rows = [
        [each.item, annotator, *(answer[name] for name in LABEL_FORM.columns)]
        for (each,) in in_order([[item] for item in items], annotator, seed=1)
        if _chance(annotator, each.item, "labelled") < SHARE[annotator]
        for answer in [_answer(annotator, each, defects[each.item])]
    ]
    return sheet(["item", "annotator", *LABEL_FORM.columns], rows)


def _answer(annotator: str, item: SheetItem, defect: Mapping[str, str]) -> dict[str, str]:
    """What the annotator says of an output that has this defect, or none."""
    label, left = defect["label"], _chance(annotator, item.item, "slip")
    for other, rate in SLIPS[annotator][defect["label"]].items():
        if 0 <= left < rate:
            label = other
        left -= rate
    sure = "high" if _chance(annotator, item.item, "sure") < 0.6 else "medium"
    answer = dict.fromkeys(LABEL_FORM.columns, "") | {"label": label, "severity": "none", "confidence": sure}
    if label in (MINOR, MAJOR):
        answer |= {"error_category": defect.get("error_category", CATEGORY), "severity": defect.get("severity", "low")}
        if label == MINOR and answer["severity"] == "high":
            answer["severity"] = "medium"
        answer["notes"] = defect.get("note", "") if annotator == "mori" else ""
        quoted = (phrase.rstrip(".") for phrase in QUOTED.findall(defect.get("note", "")))
        answer["error_span"] = next((phrase for phrase in quoted if phrase.lower() in item.candidate.lower()), "")
    if label != defect["label"]:
        answer["confidence"] = "low" if sure == "medium" else "medium"
    return answer


def _chance(*parts: str) -> float:
    """A number from 0 to 1 that these words always give."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=7).digest()) / 2**56


def main() -> None:
    """Write the files."""
    ANNOTATIONS.mkdir(exist_ok=True)
    for name in ANNOTATORS:
        (ANNOTATIONS / f"{name}.csv").write_bytes(answers(name))


if __name__ == "__main__":
    main()
