"""The words: every code that a decision can carry has a sentence, every clause says what it demands."""

import re
from pathlib import Path

import pytest

import ledger.dialects.collection_profile as package
from ledger.core.wording import fill
from ledger.dialects.collection_profile.catalogue import CATALOGUE
from ledger.dialects.collection_profile.clauses import CLAUSES

SOURCES = [
    path
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
    if path.name not in ("catalogue.py", "clauses.py")
]
TEXT = "\n".join(path.read_text() for path in SOURCES)
GROUPS = {
    "faults": CATALOGUE.faults,
    "causes": CATALOGUE.causes,
    "reasons": CATALOGUE.reasons,
    "near_misses": CATALOGUE.near_misses,
    "discrepancies": CATALOGUE.discrepancies,
    "unknowns": CATALOGUE.unknowns,
    "failures": CATALOGUE.failures,
}
CODE = re.compile(
    r'code="([a-z_]+)"'
    r"|(?:_fault|_cause|_reason|_run_reason|_differs|_tally|Ending|shortfall|cancel)\(\s*"
    r'(?:[a-z_.]+,\s*)*"([a-z_]+)"'
)


def cited_codes() -> set[str]:
    return {code for pair in CODE.findall(TEXT) for code in pair if code}


def test_the_search_for_codes_finds_them() -> None:
    assert len(cited_codes()) > 100


def test_every_code_has_a_sentence() -> None:
    worded = {code for group in GROUPS.values() for code in group}
    assert cited_codes() <= worded


@pytest.mark.parametrize(("group", "code"), [(g, c) for g, codes in GROUPS.items() for c in codes])
def test_every_sentence_is_of_a_code_that_occurs(group: str, code: str) -> None:
    assert f'"{code}"' in TEXT


@pytest.mark.parametrize(("group", "code"), [(g, c) for g, codes in GROUPS.items() for c in codes])
def test_a_sentence_is_one_sentence_and_fills_without_facts(group: str, code: str) -> None:
    sentence = fill(GROUPS[group][code], {})
    assert sentence[0].isupper() or sentence[0] == "?"
    assert sentence.endswith((".", "?"))
    assert "{" not in sentence


def test_every_clause_that_is_cited_says_what_it_demands() -> None:
    cited = set(re.findall(r'"([a-z]+(?:/[a-z_0-9]+)+)"', TEXT))
    assert len(cited) > 60
    assert cited == set(CLAUSES)


def test_a_fact_that_nobody_gives_shows_as_a_question_mark() -> None:
    assert fill("{stream} and {other}", {"stream": "a"}) == "a and ?"
