"""What a change of rules does to a history: counted by reason, each run once, the first of each named."""

import random
import tracemalloc

from ledger.replay.differences import Difference, Kind, Why
from ledger.replay.impact import BlastRadius, Group, Impact


def difference(
    stream: str | None = "a",
    before: str | None = "commit",
    after: str | None = "withhold",
    code: str = "gap",
    *,
    kind: Kind = "checkpoint",
    records: int = 0,
) -> Difference:
    why = Why(code=code, clause="eligible/3", basis="after")
    return Difference(kind=kind, stream=stream, before=before, after=after, why=why, records=records)


def counted(group: Group) -> tuple[object, ...]:
    return group.kind, group.before, group.after, group.code, group.differences, group.runs


def test_nothing_reaches_nowhere() -> None:
    impact = Impact(5)
    impact.add("run_1", "mail", 3, [])
    assert (impact.runs, impact.checkpoints, impact.indeterminate) == (1, 3, 0)
    assert impact.radius() == BlastRadius(runs=0, programs=0, checkpoints=0, records=0)
    assert list(impact.groups()) == []


def test_differences_are_grouped_by_kind_verdicts_and_reason_and_a_run_counts_once_in_each() -> None:
    impact = Impact(5)
    impact.add("run_1", "mail", 2, [difference("a"), difference("b"), difference("c", code="shortfall")])
    impact.add("run_2", "mail", 2, [difference("a"), difference("b", "withhold", "commit")])
    impact.add("run_3", "chat", 1, [difference(None, "succeeded", "failed", kind="run")])
    assert [*map(counted, impact.groups())] == [
        ("checkpoint", "commit", "withhold", "gap", 3, 2),
        ("checkpoint", "commit", "withhold", "shortfall", 1, 1),
        ("checkpoint", "withhold", "commit", "gap", 1, 1),
        ("run", "succeeded", "failed", "gap", 1, 1),
    ]


def test_a_group_holds_its_first_differences_and_whose_they_are() -> None:
    impact = Impact(2)
    for number in range(1, 5):
        impact.add(f"run_{number}", "mail", 1, [difference()])
    (group,) = impact.groups()
    assert (group.differences, [told.run_id for told in group.first]) == (4, ["run_1", "run_2"])
    assert {told.program for told in group.first} == {"mail"}


def test_the_radius_counts_runs_and_programs_once_and_checkpoints_and_records_all() -> None:
    impact = Impact(5)
    impact.add("run_1", "mail", 2, [difference("a", records=3), difference("b", records=4)])
    impact.add("run_2", "mail", 1, [difference("a", records=5)])
    impact.add("run_3", "chat", 1, [difference(None, "failed", "succeeded", kind="run")])
    impact.add("run_4", "site", 1, [])
    assert impact.radius() == BlastRadius(runs=3, programs=2, checkpoints=3, records=12)
    assert (impact.runs, impact.checkpoints) == (4, 5)


def test_what_is_left_open_is_grouped_and_is_no_part_of_the_radius() -> None:
    left_open = difference("a", "commit", "indeterminate", kind="indeterminate", records=9)
    impact = Impact(5)
    impact.add("run_1", "mail", 1, [left_open])
    impact.add("run_2", "mail", 1, [left_open, left_open, difference("b", records=1)])
    assert impact.radius() == BlastRadius(runs=1, programs=1, checkpoints=1, records=1)
    assert impact.indeterminate == 2
    assert [(group.kind, group.differences, group.runs) for group in impact.groups()] == [
        ("checkpoint", 1, 1),
        ("indeterminate", 3, 2),
    ]


def test_orders_are_one_group_whichever_checkpoints_they_are_of() -> None:
    impact = Impact(5)
    impact.add("run_1", "mail", 2, [difference(None, "a, 7", "7, a", "order", kind="order")])
    impact.add("run_2", "mail", 2, [difference(None, "b, 9", "9, b", "order", kind="order")])
    (group,) = impact.groups()
    assert counted(group) == ("order", None, None, "order", 2, 2)
    assert [told.difference.after for told in group.first] == ["7, a", "9, b"]
    assert impact.radius().runs == 2


def test_groups_come_by_kind_then_the_largest_first_whatever_came_first() -> None:
    found: list[Difference] = [
        difference(None, "succeeded", "failed", kind="run"),
        difference("a", None, "commit"),
        difference("a", "commit", None),
        *[difference("a", "withhold", "commit")] * 3,
        difference("a", "commit", "indeterminate", kind="indeterminate"),
        difference(None, "a, b", "b, a", kind="order"),
    ]
    orders = set()
    for seed in range(10):
        shuffled = random.Random(seed).sample(found, len(found))
        impact = Impact(1)
        for one in shuffled:
            impact.add("run", "mail", 0, [one])
        orders.add(tuple(map(counted, impact.groups())))
    (order,) = orders
    assert [group[0] for group in order] == [*["checkpoint"] * 3, "run", "order", "indeterminate"]
    assert order[0][4] == 3


def test_memory_is_flat_in_the_number_of_runs() -> None:
    def grown_by(runs: int) -> int:
        for number in range(runs):
            impact.add(f"run_{number}", f"program_{number % 7}", 1, [difference(f"stream_{number}")])
        return tracemalloc.get_traced_memory()[0]

    impact = Impact(5)
    tracemalloc.start()
    try:
        few = grown_by(1_000)
        assert grown_by(20_000) - few < 20_000
    finally:
        tracemalloc.stop()
