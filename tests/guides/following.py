"""Following a guide: its commands typed into one shell, in one folder with one home, and its pages opened in Chromium.

Not here: the steps (guide).
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from playwright.sync_api import Browser, sync_playwright

from tests.guides.guide import Commands, File, Page, Step
from tests.processes import CHROMIUM

LONGEST = 900
"""Seconds that a command may take on a busy machine."""

WAIT = 300
"""Seconds until a server answers, or a page shows something."""


class FailedStepError(AssertionError):
    """A step did not do what the guide says."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line


class Shell:
    """One bash, as a user has it: `variorum` on the path, and a home in the folder."""

    def __init__(self, folder: Path) -> None:
        self._log = folder.with_suffix(".log")
        self._codes, codes = os.pipe()
        env = {name: value for name, value in os.environ.items() if not name.startswith(("VARIORUM_", "DAGSTER_"))}
        env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "VARIORUM_HOME": str(folder / "home")}
        with self._log.open("a") as log:
            self._bash = subprocess.Popen(
                ["bash", "--noprofile", "--norc"], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=log, stderr=log,
                start_new_session=True, pass_fds=[codes], text=True,
            )  # fmt: skip
        os.close(codes)
        self._fd, self._at = codes, 0
        self.seconds = 0.0

    def run(self, command: str) -> int | None:
        """Type a command, which has no input; return its exit code, or None if the shell did not survive it."""
        self._at = self._log.stat().st_size
        self._write(f"{{\n{command}\n}} </dev/null {self._fd}>&-\necho $? >&{self._fd}\n")
        ready, _, _ = select.select([self._codes], [], [], LONGEST)
        assert ready, f"{command} takes longer than {LONGEST} s"
        code = os.read(self._codes, 100).decode().strip()
        return int(code) if code else None

    def printed(self) -> str:
        """What the last command has printed so far, and servers meanwhile."""
        return self._log.read_bytes()[self._at :].decode(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the servers, then the shell; `seconds` are the CPU seconds of all."""
        with suppress(OSError):
            self._write(f"kill $(jobs -p) 2>/dev/null; wait\nexit {self._fd}>&-\n")
        try:
            readable, _, _ = select.select([self._codes], [], [], 60)
            if not readable:
                os.killpg(self._bash.pid, signal.SIGKILL)
        finally:
            _, _, used = os.wait4(self._bash.pid, 0)
            self._bash.returncode = 0
            self.seconds = used.ru_utime + used.ru_stime
            with suppress(ProcessLookupError):
                os.killpg(self._bash.pid, signal.SIGKILL)
            os.close(self._codes)

    def _write(self, text: str) -> None:
        assert self._bash.stdin is not None
        self._bash.stdin.write(text)
        self._bash.stdin.flush()


class Journey:
    """The steps of a guide, taken in a folder."""

    def __init__(self, folder: Path, shell: Shell) -> None:
        self.folder, self._shell = folder, shell

    def take(self, step: Step) -> None:
        """Take one step. Raises FailedStepError if it does not do what the guide says."""
        match step:
            case File():
                (self.folder / step.name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / step.name).write_text(step.text, encoding="utf-8")
            case Commands():
                self._type(step)
            case Page():
                with chromium() as browser:
                    self._open(step, browser)

    def _type(self, step: Commands) -> None:
        printed = ""
        for command in step.typed:
            code = self._shell.run(command.text)
            printed += self._shell.printed()
            if code != command.code:
                raise FailedStepError(
                    command.line, f"{command.text} exits {code}, not {command.code}:\n{printed[-3000:]}"
                )
        last = step.typed[-1]
        before = printed.removesuffix(self._shell.printed())
        self._see(step, lambda: before + self._shell.printed(), WAIT if last.stays else 0)

    def _open(self, step: Page, browser: Browser) -> None:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(WAIT * 1000)
        path, mark, fragment = step.address.partition("#")
        address = path if "://" in path else (self.folder / path).as_uri()
        self._until_there(step, address)
        page.goto(f"{address}{mark}{fragment}")
        for verb, name in step.done:
            match verb:
                case "click":
                    named = page.get_by_label(name, exact=True).or_(page.get_by_text(name, exact=True))
                    named.locator("visible=true").first.click()
                case "wait for":
                    page.get_by_text(name, exact=True).locator("visible=true").first.wait_for()
                case "press":
                    page.keyboard.press(name)
                case "type":
                    page.keyboard.type(name)
        self._see(step, lambda: " ".join(page.locator("body").inner_text().split()), WAIT)

    def _until_there(self, step: Page, address: str) -> None:
        deadline = time.monotonic() + (0 if address.startswith("file:") else WAIT)
        while True:
            try:
                urllib.request.urlopen(address, timeout=WAIT).close()
                return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise FailedStepError(step.line, f"{step.address}: {error}") from error
            time.sleep(0.3)

    def _see(self, step: Commands | Page, text: Callable[[], str], seconds: float) -> None:
        """Wait until all lines are there."""
        deadline = time.monotonic() + seconds
        whole = isinstance(step, Commands)
        while missing := first_missing(step.shows, text(), whole):
            if time.monotonic() > deadline:
                raise FailedStepError(step.line, f"{missing!r} is not shown, but:\n{text()[-5000:]}")
            time.sleep(0.3)


def first_missing(lines: Sequence[str], text: str, whole: bool) -> str:
    """The first of the lines that does not occur in the text after those before it; '' if all do. `…` stands for any
    characters of a line, blanks for any number of blanks. If `whole`, a line is one whole line of the text."""
    at = 0
    for line in lines:
        if line.strip() == "…":
            continue
        parts = (r"\s+".join(map(re.escape, part.split())) for part in line.split("…"))
        pattern = r"[ \t]*.*[ \t]*".join(parts)
        found = re.compile(rf"^\s*{pattern}[ \t]*$" if whole else pattern, re.MULTILINE).search(text, at)
        if not found:
            return line
        at = found.end()
    return ""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
