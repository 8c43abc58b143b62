"""Words have one meaning everywhere: in the documentation, the reports and the readers."""

import re
from html import unescape
from pathlib import Path

import pytest

from benchmark_assets.reporting.terms import LABELING, TERMS, explained, glossary, markdown
from resources.home import PROJECT


def test_the_documentation_has_the_same_words_with_the_same_meanings() -> None:
    _, _, words = (PROJECT / "docs" / "index.md").read_text(encoding="utf-8").partition("\n## Words\n")
    assert words.strip() == markdown()


def test_each_word_is_explained_once_and_only_where_it_is_meant() -> None:
    html = explained(
        "Drift of outputs in units of their spread; drift. `variorum import outputs` needs adjusted drift."
    )
    links = re.findall(r'<a class="term" href="#term-([\w-]+)" data-meaning="([^"]*)">([^<]*)</a>', html)
    assert [(name, text) for name, _, text in links] == [
        ("drift", "Drift"), ("output", "outputs"), ("adjusted-drift", "adjusted drift")
    ]  # fmt: skip
    assert unescape(links[0][1]) == TERMS["drift"]
    assert "<code>variorum import outputs</code>" in html
    assert "by 4 <a" in explained("by 4 units")
    assert explained("bands-on units of outputs_per_day") == "bands-on units of outputs_per_day"


@pytest.mark.parametrize(("which", "words"), [("reader", tuple(TERMS)), ("blind", LABELING)])
def test_readers_explain_the_words_that_they_show(
    which: str, words: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert glossary(words) in page
    assert re.findall(r'<dt id="term-[\w-]+">([^<]*)</dt>', page) == list(words)
