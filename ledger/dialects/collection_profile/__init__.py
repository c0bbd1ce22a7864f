"""The Collection Profile: what its messages, its manifest and its runs mean.

Read beside the specification, in the order in which a line flows:

* the wire: ``messages``, ``values``, ``shapes``, ``decode``; ``redact``, before the log; ``telling``
* what a run is held against: ``manifest``, ``plan``, ``ruleset`` (with ``switches``, and ``wire``, which is
  what they make of the wire), ``rulesets``, ``rules/``
* the fold: ``state`` (with ``gaps``), ``machine``, ``program_lines``, ``runtime_lines``, ``observed``,
  ``erased``, ``fold``
* the decision: ``fate`` (with ``failures``), ``weighing`` (with ``accounting``, ``erasure``), ``outcomes``,
  ``coverage``, ``projections``, ``decide``; ``occasions``, which tells what there was to judge
* the words: ``clauses``, ``catalogue``

So a withheld checkpoint comes about: ``decode`` reads a DETAIL_COVERAGE, ``machine`` gives it to
``program_lines``, which keeps it in ``state.reports``; at the decision ``fate`` says that the run succeeded,
``weighing`` asks ``rules/eligible``, which has ``accounting`` count the keys; ``decide`` puts the reason into
the decision, and ``catalogue`` has the sentence that ``why`` prints.
"""

from collections.abc import Iterable, Mapping, Sequence

from ledger.core.decision import Decision
from ledger.core.dialect import Dialect, Label
from ledger.core.entries import Entry, Origin
from ledger.core.observations import Trigger
from ledger.dialects.collection_profile import redact as redaction
from ledger.dialects.collection_profile.catalogue import CATALOGUE
from ledger.dialects.collection_profile.decide import DIALECT_NAME, decide
from ledger.dialects.collection_profile.decode import label_line
from ledger.dialects.collection_profile.fold import evolve, evolve_all
from ledger.dialects.collection_profile.manifest import read_connector_id
from ledger.dialects.collection_profile.occasions import exercised
from ledger.dialects.collection_profile.ruleset import FOLD_VERSION, Ruleset, derive
from ledger.dialects.collection_profile.rulesets import RULESETS, TEXT
from ledger.dialects.collection_profile.shapes import PROGRAM_SHAPES, RUNTIME_SHAPES
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.telling import record_key, tell


class CollectionProfile:
    """The dialect as the rest of the ledger sees it; see :class:`ledger.core.dialect.Dialect`."""

    name = DIALECT_NAME
    default_ruleset = TEXT.id
    fold_version = FOLD_VERSION
    catalogue = CATALOGUE
    rulesets: Mapping[str, Ruleset] = RULESETS
    program_types = frozenset((*PROGRAM_SHAPES, "OBSERVATION"))
    runtime_types = frozenset(RUNTIME_SHAPES)

    def redact(self, origin: Origin, line: bytes) -> bytes:
        """Return the line without its secrets."""
        return redaction.redact(origin, line)

    def may_hold_secret(self, part: bytes) -> bool:
        """Tell whether a part of a line has a sign that the whole may hold a secret."""
        return redaction.may_hold_secret(part)

    def mark(self, length: int) -> bytes:
        """Return what stands in place of a whole line of so many bytes."""
        return redaction.mark(length)

    def label(self, origin: Origin, line: bytes) -> Label:
        """Read the type and stream of a line, '' where they cannot be read."""
        return label_line(line)

    def program(self, manifest: bytes) -> str:
        """Read the connector's id from a manifest, '' where it names none."""
        return read_connector_id(manifest)

    def namespace(self, trigger: Trigger) -> str | None:
        """Return where checkpoints go, None for a single-use run (runtime/7)."""
        match trigger.kind:
            case "proactive":
                return "global"
            case "continuous":
                return trigger.grant_id
            case "single_use":
                return None

    def derive(self, base: Ruleset, *, id: str, summary: str, switches: Mapping[str, str]) -> Ruleset:
        """Return a ruleset with the rules of another, and some of its switches turned."""
        return derive(base, id=id, summary=summary, switches=switches)

    def initial_state(self, ruleset: Ruleset, documents: Mapping[str, bytes]) -> State:
        """Return the state before the first entry."""
        return State(ruleset, documents)

    def evolve(self, state: State, entries: Iterable[Entry]) -> None:
        """Take entries, in order, into the state, in place."""
        evolve(state, entries)

    def evolve_all(self, states: Sequence[State], entries: Iterable[Entry]) -> None:
        """Take entries, in order, into several states, in one pass."""
        evolve_all(states, entries)

    def record_key(self, entry: Entry) -> str | None:
        """Return the canonical key of the record that an entry carries, None where it carries none."""
        return record_key(entry)

    def tell(self, entry: Entry) -> Mapping[str, str]:
        """Return the telling fields of an entry, for people."""
        return tell(entry)

    def decide(self, state: State) -> Decision:
        """Decide at the state's last entry."""
        return decide(state)

    def exercised(self, state: State) -> frozenset[str]:
        """Return the rules and switches for which the run held something to judge."""
        return exercised(state)


DIALECT: Dialect = CollectionProfile()
