"""The manifest: rules 1 to 7, each with a manifest that holds and one that breaks it, and a refused run."""

import time
from typing import Any

import pytest

from ledger.dialects.collection_profile.manifest import read_manifest
from tests.dialects.collection_profile.runs import (
    Message,
    broken,
    child,
    decide,
    detail,
    done,
    exited,
    record,
    start_all,
    streams,
    to_line,
    unknowns,
)


def clauses(manifest: Message | bytes) -> set[str]:
    body = manifest if isinstance(manifest, bytes) else to_line(manifest)
    return {fault.clause for fault in read_manifest(body).faults}


def holds(manifest: Message) -> bool:
    return read_manifest(to_line(manifest)).manifest is not None


BREAKS: list[tuple[str, str, Message]] = [
    ("1 state_stream names itself", "manifest/1", streams(a=child("a"))),
    ("1 parent_streams name itself", "manifest/1", streams("p", a=detail("p", "a"))),
    ("2 state_stream unknown", "manifest/2", streams("p", a=child("nobody"))),
    ("2 one of parent_streams unknown", "manifest/2", streams("p", a=detail("p", "nobody"))),
    ("2 names are compared exactly", "manifest/2", streams("P", a=child("p"))),
    ("3 duplicate parent", "manifest/3", streams("p", "q", a=detail("p", "q", "p"))),
    ("4 both fields", "manifest/4", streams("p", a={**detail("p"), "state_stream": "p"})),
    (
        "4 both, under the other strategy",
        "manifest/4",
        streams("p", a={**child("p"), "parent_streams": ["p"]}),
    ),
    (
        "4 both, without strategy",
        "manifest/4",
        streams("p", a={"state_stream": "p", "parent_streams": ["p"]}),
    ),
    ("5 empty parent_streams", "manifest/5", streams("p", a=detail())),
    ("6 cycle of two children", "manifest/6", streams(a=child("b"), b=child("a"))),
    ("6 mixed cycle", "manifest/6", streams("p", a=child("b"), b=detail("p", "a"))),
    ("6 cycle beside a good graph", "manifest/6", streams("p", ok=child("p"), a=child("b"), b=child("a"))),
    ("7 child without strategy", "manifest/7", streams("p", a={"state_stream": "p"})),
    (
        "7 child, detail strategy",
        "manifest/7",
        streams("p", a=child("p", coverage_strategy=detail("p")["coverage_strategy"])),
    ),
    ("7 detail without strategy", "manifest/7", streams("p", a={"parent_streams": ["p"]})),
    (
        "7 detail, child strategy",
        "manifest/7",
        streams("p", a=detail("p", coverage_strategy="checkpoint_window")),
    ),
    ("7 strategy null", "manifest/7", streams("p", a=child("p", coverage_strategy=None))),
    (
        "7 strategy in other case",
        "manifest/7",
        streams("p", a=child("p", coverage_strategy="Checkpoint_Window")),
    ),
    ("state_stream null", "manifest/shape", streams("p", a=child("p", state_stream=None))),
    ("state_stream empty", "manifest/shape", streams("p", a=child(""))),
    ("state_stream is an array", "manifest/shape", streams("p", a=child("p", state_stream=["p"]))),
    ("parent_streams null", "manifest/shape", streams("p", a=detail("p", parent_streams=None))),
    ("parent_streams is a name", "manifest/shape", streams("p", a=detail("p", parent_streams="p"))),
    ("parent_streams holds a number", "manifest/shape", streams("p", a=detail("p", parent_streams=["p", 1]))),
    ("parent_streams holds an empty name", "manifest/shape", streams("p", a=detail("p", ""))),
    ("two streams of one name", "manifest/shape", {"streams": [{"name": "a"}, {"name": "a"}]}),
    ("a stream without a name", "manifest/shape", {"streams": [{}]}),
    ("a stream named null", "manifest/shape", {"streams": [{"name": None}]}),
    ("a stream that is a string", "manifest/shape", {"streams": ["a"]}),
    ("no stream", "manifest/shape", {"streams": []}),
    ("streams absent", "manifest/shape", {}),
    ("streams an object", "manifest/shape", {"streams": {"a": {}}}),
    ("bindings an array", "binding/1", {**streams("a"), "runtime_requirements": {"bindings": ["network"]}}),
    (
        "required is a text",
        "binding/1",
        {**streams("a"), "runtime_requirements": {"bindings": {"n": {"required": "yes"}}}},
    ),
    ("requirements a text", "binding/1", {**streams("a"), "runtime_requirements": "network"}),
]

HOLDS: list[tuple[str, Message]] = [
    ("self-mapped", streams("a", "b")),
    ("child", streams("p", a=child("p"))),
    ("detail of one", streams("p", a=detail("p"))),
    ("detail of two", streams("p", "q", a=detail("p", "q"))),
    ("two children of one parent", streams("p", a=child("p"), b=child("p"))),
    ("child and detail of one parent", streams("p", a=child("p"), b=detail("p"))),
    ("parent declared after", streams(a=child("p"), p={})),
    ("diamond", streams("top", left=child("top"), right=detail("top"), low=detail("left", "right"))),
    ("chain", streams("a", b=child("a"), c=detail("b"), d=child("c"))),
    ("a free strategy on a self-mapped stream", streams(a={"coverage_strategy": "full_inventory"})),
    ("a strategy without parents", streams(a={"coverage_strategy": "checkpoint_window"})),
    ("requirements null", {**streams("a"), "runtime_requirements": None}),
    ("a binding without required", {**streams("a"), "runtime_requirements": {"bindings": {"n": {}}}}),
]


@pytest.mark.parametrize(("clause", "manifest"), [b[1:] for b in BREAKS], ids=[b[0] for b in BREAKS])
def test_a_broken_manifest_names_the_rule(clause: str, manifest: Message) -> None:
    assert clause in clauses(manifest)


@pytest.mark.parametrize(("clause", "manifest"), [b[1:] for b in BREAKS], ids=[b[0] for b in BREAKS])
def test_a_broken_manifest_refuses_the_run(clause: str, manifest: Message) -> None:
    decision = decide(manifest, record("a"), done(1), exited(0))
    assert decision.status == "refused"
    assert decision.cause is not None
    assert {v.clause for v in decision.violations} >= {clause}
    assert not decision.checkpoints


@pytest.mark.parametrize("manifest", [h[1] for h in HOLDS], ids=[h[0] for h in HOLDS])
def test_a_sound_manifest_breaks_no_rule(manifest: Message) -> None:
    assert clauses(manifest) == set()
    assert decide(manifest, start_all(manifest), done(), exited(0)).status == "succeeded"


@pytest.mark.parametrize("length", [*range(2, 12), 31, 50])
@pytest.mark.parametrize("kind", ["children", "details", "mixed"])
def test_a_cycle_of_any_length_is_found(length: int, kind: str) -> None:
    def member(position: int, parent: str) -> Message:
        rides = kind == "children" or (kind == "mixed" and position % 2)
        return child(parent) if rides else detail("root", parent)

    names = [f"s{n}" for n in range(length)]
    ring = {name: member(n, names[(n + 1) % length]) for n, name in enumerate(names)}
    manifest = streams("root", **ring)
    assert clauses(manifest) == {"manifest/6"}
    (fault,) = read_manifest(to_line(manifest)).faults
    cycle = fault.detail["cycle"]
    assert isinstance(cycle, tuple)
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[1:]) == sorted(names)


@pytest.mark.parametrize("tail", [0, 1, 7])
def test_a_cycle_is_found_behind_a_tail_that_leads_to_it(tail: int) -> None:
    leads = {f"t{n}": child(f"t{n + 1}" if n + 1 < tail else "x") for n in range(tail)}
    assert clauses(streams("root", **leads, x=child("y"), y=detail("root", "x"))) == {"manifest/6"}


def test_an_edge_into_finished_ground_is_no_cycle() -> None:
    assert holds(streams("a", b=child("a"), c=detail("b", "a"), d=detail("c", "b", "a"), e=child("c")))


def test_a_chain_of_100_000_streams_is_read_without_recursion_and_fast() -> None:
    chain = [{"name": "s0"}, *({"name": f"s{n}", **child(f"s{n - 1}")} for n in range(1, 100_000))]
    for ordered in (chain, chain[::-1]):
        began = time.process_time()
        assert holds({"streams": ordered})
        assert time.process_time() - began < 10


def test_a_ring_of_100_000_streams_is_found() -> None:
    ring = [{"name": f"s{n}", **child(f"s{(n + 1) % 100_000}")} for n in range(100_000)]
    assert clauses({"streams": ring}) == {"manifest/6"}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'"x"', b"1", b"\xff{}", b'\xef\xbb\xbf{"streams":[]}', b"[" * 600]
)
def test_what_is_no_json_object_refuses_the_run(body: bytes) -> None:
    decision = decide(body, record("a"))
    assert (decision.status, broken(decision)) == ("refused", (1, "manifest_malformed", "manifest/shape"))


def test_every_broken_rule_is_told_not_only_the_first() -> None:
    manifest = streams("p", a=child("a"), b=detail("p", "p"), c={"state_stream": "nobody"})
    assert clauses(manifest) == {"manifest/1", "manifest/2", "manifest/3", "manifest/7"}


def test_an_unknown_manifest_refuses_nothing_and_decides_nothing() -> None:
    decision = decide(None, start_all(streams("a")), record("a"), done(1), exited(0))
    assert decision.status == "indeterminate"
    assert "manifest" in unknowns(decision)


def test_an_unknown_manifest_breaks_no_clause_that_nobody_can_know() -> None:
    decision = decide(None, start_all(streams("a")), record("a"), record("a"), done(2), exited(0))
    assert decision.violations == ()
    assert decision.terminal.counted == 2


NAMES: list[Any] = ["constructor", "__proto__", "7", " ", "ключ", "a\u2028b", "\U0001f600"]


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_may_have_any_name_that_is_a_non_empty_string(name: str) -> None:
    manifest = {"streams": [{"name": name}, {"name": "c", **child(name)}]}
    assert decide(manifest, start_all(manifest), record(name), done(1), exited(0)).status == "succeeded"
