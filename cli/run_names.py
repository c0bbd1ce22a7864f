"""How a run is named: by its id, a unique prefix, ``@latest``, ``@latest:PROGRAM`` or ``@2``."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from ledger.core.json_reader import printable
from ledger.errors import NotFoundError, UsageError
from ledger.log.store import RunRow, Store

_NTH = re.compile(r"@(\d{1,9})", re.ASCII)
_LATEST = "@latest"
_IDS_LOOKED_AT = 1000
_LISTED = 5


def find_run(store: Store, name: str) -> RunRow:
    """Return the run that a name means; the newest is the one opened last.

    Raises:
        NotFoundError: no run, or more than one, is meant.
        UsageError: the name can mean none.
    """
    exact = store.run(name) if name and printable(name) == name else None
    if exact is not None:
        return exact
    if name == _LATEST:
        return _nth_newest(store, 1)
    if name.startswith(_LATEST + ":"):
        return _newest_of(store, name.removeprefix(_LATEST + ":"))
    nth = _NTH.fullmatch(name)
    if nth is not None:
        return _nth_newest(store, int(nth.group(1)))
    if not name or printable(name) != name:
        raise UsageError(f"expected a run's id, a prefix, @latest, @latest:PROGRAM or @2; found {name!a}")
    return _by_prefix(store, name)


def short_program(program: str) -> str:
    """Return the last segment of a program's id, which people call it by."""
    return program.rstrip("/").rsplit("/", 1)[-1]


def is_called(run: RunRow, program: str) -> bool:
    """Tell whether a run is of a program, named by its id or by the id's last segment."""
    return program in (run.program, short_program(run.program))


def _by_prefix(store: Store, name: str) -> RunRow:
    found = store.runs_with_prefix(name, _LISTED + 1)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFoundError(f"{name!r} begins more than one run's id: {_listed(r.run_id for r in found)}")
    near = get_close_matches(name, [run.run_id for run in islice(store.runs(), _IDS_LOOKED_AT)], 3)
    hint = f"did you mean {', '.join(near)}?" if near else "`runledger runs` lists what there is"
    raise NotFoundError(f"there is no run {name!r}; {hint}")


def _nth_newest(store: Store, nth: int) -> RunRow:
    if nth < 1:
        raise UsageError("@1 is the newest run, @2 the one before it; there is no @0")
    newest = list(islice(store.runs(), nth))
    if len(newest) < nth:
        held = f"the ledger holds {len(newest)}" if newest else "the ledger holds no run"
        raise NotFoundError(f"expected at least {nth} run{'s' * (nth > 1)}; {held}")
    return newest[-1]


def _newest_of(store: Store, program: str) -> RunRow:
    others: dict[str, None] = {}
    for run in store.runs():
        if is_called(run, program):
            return run
        others[short_program(run.program)] = None
    near = get_close_matches(program, others, 3) or list(others)
    hint = f"the ledger holds runs of {_listed(near)}" if near else "the ledger holds no run"
    raise NotFoundError(f"there is no run of the program {program!r}; {hint}")


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_LISTED]) + (", …" if len(found) > _LISTED else "")
