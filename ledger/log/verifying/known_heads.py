"""Heads that somebody kept elsewhere: what proves that a ledger still holds a history.

Pure. A file of them is JSON lines, as ``runledger heads`` prints it: ``run_id``, ``size`` and ``root``, the
root in hex. Members that are not named here are ignored.
"""

from collections.abc import Iterable, Mapping

import msgspec

from ledger.core.entries import MOST_ENTRIES
from ledger.core.merkle import HASH_SIZE
from ledger.errors import InputError

EXPECTED = '{"run_id": …, "size": …, "root": 64 hex digits}'

KnownHeads = Mapping[str, Mapping[int, bytes]]
"""By run id: the root, 32 bytes, at each size that is known, in order of size."""


class _HeadLine(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    size: int
    root: str


_DECODER = msgspec.json.Decoder(_HeadLine)


def read_heads(lines: Iterable[bytes], name: str) -> KnownHeads:
    """Read a file of heads; blank lines are passed over.

    Args:
        lines: its lines, with or without their line feeds.
        name: what to call the file.

    Raises:
        InputError: a line is no head, or two lines say different roots of one size of a run; names the line.
    """
    known: dict[str, dict[int, bytes]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        run_id, size, root = _read(line, f"{name}:{number}")
        held = known.setdefault(run_id, {}).setdefault(size, root)
        if held != root:
            raise InputError(
                f"{name}:{number}: expected one root for run {run_id!r} at size {size}, found another than "
                f"in a line before it; keep one of the two"
            )
    return {run_id: dict(sorted(roots.items())) for run_id, roots in known.items()}


def _read(line: bytes, where: str) -> tuple[str, int, bytes]:
    try:
        head = _DECODER.decode(line)
        root = bytes.fromhex(head.root)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: expected {EXPECTED}, found no such line: {error}") from None
    if not 1 <= head.size <= MOST_ENTRIES or len(root) != HASH_SIZE:
        raise InputError(
            f"{where}: expected {EXPECTED}, found size {head.size} and a root of {len(root)} bytes"
        )
    return head.run_id, head.size, root
