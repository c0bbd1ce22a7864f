"""What is to be folded, and what comes of it: plain values that go from process to process."""

from typing import TypeAlias

import msgspec


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One run to fold.

    Attributes:
        size: through which entry.
        manifest: the digest of the manifest that it was opened with, None where there is none.
        rulesets: the digests of the rulesets to fold it under, in one pass.
        cut: the entry through which the run was decided by whoever recorded it, 0 where the log does not say.
        cut_ruleset: the digest of the ruleset of that decision; '' where it is not among ``rulesets``.
    """

    run_no: int
    dialect: str
    size: int
    manifest: str | None
    rulesets: tuple[str, ...]
    cut: int = 0
    cut_ruleset: str = ""


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """A run folded under one ruleset.

    Attributes:
        ruleset: the digest of the ruleset.
        decision: as it is encoded.
        exercised: the rules and switches for which the run held an occasion, in order.
        at_cut: the digest of the decision at the task's cut; None for other rulesets than that of the cut.
    """

    ruleset: str
    decision: bytes
    exercised: tuple[str, ...]
    at_cut: str | None = None


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """A run that could not be folded, as the log no longer holds what it held."""

    why: str


Result: TypeAlias = tuple[Folded, ...] | Unread
"""What came of one task: the run under each of its rulesets, in their order."""

Results: TypeAlias = tuple[Result, ...]
"""What came of each task of a batch."""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that one process folds at a time, and the documents of rulesets that are not shipped."""

    tasks: tuple[Task, ...]
    documents: tuple[bytes, ...] = ()
