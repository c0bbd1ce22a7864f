"""One input of the fuzz: which there are, how each is made from a seed and a number, how each is held.

An input is bytes in a file, so that whatever fails can be kept, shrunk and replayed. It depends on nothing
but the kind, the seed and the number (and on the sample runs).
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from ledger.core.entries import ORIGINS, PROGRAM
from ledger.exchange.captures import Known
from tests.cli.running import COMMAND, call, environment
from tests.fuzz import claims, corpus, mutations

LINES_AT_ONCE = 50
"""Lines that one input of the kind ``lines`` holds."""

_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("runs",),
    ("runs", "--withheld", "-o", "json"),
    ("show", "@1"),
    ("show", "@1", "-o", "json"),
    ("why", "@1"),
    ("why", "@2", "-o", "json"),
    ("log", "@1"),
    ("log", "@3", "-o", "jsonl"),
    ("export", "@1", "-"),
)


class Kind(NamedTuple):
    """A kind of input.

    Attributes:
        suffix: of the files that hold such inputs; replaying looks at it.
        make: gives the bytes of an input.
        hold: holds the bytes to what is claimed, in the working folder; raises where that does not hold.
    """

    suffix: str
    make: Callable[[Random], bytes]
    hold: Callable[[bytes, Random], None]


def dice_of(kind: str, seed: int, number: int) -> Random:
    """Return the dice of one input."""
    return Random(f"{kind}/{seed}/{number}")


# ---- lines: each framed by the name of who says it --------------------------------------------------------


def _make_lines(dice: Random) -> bytes:
    pool = [line.body for line in corpus.lines()]
    framed: list[bytes] = []
    for _ in range(LINES_AT_ONCE):
        line = dice.choice(corpus.SECRETS) if dice.random() < 0.15 else dice.choice(corpus.lines())
        body = mutations.damage_line(dice, line.body, pool).replace(b"\n", b" ")
        framed.append(line.origin.encode() + b" " + body)
    return b"\n".join(framed)


def _hold_lines(body: bytes, dice: Random) -> None:
    for framed in body.split(b"\n"):
        speaker, _, line = framed.partition(b" ")
        origin = next((one for one in ORIGINS if one.encode() == speaker), ORIGINS[0])
        claims.hold_line(origin, line)


# ---- transcripts and manifests ----------------------------------------------------------------------------


def _make_transcript(dice: Random) -> bytes:
    pool = [line.body for line in corpus.lines()]
    whole = corpus.transcripts()
    body = mutations.damage_transcript(dice, dice.choice(whole), whole, pool)
    return mutations.packed(dice, body) if dice.random() < 0.1 else body


def _hold_transcript(body: bytes, dice: Random) -> None:
    path = Path("run.jsonl")
    path.write_bytes(body)
    claims.hold_transcript(path, dice)


def _make_capture(dice: Random) -> bytes:
    pool = [line.body for line in corpus.lines() if line.origin == PROGRAM]
    body = mutations.damage_capture(dice, dice.choice(corpus.captures()), pool)
    return mutations.packed(dice, body) if dice.random() < 0.1 else body


def _hold_capture(body: bytes, dice: Random) -> None:
    """Import it with all that may be known beside it, with some of it, or with nothing."""
    path = Path("capture.jsonl")
    path.write_bytes(body)
    manifest, start = dice.choice(corpus.manifests()), corpus.START
    known = Known(
        manifest=manifest if dice.random() < 0.8 else None, start=start if dice.random() < 0.7 else None
    )
    claims.hold_transcript(path, dice, known if dice.random() < 0.8 else None)


def _make_manifest(dice: Random) -> bytes:
    whole = corpus.manifests()
    return mutations.damage_line(dice, dice.choice(whole), whole)


def _hold_manifest(body: bytes, dice: Random) -> None:
    claims.hold_manifest(body)


# ---- the command line -------------------------------------------------------------------------------------


def _hold_commands(body: bytes, dice: Random) -> None:
    """Import a transcript and ask everything about it, now and then in processes of their own."""
    path = Path("run.jsonl")
    path.write_bytes(body)
    Path("ledger.db").unlink(missing_ok=True)
    words = ("import", str(path)) if dice.random() < 0.7 else ("import", "--keep-partial", str(path))
    if dice.random() < 0.02:
        _hold_process(words)
        _hold_process(dice.choice(_COMMANDS))
        return
    _hold_call(words)
    for asked in dice.sample(_COMMANDS, 4):
        _hold_call(asked)


def _hold_call(words: tuple[str, ...]) -> None:
    done = call(*words)
    claims.hold_command(done.status, done.err, words)


def _hold_process(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [*COMMAND, *words], env=environment(), capture_output=True, check=False, timeout=120, cwd=Path.cwd()
    )
    claims.hold_command(done.returncode, done.stderr.decode("utf-8", "replace"), words)


# ---- ledgers ----------------------------------------------------------------------------------------------


def _make_ledger(dice: Random) -> bytes:
    return mutations.damage_ledger(dice, corpus.ledger())


def _hold_ledger(body: bytes, dice: Random) -> None:
    """Ask a damaged ledger everything, and import into it."""
    for rest in Path().glob("ledger.db*"):
        rest.unlink()
    Path("ledger.db").write_bytes(body)
    Path("run.jsonl").write_bytes(dice.choice(corpus.transcripts()))
    Path("heads.jsonl").write_bytes(mutations.damage_line(dice, corpus.heads(), [corpus.heads()]))
    more = (("verify",), ("verify", "@1", "-o", "json"), ("verify", "--heads", "heads.jsonl"), ("heads",))
    for asked in (*_COMMANDS, *more, ("import", "run.jsonl"), ("note", "@1", "seen"), ("runs",)):
        _hold_call(asked)


KINDS: dict[str, Kind] = {
    "lines": Kind(".lines", _make_lines, _hold_lines),
    "transcript": Kind(".jsonl", _make_transcript, _hold_transcript),
    "capture": Kind(".capture", _make_capture, _hold_capture),
    "manifest": Kind(".manifest", _make_manifest, _hold_manifest),
    "command": Kind(".command.jsonl", _make_transcript, _hold_commands),
    "ledger": Kind(".db", _make_ledger, _hold_ledger),
}
"""Every kind by name."""


def kind_of(path: Path) -> str:
    """Tell the kind of a kept input by the end of its name; the longest that fits counts."""
    fitting = [name for name, kind in KINDS.items() if path.name.endswith(kind.suffix)]
    if not fitting:
        sys.exit(f"{path}: expected a name that ends in one of {', '.join(k.suffix for k in KINDS.values())}")
    return max(fitting, key=lambda name: len(KINDS[name].suffix))
