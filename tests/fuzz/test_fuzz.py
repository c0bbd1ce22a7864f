"""A bounded fuzz, the same in every run; ``make fuzz`` is the long one. And: the fuzz itself can fail."""

import multiprocessing
from pathlib import Path

import pytest

from tests.fuzz import claims, corpus, hunt
from tests.fuzz.inputs import KINDS, Kind, kind_of
from tests.fuzz.shrinking import shrink
from tests.fuzz.trial import hold, make, working_in
from tests.fuzz.watchdog import TookTooLong, bounded

SEED = 20261130
COUNTS = {"lines": 80, "transcript": 400, "capture": 200, "manifest": 800, "command": 40, "ledger": 40}


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_done_to_it_all_that_is_claimed_holds(kind: str, tmp_path: Path) -> None:
    with working_in(tmp_path):
        for number in range(COUNTS[kind]):
            fault = hold(kind, make(kind, SEED, number))
            assert fault is None, f"number {number} of {kind}: {fault.told}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_is_the_same_whenever_it_is_made(kind: str) -> None:
    made = [make(kind, 1, number) for number in range(5)]
    assert made == [make(kind, 1, number) for number in range(5)]
    assert len(set(made)) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_is_known_by_its_name(kind: str) -> None:
    assert kind_of(Path(f"{kind}-1-7{KINDS[kind].suffix}")) == kind


def test_undamaged_inputs_hold(tmp_path: Path) -> None:
    lines = b"\n".join(line.origin.encode() + b" " + line.body for line in corpus.lines())
    whole = {"lines": lines, "manifest": corpus.manifests()[0], "ledger": corpus.ledger()}
    whole |= dict.fromkeys(("transcript", "command"), corpus.transcripts()[0])
    with working_in(tmp_path):
        assert {kind: hold(kind, body) for kind, body in whole.items()} == dict.fromkeys(whole)


# ---- the fuzz can fail ------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", corpus.SECRETS)
def test_a_secret_that_was_not_taken_away_is_seen(line: corpus.Line) -> None:
    assert claims.secret_survives(line.origin, line.body)


@pytest.mark.parametrize("status", [70, 1000, -11])
def test_an_exit_status_that_is_not_in_the_table_is_seen(status: int) -> None:
    with pytest.raises(AssertionError):
        claims.hold_command(status, "", ("runs",))


def test_a_traceback_is_seen() -> None:
    with pytest.raises(AssertionError):
        claims.hold_command(3, "Traceback (most recent call last):", ("runs",))


def test_what_takes_too_long_is_stopped() -> None:
    with bounded(0.05), pytest.raises(TookTooLong):
        spin()


def spin() -> None:
    while True:
        pass


def test_what_takes_too_much_memory_is_stopped() -> None:
    with pytest.raises(MemoryError), bounded():
        bytearray(1 << 31)


def test_what_fails_is_made_small() -> None:
    body = b"one\ntwo\nthree %s bad %s\nfour" % (b"x" * 50, b"y" * 50)
    assert shrink(body, lambda some: b"bad" in some) == b"bad"


def test_what_fails_is_kept_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(body: bytes, dice: object) -> None:
        assert b"x" not in body

    monkeypatch.setitem(KINDS, "lines", Kind(".lines", lambda dice: b"a\nxx\nb", refuse))
    done = multiprocessing.get_context("spawn").Value("q", 0)
    with working_in(tmp_path), pytest.raises(SystemExit):
        hunt._work(hunt.Work("lines", 1, 0, 3, 1), done, tmp_path)
    kept = tmp_path / ".fuzz" / "lines-1-0.lines"
    assert kept.read_bytes() == b"x"
    assert "--replay .fuzz/lines-1-0.lines" in capsys.readouterr().err
    assert hunt.main(["--replay", str(kept)]) == 1
    kept.write_bytes(b"y")
    assert hunt.main(["--replay", str(kept)]) == 0
