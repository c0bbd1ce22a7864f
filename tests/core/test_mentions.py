"""Where a line names a key."""

import pytest

from ledger.core.mentions import KeyNamed, Mention, canonical_key


@pytest.mark.parametrize(
    ("key", "body", "found"),
    [
        ("m3", b'{"record_key":"m3"}', Mention("record_key", "value")),
        ("m3", b'{"keys":["m1","m2","m3"]}', Mention("keys[2]", "value")),
        ("m3", b'{"cursor":{"seen":{"m3":true}}}', Mention("cursor.seen.m3", "value")),
        ("m3", b'{"text":"lost m3, sorry","record_key":"m3"}', Mention("record_key", "value")),
        ("m3", b'{"text":"lost m3, sorry"}', Mention("text", "text")),
        ("m3", b'{"text":"m31 and am3"}', None),
        ("m3", b'{"a":"\\u006d3"}', Mention("a", "value")),
        ("m3", b"not JSON, but m3 is in it", Mention("", "text")),
        ("m3", b"\xff m3", Mention("", "text")),
        ("m3", b"", None),
        ("5", b'{"a":[5]}', Mention("a[0]", "value")),
        ("5", b'{"a":5.0}', Mention("a", "value")),
        ("100", b'{"a":1e2}', Mention("a", "value")),
        ("5", b'{"a":55,"b":true,"c":null}', None),
        ('["a","b"]', b'{"key":["a","b"]}', Mention("key", "value")),
        ('["a","b"]', b'{"resources":["[\\"a\\",\\"b\\"]"]}', Mention("resources[0]", "value")),
        ('["a","b"]', b'{"key":["a","c"]}', None),
        ("[1]", b'{"a":"[1]"}', Mention("a", "value")),
        ("msg.*", b'{"a":"msg.*","b":"msgs"}', Mention("a", "value")),
        ("msg.*", b'{"a":"msgs"}', None),
        ("\ud800", b'{"a":"\\ud800"}', Mention("a", "value")),
        ("é", '{"a":"é"}'.encode(), Mention("a", "value")),
        ("é", '{"a":"né"}'.encode(), None),
    ],
)
def test_a_key_is_found_where_it_is_named(key: str, body: bytes, found: Mention | None) -> None:
    assert KeyNamed(key).found_in(body) == found


def test_the_deepest_line_is_read_without_recursion() -> None:
    body = b"[" * 500 + b'"m3"' + b"]" * 500
    mention = KeyNamed("m3").found_in(body)
    assert mention is not None
    assert len(mention.where) == 200


def test_a_value_that_another_of_the_same_name_hides_is_seen() -> None:
    assert KeyNamed("m1").found_in(b'{"key":"m1","key":"m2"}') == Mention("", "text")
    assert KeyNamed("m1").found_in(b'{"key":"m2","key":"m1"}') == Mention("key", "value")
    assert KeyNamed("m1").found_in(b'{"key":"m2","key":"m3"}') is None


def test_a_compound_key_has_one_canonical_text() -> None:
    assert canonical_key(' ["a", "b"]') == ' ["a", "b"]'
    assert canonical_key('["a", "\\u00e4"]') == '["a","ä"]'
    assert canonical_key("[1]") == "[1]"
    assert canonical_key("plain") == "plain"
