"""The documentation: its commands exist with their options, and a newcomer's first ones do what the README says."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchmark_assets.cli import main
from resources.home import PROJECT
from tests.processes import here

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")), *PROJECT.glob("warehouse/*/*/README.md")]
BLOCK = re.compile(r"^( *)```\w*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)

FABLES = """No,Latin,Reed,Marsh
1,Vulpes uvam vidit.,A fox saw a grape.,The fox caught sight of a grape.
2,Uva alta erat.,The grape was high.,It hung high up.
3,Vulpes saluit.,The fox jumped.,Up leapt the fox.
4,Nihil cepit.,She caught nothing.,She came away empty.
5,Iterum saluit.,Again she jumped.,She leapt once more.
6,Lassa resedit.,"Tired, she sat down.",Worn out she sat back.
7,Uva acerba est inquit.,"The grape is sour, she said.","Sour, she said, that grape."
8,Tum abiit.,Then she went away.,Off she went.
9,Corvus risit.,A raven laughed.,The raven had to laugh.
10,Uvam ipse edit.,He ate the grape himself.,And ate it himself.
"""


def commands(page: Path) -> Iterator[list[str]]:
    """Arguments of the commands `variorum` in the code blocks of a page."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        for line in block[2].splitlines():
            words = shlex.split(line.partition("#")[0]) if "variorum " in line else []
            if words and words[0] in ("variorum", ".venv/bin/variorum"):
                yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_the_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    for words in commands(page):
        command: click.Command = main
        rest = list(words)
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            name = rest.pop(0)
            assert name in command.commands, f"{' '.join(words)}: there is no command {name}"
            command = command.commands[name]
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        if command.name != "ui":  # which passes its options on
            assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= options, " ".join(words)


def test_ten_rows_of_a_spreadsheet_become_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fables.csv").write_text(FABLES, encoding="utf-8")
    rows = [f"{number},Output {number} of a model." for number in range(1, 11)]
    Path("mymodel.csv").write_text("\n".join(["passage_id,translation", *rows]), encoding="utf-8")
    steps = [words for words in commands(PROJECT / "README.md") if "fables" in " ".join(words) or "mymodel" in words]
    assert [words[0] for words in steps] == ["new", "check", "import", "import", "evaluate", "reader"]
    said = {" ".join(words[:2]): here(tmp_path / "home", *words).stdout for words in steps}
    assert "the first passage as it was read: fables/fables:1" in said["new corpus"]
    assert "Reed: complete in 10 of 10 passages" in said["check corpus"]
    assert "10 passages have an envelope" in said["import corpus"]
    assert "mymodel: 10 outputs" in said["import outputs"]
    assert (tmp_path / "READER" / "index.html").is_file()
    assert "Output 7 of a model." in "".join(path.read_text() for path in (tmp_path / "READER" / "texts").iterdir())
