"""The decision's JSON Schema and its page, generated from the structs of ``ledger.core.decision``.

What a struct is, and most of its members, the structs' own docstrings say; the members whose names say most
of it are described here. A member that nobody describes fails the generation.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ledger.core import decision, findings

FIELDS: Mapping[str, Mapping[str, str]] = {
    "Decision": {
        "schema": "The shape of this document.",
        "run_id": "The run's id, empty where its opening is not known.",
        "dialect": "The wire protocol that the run speaks.",
        "ruleset": "The reading under which it was decided.",
        "fold": "The version of the fold; a mended bug raises it.",
        "through": "The last entry that was folded.",
        "subject": "What the run was.",
        "status": "How the run stands.",
        "cause": "Why it is not simply a success; null where it succeeded or is still running.",
        "certified": "Whether the connector certified that only some streams failed.",
        "terminal": "How the run ended.",
        "checkpoints": "Every staged checkpoint, in the order of committing.",
        "commit": "The sum over the checkpoints.",
        "coverage": "How complete each stream is under each of its parents.",
        "records": "The RECORDs of each stream that sent or lost one.",
        "violations": "What ended the run, the first that was broken first.",
        "findings": "What is worth showing and decides nothing.",
        "discrepancies": "Where what happened is not what the rules say.",
        "unknowns": "What no entry shows, and nothing is assumed about.",
        "skips": "The first hundred SKIP_RESULTs, and the newest of a stream where it came later.",
        "gaps": "The first hundred DETAIL_GAPs.",
        "interactions": "The first hundred INTERACTIONs.",
        "recovery": "What the owner is asked to do, null for nothing.",
        "totals": "How many there were of what is listed in part.",
    },
    "RulesetName": {
        "id": "The ruleset's public name.",
        "digest": "The digest of its id, rules and switches.",
    },
    "Subject": {
        "trigger": "What started the run: `proactive`, `continuous` or `single_use`; empty where unknown.",
        "grant_id": "The grant that the run works under, null where there is none.",
    },
    "Cause": {
        "code": "What happened.",
        "clause": "The clause that says what follows.",
        "entries": "The entries that it rests on.",
        "by": "Whose doing it was.",
        "detail": "The facts that a wording needs, by name.",
        "near_misses": "What almost certified the failure.",
    },
    "NearMiss": {
        "code": "What it almost is.",
        "entry": "Where it stands.",
        "key": "The key that it almost accounts for, null where it is about none.",
        "detail": "The facts that a wording needs, by name.",
    },
    "Terminal": {
        "status": "What DONE says.",
        "records_emitted": "What DONE counts; text where the number is beyond 2^63.",
        "error": "What DONE says went wrong, null where it says nothing.",
    },
    "Exit": {"code": "The exit code.", "signal": "The signal that ended it."},
    "ErrorReport": {
        "code": "The connector's own name of the cause.",
        "message": "Its words, cut after a thousand characters.",
        "retryable": "Whether it thinks that trying again could help.",
    },
    "Checkpoint": {
        "stream": "The checkpoint, by its stream.",
        "staged_total": "How many STATEs staged it.",
        "decision": "What the rules say.",
    },
    "Reason": {
        "code": "What is wrong.",
        "clause": "The clause that withholds the checkpoint.",
        "keys_total": "How many keys are at fault.",
        "entries_total": "How many entries it rests on.",
        "near_misses": "What in the log almost accounts for one of the keys.",
    },
    "Commit": {
        "staged": "Checkpoints that were staged.",
        "eligible": "Those of them that the rules commit.",
        "committed": "Checkpoints whose commit is recorded.",
        "committed_streams": "Their streams, in the order of the log.",
        "failed_stream": "The first checkpoint whose write failed, null where none did.",
        "not_attempted": "Those that the rules commit and nobody tried to.",
    },
    "Coverage": {
        "stream": "The stream.",
        "parent": "The checkpoint that it is reported under.",
        "required": "Keys that were considered.",
        "hydrated": "Those that were fetched; also an optional skip, where the ruleset credits it.",
        "gapped": "Those that a durable gap stands for.",
        "unaccounted": "The rest.",
        "condition": "What that comes to.",
        "evidence": "The message that says so.",
        "entries": "The entries that say so.",
    },
    "Records": {
        "stream": "The stream.",
        "emitted": "RECORDs that came, deletions too.",
        "accepted": "Those that count.",
        "discarded": "Those outside the scope.",
        "rejected": "Those that the store refused for good.",
        "deletes": "Deletions among those that came.",
    },
    "Violation": {
        "entry": "Where the clause was broken.",
        "code": "What is wrong.",
        "clause": "The clause that is broken.",
        "by": "Whose obligation it was.",
        "entries": "What it rests on besides; absent where that is nothing.",
        "detail": "The facts that a wording needs, by name; absent where there are none.",
    },
    "Finding": {
        "code": "What is worth showing.",
        "clause": "The clause that it is about.",
        "entries": "The first hundred entries behind it.",
        "entries_total": "How many there are.",
        "by": "Whose obligation it was.",
        "detail": "The facts that a wording needs, by name; absent where there are none.",
    },
    "Discrepancy": {
        "code": "How it differs.",
        "clause": "The clause that says what should have happened.",
        "stream": "The checkpoint, null where it is about the run.",
        "entries": "The entries that say so.",
        "detail": "The facts that a wording needs, by name.",
    },
    "UnknownFact": {"what": "What is not known.", "entries": "The entries that leave it open."},
    "SkipShown": {
        "entry": "Where it stands.",
        "stream": "The stream that was skipped, null for the run.",
        "reason": "The connector's reason, cut after a thousand characters.",
        "recovery_hint": "What it asks the owner to do.",
        "continuation": "The slice that it proves, where it does.",
        "newest": "Whether it is the one that counts for its stream.",
    },
    "HintShown": {
        "action": "One of the eight actions.",
        "retryable": "Whether it says that trying again could help.",
    },
    "ContinuationShown": {
        "boundary": "What is walked.",
        "slice_start": "The first place of the slice.",
        "slice_end": "Its last place.",
        "considered": "Keys considered in it.",
        "covered": "Keys covered in it.",
    },
    "GapShown": {
        "entry": "Where it stands.",
        "stream": "The stream whose detail is owed.",
        "parent": "The boundary that it accounts to, null where it names none.",
        "record_key": "The key that is owed, null where it names none.",
        "reason": "The connector's reason, cut after a thousand characters.",
        "retryable": "Whether it says that trying again could help.",
        "accounted_by": "The report that it accounts a key for, null where there is none.",
    },
    "InteractionShown": {
        "entry": "Where the question stands.",
        "request_id": "Its id, null where it was erased.",
        "kind": "What is asked for.",
        "answer_entry": "Where the answer stands.",
        "answer": "The answer's status; its data are in no log.",
        "timed_out": "Whether nobody answered in time.",
    },
    "FactShown": {
        "entry": "Where it stands.",
        "id": "Its id.",
        "fact": "`element_expectation`, `wait_expired` or `provider_message`.",
    },
    "Recovery": {
        "action": "What to do.",
        "retryable": "Whether trying again could help.",
        "entry": "The message that asks for it.",
        "from": "Whether a hint asks for it, or only the flag of DONE's error.",
    },
    "Failure": {"cause": "What it is put down to."},
    "Totals": {
        "violations": "Violations and refusals.",
        "skips": "SKIP_RESULTs.",
        "gaps": "DETAIL_GAPs.",
        "interactions": "INTERACTIONs.",
        "facts": "OBSERVATIONs that were accepted.",
    },
}
"""Members by struct and name on the wire, as far as the structs' docstrings do not describe them."""

PAGE_HEAD = r"""# The decision: `run-decision/1`

Generated from `ledger/core/decision.py`. `runledger show RUN -o json` prints a decision; the same entries
under the same ruleset and fold give the same bytes everywhere.
[decision.schema.json](decision.schema.json) says the same as JSON Schema, draft 2020-12.

Names and codes are public: they change only with another `schema`. There is no prose in a decision: the
sentence of each code is in the [catalogue](codes.md). Entries are named by their number in the run. Text is
free of lone surrogates, which are spelled out as `\ud800`. Lists of keys and entries hold their first
hundred; where that may not be all, a total stands beside them. `decision` is what the rules say, `outcome`
what really happened.

The document is one line of JSON in UTF-8 without white space; members stand in the order of these tables,
those of `detail` sorted by name.
"""


def decision_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``run-decision/1``: closed, each struct and member described.

    Raises:
        LookupError: a member is described nowhere or twice, or is none.
    """
    (root,), parts = msgspec.json.schema_components((decision.Decision,), ref_template="#/$defs/{name}")
    described = {name: _described(name, part) for name, part in parts.items()}
    if unknown := FIELDS.keys() - described.keys():
        raise LookupError(f"there is no {sorted(unknown)} in a decision")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "run-decision/1",
        "title": "run-decision/1",
        **root,
        "$defs": described,
    }


def decision_page() -> str:
    """Return the page: a table for each struct, the decision first."""
    schema = decision_schema()
    lines = [PAGE_HEAD]
    for name, part in schema["$defs"].items():
        lines += [
            f"## {name}",
            "",
            part["description"],
            "",
            "| member | holds | what it is |",
            "|---|---|---|",
        ]
        for member, shape in part["properties"].items():
            optional = "" if member in part["required"] else ", or absent"
            lines.append(f"| `{member}` | {_holds(shape)}{optional} | {shape['description']} |")
        lines.append("")
    return "\n".join(lines)


def _described(name: str, part: dict[str, Any]) -> dict[str, Any]:
    """Describe a struct and its members, and close it: what it may leave out is what it leaves out."""
    struct: type[msgspec.Struct] = getattr(decision, name, None) or getattr(findings, name)
    summary, told = _docstring(struct.__doc__ or "")
    wire_names = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
    told = {wire_names[member]: text for member, text in told.items()}
    ours = FIELDS.get(name, {})
    if surplus := (told.keys() & ours.keys()) | (ours.keys() - part["properties"].keys()):
        raise LookupError(f"{name} has no such member, or describes it itself: {sorted(surplus)}")
    properties = {}
    for member, shape in part["properties"].items():
        shape = {key: value for key, value in shape.items() if key != "default"}
        if member not in told and member not in ours:
            raise LookupError(f"nobody describes {name}.{member}")
        properties[member] = {**_one_of(shape), "description": told.get(member) or ours[member]}
    omits = struct.__struct_config__.omit_defaults
    unset = {one.encode_name for one in msgspec.structs.fields(struct) if one.default is msgspec.UNSET}
    return {
        "title": name,
        "description": summary,
        "type": "object",
        "properties": properties,
        "required": part["required"] if omits else [one for one in properties if one not in unset],
        "additionalProperties": False,
    }


def _one_of(shape: dict[str, Any]) -> dict[str, Any]:
    """Write the one string that a member holds as a constant."""
    if len(shape.get("enum", ())) == 1:
        return {"const": shape["enum"][0]}
    return shape


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a Google docstring into its summary and its attributes by name, without line breaks."""
    summary, _, attributes = text.partition("Attributes:")
    told = re.findall(r"^ +(\w+): (.+(?:\n {12,}.+)*)", attributes, re.MULTILINE)
    return _flat(summary), {name: _sentence(_flat(about)) for name, about in told}


def _flat(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _holds(shape: Mapping[str, Any]) -> str:
    """Say what a member holds, in words."""
    return " or ".join(_kinds(shape))


def _kinds(shape: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        yield f"[{name}](#{name.lower()})"
    elif "const" in shape:
        yield f"`{shape['const']}`"
    elif "enum" in shape:
        yield ", ".join(f"`{value}`" for value in shape["enum"])
    elif "anyOf" in shape:
        for one in shape["anyOf"]:
            yield from _kinds(one)
    elif shape["type"] == "array":
        many = {"text": "texts", "whole number": "whole numbers"}
        one = _holds(shape["items"])
        yield f"list of {many.get(one, one)}"
    elif shape["type"] == "object":
        yield f"object whose values are {_holds(shape['additionalProperties'])}"
    else:
        yield {"string": "text", "integer": "whole number"}.get(shape["type"], shape["type"])
