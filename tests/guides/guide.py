"""A guide as the steps that its reader takes: files to save, commands to type, pages to open.

Here: the reading of a page's blocks, and faults planted in commands. Not here: taking the steps (following).

    ```csv title="fables.csv"   is a file that the guide supplies
    ```sh                       is typed into a shell, line by line; `# exits 1` after a command that is to fail
    ```text                     is printed by the commands of the block before, or stands on the page that was opened
    Open `READER/index.html`    in the prose opens a page, also `http://127.0.0.1:3000/readers/`; what follows is done
                                there: click "NAME", press "KEY", type "WORDS", wait for "WORDS"

Lines of a ```text block occur in this order; `…` stands for what is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from resources.home import PROJECT

GUIDES = ("scholar", "scholar-prose", "model-builder", "editor", "campaign")

SHELL = ("", "sh", "bash")
"""Languages of the blocks that are typed."""

_BLOCK = re.compile(r'^( *)```(\w*)(?: title="([^"]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)
_OPENED = re.compile(r"\b[Oo]pen\s+`((?:https?://|[^`\s]+\.html)[^`\s]*)`")
_DONE = re.compile(r'\b([Cc]lick|[Pp]ress|[Tt]ype|wait for)\s+"([^"]+)"')
_EXITS = re.compile(r"# exits (\d+)")
_MINUTES = re.compile(r"\babout (\d+) minutes\b", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    """A file that the guide supplies."""

    line: int
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """What is typed at once: a line, with the lines after it that it is continued in."""

    line: int
    text: str

    @property
    def code(self) -> int:
        """The exit code."""
        stated = _EXITS.search(self.text)
        return int(stated[1]) if stated else 0

    @property
    def stays(self) -> bool:
        """Whether the command is a server, which runs in the background."""
        return bool(re.search(r"&\s*(#.*)?$", self.text))


@dataclass(frozen=True)
class Commands:
    """A block of commands, and the lines that they print."""

    line: int
    typed: tuple[Command, ...]
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """An address, what is clicked, pressed and typed there, and the lines that are then read."""

    line: int
    address: str
    done: tuple[tuple[str, str], ...] = ()
    shows: tuple[str, ...] = ()


Step = File | Commands | Page


@dataclass(frozen=True)
class Guide:
    """A page of the documentation that is followed from its first step to its last."""

    path: Path
    steps: tuple[Step, ...]
    minutes: int | None = field(default=None)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Language and content of each fenced block of a page that is not a file."""
    return ((block[2], block[4]) for block in _BLOCK.finditer(text) if not block[3])


def read(name: str) -> Guide:
    """The guide in `docs/NAME.md`."""
    path = PROJECT / "docs" / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    steps, end = list[Step](), 0
    for block in _BLOCK.finditer(text):
        steps += _pages(text, end, block.start())
        end, line = block.end(), text.count("\n", 0, block.start()) + 1
        kind, title, content = block[2], block[3], block[4]
        if title:
            steps.append(File(line, title, content))
        elif kind in SHELL:
            steps.append(Commands(line, tuple(_commands(content, line + 1))))
        elif kind == "text":
            last = steps[-1]
            assert not isinstance(last, File), f"{path}:{line}: nothing prints this"
            assert not last.shows, f"{path}:{line}: more is printed than one block"
            steps[-1] = replace(last, shows=tuple(filter(None, content.splitlines())))
    steps += _pages(text, end, len(text))
    minutes = _MINUTES.search(text)
    return Guide(path, tuple(steps), int(minutes[1]) if minutes else None)


def faulty(command: Command) -> Iterator[Command]:
    """The command with one fault: its name misspelt, another file, name or value, an option left out.

    `--terminal` only spares a browser, and a comment decides nothing. Of programs that are not Variorum's, only names
    of files are changed.
    """
    typed, mark, comment = command.text.partition(" #")
    words = typed.split()
    own = words[0] == "variorum"
    wrong = [[*words[:own], words[own] + words[own][-1], *words[1 + own :]]]
    for at, word in enumerate(words[1 + own :], start=1 + own):
        if own and word.startswith("--") and word != "--terminal":
            value = at + 1 < len(words) and not words[at + 1].startswith("-")
            wrong.append([*words[:at], *words[at + 1 + value :]])
        elif word[0].isalnum() if own else "." in word:
            name = Path(word).name
            wrong.append([*words[:at], f"{word.removesuffix(name)}other-{name}", *words[at + 1 :]])
    return (replace(command, text=" ".join(each) + mark + comment) for each in wrong)


def _commands(content: str, line: int) -> Iterator[Command]:
    begun: list[str] = []
    for at, written in enumerate(content.splitlines(), start=line):
        begun.append(written)
        if not written.endswith("\\"):
            if "".join(begun).strip():
                yield Command(at - len(begun) + 1, "\n".join(begun))
            begun = []


def _pages(text: str, start: int, end: int) -> Iterator[Page]:
    """Pages that prose says to open, each with what it says to click there."""
    opened = [*_OPENED.finditer(text, start, end)]
    for page, after in zip(opened, [*opened[1:], None], strict=True) if opened else ():
        done = _DONE.findall(text, page.end(), after.start() if after else end)
        yield Page(
            text.count("\n", 0, page.start()) + 1,
            page[1],
            tuple((verb.lower(), " ".join(name.split())) for verb, name in done),
        )
