"""Progress on stderr, on a terminal only, and only for work that is worth it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cli.page import visible

WORTH_A_BAR = 1_000_000
"""Bytes below which nobody waits long enough to see a bar."""

ENTRIES_WORTH_A_BAR = 100_000

BAR_COLUMNS = 20
"""How long the bar itself is, so that all that stands beside it has room in 80 columns."""

Advance = Callable[[str, int], None]
"""Told what is being worked on, and how many bytes or entries of everything are done."""


def _silent(what: str, done: int) -> None:
    """Show nothing."""


@contextmanager
def progress_bar(total: int, *, color: bool, counts_entries: bool = False) -> Iterator[Advance]:
    """Draw a bar while the work goes on: how much of it is done, how fast, how long it still takes.

    Args:
        total: bytes, or entries, there are to work on.
        color: whether to colour the bar.
        counts_entries: whether entries are counted, and not bytes.
    """
    if total < (ENTRIES_WORTH_A_BAR if counts_entries else WORTH_A_BAR) or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class EntriesColumn(ProgressColumn):
        """How many entries are done, and how many more each second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            rate = f" {speed:,.0f} entries/s" if speed else ""
            return Text(f"{int(task.completed):,}/{total:,}{rate}", style="progress.download")

    in_one_line = Column(no_wrap=True)
    entries = (EntriesColumn(table_column=in_one_line),)
    amount = entries if counts_entries else (DownloadColumn(), TransferSpeedColumn())
    columns = (TextColumn("{task.description}"), BarColumn(BAR_COLUMNS), *amount, TimeRemainingColumn())
    console = Console(stderr=True, no_color=not color or None)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda what, done: bar.update(task, description=escape(visible(what)), completed=done)


class Counter:
    """One line on a terminal that says how far something is, and goes away."""

    SECONDS = 0.2
    """Between one line and the next; nothing is shown of what takes less."""

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._since = time.monotonic()
        self._is_drawn = False

    def show(self, text: str) -> None:
        """Show how far it is; called as often as one likes."""
        if self._visible and (now := time.monotonic()) - self._since >= self.SECONDS:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()
            self._since, self._is_drawn = now, True

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


@contextmanager
def counter() -> Iterator[Counter]:
    """Count on the terminal while the work goes on, where stderr is one."""
    count = Counter(visible=sys.stderr.isatty())
    try:
        yield count
    finally:
        count.clear()
