"""A user's own ruleset: read from the TOML that it is written in, and rebuilt from its document in a ledger.

Such a ruleset asks the rules of another one, whose switches it turns: it has no rules of its own, so that its
document says all that it is. Nothing here opens a file or a ledger.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from ledger.core.dialect import Ruleset
from ledger.core.wording import suggest
from ledger.errors import NotFoundError, RulesetError, UsageError
from ledger.replay.replay import dialect_named
from ledger.replay.rulesets import Known, Unknown, check_id, named

MEMBERS = ("id", "summary", "extends", "switches")
SUMMARY_LIMIT = 200
"""Characters of a summary."""

TEXT_LIMIT = 20_000
"""Characters of the text that a ruleset is written in; what is longer is something else.

Of nothing but dots TOML takes a second to read at this length, and minutes at five times of it.
"""

_EXAMPLE = 'extends = "collection-profile/0.1.0"'
_AT = re.compile(r" \((?:at line (\d+), column (\d+)|at end of document)\)$")
_TYPES = {
    str: "a text",
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    list: "an array",
    dict: "a table",
}


def read_ruleset(text: str, known: Sequence[Known], where: str) -> Ruleset:
    """Read a ruleset from the TOML that somebody wrote.

    Args:
        text: the TOML: ``id``, ``extends``, perhaps ``summary``, and a table ``switches``.
        known: the rulesets that it may extend, and whose ids it may not have unless they are stored ones'.
        where: what to call the text in an error, such as its file's name.

    Raises:
        RulesetError: it is no TOML, or no ruleset; says where, and what was expected.
    """
    members = _parsed(text, where)
    for name in members:
        if name not in MEMBERS:
            raise RulesetError(
                f"{where}: expected a member of a ruleset, found {_shown(name)}; {suggest(name, MEMBERS)}"
            )
    own_id = _text(members, "id", 'id = "acme/2026-12"', where)
    extends = _text(members, "extends", _EXAMPLE, where)
    try:
        check_id(own_id, (one for one in known if one.origin in ("shipped", "installed")))
        base = named(known, extends).ruleset
    except (RulesetError, NotFoundError) as error:
        raise RulesetError(f"{where}: {error}") from None
    switches = _switches(members, base, where)
    given = _summary(members, where)
    summary = given if given is not None else _told(base, switches)[:SUMMARY_LIMIT]
    try:
        return dialect_named(base.dialect).derive(base, id=own_id, summary=summary, switches=switches)
    except UsageError as error:
        raise RulesetError(f"{where}: [switches]: {error}") from None


def from_document(body: bytes, known: Sequence[Known]) -> Ruleset:
    """Rebuild a ruleset from its document: the rules of one that is known, with its own id and switches.

    Args:
        body: what :attr:`ledger.core.dialect.Ruleset.document` was.
        known: rulesets that are shipped or installed here.

    Raises:
        NotFoundError: none that is known has these rules and switches: it was made by another version, or
            with a package that is not installed here.
    """
    document = _read(body)
    if document is None:
        raise NotFoundError("expected the document of a ruleset, found something else; verify the ledger")
    for one in known:
        rebuilt = _rebuilt(document, one.ruleset)
        if rebuilt is not None and rebuilt.document == body:
            return rebuilt
    raise NotFoundError(
        f"expected to know all rules and switches of {_shown(document.id)}, found some that are not here: "
        "it was made by another version, or with a package that is not installed; install that"
    )


def stored_rulesets(
    documents: Iterable[tuple[str, bytes]], known: Sequence[Known]
) -> tuple[list[Known], list[Unknown]]:
    """Rebuild the rulesets that a ledger keeps, as far as that can be done here.

    Args:
        documents: digest and body of each; those of rulesets that are known are passed over.
        known: rulesets that are shipped or installed here.
    """
    stored: list[Known] = []
    unknown: list[Unknown] = []
    for digest, body in documents:
        if any(one.ruleset.digest == digest for one in known):
            continue
        try:
            stored.append(Known(ruleset=from_document(body, known), origin="stored"))
        except NotFoundError as error:
            document = _read(body)
            unknown.append(Unknown(document.id if document is not None else "", digest, str(error)))
    return stored, unknown


def _read(body: bytes) -> "_Document | None":
    try:
        return _DOCUMENT.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Document(msgspec.Struct):
    """What the document of every ruleset holds."""

    id: str
    switches: dict[str, str]
    rules: list[tuple[str, str]]


_DOCUMENT = msgspec.json.Decoder(_Document)


def _rebuilt(document: _Document, base: Ruleset) -> Ruleset | None:
    """Return a known ruleset with the id and the switches of a document, None where it asks other rules."""
    if [(told.asked_of, told.name) for told in base.tell_rules()] != document.rules:
        return None
    switches = {told.name: told.default for told in base.tell_switches()} | document.switches
    own = {told.name: told.value for told in base.tell_switches()}
    turned = {name: value for name, value in switches.items() if value != own.get(name)}
    summary = f"kept in the ledger: {_told(base, turned)}"
    try:
        return dialect_named(base.dialect).derive(base, id=document.id, summary=summary, switches=switches)
    except UsageError:
        return None


def _told(base: Ruleset, turned: Mapping[str, str]) -> str:
    """Say what a ruleset is that takes the rules of another, for which nobody has a better summary."""
    switches = ", ".join(f"{name} {value}" for name, value in turned.items())
    return f"{base.id}, with {switches}" if switches else f"the same as {base.id}"


def _parsed(text: str, where: str) -> dict[str, Any]:
    if len(text) > TEXT_LIMIT:
        raise RulesetError(
            f"{where}: expected a ruleset of at most {TEXT_LIMIT:,} characters, found more; name another file"
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise RulesetError(f"{where}: expected TOML, found arrays or tables nested too deep") from None
    except ValueError as error:
        _refuse_toml(str(error), text, where)


def _refuse_toml(said: str, text: str, where: str) -> NoReturn:
    """Say what is no TOML, and at which line and column; tomllib tells both in words."""
    at = _AT.search(said)
    line, column = at.groups() if at is not None else (None, None)
    if at is not None and line is None:
        line, column = str(text.count("\n") + 1), str(len(text) - text.rfind("\n"))
    place = f"{where}:{line}:{column}" if line is not None else where
    raise RulesetError(f"{place}: expected TOML, found none: {_AT.sub('', said)}; mend it there") from None


def _text(members: Mapping[str, Any], name: str, example: str, where: str) -> str:
    value = members.get(name)
    if value is None:
        raise RulesetError(f"{where}: expected a member {name}, found none; add one, such as {example}")
    if not isinstance(value, str):
        raise RulesetError(f"{where}: expected {name} to be a text, found {_type(value)}; write {example}")
    return value


def _summary(members: Mapping[str, Any], where: str) -> str | None:
    summary = members.get("summary")
    if summary is None:
        return None
    if not isinstance(summary, str):
        raise RulesetError(
            f"{where}: expected summary to be a text, found {_type(summary)}; put it in quotes"
        )
    if len(summary) > SUMMARY_LIMIT or not summary.isprintable():
        raise RulesetError(
            f"{where}: expected a summary of one line of at most {SUMMARY_LIMIT} printable characters, "
            f"found {_shown(summary)}; shorten it"
        )
    return summary


def _switches(members: Mapping[str, Any], base: Ruleset, where: str) -> dict[str, str]:
    switches = members.get("switches", {})
    if not isinstance(switches, dict):
        raise RulesetError(f"{where}: expected a table [switches], found {_type(switches)}; write [switches]")
    values = {told.name: told.values for told in base.tell_switches()}
    for name, value in switches.items():
        if not isinstance(value, str) and name in values:
            raise RulesetError(
                f"{where}: [switches]: expected the switch {name} to be {' or '.join(values[name])}, "
                f'found {_type(value)}; put it in quotes, as in {name} = "{values[name][0]}"'
            )
    return {name: value if isinstance(value, str) else _type(value) for name, value in switches.items()}


def _type(value: object) -> str:
    return _TYPES.get(type(value), "a date or time")


def _shown(text: str) -> str:
    """Return what somebody wrote as an error shows it."""
    return repr(text) if len(text) <= SUMMARY_LIMIT else f"{text[:SUMMARY_LIMIT]!r}…"
