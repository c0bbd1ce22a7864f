"""What a run was opened with: its first entry, and the manifest that this names."""

from collections.abc import Mapping

from ledger.core.observations import RunOpened
from ledger.log.store import RunRow, Store
from ledger.replay.replay import opening


def opening_of(store: Store, run: RunRow) -> RunOpened | None:
    """Return what a run's first entry says, None where that is not the opening of a run, or is not there.

    Raises:
        IntegrityError: the log lacks it, though it has a head over it.
    """
    first = next(store.entries(run.run_no, through=1), None)
    return opening(first) if first is not None else None


def manifests(opened: RunOpened | None) -> list[str]:
    """Return the digests of the manifests that a run was opened with: one or none."""
    return [opened.manifest] if opened is not None and opened.manifest is not None else []


def documents_of(store: Store, run: RunRow) -> Mapping[str, bytes]:
    """Return the manifest that a run was opened with, by its digest, where the log holds it.

    Raises:
        IntegrityError: as for :func:`opening_of`.
    """
    return store.documents(manifests(opening_of(store, run)))
