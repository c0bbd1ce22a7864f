"""Observations are a closed union that reads back as it was written."""

import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core import observations
from ledger.core.json_reader import Document, read_json
from ledger.core.observations import (
    CheckpointCommitFailed,
    Note,
    Observation,
    Offered,
    ProgramExited,
    RecordsRejected,
    RunClosed,
    Trigger,
    decode_observation,
    encode_observation,
    observation_stream,
    observation_type,
)

MEMBERS: tuple[type[Any], ...] = get_args(Observation)
FIELD_VALUES: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(0, 2**53 - 1),
    Trigger: st.one_of(
        [
            st.builds(Trigger, kind=st.just(kind), grant_id=grant_id, streams=st.none() | st.just(("a", "b")))
            for kind, grant_id in (
                ("proactive", st.none()),
                ("continuous", st.text(min_size=1)),
                ("single_use", st.none() | st.text()),
            )
        ]
    ),
}


def _built(struct: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(struct, **{field.name: _value(field.type) for field in msgspec.structs.fields(struct)})


def _value(type_: Any) -> st.SearchStrategy[Any]:
    if type_ in FIELD_VALUES:
        return FIELD_VALUES[type_]
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return _built(type_)
    members = get_args(type_)
    if type(None) in members:
        return st.one_of([_value(member) if member is not type(None) else st.none() for member in members])
    return st.from_type(type_)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.__name__)
@given(data=st.data())
def test_an_observation_reads_back_as_it_was_written(member: type[Any], data: st.DataObject) -> None:
    observation = data.draw(_built(member))
    body = encode_observation(observation)
    assert decode_observation(body) == observation
    assert b"\n" not in body
    read = read_json(body)
    assert isinstance(read, Document)
    assert read.value["type"] == observation_type(observation)


def test_the_union_holds_every_observation_there_is() -> None:
    defined = {
        member
        for member in vars(observations).values()
        if isinstance(member, type)
        and issubclass(member, msgspec.Struct)
        and member.__struct_config__.tag is not None
        and not member.__name__.startswith("_")
    }
    assert defined == set(MEMBERS)


@pytest.mark.parametrize("member", [*MEMBERS, Trigger, Offered], ids=lambda member: member.__name__)
def test_every_observation_says_what_was_seen(member: type[Any]) -> None:
    assert member.__doc__
    assert member.__doc__.splitlines()[0].endswith(".")
    assert member.__doc__ not in {other.__doc__ for other in MEMBERS if other is not member}


def test_no_two_observations_share_a_type() -> None:
    types = [member.__struct_config__.tag for member in MEMBERS]
    assert len(set(types)) == len(types)
    assert all(re.fullmatch(r"[A-Z]+(_[A-Z]+)*", type_) for type_ in types)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"SOMETHING_NEWER","at":1}',
        b'{"type":"RUN_REFUSED"}',
        b'{"type":"RUN_REFUSED","reason":1}',
        b'{"type":1}',
        b'{"type":"NOTE","by":"\xff","text":""}',
        b"[" * 100_000,
        b'{"type":"RUN_CLOSED","newer":' + b"[" * 100_000,
    ],
)
def test_what_this_version_does_not_know_is_none(body: bytes) -> None:
    assert decode_observation(body) is None


def test_a_member_that_a_newer_version_added_is_passed_over() -> None:
    assert decode_observation(b'{"type":"RUN_CLOSED","newer":[1]}') == RunClosed()


def test_members_at_their_default_are_left_out() -> None:
    assert encode_observation(ProgramExited(code=0)) == b'{"type":"PROGRAM_EXITED","code":0}'
    assert encode_observation(RunClosed()) == b'{"type":"RUN_CLOSED"}'


def test_the_stream_is_filed_where_an_observation_names_one() -> None:
    assert observation_stream(RecordsRejected(stream="a", count=1)) == "a"
    assert observation_stream(CheckpointCommitFailed(stream="b", namespace=None)) == "b"
    assert observation_stream(Note(by="me", text="about a")) == ""
