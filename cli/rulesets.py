"""How a ruleset is named on the command line, which there are, and how a ledger keeps one that was used.

A name is the id of a shipped or installed ruleset, a file in TOML, the id of a stored one, or the beginning
of a digest. Packages are only loaded, and the ledger only searched, where the name is no shipped one's.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from os import sep
from pathlib import Path
from stat import S_ISREG

from cli.exits import say
from cli.options import Common
from ledger.core.dialect import Dialect, Ruleset
from ledger.dialects import DIALECTS
from ledger.errors import BusyError, DiskError, LedgerError, RulesetError
from ledger.log.store import RULESET_MEDIA_TYPE, DocumentRow, RunRow, Store
from ledger.replay.replay import dialect_named, ruleset_named
from ledger.replay.rulesets import FILE_SUFFIX, Known, Unknown, named, of_dialect, shipped


def find_ruleset(store: Store | None, dialect: Dialect, name: str | None) -> Ruleset:
    """Return the ruleset of a dialect that a name means; None stands for the dialect's default.

    Args:
        store: the ledger, None where there is none.
        dialect: whose runs it is to decide.
        name: as :func:`any_ruleset` takes it.

    Raises:
        NotFoundError, RulesetError: as for :func:`any_ruleset`.
        UsageError: it is for another dialect.
    """
    if name is None:
        return ruleset_named(dialect, None)
    return of_dialect(any_ruleset(store, name).ruleset, dialect)


class RulesetFinder:
    """Gives the ruleset of one name for run after run, and looks for it once a dialect.

    Attributes:
        used: what was given, by dialect.
    """

    def __init__(self, store: Store | None, name: str | None) -> None:
        self.used: dict[str, Ruleset] = {}
        self._store = store
        self._name = name

    def __call__(self, run: RunRow) -> Ruleset:
        """Return the ruleset for a run; :func:`find_ruleset` says what it raises."""
        if run.dialect not in self.used:
            self.used[run.dialect] = find_ruleset(self._store, dialect_named(run.dialect), self._name)
        return self.used[run.dialect]


def any_ruleset(store: Store | None, name: str) -> Known:
    """Return the ruleset that a name means, of whichever dialect.

    Args:
        store: the ledger, None where there is none.
        name: an id, a file that ends in ``.toml`` or is there, or ``sha256:`` and eight digits of a digest.

    Raises:
        NotFoundError: there is none of this name, or more than one; or what it was made of is not here.
        RulesetError: it is a file that cannot be read, or is no ruleset.
    """
    here = shipped(DIALECTS.values())
    if any(one.ruleset.id == name for one in here):
        return named(here, name)
    known, unknown = known_rulesets(store)
    if _is_file(name) and not any(one.ruleset.id == name for one in known if one.origin == "installed"):
        return Known(ruleset=_read_file(Path(name), known), origin="file", source=name)
    return named(known, name, unknown)


def known_rulesets(store: Store | None) -> tuple[list[Known], list[Unknown]]:
    """Return the rulesets that can be decided under, and those that the ledger keeps and that cannot.

    Args:
        store: the ledger, None where there is none.
    """
    from ledger.replay.own_rulesets import stored_rulesets

    known = [*shipped(DIALECTS.values()), *_installed()]
    rows = store.documents_of(RULESET_MEDIA_TYPE) if store is not None else ()
    stored, unknown = stored_rulesets(((row.digest, row.body) for row in rows), known)
    return known + stored, unknown


@contextmanager
def ledger_if_any(common: Common) -> Iterator[Store | None]:
    """Open the ledger for reading where there is one, for commands that can do without."""
    from cli.decisions import open_ledger

    with ExitStack() as held:
        store = None
        try:
            store = held.enter_context(open_ledger(common)) if common.ledger.exists() else None
        except LedgerError as error:
            say(f"passing over the rulesets that the ledger keeps: {error}")
        yield store


def keep_rulesets(common: Common, rulesets: Iterable[Ruleset | None]) -> None:
    """Let the ledger keep the rulesets under which something of it was decided, but for those shipped.

    What was printed is let out before, as this may wait for others that write. A ledger that cannot be
    written to is left as it is.
    """
    from ledger.log.sqlite_store import SqliteStore

    known = {one.ruleset.digest for one in shipped(DIALECTS.values())}
    used = {one.digest: one for one in rulesets if one is not None and one.digest not in known}
    if not used:
        return
    sys.stdout.flush()
    with SqliteStore.open(common.ledger, create=False, read_only=True) as store:
        held = store.documents(used)
    missing = [one for one in used.values() if one.digest not in held]
    rows = [DocumentRow(digest=r.digest, media_type=RULESET_MEDIA_TYPE, body=r.document) for r in missing]
    try:
        if rows:
            with SqliteStore.open(common.ledger, create=False) as store:
                store.keep_documents(rows)
    except DiskError:
        return
    except BusyError:
        ids = ", ".join(one.id for one in missing)
        say(f"the ledger is busy and does not keep {ids} yet; it will when it is next decided under")


@cache
def _installed() -> tuple[Known, ...]:
    """Load what packages bring, once, and say what is wrong with them."""
    from ledger.installed_rulesets import load_installed

    installed = load_installed()
    for problem in installed.problems:
        say(problem)
    return installed.known


def _is_file(name: str) -> bool:
    return name.endswith(FILE_SUFFIX) or (sep in name and Path(name).is_file())


def _read_file(file: Path, known: list[Known]) -> Ruleset:
    from ledger.replay.own_rulesets import TEXT_LIMIT, read_ruleset

    try:
        if not S_ISREG(file.stat().st_mode) and not file.is_dir():  # a pipe, say, to which nobody may write
            raise RulesetError(f"{file}: expected a file, found something else; name a file")
        with file.open("rb") as opened:
            body = opened.read(4 * TEXT_LIMIT)
        text = body.decode("utf-8")
    except OSError as error:
        raise RulesetError(f"{file}: cannot be read: {error.strerror or error}; check the file") from error
    except UnicodeDecodeError as error:
        raise RulesetError(
            f"{file}: expected TOML, which is UTF-8, found that byte {error.start + 1} is not; write it anew"
        ) from None
    return read_ruleset(text, known, str(file))
