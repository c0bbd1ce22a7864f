"""``runledger certificate``: which decision follows from which entries, in numbers that anyone can check."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.decisions import open_ledger
from cli.exits import NO, say
from cli.options import RUN_NAMES, Common, Output
from cli.render import print_bytes, print_rows
from cli.rulesets import find_ruleset, keep_rulesets
from cli.run_names import find_run
from ledger.errors import NotFoundError, UsageError
from ledger.replay.replay import dialect_named

if TYPE_CHECKING:
    from ledger.log.store import RunRow, Store
    from ledger.recompute.certificate import Certificate

EXAMPLES = """Examples:

  runledger certificate run_1 --ruleset collection-profile/0.2.0

  runledger certificate --check run_1.certificate.json"""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)

COLUMNS = ("run_id", "size", "root", "ruleset", "fold", "decision")


def certificate(
    common: Common,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_NAMES)] = None,
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="FILE", help="Come to it again, and compare; - is stdin."),
    ] = None,
) -> None:
    """Print the certificate of a run: root, rules and decision, as digests that anyone can check."""
    from ledger.recompute.certificate import differing_members

    if (run is None) == (check is None):
        which = "neither" if run is None else "both; a certificate names its run"
        raise UsageError(f"expected a run, or --check and the file of a certificate; found {which}")
    if check is None:
        with open_ledger(common) as store:
            _print(common, _certify(common, store, find_run(store, run or ""), common.ruleset))
        return
    given = _read(check)
    with open_ledger(common) as store:
        named = common.ruleset or _certified_rules(given)
        found = _certify(common, store, _certified_run(store, given.run_id), named, given.size)
    _print(common, found)
    differing = differing_members(given, found)
    if differing:
        say(f"the certificate of {given.run_id} differs in: {', '.join(differing)}")
        raise typer.Exit(NO)
    say(f"the certificate of {given.run_id} holds")


def _certified_run(store: "Store", run_id: str) -> "RunRow":
    """Return the run of this very id: a certificate abbreviates nothing."""
    run = store.run(run_id)
    if run is None:
        raise NotFoundError(f"expected the run {run_id!r} of the certificate, found none of this id")
    return run


def _certified_rules(given: "Certificate") -> str:
    """Return the digest of the rules: what else stands there may be the name of a file, which is not read."""
    if _DIGEST.fullmatch(given.ruleset.digest) is None:
        raise NotFoundError(
            f"there is no ruleset {given.ruleset.digest!r}: expected a certificate to name rules by their "
            "digest, sha256: and 64 hex digits; name them with --ruleset"
        )
    return given.ruleset.digest


def _certify(
    common: Common, store: "Store", run: "RunRow", name: str | None, size: int | None = None
) -> "Certificate":
    from ledger.recompute.certificate import certify

    ruleset = find_ruleset(store, dialect_named(run.dialect), name)
    made = certify(store, run, ruleset, size=size)
    keep_rulesets(common, [ruleset])
    return made


def _read(file: str) -> "Certificate":
    from cli.documents import read_document
    from ledger.errors import InputError
    from ledger.recompute.certificate import read_certificate

    return read_certificate(read_document(Path(file), InputError), file)


def _print(common: Common, made: "Certificate") -> None:
    from ledger.core.digests import canonical_json

    if common.output is Output.CSV:
        row = {name: getattr(made, name) for name in COLUMNS}
        print_rows([{**row, "ruleset": made.ruleset.digest}], COLUMNS, common)
    else:
        print_bytes(canonical_json(made))
