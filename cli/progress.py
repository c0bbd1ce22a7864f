"""Progress on stderr, on a terminal only, and only for work that is worth it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cli.page import visible

WORTH_A_BAR = 1_000_000
"""Bytes below which nobody waits long enough to see a bar."""

Advance = Callable[[str, int], None]
"""Told what is being worked on, and how many bytes of everything are done."""


def _silent(what: str, done: int) -> None:
    """Show nothing."""


@contextmanager
def progress_bar(total: int, *, color: bool) -> Iterator[Advance]:
    """Draw a bar while the work goes on: how much of it is done, how fast, how long it still takes.

    Args:
        total: bytes there are to work on.
        color: whether to colour the bar.
    """
    if total < WORTH_A_BAR or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, no_color=not color or None)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda what, done: bar.update(task, description=escape(visible(what)), completed=done)
