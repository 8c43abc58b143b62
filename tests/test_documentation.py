"""The documentation: its commands exist with their options, and a newcomer's first ones do what the README says."""

import ast
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchmark_assets.cli import main
from benchmark_assets.cli.later import loaded
from resources import dagster_storage
from resources.home import PROJECT
from tests.guides.guide import GUIDES, SHELL, blocks
from tests.processes import here

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")), *PROJECT.glob("warehouse/*/*/README.md")]

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
    for kind, content in blocks(page.read_text(encoding="utf-8")):
        for line in content.splitlines() if kind in SHELL else ():
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
            command = loaded(command.commands[name])
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= options, " ".join(words)


def test_contributing_lists_the_modules_that_import_internals_of_dagster() -> None:
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for room in ("benchmark_assets", "resources"):
        listed = re.search(rf"^  - in `{room}`: (.*?)[;.]$", text, re.MULTILINE | re.DOTALL)
        assert listed
        internal = re.compile(r"^\s*(?:from|import) dagster\w*\._", re.MULTILINE)
        modules = [path for path in (PROJECT / room).rglob("*.py") if internal.search(path.read_text(encoding="utf-8"))]
        assert set(re.findall(r"`(.+?)`", listed[1])) == {str(path.relative_to(PROJECT / room)) for path in modules}


def test_the_room_of_dagsters_storages_lists_the_internals_that_they_use() -> None:
    room = PROJECT / "resources" / "dagster_storage"
    used = defaultdict[str, set[str]](set)
    for path in [*room.glob("*.py"), PROJECT / "resources" / "postgres" / "postgres_storage.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dagster._"):
                used[str(node.module)] |= {name.name for name in node.names}
    lines = re.findall(r"^- ([\w.]+): (\w+(?:,\s+\w+)*)$", dagster_storage.__doc__ or "", re.MULTILINE)
    assert len(used) > 5
    assert {module: set(re.split(r",\s+", names)) for module, names in lines} == used


@pytest.mark.proof
@pytest.mark.large
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
    assert "10 passages have two complete references" in said["import corpus"]
    assert "mymodel: 10 outputs" in said["import outputs"]
    assert (tmp_path / "READER" / "index.html").is_file()
    assert "Output 7 of a model." in "".join(path.read_text() for path in (tmp_path / "READER" / "texts").iterdir())


ELSEWHERE = {
    "add", "migrate-to", "evaluate", "new baseset", "import baseset FOLDER", "import tasks",
    "import labels annotations.json", "reproduce", "validate", "--per-model", "--benchmarks",
}  # fmt: skip
"""Commands that other tests run. They need a server, a mirror, a benchmark, judged systems, or what people export."""

BASE_SET = PROJECT / "warehouse" / "sample" / "baseset"
MEANT = {
    "mycorpus": "sample", "MODEL": "literal", "OTHER": "free", "NAME": "mori", "NAME@VERSION": "sample-anchors@1.0.0",
    "anchors@1.0.0": "sample-anchors@1.0.0", "warehouse/sample/baseset": str(BASE_SET),
    "docs/removals.txt": str(PROJECT / "docs" / "removals.txt"),
}  # fmt: skip
"""What the words of the pages stand for in the home of the demonstration."""


class Written:
    """Files and folders that the commands of a page write and read, each under the name of the page."""

    def __init__(self) -> None:
        self._latest: dict[str, str] = {}
        self._count = 0

    def meant(self, words: list[str]) -> list[str]:
        """The command with names of the demonstration; a file that is written gets a new name, if there is one."""
        return [name for word in words if (name := self._name(word, reads=words[0] in ("import", "compare")))]

    def _name(self, word: str, reads: bool) -> str:
        if word in ("OLD", "NEW"):
            return self._latest["FOLDER"]
        if word in MEANT or not (word in ("FOLDER", "FILE") or re.search(r"\.(csv|html|json|md)$", word)):
            return MEANT.get(word, word)
        if reads and (word.startswith("items.") or word == "FILE"):
            return str(Path(self._latest["FOLDER"]) / word.replace("FILE", "items.mori.csv"))
        if not reads:
            self._count += 1
            self._latest[word] = f"{self._count}-{Path(word).name}"
        return self._latest.get(word, "")  # '' if no command writes it: people export it


@pytest.mark.proof
@pytest.mark.large
def test_the_commands_of_other_pages_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home of the demonstration, page by page, each page in a folder of its own; guides are followed elsewhere
    (tests.guides)."""
    home, count = tmp_path / "home", 0
    here(home, "demo")
    here(home, "import", "baseset", str(BASE_SET))
    for number, page in enumerate(page for page in PAGES[1:] if page.stem not in GUIDES):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        written = Written()
        for words in commands(page):
            elsewhere = {*words, " ".join(words[:2]), " ".join(words[:3])} & ELSEWHERE
            if not elsewhere:
                here(home, *written.meant(words))
                count += 1
    assert count > 25
