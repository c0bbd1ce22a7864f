"""One trial: an input is made, held to what is claimed, and what goes wrong is told as a fault."""

import os
import random
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.cli.transcripts import ROOT
from tests.fuzz.inputs import KINDS, dice_of
from tests.fuzz.watchdog import TookTooLong, bounded


class Fault(NamedTuple):
    """What went wrong.

    Attributes:
        where: the kind of error and the innermost line of our own code: one fault, one place.
        told: the traceback.
    """

    where: str
    told: str


def make(kind: str, seed: int, number: int) -> bytes:
    """Return the bytes of an input."""
    return KINDS[kind].make(dice_of(kind, seed, number))


def hold(kind: str, body: bytes) -> Fault | None:
    """Hold an input to what is claimed of its kind; what dice that takes are the input's own."""
    try:
        with bounded():
            KINDS[kind].hold(body, random.Random(body))
    except (Exception, TookTooLong) as error:
        return Fault(_place(error), "".join(traceback.format_exception(error)))
    return None


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder: trials leave files behind."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _place(error: BaseException) -> str:
    ours = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(str(ROOT))]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {where}"
