"""`variorum open` in the terminal: questions with answers, an import, and what is written."""

from pathlib import Path

import pytest
import yaml

from tests.corpus.forms import LA, VALE, joined, placed, text
from tests.processes import VARIORUM, begin, here

UNRELATED = """Boil two litres of salted water, and add the dried beans that have been soaked since yesterday.
Chop onions, celery and a clove of garlic; fry everything gently until the kitchen smells sweet.
Taxes on olive oil were lowered in 1973, although exports to Canada had never been smaller.

Our engine failed near the harbour of Lisbon, so the captain telephoned the insurance company.
Seventeen students passed the examination in chemistry; the others may try again in October.
Please return all library books before the holidays.""".splitlines()


@pytest.mark.proof
@pytest.mark.large
def test_prose_is_opened_with_answers_in_the_terminal_and_kept_as_it_is_later(home: Path, tmp_path: Path) -> None:
    files = {"latin.txt": joined(LA, 4, 8), "english.txt": joined(VALE, 3, 6, 9), "stone.txt": UNRELATED}
    placed({f"pons/{name}": text(*paragraphs) for name, paragraphs in files.items()})(tmp_path)
    with begin(home, VARIORUM, "open", "--terminal", str(tmp_path / "pons")) as process:
        shown, errors = process.communicate("Anna Vale\n", timeout=600)
    assert process.returncode == 0, errors
    assert "latin.txt: source (la, 9 texts)\n  Marcus pontem novum trans flumen faciebat.\n" in shown
    assert "Who translated english.txt? [translation]" in shown
    assert "read pons: `variorum reader FOLDER pons`" in shown
    description = tmp_path / "pons.yaml"
    assert list(yaml.safe_load(description.read_text(encoding="utf-8"))["references"]) == ["anna-vale", "stone"]
    assert "stone: in no passage: no segment was matched; perhaps it is no translation of this source" in shown
    here(home, "reader", str(tmp_path / "READER"), "pons")
    assert "fresh bread and milk" in "".join(path.read_text() for path in (tmp_path / "READER").rglob("*.js"))
    written = description.read_bytes()
    (tmp_path / "pons.corrections.jsonl").write_text('{"segment": "x", "translator": "anna-vale", "text": "y"}\n')
    refused = here(home, "open", "--yes", str(tmp_path / "pons"), code=1)
    assert f"{description}: exists, and is used as it is" in refused.stdout
    assert "pons.corrections.jsonl: x: the corpus has no such segment" in refused.stderr
    assert description.read_bytes() == written


def test_what_cannot_be_evaluated_writes_nothing(home: Path, tmp_path: Path) -> None:
    placed({"pons/vale.txt": text(*joined(VALE, 4))})(tmp_path)
    refused = here(home, "open", "--yes", str(tmp_path / "pons"), code=1)
    assert "has texts only in en" in refused.stderr
    assert [path.name for path in tmp_path.glob("pons*")] == ["pons"]


def test_a_question_without_an_answer_says_why_it_is_asked_here_and_that_nothing_is_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of the input, which click takes for Ctrl-C."""
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    placed({"pons/latin.txt": text(*joined(LA, 4)), "pons/english.txt": text(*joined(VALE, 4))})(tmp_path)
    ended = here(home, "open", str(tmp_path / "pons"), code=130)
    assert ended.stdout.startswith("no browser found here: asking in the terminal")
    assert "interrupted at a question: nothing was written or imported, and no answer is kept" in ended.stderr
    assert [path.name for path in tmp_path.glob("pons*")] == ["pons"]
