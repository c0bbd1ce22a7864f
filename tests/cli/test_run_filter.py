"""Which runs a filter means: names, terms that must hold, and ids that look like either."""

import time

import pytest

from cli.run_filter import filtered_runs
from cli.times import read_time
from ledger.errors import NotFoundError, UsageError
from ledger.log.memory_store import MemoryStore
from tests.log.scripted import line, run_row

DAY = 86_400_000_000
NOW = int(time.time() * 1_000_000)


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    """Runs opened one, two, three … days ago; the last of them at a time that nobody knows."""
    store = MemoryStore()
    rows: dict[str, dict[str, str]] = {
        "mail_1": {"program": "https://example.test/connectors/mail"},
        "chat_1": {"program": "https://example.test/connectors/chat", "via": "imported"},
        "mail_2": {"program": "https://example.test/connectors/mail", "namespace": "grant_1"},
        "a,b": {"program": "site", "dialect": "other"},
        "via=recorded": {"program": "site", "namespace": ""},
        "old": {"program": "site"},
    }
    for number, (run_id, members) in enumerate(rows.items(), start=1):
        opened_at = 0 if run_id == "old" else NOW - number * DAY
        store.open_run(run_row(run_id, opened_at=opened_at, **members), [line(1)])
    return store


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((), ["mail_1", "chat_1", "mail_2", "a,b", "via=recorded", "old"]),
        (("mail_2", "chat_1"), ["chat_1", "mail_2"]),
        (("mail_2, mail_1,mail_2",), ["mail_1", "mail_2"]),
        (("chat",), ["chat_1"]),
        (("@latest",), ["mail_1"]),
        (("program=mail",), ["mail_1", "mail_2"]),
        (("program=https://example.test/connectors/mail",), ["mail_1", "mail_2"]),
        (("program=mail,program=chat",), ["mail_1", "chat_1", "mail_2"]),
        (("program=mail", "namespace=grant_1"), ["mail_2"]),
        (("via=imported",), ["chat_1"]),
        (("dialect=other",), ["a,b"]),
        (("namespace=",), ["via=recorded"]),
        (("since=36h",), ["mail_1"]),
        (("since=60h , before=36h",), ["chat_1"]),
        (("before=4d",), ["a,b", "via=recorded", "old"]),
        (("since=1970-01-02",), ["mail_1", "chat_1", "mail_2", "a,b", "via=recorded"]),
        (("mail_1,chat_1,program=chat",), ["chat_1"]),
        (("a,b",), ["a,b"]),
        (("via=recorded",), ["via=recorded"]),
    ],
)
def test_a_filter_means_runs_in_the_order_of_the_log(
    store: MemoryStore, filters: tuple[str, ...], expected: list[str]
) -> None:
    assert [run.run_id for run in filtered_runs(store, filters)] == expected


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (("via=tapped",), "no run is like via=tapped; "),
        (("mail_1,program=chat", "via=imported"), "no run is like mail_1,program=chat, via=imported; "),
        (("mail",), "begins more than one run's id: mail_1, mail_2"),
        (("nothing",), "there is no run 'nothing'"),
        (("@9",), "expected at least 9 runs; the ledger holds 6"),
    ],
)
def test_what_means_no_run_is_not_found(store: MemoryStore, filters: tuple[str, ...], told: str) -> None:
    with pytest.raises(NotFoundError) as refused:
        filtered_runs(store, filters)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "text", ["colour=red", "Program=mail", "=", "since=", "before=yesterday", "", "a,,b"]
)
def test_what_makes_no_sense_is_refused(store: MemoryStore, text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        filtered_runs(store, [text])


def test_of_an_empty_ledger_all_runs_are_none() -> None:
    assert list(filtered_runs(MemoryStore(), [])) == []
    with pytest.raises(NotFoundError):
        filtered_runs(MemoryStore(), ["via=recorded"])


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("0s", 1_000_000_000_000),
        ("90s", 1_000_000_000_000 - 90_000_000),
        ("5m", 1_000_000_000_000 - 300_000_000),
        ("12h", 1_000_000_000_000 - 43_200_000_000),
        ("7d", 1_000_000_000_000 - 7 * DAY),
        ("2w", 1_000_000_000_000 - 14 * DAY),
        ("1970-01-02", DAY),
        ("1970-01-01T01:00:00+01:00", 0),
    ],
)
def test_a_time_is_a_date_an_instant_or_so_long_ago(text: str, micros: int) -> None:
    assert read_time(text, 1_000_000.0) == micros


@pytest.mark.parametrize(
    "text", ["7", "d", "-7d", "7 d", "7D", "٧d", "1234567d", "1970-01-01T00:00:00", "7d\n"]
)
def test_any_other_time_is_refused_and_named_by_its_option(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_time(text, 0.0, "before=")
    assert str(refused.value) == (
        f"expected before= as a date, an instant with its offset, or 7d or 12h; found {text!r}"
    )
