"""Which runs a command over a whole history is about: runs by name, or terms that must hold of them."""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from cli.run_names import find_run, is_called
from cli.times import read_time
from ledger.core.json_reader import printable
from ledger.errors import NotFoundError, UsageError
from ledger.log.store import RunRow, Store

TERMS = ("program", "since", "before", "via", "namespace", "dialect")
FILTER_HELP = f"Only these: a run's name, or {'=, '.join(TERMS)}=; several parted by commas."

_Holds: TypeAlias = Callable[[RunRow], bool]


def filtered_runs(store: Store, filters: Iterable[str]) -> Iterator[RunRow]:
    """Return the runs that are meant, in the order in which the log got them.

    Args:
        store: the ledger.
        filters: each holds names of runs and terms such as ``program=groupme``, parted by commas. Of several
            names, and of several terms of one kind, one is enough; terms of different kinds must all hold.

    Raises:
        UsageError: a term is none of those that there are.
        NotFoundError: a name means no run, or no run is like that.
    """
    names: list[RunRow] = []
    terms: dict[str, list[_Holds]] = {}
    for text in filters:
        for part in [text] if _is_run(store, text) else map(str.strip, text.split(",")):
            term, equals, value = part.partition("=")
            if not equals or _is_run(store, part):
                names.append(find_run(store, part))
            else:
                terms.setdefault(term, []).append(_read_term(term, value))
    rows = {run.run_no: run for run in names}
    runs = (rows[run_no] for run_no in sorted(rows)) if names else store.runs_as_appended()
    asked = (run for run in runs if all(any(holds(run) for holds in term) for term in terms.values()))
    first = next(asked, None)
    if first is None and (names or terms):
        raise NotFoundError(f"no run is like {', '.join(filters)}; `runledger runs` lists what there is")
    return chain([first] if first is not None else [], asked)


def _is_run(store: Store, name: str) -> bool:
    """Tell the id of a run, which may hold commas and signs of equality."""
    return printable(name) == name and store.run(name) is not None


def _read_term(term: str, value: str) -> _Holds:
    match term:
        case "program":
            return lambda run: is_called(run, value)
        case "since":
            since = read_time(value, time.time(), "since=")
            return lambda run: run.opened_at >= since
        case "before":
            before = read_time(value, time.time(), "before=")
            return lambda run: run.opened_at < before
        case "via" | "namespace" | "dialect":
            return lambda run: bool(getattr(run, term) == value)
        case _:
            raise UsageError(f"expected a run's name, or one of {', '.join(TERMS)} and =; found {term!r}")
