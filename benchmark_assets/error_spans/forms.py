"""Forms in which people mark errors in outputs without Pearmut: spreadsheets and Label Studio.

Here: the columns, the labeling interface and the instructions. Not here: files and lists (adjudication.annotation),
reading completed files (submissions), campaigns for Pearmut (campaigns).
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from benchmark_assets.adjudication.annotation import Form, add_choice, add_text
from benchmark_assets.error_spans.campaigns import ESA, MISSING, MQM, SEVERITIES
from benchmark_assets.error_spans.judging import BEST, CATEGORIES

ANSWERS = ("score", "errors")
"""Columns that annotators fill in."""

GUIDE = """\
Read the source first, then the references, then the candidate: one translation of the same passage by an unnamed
translator or model. Mark every error of the candidate, then give the whole a score. The references show how far good
translations differ. They are not a limit: a word that no reference uses may be right.

| severity | when |
|---|---|
{severities}

The score is a number from 0 to 100: 0 means that nothing of the source is left, 33 broken, 66 understandable with
errors, and 100 perfect.
"""

MEANINGS = {
    "minor": "an editor would correct it, but the reader is not misled",
    "major": "the reader believes something that the source does not say, or misses something important",
    "critical": "the candidate is useless or harmful because of it",
}

RETURN = """\
**In a spreadsheet.** Open `items.NAME.csv` with your name (in UTF-8, columns separated by commas). Fill in the last two
columns: `score`, and in `errors` one line for each error, such as

```
{example}
```

Copy the words after the colon from the candidate; `{missing}` means that something of the source is missing. If there
are no errors, leave the cell empty. Leave `item` and the other columns as they are; you may sort the rows. You can
leave rows empty and fill them in later. Save as CSV in UTF-8 and send the file back.

**In Label Studio.** Create a project, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.NAME.json` with your name. To mark an error, choose its severity and select the words{region}. When you are
done, export as JSON and send the file back.
"""


def _form(protocol: str) -> Form:
    severities, with_categories = SEVERITIES[protocol], protocol == MQM

    def controls(view: Element) -> None:
        labels = SubElement(view, "Labels", name="severity", toName="candidate")
        for name in severities:
            SubElement(labels, "Label", value=name.capitalize())
        add_text(view, "Candidate", "candidate")
        if with_categories:
            region = {"perRegion": "true", "visibleWhen": "region-selected"}
            add_choice(view, "Category of the selected error", "category", CATEGORIES, conditions=region)
        add_choice(view, "Something is missing: how bad is it?", "omission", severities, required=False)
        SubElement(view, "Header", value=f"Score, 0 to {BEST}")
        bounds = {"min": "0", "max": str(BEST), "required": "true"}
        SubElement(view, "Number", {"name": "score", "toName": "candidate", **bounds})

    guide = GUIDE.format(severities="\n".join(f"| `{name}` | {MEANINGS[name]} |" for name in severities))
    kinds = ("accuracy/mistranslation", "accuracy/omission") if with_categories else ("", "")
    example = "\n".join(
        f"{' '.join(filter(None, words))}: {text}"
        for words, text in (((severities[-1], kinds[0]), "across the acre"), (("minor", kinds[1]), MISSING))
    )
    if with_categories:
        guide += "\nCategories: " + ", ".join(f"`{name}`" for name in CATEGORIES) + ".\n"
    region = "; then select the category" if with_categories else ""
    return Form(ANSWERS, controls, guide, RETURN.format(example=example, missing=MISSING, region=region))


FORMS: Mapping[str, Form] = {protocol: _form(protocol) for protocol in (ESA, MQM)}
"""Forms by protocol."""
