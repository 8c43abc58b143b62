"""Texts pasted from a publication: one form however they were printed and copied, compared with a digest."""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark_assets.benchmarks.folders import bring
from benchmark_assets.benchmarks.pasted import canonical
from benchmark_assets.benchmarks.recipe import UserFolder

PRINTED = 'You weigh a well-made "line".\n\n- Say YES if it scans.\n- Say NO ... otherwise.\n{"answer": "{word}"}'
PASTED = [
    PRINTED.replace("\n", "\r\n  "),
    "```\nYou weigh a well-\nmade “line”.\n• Say `YES` if\n  ↪ it scans.\n• Say `NO` … otherwise.\n"
    "{“answer”: “{word}”}\n```\n",
    "You weigh a\nwell-made \u201eline\u201f. - Say YES if it\n - ↪ scans. - Say NO ... other\u00adwise. "
    '{"answer":\n"{word}"}',
]  # fmt: skip
PINNED = UserFolder(
    licence="theirs", pasted=True, sha256={"prompt.txt": sha256(canonical(PRINTED).encode()).hexdigest()}
)


@pytest.mark.parametrize("text", PASTED)
def test_a_paste_is_brought_into_the_form_of_its_digest(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/prompt.txt").write_text(text, encoding="utf-8")
    obtained = bring("prompts", PINNED, tmp_path / "mine", tmp_path / "home", "bring it")
    assert obtained
    assert obtained.faults == []
    assert (tmp_path / "home/prompts/prompt.txt").read_text() == canonical(PRINTED)
    again = bring("prompts", PINNED, None, tmp_path / "home", "bring it")
    assert again == obtained


@pytest.mark.parametrize(
    "text", [PRINTED.replace("scans", "scans 17"), PRINTED[:-9], PRINTED.replace("weigh", "wei-\ngh")]
)
def test_another_text_is_refused_with_what_to_do(text: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text(text, encoding="utf-8")
    obtained = bring("prompts", PINNED, tmp_path, tmp_path / "home", "copy page 3")
    assert obtained
    (fault,) = obtained.faults
    assert "paste it whole, without numbers of pages" in str(fault)
    assert "copy page 3" in str(fault)


@given(st.text(alphabet="ab-•↪`“ \n…"))
@example("↪• -")
def test_the_form_of_a_form_is_the_form(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)
