"""The page of ``erase``: what goes, what that changes, and what stays and names it."""

from collections.abc import Sequence

from cli.erasing import MENTIONS_TOLD, Erasing, MentionTold, Wanted
from cli.page import Page, entries_of

SHOWN = 10

_HOW = {
    "value": "",
    "text": "(in a text)",
    "unread": "(a line that could not be read: look at it)",
    "digest": "(a digest of the whole line: a guess of it could be proved)",
}


def write_plan(
    page: Page, plan: Sequence[Erasing], named: Sequence[MentionTold], total: int, wanted: Wanted
) -> None:
    """Write what is to be erased of each run, what that changes, and which other entries name it."""
    for erasing in plan:
        _write_run(page, erasing)
    if total:
        page.blank()
        _write_mentions(page, named, total, wanted)


def _write_run(page: Page, erasing: Erasing) -> None:
    page.line(f"{erasing.run.run_id}  {entries_of(erasing.entries)}", "bold")
    change = erasing.change
    if change.is_none:
        page.line("is decided as before", indent=2)
        return
    if change.status_before != change.status_after:
        page.line(f"the run: {change.status_before} becomes {change.status_after}", indent=2)
    for one in change.checkpoints[:MENTIONS_TOLD]:
        same = "as before" if one.before == one.after else f"becomes {one.after}"
        page.line(f"{one.stream}: {one.before} {same}", indent=2)


def _write_mentions(page: Page, named: Sequence[MentionTold], total: int, wanted: Wanted) -> None:
    what = "what is erased" if wanted.stream is None else f"the stream {wanted.stream!r}"
    what = repr(wanted.key) if wanted.key is not None else what
    page.line(f"Other entries name {what}, or may, and are not erased:")
    for mention in named[:SHOWN]:
        words = [mention.run_id, f"entry {mention.entry}", mention.type, mention.where, _HOW[mention.how]]
        page.line("  ".join(filter(None, words)), indent=2, hang=4)
    if total > SHOWN:
        page.line(f"and {total - SHOWN} more; -o json lists up to {MENTIONS_TOLD}", indent=2)
