"""OBSERVATION: what a connector says it saw of elements, waits and its provider.

A bad one is discarded and shown, and ends no run. The message is called a connector's fact here, since an
observation is what the recorder itself saw.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ledger.core.findings import Fault, rule
from ledger.core.json_reader import Json, printable
from ledger.dialects.collection_profile import values as v
from ledger.dialects.collection_profile.messages import ConnectorFact, Done
from ledger.dialects.collection_profile.state import State

CAPABILITY = "OBSERVATION"

FACTS_TAKEN = 64
"""OBSERVATIONs of one run that are accepted; a runtime may not accept fewer."""

LENGTH_TAKEN = 2048
"""Bytes of the longest OBSERVATION that is accepted; a runtime may not accept less."""

ELEMENT_STATES = ("matched", "absent", "hidden", "disabled", "ambiguous")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_STEP = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_REFERENCE = re.compile(r"[ -~]{1,256}", re.ASCII)
_STATES_SEEN = 8
_RESOLVED = 16
_LONGEST_BUDGET = 86_400_000


class Attribute(NamedTuple):
    """One member of ``attrs``: how its value is read, and whether it must be there."""

    read: v.Reader
    required: bool = False


_read_state = v.reader_of(*ELEMENT_STATES)


def _read_states(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= _STATES_SEEN:
        raise v.Bad("1_to_8_element_states")
    return tuple(_read_state(item) for item in value)


def _read_budget(value: Json) -> int:
    budget = v.read_whole(value)
    if budget > _LONGEST_BUDGET:
        raise v.Bad("milliseconds_of_a_day")
    return budget


ATTRIBUTES: Mapping[str, Mapping[str, Attribute]] = {
    "element_expectation": {"state": Attribute(_read_state, True)},
    "wait_expired": {
        "budget_ms": Attribute(_read_budget, True),
        "states_seen": Attribute(_read_states, True),
        "final": Attribute(_read_state, True),
    },
    "provider_message": {"code": Attribute(v.read_error_code), "text": Attribute(v.read_words)},
}
"""The members of ``attrs``, by fact; each set is closed."""

WITH_STEP = ("element_expectation", "wait_expired")
"""The facts that are of a step."""


def facts_are_known(state: State) -> bool:
    """Tell whether the manifest declares the capability; of one that is not known nothing else is assumed."""
    manifest = state.manifest.manifest if state.manifest is not None else None
    return manifest is None or CAPABILITY in (manifest.protocol_capabilities or ())


def element_state(message: ConnectorFact) -> str | None:
    """Return the state in which a sound fact leaves its element, None where it is about none."""
    attrs = message.attrs or {}
    found: str | None = attrs.get("state") or attrs.get("final")
    return found


def resolved_ids(message: ConnectorFact) -> tuple[str, ...]:
    """Return the earlier facts that a sound one names, each once."""
    return tuple(dict.fromkeys(message.resolves or ()))


@rule("observation/length")
def fact_is_short(state: State, message: ConnectorFact) -> Fault | None:
    """An OBSERVATION's line has at most 2,048 bytes.

    Reading: a runtime may not accept less, and more is not accepted; what ends the line is not counted.
    """
    if message.length <= LENGTH_TAKEN:
        return None
    return Fault(code="fact_too_long", clause="observation/length", detail={"length": message.length})


@rule("observation/id")
def fact_has_an_id(state: State, message: ConnectorFact) -> Fault | None:
    """An OBSERVATION has an id: a letter or digit, then up to 63 more, or ``_``, ``.`` and ``-``."""
    return None if _is_id(message.id) else _invalid("fact_id_invalid", "observation/id", message)


@rule("observation/fact")
def fact_is_one_of_three(state: State, message: ConnectorFact) -> Fault | None:
    """An OBSERVATION says which of three facts it is; the others are the runtime's own to say."""
    if isinstance(message.fact, str) and message.fact in ATTRIBUTES:
        return None
    return _invalid("fact_not_known", "observation/fact", message)


@rule("observation/step")
def fact_names_its_step(state: State, message: ConnectorFact) -> Fault | None:
    """A fact about an element or a wait names its step: a letter, then up to 63 of letters, digits and ``_``.

    Reading: a message of the provider may name one too, in the same form.
    """
    if message.step is None and message.fact not in WITH_STEP:
        return None
    if isinstance(message.step, str) and _STEP.fullmatch(message.step):
        return None
    return _invalid("fact_step_invalid", "observation/step", message)


@rule("observation/attrs")
def attributes_are_of_the_fact(state: State, message: ConnectorFact) -> Fault | None:
    """``attrs`` hold what the fact has, and nothing else.

    Reading: an expectation has the ``state`` that its element was found in; a wait that expired has
    ``budget_ms`` (whole, up to a day), ``states_seen`` (one to eight, in order, perhaps repeated) and
    ``final``, which is one of these; a message of the provider may have a ``code`` in snake case and a
    ``text``, and needs no ``attrs``. A member that is null is absent.
    """
    try:
        _read_attributes(message)
    except v.Bad as bad:
        return _invalid("fact_attrs_invalid", "observation/attrs", message, bad.member, bad.expected)
    return None


@rule("observation/evidence_ref", when=lambda state, message: message.evidence_ref is not None)
def evidence_is_a_reference(state: State, message: ConnectorFact) -> Fault | None:
    """``evidence_ref`` is 1 to 256 characters of printable ASCII without ``://``: no address.

    Reading: a space is printable.
    """
    reference = message.evidence_ref
    if reference is None:
        return None
    if isinstance(reference, str) and _REFERENCE.fullmatch(reference) and "://" not in reference:
        return None
    return _invalid("fact_evidence_invalid", "observation/evidence_ref", message)


@rule("observation/resolves", when=lambda state, message: message.resolves is not None)
def resolved_facts_came_before(state: State, message: ConnectorFact) -> Fault | None:
    """``resolves`` names one to sixteen earlier OBSERVATIONs of the run.

    Reading: accepted ones; naming one twice says no more than once. One that is not known may have been
    erased, if any was.
    """
    named = message.resolves
    if named is None:
        return None
    if not isinstance(named, list) or not 1 <= len(named) <= _RESOLVED or not all(map(_is_id, named)):
        return _invalid("fact_resolves_invalid", "observation/resolves", message)
    missing = next((id_ for id_ in named if id_ not in state.connector_facts), None)
    if missing is None or state.erased.facts:
        return None
    detail = {"id": printable(message.id), "resolves": printable(missing)}
    return Fault(code="fact_resolves_nothing", clause="observation/resolves", detail=detail)


@rule("observation/unique")
def fact_id_is_new(state: State, message: ConnectorFact) -> Fault | None:
    """No two OBSERVATIONs of a run have one id.

    Reading: the id of one that was discarded is free.
    """
    earlier = state.connector_facts.get(message.id)
    if earlier is None or message.id in state.erased.doubtful_facts:
        return None
    detail = {"id": printable(message.id)}
    return Fault(code="fact_id_taken", clause="observation/unique", detail=detail, entries=(earlier.entry,))


@rule("observation/number")
def facts_are_few(state: State, message: ConnectorFact) -> Fault | None:
    """A run has at most 64 OBSERVATIONs.

    Reading: a runtime may not accept fewer, and more are not accepted; discarded ones do not count.
    """
    if len(state.connector_facts) < FACTS_TAKEN or state.erased.doubtful_facts:
        return None
    return Fault(code="facts_too_many", clause="observation/number", detail={"limit": FACTS_TAKEN})


def rests_on_erased(state: State, message: ConnectorFact) -> bool:
    """Tell whether a sound fact is accepted or not by what an erased one said."""
    if not state.erased.facts:
        return False
    certain = all(map(_is_certain(state), resolved_ids(message)))
    return not certain or len(state.connector_facts) + len(state.erased.facts) >= FACTS_TAKEN


def basis_rests_on_erased(state: State, message: Done) -> bool:
    """Tell whether a DONE's basis names facts that are accepted or not by what an erased one said."""
    basis = message.error.basis if message.error is not None else None
    return bool(state.erased.facts and basis) and not all(map(_is_certain(state), basis or ()))


def _is_certain(state: State) -> Callable[[str], bool]:
    return lambda id_: id_ in state.connector_facts and id_ not in state.erased.doubtful_facts


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _read_attributes(message: ConnectorFact) -> None:
    known = ATTRIBUTES[message.fact]
    given = v.read_object(message.attrs if message.attrs is not None else {})
    for name, attribute in known.items():
        if given.get(name) is None and attribute.required:
            raise v.Bad("present", member=name)
        if given.get(name) is not None:
            try:
                attribute.read(given[name])
            except v.Bad as bad:
                raise v.Bad(bad.expected, member=name) from None
    v.refuse_other_members(given, known, "observation/attrs")
    if "final" in known and given["final"] not in given["states_seen"]:
        raise v.Bad("one_of_states_seen", member="final")


def _invalid(code: str, clause: str, message: ConnectorFact, member: str = "", expected: str = "") -> Fault:
    detail = {"id": printable(message.id)[:64]} if _is_id(message.id) else {}
    if expected:
        detail |= {"member": f"attrs.{member}" if member else "attrs", "expected": expected}
    return Fault(code=code, clause=clause, detail=detail)
