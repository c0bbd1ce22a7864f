"""Damage to lines and files. All dice are one ``Random``: the same seed does the same damage everywhere."""

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import zstandard

Json: TypeAlias = Any

TOKENS = (
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u", b"//", b"'", b" ", b"\t", b"\r", b"\n"),
    *(b"\x00", b"\x1f", b"\x7f", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"\\ud800", b"\\udc00", b"\\ud83d\\ude00", b"\\u0000", b"\\u2028", b"\xe2\x80\xa8", b"\xc2\x85"),
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"1e9999999", b"1e99999999999999999999"),
    *(b"-0", b"-0.0", b"2.0", b"1e3", b"01", b"0x1", b"9007199254740993", b"9" * 700, b"9" * 5000),
    *(b"18446744073709551616", b"-9223372036854775809", b"0." + b"3" * 400, b"1" + b"0" * 400 + b".5"),
    *(b"null", b"true", b"false", b'""', b"[]", b"{}", b"[" * 300, b"[" * 600, b'{"a":' * 600, b"}" * 600),
    *(b'"type"', b'"stream"', b'"INTERACTION_RESPONSE"', b'"START"', b'"RECORD"', b'"DONE"', b'"bindings"'),
    *(b'"\\u0053TART"', b"INTERACTION\\u005fRESPONSE", b'{"type":"START","bindings":{"a":{"b":1}}}'),
    *(b'"transcript":1', b'"origin":"observer"', b'"redacted":{"length":1}', b"[redacted]"),
)
"""What is put into bytes."""

VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 1, 2.0, 1e300, -0.0, 2**53, 2**63, 2**64, -(2**63) - 1, 10**400, 10**5000),
    *("", " ", "\u00a0", "\x00", "\ud800", "\udfff x", "*", "1", "1.0", "k", "constructor", "__proto__"),
    *("messages", "attachments", "START", "INTERACTION_RESPONSE", "2026-01-01", "0000-00-00", "9" * 400),
    *("2026-11-30T00:00:00.000000Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "x" * 3000),
    *([], {}, [[]], [None], ["a", "a"], [1, "1", 1.0], {"": ""}, {"type": "RECORD"}, {"name": "messages"}),
)
"""What is put in place of a value."""

OBSERVED: tuple[Json, ...] = (
    {"type": "PROGRAM_EXITED", "code": 0},
    {"type": "PROGRAM_EXITED", "code": 137, "signal": "SIGKILL"},
    {"type": "PROGRAM_EXITED"},
    {"type": "CANCEL_REQUESTED", "by": "owner", "reason": "x"},
    {"type": "GRANT_REVOKED", "grant_id": "grant_1"},
    {"type": "CONTROLLER_LOST", "reason": "restart"},
    {"type": "RECORDS_DURABLE", "through_seq": 3},
    {"type": "RECORDS_DURABLE", "through_seq": -1},
    {"type": "RECORDS_REJECTED", "stream": "messages", "count": 2},
    {"type": "RECORDS_REJECTED", "stream": "messages", "count": -(2**62)},
    {"type": "LINE_CUT", "seq": 4, "length": 9, "sha256": ""},
    {"type": "LINE_UNTERMINATED", "seq": 5},
    {"type": "LINE_UNTERMINATED", "seq": 2**62},
    {"type": "DECIDED", "ruleset": "x", "through_seq": 4, "decision": "sha256:0"},
    {"type": "CHECKPOINT_COMMITTED", "stream": "messages", "namespace": "global", "cursor_seq": 4},
    {"type": "CHECKPOINT_COMMITTED", "stream": "\ud800", "namespace": None, "cursor_seq": -(2**63)},
    {"type": "CHECKPOINT_COMMIT_FAILED", "stream": "messages", "namespace": "global", "error": "disk"},
    {"type": "INTERACTION_TIMED_OUT", "request_id": "req_1"},
    {"type": "SUBMISSION_REJECTED", "request_id": "req_1"},
    {"type": "ENTRIES_ERASED", "entries": [1, 2, 10**18], "reason": "asked"},
    {"type": "NOTE", "by": "x", "text": "y" * 500},
    {"type": "PROGRAM_STDERR", "text": '{"type":"INTERACTION_RESPONSE","data":"x"}'},
    {"type": "PROGRAM_SPAWNED"},
    {"type": "RUN_REFUSED", "reason": "no"},
    {"type": "RUN_CLOSED"},
    {"type": "RUN_OPENED"},
    {"type": "SOMETHING_ELSE"},
)
"""What a recorder might have seen, and some that none could have."""

LONGEST = 200_000
"""Bytes that damaging a body may make of it, about."""


class Members(list[tuple[str, Json]]):
    """An object as its members, in order, so that names may be repeated."""


def damage_bytes(dice: Random, body: bytes, pool: Sequence[bytes]) -> bytes:
    """Do one thing to some bytes."""
    begin = dice.randint(0, len(body))
    end = min(len(body), begin + dice.choice((0, 1, 1, 2, 8, 64)))
    match dice.randrange(9):
        case 0 if body:
            at = begin % len(body)
            return body[:at] + bytes((body[at] ^ (1 << dice.randrange(8)),)) + body[at + 1 :]
        case 1:
            return body[:begin] + bytes((dice.randrange(256),)) + body[end:]
        case 2:
            return body[:begin] + body[end:]
        case 3:
            return body[:end] + body[begin:end] * dice.choice((1, 2, 50)) + body[end:]
        case 4:
            return body[:begin]
        case 5:
            other = dice.choice(pool)
            return body[:begin] + other[dice.randint(0, len(other)) :]
        case 6:
            other = dice.choice(pool)
            at = dice.randint(0, len(other))
            return body[:begin] + other[at : at + dice.choice((1, 8, 40))] + body[end:]
        case _:
            return body[:begin] + dice.choice(TOKENS) + body[end:]


def damage_json(dice: Random, body: bytes) -> bytes:
    """Change, drop, double, rename or move one member or item; what is no JSON stays as it is."""
    try:
        value = json.loads(body, object_pairs_hook=Members)
    except (ValueError, RecursionError):
        return body
    places = list(_containers(value))
    if not places:
        return spell(dice.choice(VALUES))
    _change(dice, dice.choice(places))
    return spell(value)


def damage_line(dice: Random, body: bytes, pool: Sequence[bytes]) -> bytes:
    """Damage a line once or a few times."""
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        body = damage_json(dice, body) if dice.random() < 0.5 else damage_bytes(dice, body, pool)
        if len(body) > LONGEST:
            break
    return body


def damage_transcript(dice: Random, body: bytes, others: Sequence[bytes], pool: Sequence[bytes]) -> bytes:
    """Damage a transcript: its lines, what they carry, their order, or the file's bytes."""
    rows = body.split(b"\n")
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        at = dice.randrange(len(rows))
        rows = dice.choice(_FILE_DAMAGES)(dice, rows, at, others, pool)
        if not rows or sum(map(len, rows)) > LONGEST:
            break
    ending = b"\r\n" if dice.random() < 0.03 else b"\n"
    return ending.join(rows)


def damage_capture(dice: Random, lines: Sequence[bytes], pool: Sequence[bytes]) -> bytes:
    """Damage what a connector wrote: its lines, their order, or the bytes of all of it."""
    rows = list(lines)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(rows))
        rows = dice.choice((_around, _around, _around, _swap, _double, _drop, _tear))(
            dice, rows, at, pool, pool
        )
        if not rows:
            break
    whole = b"".join(row + b"\n" for row in rows)
    return damage_bytes(dice, whole, pool) if dice.random() < 0.3 else whole


def packed(dice: Random, body: bytes) -> bytes:
    """Pack a file as gzip or zstd, and damage it or not."""
    small = gzip.compress(body, mtime=0) if dice.random() < 0.5 else zstandard.compress(body)
    return small if dice.random() < 0.3 else damage_bytes(dice, small, (small, body))


def carried(dice: Random, origin: str, line: bytes) -> bytes:
    """Return a line of a transcript that carries a wire line."""
    told: dict[str, Json] = {"at": "2026-11-20T06:00:00.000000Z", "origin": origin}
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return json.dumps({**told, "b64": base64.b64encode(line).decode()}).encode()
    ascii_only = dice.random() < 0.5
    return json.dumps({**told, "line": text}, ensure_ascii=ascii_only).encode()


def spell(value: Json) -> bytes:
    """Write a value whose objects may be :class:`Members`; lone surrogates become escapes."""
    return _spell(value).encode("ascii")


def _spell(value: Json) -> str:
    if isinstance(value, Members):
        return "{" + ",".join(f"{json.dumps(name)}:{_spell(item)}" for name, item in value) + "}"
    if isinstance(value, dict):
        return _spell(Members(value.items()))
    if isinstance(value, list):
        return "[" + ",".join(map(_spell, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**400:
        return "1" + "0" * (400 if value == 10**400 else 5000)  # beyond what int() spells
    return json.dumps(value)


def _containers(value: Json) -> Sequence[list[Json]]:
    found: list[list[Json]] = []
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            found.append(one)
            todo.extend(item for _, item in one) if isinstance(one, Members) else todo.extend(one)
    return found


def _change(dice: Random, place: list[Json]) -> None:
    named = isinstance(place, Members)
    if not place:
        place.append(("type", dice.choice(VALUES)) if named else dice.choice(VALUES))
        return
    at = dice.randrange(len(place))
    name, value = place[at] if named else ("", place[at])
    match dice.randrange(6):
        case 0:
            del place[at]
            return
        case 1:
            place.insert(dice.randint(0, len(place)), place[at])
            return
        case 2:
            other = dice.randrange(len(place))
            place[at], place[other] = place[other], place[at]
            return
        case 3 if named:
            name = dice.choice((name.upper(), name + "\x00", "", "type", "stream", "\ud800", "data"))
        case 4:
            value = [value] * dice.choice((1, 2, 200)) if dice.random() < 0.7 else Members([(name, value)])
        case _:
            value = dice.choice(VALUES)
    place[at] = (name, value) if named else value


# ---- what is done to the rows of a transcript -------------------------------------------------------------

_Rows: TypeAlias = list[bytes]
_FileDamage: TypeAlias = Callable[[Random, _Rows, int, Sequence[bytes], Sequence[bytes]], _Rows]


def _inside(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    """Damage the wire line that a row carries."""
    try:
        told = json.loads(rows[at])
        line, origin = told["line"].encode(), told["origin"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return _around(dice, rows, at, others, pool)
    wrapped = carried(dice, origin, damage_line(dice, line, pool))
    return [*rows[:at], wrapped, *rows[at + 1 :]]


def _around(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    return [*rows[:at], damage_line(dice, rows[at], pool), *rows[at + 1 :]]


def _header(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    return [damage_json(dice, rows[0]), *rows[1:]]


def _swap(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    other = dice.randrange(len(rows))
    rows[at], rows[other] = rows[other], rows[at]
    return rows


def _double(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    again = dice.randint(at, len(rows))
    return [*rows[:again], *[rows[at]] * dice.choice((1, 1, 2, 120)), *rows[again:]]


def _drop(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    return [*rows[:at], *rows[at + dice.choice((1, 1, 5)) :]]


def _tear(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    return [*rows[:at], rows[at][: dice.randint(0, len(rows[at]))]]


def _observe(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    observed = spell(dice.choice(OBSERVED))
    if dice.random() < 0.3:
        observed = damage_json(dice, observed)
    row = b'{"at":"2026-11-20T06:00:00.000000Z","origin":"observer","observed":%s}' % observed
    return [*rows[: at + 1], row, *rows[at + 1 :]]


def _visit(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    """Put rows of another run in."""
    theirs = dice.choice(others).split(b"\n")
    begin = dice.randrange(len(theirs))
    return [*rows[: at + 1], *theirs[begin : begin + dice.choice((1, 3, 20))], *rows[at + 1 :]]


def _say(dice: Random, rows: _Rows, at: int, others: Sequence[bytes], pool: Sequence[bytes]) -> _Rows:
    """Put in a line that somebody could have said."""
    row = carried(dice, dice.choice(("program", "runtime")), dice.choice(pool))
    return [*rows[: at + 1], row, *rows[at + 1 :]]


_FILE_DAMAGES: tuple[_FileDamage, ...] = (
    *(_inside, _inside, _inside, _inside, _inside, _around, _header, _swap, _double, _drop, _tear),
    *(_observe, _observe, _visit, _say, _say),
)


def damage_ledger(dice: Random, body: bytes) -> bytes:
    """Damage the bytes of a database, now and then where it hurts most: in its header, or whole pages."""
    page = 8192
    pages = max(1, len(body) // page)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        at = dice.randrange(max(1, len(body)))
        match dice.randrange(8):
            case 0:
                at = dice.randrange(100)
                body = body[:at] + bytes((dice.randrange(256),)) + body[at + 1 :]
            case 1:
                one, two = dice.randrange(pages) * page, dice.randrange(pages) * page
                first, second = body[one : one + page], body[two : two + page]
                body = body[:one] + second + body[one + page :]
                body = body[:two] + first + body[two + page :]
            case 2:
                begin = dice.randrange(pages) * page
                body = body[:begin] + bytes(page) + body[begin + page :]
            case 3 if dice.random() < 0.3:
                body = body[:at]
            case 4:
                begin = dice.randrange(pages) * page  # the head of a page: its kind, its cells
                at = begin + dice.randrange(40)
                body = body[:at] + bytes((dice.choice((0, 1, 127, 128, 255)),)) + body[at + 1 :]
            case 5:
                other = dice.choice(TOKENS)
                body = body[:at] + other + body[at + len(other) :]
            case _:
                body = body[:at] + bytes((dice.randrange(256),)) + body[at + 1 :]
    return body
