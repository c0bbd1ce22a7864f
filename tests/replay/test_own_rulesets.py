"""A user's own ruleset: what its TOML may say, what is said of what it may not, and how it is rebuilt."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.digests import digest
from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.ruleset import derive
from ledger.dialects.collection_profile.rulesets import LATER, RULESETS, TEXT
from ledger.dialects.collection_profile.switches import SWITCHES
from ledger.errors import NotFoundError, RulesetError, UsageError
from ledger.replay.own_rulesets import TEXT_LIMIT, from_document, read_ruleset, stored_rulesets
from ledger.replay.rulesets import ID_LIMIT, Known, changed_rules, named, shipped

SHIPPED = shipped(DIALECTS.values())
PACKAGED = derive(TEXT, id="acme/1", summary="", switches={})
KNOWN = [*SHIPPED, Known(ruleset=PACKAGED, origin="installed", source="acme-rules")]
HEAD = 'id = "own/1"\nextends = "collection-profile/0.1.0"\n'


def said(text: str, known: list[Known] = KNOWN) -> str:
    """What is said of a text that is no ruleset."""
    with pytest.raises(RulesetError) as refused:
        read_ruleset(text, known, "own.toml")
    return str(refused.value)


def test_a_ruleset_is_another_one_with_some_switches_turned() -> None:
    text = HEAD + 'summary = "mine"\n[switches]\nunknown_message = "ignore"\nunlisted_gap = "accounted"\n'
    own = read_ruleset(text, KNOWN, "own.toml")
    assert (own.id, own.summary) == ("own/1", "mine")
    changes = changed_rules(TEXT, own)
    assert {one.name: one.there for one in changes.switches} == {
        "unknown_message": "ignore",
        "unlisted_gap": "accounted",
    }
    assert not changes.rules


def test_summary_and_switches_may_be_left_out() -> None:
    assert read_ruleset(HEAD, KNOWN, "own.toml").summary == "the same as collection-profile/0.1.0"
    text = HEAD + 'switches = { unlisted_gap = "accounted" }'
    assert read_ruleset(text, KNOWN, "").summary == "collection-profile/0.1.0, with unlisted_gap accounted"


def test_a_ruleset_extends_a_shipped_an_installed_or_a_stored_one() -> None:
    stored = Known(ruleset=derive(LATER, id="kept/1", summary="", switches={}), origin="stored")
    for base in (TEXT, LATER, PACKAGED, stored.ruleset):
        for name in (base.id, base.digest[:20]):
            own = read_ruleset(f'id = "own/1"\nextends = "{name}"', [*KNOWN, stored], "own.toml")
            assert changed_rules(base, own).are_none


def test_it_may_have_the_id_of_a_stored_one_which_an_earlier_version_of_it_may_be() -> None:
    stored = Known(ruleset=derive(TEXT, id="own/1", summary="", switches={}), origin="stored")
    assert read_ruleset(HEAD, [*KNOWN, stored], "own.toml").id == "own/1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id = ", "own.toml:1:6: expected TOML, found none: Invalid value; mend it there"),
        ('id = "x"\n\n = 2', "own.toml:3:2: expected TOML, found none: Invalid statement; mend it there"),
        ("id = " + "9" * 5000, "own.toml: expected TOML, found none: Exceeds the limit"),
        ("id = " + "[" * 5000, "own.toml: expected TOML, found arrays or tables nested too deep"),
        ("#" * (TEXT_LIMIT + 1), "own.toml: expected a ruleset of at most 20,000 characters, found more"),
        (
            'exteds = "x"',
            "expected a member of a ruleset, found 'exteds'; did you mean",
        ),
        ('zzz = "x"', "found 'zzz'; there are: id, summary, extends, switches"),
        ("", 'own.toml: expected a member id, found none; add one, such as id = "acme/2026-12"'),
        ("id = 1", "own.toml: expected id to be a text, found an integer; write id = "),
        ('id = "own/1"', 'expected a member extends, found none; add one, such as extends = "coll'),
        ('id = "own/1"\nextends = ["a"]', "expected extends to be a text, found an array; write extends = "),
        (
            'id = "own/1"\nextends = "coll"',
            "there is no ruleset 'coll'; there are: collection-profile/0.1.0, ",
        ),
        (
            'id = "own/1"\nextends = "collection-profile/0.1"',
            "there is no ruleset 'collection-profile/0.1'; did you mean collection-profile/0.1.0 or ",
        ),
        (HEAD + "summary = 2026-01-01", "expected summary to be a text, found a date or time; put it in"),
        (HEAD + 'summary = "a\\nb"', "expected a summary of one line of at most 200 printable characters, "),
        (HEAD + f'summary = "{"a" * 201}"', "expected a summary of one line of at most 200 printable "),
        (HEAD + 'switches = "x"', "expected a table [switches], found a text; write [switches]"),
        (
            HEAD + '[switches]\nunknown_mesage = "ignore"',
            "own.toml: [switches]: expected a switch of collection-profile/0.1.0, found 'unknown_mesage'; "
            "did you mean unknown_message",
        ),
        (HEAD + "[switches]\nunknown_mesage = true", "found 'unknown_mesage'; did you mean unknown_message"),
        (HEAD + "[switches]\nnone_such = 0x" + "9" * 5000, "found 'none_such'; there are: "),
        (HEAD + "[switches]\nnone_such" + ".a" * 5000 + " = 1", "found 'none_such'; there are: "),
        (
            HEAD + '[switches]\n"none\\u001bsuch" = "x"',
            "expected a switch of collection-profile/0.1.0, found ",
        ),
        (
            HEAD + '[switches]\nunknown_message = "yes"',
            "[switches]: expected the switch unknown_message to be ignore or ignore_inherited_names or "
            "violate, found 'yes'",
        ),
        (
            HEAD + "[switches]\nevidence_closure = true",
            "[switches]: expected the switch evidence_closure to be equal or off or on, found a boolean; put "
            'it in quotes, as in evidence_closure = "equal"',
        ),
        (
            HEAD.replace("0.1.0", "0.1.0+reference") + '[switches]\nevidence_closure = "on"',
            "expected a ruleset that asks evidence_agrees_with_counts, without which evidence_closure cannot "
            "be on, found collection-profile/0.1.0+reference, which does not; extend another, or leave",
        ),
    ],
    ids=lambda text: text[-60:],
)
def test_what_is_no_ruleset_is_told_where_and_what_was_expected(text: str, expected: str) -> None:
    assert expected in said(text)
    assert said(text).startswith("own.toml:")


@pytest.mark.parametrize(
    ("own_id", "expected"),
    [
        ("", "expected an id of 1 to 100 printable characters without space around it, found ''"),
        (" own/1", "without space around it, found ' own/1'"),
        ("own\\u202e", "printable characters without space around it, found 'own"),
        ("own\\n", "printable characters without space around it, found 'own"),
        ("x" * (ID_LIMIT + 1), "found one of 101 characters; choose one such as acme/2026-12"),
        (
            "sha256:00000000",
            "a digest, a file or a word of ours, found 'sha256:00000000'",
        ),
        ("recorded", "a word of ours, found 'recorded'"),
        (
            "own.toml",
            "a digest, a file or a word of ours, found 'own.toml'",
        ),
        ("collection-profile/0.1.0", "which is that of a ruleset of this version; choose another"),
        ("acme/1", "found 'acme/1', which is that of a ruleset of the package acme-rules; choose another"),
    ],
)
def test_an_id_that_cannot_be_given_is_refused(own_id: str, expected: str) -> None:
    assert expected in said(f'id = "{own_id}"\nextends = "collection-profile/0.1.0"')


TOML_PIECES = ["id", "extends", "switches", "unknown_message", '"own/1"', f'"{TEXT.id}"', "=", "\n"]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(TOML_PIECES)).map(" ".join)))
def test_any_text_is_a_ruleset_or_refused(text: str) -> None:
    with suppress(RulesetError):
        assert read_ruleset(text, KNOWN, "own.toml").document


# Documents.

TURNS = st.fixed_dictionaries({}, optional={name: st.sampled_from(s.values) for name, s in SWITCHES.items()})


@given(st.sampled_from(sorted(RULESETS)), TURNS)
def test_a_ruleset_comes_back_from_its_document(base: str, switches: dict[str, str]) -> None:
    try:
        own = derive(RULESETS[base], id="own/1", summary="", switches=switches)
    except UsageError:
        return
    again = from_document(own.document, KNOWN)
    assert (again.id, again.digest, again.document) == (own.id, own.digest, own.document)
    assert changed_rules(own, again).are_none


def test_a_document_of_rules_that_are_not_here_is_told_to_be() -> None:
    foreign = replace(TEXT, id="other/1", end_rules=TEXT.end_rules[1:])
    with pytest.raises(NotFoundError, match="know all rules and switches of 'other/1', found some that are"):
        from_document(foreign.document, KNOWN)
    known = [*KNOWN, Known(ruleset=foreign, origin="installed", source="other")]
    assert from_document(foreign.document, known).digest == foreign.digest


@pytest.mark.parametrize(
    "change",
    [
        (b'"unknown_message":"violate"', b'"unknown_message":"explode"'),
        (b'"unknown_message":"violate"', b'"a_switch_to_come":"on","unknown_message":"violate"'),
        (b'"count_is_right"', b'"count_is_wrong"'),
        (b'{"id":', b'{ "id":'),
    ],
)
def test_a_document_that_does_not_come_out_the_same_is_refused(change: tuple[bytes, bytes]) -> None:
    changed = TEXT.document.replace(*change)
    assert changed != TEXT.document
    with pytest.raises(NotFoundError, match="was made by another version, or with a package"):
        from_document(changed, KNOWN)


NO_DOCUMENTS = [b"", b"\xff", b"{}", b"[]", b'{"id":1,"switches":{},"rules":[]}', b"[" * 9999]


@pytest.mark.parametrize("body", NO_DOCUMENTS, ids=lambda body: repr(body[:20]))
def test_a_document_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(NotFoundError, match="expected the document of a ruleset, found something else"):
        from_document(body, KNOWN)
    assert stored_rulesets([("sha256:00", body)], KNOWN)[1][0].id == ""


def test_what_a_ledger_keeps_is_rebuilt_or_told_to_be_unknown() -> None:
    own = derive(TEXT, id="own/1", summary="", switches={"key_equality": "text"})
    foreign = replace(TEXT, id="other/1", end_rules=())
    rows = [(one.digest, one.document) for one in (TEXT, PACKAGED, own, foreign)]
    stored, unknown = stored_rulesets(rows, KNOWN)
    assert [(one.ruleset.digest, one.origin) for one in stored] == [(own.digest, "stored")]
    assert [(one.id, one.digest) for one in unknown] == [("other/1", foreign.digest)]
    for name in (foreign.id, foreign.digest, foreign.digest[:15]):
        with pytest.raises(NotFoundError, match="a package that is not installed; install that"):
            named([*KNOWN, *stored], name, unknown)
    assert named([*KNOWN, *stored], "own/1", unknown) is stored[0]


# Names.


def test_of_one_id_the_shipped_comes_before_the_installed_and_that_before_the_stored() -> None:
    def known(own_id: str, origin: str, value: str) -> Known:
        switches = {"unlisted_gap": "accounted", "key_equality": value}
        own = derive(TEXT, id=own_id, summary="", switches=switches)
        return Known(ruleset=own, origin=origin)  # type: ignore[arg-type]

    first, second = known("acme/1", "stored", "typed"), known("acme/1", "stored", "text")
    assert named([*KNOWN, first], "acme/1").ruleset is PACKAGED
    assert named([*KNOWN, known(TEXT.id, "stored", "text")], TEXT.id).ruleset is TEXT
    with pytest.raises(NotFoundError, match="means more than one ruleset; name one of sha256:") as refused:
        named([*SHIPPED, first, second], "acme/1")
    assert first.ruleset.digest in str(refused.value)
    assert second.ruleset.digest in str(refused.value)
    assert named([*SHIPPED, first, second], second.ruleset.digest) is second
    assert digest(second.ruleset.document) == second.ruleset.digest
