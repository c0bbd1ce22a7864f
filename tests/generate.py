"""Generate what is written by machine: golden decisions and the pages under ``docs/``.

``python -m tests.generate`` writes them; ``--check`` writes nothing and fails where a file would change.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ledger.core.decision import encode_decision
from ledger.core.dialect import Dialect
from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.catalogue import CATALOGUE
from ledger.dialects.collection_profile.clauses import CLAUSES
from ledger.dialects.collection_profile.machine import PROGRAM, RUNTIME
from ledger.dialects.collection_profile.rulesets import RULESETS
from ledger.exchange.importing import import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.replay.replay import opening, replay, ruleset_named
from tests.decision_docs import decision_page, decision_schema

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_runs"


def golden_name(dialect: Dialect, ruleset: str) -> str:
    """Return the file name of a sample run's decision under a ruleset; the default's is the plain one."""
    if ruleset == dialect.default_ruleset:
        return "decision.json"
    return f"decision.{ruleset.partition('/')[2]}.json"


def sample_decision(transcript: Path, ruleset: str | None = None) -> bytes:
    """Return the decision of a sample run as the fold encodes it; None is its dialect's default ruleset."""
    store = MemoryStore()
    run = import_transcript(store, transcript, DIALECTS).run
    entries = list(store.entries(run.run_no))
    opened = opening(entries[0])
    assert opened is not None
    documents = store.documents([opened.manifest] if opened.manifest else [])
    dialect = DIALECTS[run.dialect]
    return encode_decision(replay(dialect, entries, documents, ruleset_named(dialect, ruleset)))


def goldens() -> Iterator[tuple[Path, bytes]]:
    """Yield the golden decisions of every sample run, one a shipped ruleset."""
    for transcript in sorted(SAMPLES.glob("*/*/run.jsonl")):
        dialect = DIALECTS[transcript.parent.parent.name]
        for ruleset in dialect.rulesets:
            golden = transcript.with_name(golden_name(dialect, ruleset))
            yield golden, sample_decision(transcript, ruleset) + b"\n"


def machine_page() -> str:
    """Return the state machine as two tables, read off the tables that run."""
    lines = ["# The state machine of a Collection Profile run", ""]
    lines += [
        "Generated from `ledger/dialects/collection_profile/machine.py`. What a phase does not name goes to"
    ]
    lines += [
        "its default. A phase that is missing reads no lines: they stay in the log and change nothing.",
        "",
    ]
    for title, tables in (("Lines of the connector", PROGRAM), ("Lines of the runtime", RUNTIME)):
        lines += [f"## {title}", "", "| phase | message | what is done |", "|---|---|---|"]
        for phase, table in tables.items():
            for message, handler in table.handlers.items():
                lines.append(f"| {phase} | {message.__name__} | {_first_line(handler.__doc__)} |")
            lines.append(f"| {phase} | *any other* | {_first_line(table.default.__doc__)} |")
        lines.append("")
    return "\n".join(lines)


def codes_page() -> str:
    """Return the catalogue of clauses, codes and rules."""
    lines = ["# Clauses, codes and rules of the Collection Profile", ""]
    lines += ["Generated from `catalogue.py`, `clauses.py` and `rulesets.py`.", ""]
    lines += ["## Clauses", "", "| clause | what it demands |", "|---|---|"]
    lines += [f"| `{clause}` | {demand} |" for clause, demand in CLAUSES.items()]
    groups = {
        "Violations, refusals and findings": CATALOGUE.faults,
        "Causes": CATALOGUE.causes,
        "Reasons to withhold": CATALOGUE.reasons,
        "Near misses": CATALOGUE.near_misses,
        "Discrepancies": CATALOGUE.discrepancies,
        "Unknowns": CATALOGUE.unknowns,
        "What failures are put down to": CATALOGUE.failures,
    }
    for title, sentences in groups.items():
        lines += ["", f"## {title}", "", "| code | in words |", "|---|---|"]
        lines += [f"| `{code}` | {sentence} |" for code, sentence in sentences.items()]
    lines += ["", "## Switches", "", *_switches_table()]
    for ruleset in RULESETS.values():
        lines += [
            "",
            f"## Rules of `{ruleset.id}`",
            "",
            "| asked of | rule | clause | what it says |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {rule.asked_of} | `{rule.name}` | `{rule.clause}` | {rule.says} |"
            for rule in ruleset.tell_rules()
        ]
    return "\n".join([*lines, ""])


def _switches_table() -> Iterator[str]:
    """Yield a table of the switches, a column a ruleset."""
    heads = " | ".join(f"`{ruleset.id.partition('/')[2]}`" for ruleset in RULESETS.values())
    yield f"| switch | clause | what it decides | {heads} |"
    yield "|---" * (3 + len(RULESETS)) + "|"
    for told in zip(*(ruleset.tell_switches() for ruleset in RULESETS.values()), strict=True):
        values = " | ".join(one.value for one in told)
        yield f"| `{told[0].name}` | `{told[0].clause}` | {told[0].says} | {values} |"


def generated() -> Iterator[tuple[Path, bytes]]:
    """Yield every generated file with what it must hold."""
    yield from goldens()
    yield ROOT / "docs" / "state-machine.md", machine_page().encode()
    yield ROOT / "docs" / "codes.md", codes_page().encode()
    yield ROOT / "docs" / "decision.md", decision_page().encode()
    schema = json.dumps(decision_schema(), indent=2, ensure_ascii=False) + "\n"
    yield ROOT / "docs" / "decision.schema.json", schema.encode()


def main(arguments: list[str]) -> int:
    """Write the generated files, or with ``--check`` only say which would change."""
    stale = [(path, body) for path, body in generated() if not path.exists() or path.read_bytes() != body]
    for path, body in stale:
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
    return 1 if stale and "--check" in arguments else 0


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0].replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
