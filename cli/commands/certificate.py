"""``runledger certificate``: which decision follows from which entries, in numbers that anyone can check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.decisions import open_ledger
from cli.exits import NO, say
from cli.options import RUN_NAMES, Common, Output
from cli.render import print_bytes, print_rows
from cli.rulesets import find_ruleset
from cli.run_names import find_run
from ledger.errors import UsageError
from ledger.log.store import Store
from ledger.replay.replay import dialect_named

if TYPE_CHECKING:
    from ledger.recompute.certificate import Certificate

EXAMPLES = """Examples:

  runledger certificate run_1 --ruleset collection-profile/0.2.0

  runledger certificate --check run_1.certificate.json"""

COLUMNS = ("run_id", "size", "root", "ruleset", "fold", "decision")


def certificate(
    common: Common,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_NAMES)] = None,
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="FILE", help="Come to it again, and compare; - is stdin."),
    ] = None,
) -> None:
    """Print root, rules and decision of a run, as digests that anyone can check."""
    from ledger.recompute.certificate import differing_members

    if (run is None) == (check is None):
        raise UsageError("expected a run, or --check and the file of a certificate; found both or neither")
    with open_ledger(common) as store:
        if check is None:
            _print(common, _certify(store, common.ruleset, run or ""))
            return
        given = _read(check)
        found = _certify(store, common.ruleset or given.ruleset.digest, given.run_id, given.size)
    differing = differing_members(given, found)
    _print(common, found)
    if differing:
        say(f"the certificate of {given.run_id} differs in: {', '.join(differing)}")
        raise typer.Exit(NO)
    say(f"the certificate of {given.run_id} holds")


def _certify(store: Store, ruleset: str | None, name: str, size: int | None = None) -> "Certificate":
    from ledger.recompute.certificate import certify

    run = find_run(store, name)
    return certify(store, run, find_ruleset(store, dialect_named(run.dialect), ruleset), size=size)


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
