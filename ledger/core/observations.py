"""What the recorder itself saw: facts that are on no wire but that decisions need.

A closed union, in the past tense. Each is stored as an entry of origin ``observer`` whose body is the JSON
of the struct. What was not observed is unknown; nothing here stands for an assumption.
"""

from typing import Literal, TypeAlias

import msgspec


class Trigger(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a run was started, and what it was permitted.

    Attributes:
        kind: what started it.
        grant_id: the grant of a continuous run, which must be there, or of a single-use one.
        streams: what the grant permits; None where that is not known.
    """

    kind: Literal["proactive", "continuous", "single_use"]
    grant_id: str | None = None
    streams: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind == "continuous" and not self.grant_id:
            raise ValueError("a continuous trigger names its grant_id")


class Offered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the runtime could provide when it matched the run."""

    bindings: tuple[str, ...] = ()
    protocol_capabilities: tuple[str, ...] = ()


class _Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The shared shape: tagged by ``type``, members at their default left out."""


class RunOpened(_Observation, frozen=True, tag="RUN_OPENED"):
    """Entry 1 of every run.

    Attributes:
        manifest: digest of the manifest document, None where no manifest was known.
        namespace: where checkpoints of this run are committed, None where they are not.
        ruleset: the ruleset that the recorder decided under.
        via: how the run first reached a ledger.
        recorder: the program that wrote the entries, with its version.
    """

    run_id: str
    dialect: str
    program: str
    manifest: str | None
    trigger: Trigger
    namespace: str | None
    via: Literal["recorded", "tapped", "imported"]
    recorder: str
    ruleset: str | None = None
    offered: Offered | None = None


class RunRefused(_Observation, frozen=True, tag="RUN_REFUSED"):
    """The runtime refused the run before the program was spawned."""

    reason: str


class ProgramSpawned(_Observation, frozen=True, tag="PROGRAM_SPAWNED"):
    """The program was started."""


class ProgramExited(_Observation, frozen=True, tag="PROGRAM_EXITED"):
    """The program ended, by itself (``code``) or by a signal."""

    code: int | None = None
    signal: str | None = None


class ProgramStderr(_Observation, frozen=True, tag="PROGRAM_STDERR"):
    """Text that the program wrote to stderr; bounded and redacted."""

    text: str


class CancelRequested(_Observation, frozen=True, tag="CANCEL_REQUESTED"):
    """The owner asked for the run to be cancelled."""

    by: str = ""
    reason: str = ""


class GrantRevoked(_Observation, frozen=True, tag="GRANT_REVOKED"):
    """The grant that the run works under was revoked."""

    grant_id: str


class ControllerLost(_Observation, frozen=True, tag="CONTROLLER_LOST"):
    """The controller was replaced or restarted; the program did not fail."""

    reason: str = ""


class RecordsDurable(_Observation, frozen=True, tag="RECORDS_DURABLE"):
    """Every record up to and including entry ``through_seq`` is durably written."""

    through_seq: int


class RecordsRejected(_Observation, frozen=True, tag="RECORDS_REJECTED"):
    """The store refused records for good."""

    stream: str
    count: int
    reason: str = ""


class LineCut(_Observation, frozen=True, tag="LINE_CUT"):
    """An over-long line: entry ``seq`` holds its head; length and digest are of the whole."""

    seq: int
    length: int
    sha256: str


class LineUnterminated(_Observation, frozen=True, tag="LINE_UNTERMINATED"):
    """The line of entry ``seq`` ended at the end of the output, without its LF."""

    seq: int


class Decided(_Observation, frozen=True, tag="DECIDED"):
    """A decision was made over the entries up to ``through_seq``."""

    ruleset: str
    through_seq: int
    decision: str


class CheckpointCommitted(_Observation, frozen=True, tag="CHECKPOINT_COMMITTED"):
    """The store took the cursor of entry ``cursor_seq``."""

    stream: str
    namespace: str | None
    cursor_seq: int


class CheckpointCommitFailed(_Observation, frozen=True, tag="CHECKPOINT_COMMIT_FAILED"):
    """The store refused a checkpoint."""

    stream: str
    namespace: str | None
    error: str = ""


class InteractionTimedOut(_Observation, frozen=True, tag="INTERACTION_TIMED_OUT"):
    """Nobody answered an interaction in time."""

    request_id: str


class SubmissionRejected(_Observation, frozen=True, tag="SUBMISSION_REJECTED"):
    """The provider rejected what the owner had submitted to an INTERACTION."""

    request_id: str


class EntriesErased(_Observation, frozen=True, tag="ENTRIES_ERASED"):
    """Bodies of earlier entries were erased."""

    entries: tuple[int, ...]
    reason: str


class Note(_Observation, frozen=True, tag="NOTE"):
    """A person's remark."""

    by: str
    text: str


class RunClosed(_Observation, frozen=True, tag="RUN_CLOSED"):
    """Nothing more of this run will come."""


Observation: TypeAlias = (
    RunOpened
    | RunRefused
    | ProgramSpawned
    | ProgramExited
    | ProgramStderr
    | CancelRequested
    | GrantRevoked
    | ControllerLost
    | RecordsDurable
    | RecordsRejected
    | LineCut
    | LineUnterminated
    | Decided
    | CheckpointCommitted
    | CheckpointCommitFailed
    | InteractionTimedOut
    | SubmissionRejected
    | EntriesErased
    | Note
    | RunClosed
)

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Observation)


def encode_observation(observation: Observation) -> bytes:
    """Return the body of the entry that stores this observation."""
    return _ENCODER.encode(observation)


def decode_observation(body: bytes) -> Observation | None:
    """Read the body of an observer's entry; None where it is none that this version knows."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def observation_type(observation: Observation | type[Observation]) -> str:
    """Return the name under which the log files it, or its kind, such as ``PROGRAM_EXITED``."""
    return str(observation.__struct_config__.tag)


def observation_stream(observation: Observation) -> str:
    """Return the stream that the observation names, '' where it names none."""
    match observation:
        case RecordsRejected() | CheckpointCommitted() | CheckpointCommitFailed():
            return observation.stream
        case _:
            return ""
