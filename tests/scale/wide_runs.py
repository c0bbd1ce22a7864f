"""Runs of any width: many streams, parents, keys, gaps, questions, commits or faults, and little else."""

from collections.abc import Callable

from ledger.core import observations as o
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Run, Step

Wide = Callable[[int], Run]


def name(number: int) -> str:
    return f"s{number:06d}"


def names(many: int) -> list[str]:
    return [name(number) for number in range(many)]


def many_checkpoints(many: int) -> Run:
    """Every stream stages a checkpoint."""
    staged = [r.state(one) for one in names(many)]
    return r.run(r.streams(*names(many)), r.start(*names(many)), *staged, r.done(), r.exited(0))


def a_chain(many: int) -> Run:
    """Every stream accounts to the next one."""
    last = names(many)[-1]
    declared = {one: r.detail(name(number + 1)) for number, one in enumerate(names(many - 1))}
    return r.run(r.streams(last, **declared), r.start(last), r.state(last), r.done(), r.exited(0))


def a_cycle(many: int) -> Run:
    """As a chain, and the last stream accounts to the first."""
    return r.run(r.streams(**{one: r.detail(name((n + 1) % many)) for n, one in enumerate(names(many))}))


def many_children(many: int) -> Run:
    """Streams that all account to one checkpoint, and that never do."""
    manifest = r.streams("p", **{one: r.detail("p") for one in names(many)})
    return r.run(manifest, r.start("p", *names(many)), r.state("p"), r.done(), r.exited(0))


def many_failed_children(many: int) -> Run:
    """Streams that all account to one checkpoint, and all failed, certified."""
    manifest = r.streams("p", **{one: r.detail("p") for one in names(many)})
    skips = (r.skip(one) for one in names(many))
    end = r.done(0, "failed", error=r.error("stream_collection_failed"))
    return r.run(manifest, r.start("p", *names(many)), r.state("p"), *skips, end, r.exited(1))


def many_parents(many: int) -> Run:
    """One stream that reports on many parents, each report short of a key, and a record after them all."""
    manifest = r.streams(*names(many), d=r.detail(*names(many)))
    reports = (r.coverage("d", one, ["k"]) for one in names(many))
    staged = (r.state(one) for one in names(many))
    steps: tuple[Step, ...] = (r.start("d", *names(many)), *reports, *staged, r.record("d"), r.done(1))
    return r.run(manifest, *steps, r.exited(0))


def many_keys(many: int) -> Run:
    """One report of many keys, of which every other one is missing."""
    keys = names(many)
    steps: tuple[Step, ...] = (
        r.start("p", "d"),
        r.coverage("d", "p", keys, keys[::2]),
        r.state("p"),
        r.done(),
    )
    return r.run(r.streams("p", d=r.detail("p")), *steps, r.exited(0))


def many_gaps(many: int) -> Run:
    """Many gaps, which one report lists."""
    gaps = (r.gap("d", one, "p", detail_locator={"at": one}) for one in names(many))
    report = r.coverage("d", "p", names(many), gap_keys=names(many))
    steps: tuple[Step, ...] = (r.start("p", "d"), *gaps, report, r.state("p"), r.done())
    return r.run(r.streams("p", d=r.detail("p")), *steps, r.exited(0))


def many_questions(many: int) -> Run:
    """Many questions, each answered."""
    asked: list[Step] = []
    for one in names(many):
        asked += [r.interaction(one), r.answer(one)]
    return r.run(r.streams("a"), r.start("a"), *asked, r.done(), r.exited(0))


def many_lines_after_a_violation(many: int) -> Run:
    """Nothing of it is read any more."""
    after = (r.record(one) for one in names(many))
    return r.run(r.streams("a"), r.start("a"), "no message", *after)


def many_findings(many: int) -> Run:
    """A STATE of many streams that are no checkpoints."""
    manifest = r.streams("p", **{one: r.child("p") for one in names(many)})
    staged = (r.state(one) for one in names(many))
    return r.run(manifest, r.start("p", *names(many)), *staged, r.state("p"), r.done(), r.exited(0))


def many_writes(many: int) -> Run:
    """Half of many checkpoints are written, then every write fails, those not staged among them."""
    staged = (r.state(one) for one in names(many))
    written: list[Step] = [
        o.CheckpointCommitted(stream=name(number), namespace="global", cursor_seq=3 + number)
        for number in range(many // 2)
    ]
    failed: list[Step] = [
        o.CheckpointCommitFailed(stream=name(number), namespace="global") for number in range(many // 2, many)
    ]
    steps: tuple[Step, ...] = (r.start(*names(many)), *staged, r.done(), r.exited(0), *written, *failed)
    return r.run(r.streams(*names(many)), *steps)


def many_owed_after_a_restart(many: int) -> Run:
    """The controller was lost while every stream owed a detail."""
    owed: list[Step] = [step for one in names(many) for step in (r.state(one), r.gap(one))]
    return r.run(r.streams(*names(many)), r.start(*names(many)), *owed, o.ControllerLost())


def many_unknown_streams(many: int) -> Run:
    """Without a manifest any stream may be named."""
    said: list[Step] = []
    for one in names(many):
        said += [r.state(one), r.skip(one), r.gap(one), r.record(one)]
    return r.run(None, *said, r.done(many), r.exited(0))


def many_rejections(many: int) -> Run:
    """The store refused records of streams that nobody else names."""
    refused = (o.RecordsRejected(stream=one, count=1) for one in names(many))
    return r.run(r.streams("a"), r.start("a"), *refused, r.done(), r.exited(0))


def many_records_out_of_scope(many: int) -> Run:
    """Each of another stream that is not declared."""
    return r.run(r.streams("a"), r.start("a"), *(r.record(one) for one in names(many)), r.done(many))


def many_erased(many: int) -> Run:
    """Reports and gaps of many streams were erased, after the controller was lost."""
    manifest = r.streams(*names(many), d=r.detail(*names(many)))
    erased = (r.Erased(r.coverage("d", one)) for one in names(many))
    gaps = (r.Erased(r.gap(one)) for one in names(many))
    staged = (r.state(one) for one in names(many))
    return r.run(manifest, r.start("d", *names(many)), *staged, *erased, *gaps, o.ControllerLost())


WIDE: dict[str, Wide] = {
    made.__name__: made
    for made in (
        *(many_checkpoints, a_chain, a_cycle, many_children, many_failed_children, many_parents, many_keys),
        *(many_gaps, many_questions, many_lines_after_a_violation, many_findings, many_writes),
        *(many_owed_after_a_restart, many_unknown_streams, many_rejections, many_records_out_of_scope),
        many_erased,
    )
}
"""Every one by name."""
