"""Entry 1 of a run, RUN_OPENED, from a transcript's header and back.

Pure. Invariant: a header that export wrote gives the same bytes of RUN_OPENED again, whatever this version
would have written, because it carries them (``opened.body``). They are held against the rest of the header,
so that a header cannot say two things.
"""

from ledger import __version__
from ledger.core.dialect import WireDialect
from ledger.core.digests import digest
from ledger.core.entries import OBSERVER
from ledger.core.observations import RunOpened, decode_observation, encode_observation
from ledger.errors import TranscriptError
from ledger.exchange.transcript import Header, Opened

RECORDER = f"runledger {__version__}"


def manifest_digest(header: Header) -> str | None:
    """Return the digest of the manifest's exact bytes, None where no manifest was known."""
    return None if header.manifest is None else digest(header.manifest)


def read_opening(header: Header, dialect: WireDialect, *, line_number: int) -> tuple[RunOpened, bytes]:
    """Return RUN_OPENED as the header tells it, and its bytes.

    Raises:
        TranscriptError: the header's ``opened.body`` is no RUN_OPENED, or contradicts the header.
    """
    opened = header.opened or Opened()
    if opened.body is None:
        opening = _derived(header, opened, dialect)
        return opening, encode_observation(opening)
    body = dialect.redact(OBSERVER, opened.body)
    carried = decode_observation(body)
    if not isinstance(carried, RunOpened):
        raise _fault("to be a RUN_OPENED that this version knows", "another value", line_number)
    for name, value in _shared(header, opened).items():
        if getattr(carried, name) != value:
            raise _fault("to agree with the rest of the header", f"another {name}", line_number)
    return carried, body


def write_opening(opening: RunOpened, body: bytes, *, at: int, salt: bytes | None) -> Opened:
    """Return what the header says of entry 1."""
    return Opened(at=at, salt=salt, recorder=opening.recorder, via=opening.via, body=body)


def _derived(header: Header, opened: Opened, dialect: WireDialect) -> RunOpened:
    return RunOpened(
        run_id=header.run_id,
        dialect=header.dialect,
        program="" if header.manifest is None else dialect.program(header.manifest),
        manifest=manifest_digest(header),
        trigger=header.trigger,
        namespace=dialect.namespace(header.trigger),
        via=opened.via or "imported",
        recorder=opened.recorder or RECORDER,
        ruleset=header.ruleset,
        offered=header.offered,
    )


def _shared(header: Header, opened: Opened) -> dict[str, object]:
    """What RUN_OPENED and the rest of the header both say."""
    said: dict[str, object] = {
        "run_id": header.run_id,
        "dialect": header.dialect,
        "manifest": manifest_digest(header),
        "trigger": header.trigger,
        "ruleset": header.ruleset,
        "offered": header.offered,
    }
    if opened.via is not None:
        said["via"] = opened.via
    if opened.recorder is not None:
        said["recorder"] = opened.recorder
    return said


def _fault(expected: str, found: str, line_number: int) -> TranscriptError:
    return TranscriptError(
        f'line {line_number}: expected "opened.body" {expected}, found {found}', line_number=line_number
    )
