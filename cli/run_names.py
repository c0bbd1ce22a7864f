"""How a run is named: by its id, a unique prefix, ``@latest``, ``@latest:PROGRAM`` or ``@2``."""

import re
from difflib import get_close_matches
from itertools import islice

from ledger.errors import NotFoundError
from ledger.log.store import RunRow, Store

_NTH = re.compile(r"@(\d{1,9})", re.ASCII)


def find_run(store: Store, name: str) -> RunRow:
    """Return the run that a name means; the newest is the one opened last.

    Raises:
        NotFoundError: no run, or more than one, is meant.
    """
    if name == "@latest" or name.startswith("@latest:"):
        return _newest(store, 1, name.removeprefix("@latest").removeprefix(":"))
    nth = _NTH.fullmatch(name)
    if nth is not None:
        return _newest(store, int(nth.group(1)), "")
    exact = store.run(name)
    if exact is not None:
        return exact
    found = store.runs_with_prefix(name, 6) if name else []
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(run.run_id for run in found[:5]) + (", …" if len(found) > 5 else "")
        raise NotFoundError(f"{name!r} begins more than one run's id: {ids}")
    near = get_close_matches(name, [run.run_id for run in islice(store.runs(), 1000)], 3)
    hint = f"did you mean {', '.join(near)}?" if near else "`runledger runs` lists what there is"
    raise NotFoundError(f"there is no run {name!r}; {hint}")


def short_program(program: str) -> str:
    """Return the last segment of a program's id, which people call it by."""
    return program.rstrip("/").rsplit("/", 1)[-1]


def _newest(store: Store, nth: int, program: str) -> RunRow:
    runs = (
        run for run in store.runs() if not program or program in (run.program, short_program(run.program))
    )
    found = next(islice(runs, nth - 1, None), None) if nth > 0 else None
    if found is None:
        of = f" of {program}" if program else ""
        raise NotFoundError(f"there are fewer than {nth} runs{of}; `runledger runs` lists what there is")
    return found
