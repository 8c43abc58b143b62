"""What a command shows while it works: messages as lines, progress as one changing line, and everything in a log file.

Here: the handlers of the logger `variorum` for the command line, and the streams to which all commands print. Not here:
what is logged (every room).
"""

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

from resources.harmless import visible
from resources.home import home

FILE = Path("logs") / "variorum.log"
"""Path of the log file in the home."""

BYTES, FILES = 2_000_000, 3
"""Size at which a log file is replaced, and the number of earlier files that are kept."""

MESSAGES = "variorum.notifications"
"""Logger whose messages are for the reader even if nothing is wrong: costs before models are asked, results of runs."""

CORPUS = "variorum.corpus"
"""Logger of the readers of corpora."""


class Shown:
    """A stream of text that makes control characters visible: names, texts and messages of others must not move the
    cursor, change a title or reverse a line. `raw` is the stream beneath it."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self.raw.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        """All else is the stream's own."""
        return getattr(self.raw, name)


@contextmanager
def shown() -> Iterator[None]:
    """A block in which everything that is printed is `Shown`."""
    with redirect_stdout(Shown(sys.stdout)), redirect_stderr(Shown(sys.stderr)):
        yield


class _VisibleFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class HomeLog(RotatingFileHandler):
    """The log file of a home. It is created when the first line is written, so that reading commands create nothing."""

    def __init__(self) -> None:
        super().__init__(home() / FILE, maxBytes=BYTES, backupCount=FILES, encoding="utf-8", delay=True)
        self.setFormatter(_VisibleFormatter("%(asctime)s  %(message)s"))

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        """Go on without the line: the error of a full disk comes from what matters more."""


class Terminal(logging.StreamHandler):  # type: ignore[type-arg]
    """Standard error: warnings and messages as lines. On a terminal, progress is one line that changes;
    elsewhere progress goes to the log file only.

    A command may read a corpus several times. A warning about its files is printed once.

    With `only_errors`, warnings and messages go to the log file, too, and only errors and progress are shown.
    """

    def __init__(self, only_errors: bool = False) -> None:
        super().__init__(sys.stderr.raw if isinstance(sys.stderr, Shown) else sys.stderr)
        self.setFormatter(_VisibleFormatter("%(message)s"))
        self._only_errors = only_errors
        self._about_files: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message, or show progress."""
        if record.levelno >= logging.WARNING and record.name == CORPUS:
            if record.getMessage() in self._about_files:
                return
            self._about_files.add(record.getMessage())
        said = record.levelno >= logging.WARNING or record.name == MESSAGES
        if record.levelno >= logging.ERROR or (said and not self._only_errors):
            self.clear()
            super().emit(record)
        elif not said and self.stream.isatty():
            line = visible(record.getMessage()).partition("\n")[0]
            self.stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
            self.flush()

    def clear(self) -> None:
        """Remove the line of progress."""
        if self.stream.isatty():
            self.stream.write("\r\x1b[K")
            self.flush()
