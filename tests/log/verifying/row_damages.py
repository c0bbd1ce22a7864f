"""Damages to the rows of the log, each with what verifying has to say of it."""

from ledger.core.digests import digest
from ledger.log.store import RULESET_MEDIA_TYPE
from tests.log.damages import (
    MANIFEST,
    OTHER_MANIFEST,
)
from tests.log.verifying.asking import Named

AT = {7: "entry_id = (1 << 32 | 7)", 6: "entry_id = (1 << 32 | 6)", 1: "entry_id = (1 << 32 | 1)"}
CELLS = "at, origin, session, type, stream, salt, body"
RANGE = ("entries_changed", "run_1", 5, 8)
UNPROVED = ("entries_unproved", "run_1", 5, 8)
OPENING = ("entries_changed", "run_1", 1, 4)

# Each: what is run with the triggers dropped, and everything that is found after it.
ENTRIES: dict[str, tuple[str, list[Named]]] = {
    "one byte of a body edited": (
        f"UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '7', '8') AS BLOB) WHERE {AT[7]}",
        [RANGE],
    ),
    "a body replaced": (
        f"UPDATE entries SET body = x'7b7d' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7), ("label_changed", "run_1", 7, 7), RANGE],
    ),
    "a body of the newest batch edited": (
        "UPDATE entries SET body = CAST(body || x'20' AS BLOB) WHERE entry_id = (1 << 32 | 11)",
        [("tree_broken", "run_1", 11, 12)],
    ),
    "the time of an entry edited": (f"UPDATE entries SET at = at + 1 WHERE {AT[7]}", [RANGE]),
    "the time of a batch's last entry edited": (
        "UPDATE entries SET at = at + 1 WHERE entry_id = (1 << 32 | 8)",
        [("head_changed", "run_1", 8, 8), RANGE],
    ),
    "the origin of an entry edited": (f"UPDATE entries SET origin = 'runtime' WHERE {AT[7]}", [RANGE]),
    "an origin that there is not": (
        f"UPDATE entries SET origin = 'nobody' WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), RANGE],
    ),
    "the session of an entry edited": (f"UPDATE entries SET session = 'x' WHERE {AT[7]}", [RANGE]),
    "the type of a line edited": (
        f"UPDATE entries SET type = 'DONE' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the stream of a line edited": (
        f"UPDATE entries SET stream = 'other' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the type of an observation edited": (
        "UPDATE entries SET type = 'NOTE' WHERE entry_id = (1 << 32 | 8)",
        [("label_changed", "run_1", 8, 8)],
    ),
    "the stream of an observation edited": (
        "UPDATE entries SET stream = '' WHERE entry_id = (1 << 32 | 8)",
        [("label_changed", "run_1", 8, 8)],
    ),
    "a salt edited": (f"UPDATE entries SET salt = zeroblob(16) WHERE {AT[7]}", [RANGE]),
    "a salt taken out": (
        f"UPDATE entries SET salt = NULL WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a salt cut short": (
        f"UPDATE entries SET salt = x'00' WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a session that is no text": (
        f"UPDATE entries SET session = CAST(x'ff' AS TEXT) WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a type that is no text": (
        f"UPDATE entries SET type = CAST(x'ff' AS TEXT) WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the first entry deleted": (
        f"DELETE FROM entries WHERE {AT[1]}",
        [("entry_missing", "run_1", 1, 1), ("entries_unproved", "run_1", 1, 4)],
    ),
    "an entry in the middle deleted": (
        f"DELETE FROM entries WHERE {AT[7]}",
        [("entry_missing", "run_1", 7, 7), UNPROVED],
    ),
    "the last entry deleted": (
        "DELETE FROM entries WHERE entry_id = (1 << 32 | 12)",
        [("entry_missing", "run_1", 12, 12), ("entries_unproved", "run_1", 11, 12)],
    ),
    "several entries deleted": (
        "DELETE FROM entries WHERE entry_id IN ((1 << 32 | 3), (1 << 32 | 7), (1 << 32 | 8), (1 << 32 | 9))",
        [
            ("entry_missing", "run_1", 3, 3),
            ("entry_missing", "run_1", 7, 9),
            ("entries_unproved", "run_1", 1, 4),
            UNPROVED,
            ("entries_unproved", "run_1", 9, 10),
        ],
    ),
    "an entry deleted, and one changed later": (
        "DELETE FROM entries WHERE entry_id = (1 << 32 | 3); UPDATE entries SET at = 1 WHERE"
        " entry_id = (1 << 32 | 9)",
        [
            ("entry_missing", "run_1", 3, 3),
            ("entries_unproved", "run_1", 1, 4),
            ("entries_changed", "run_1", 9, 10),
        ],
    ),
    "two entries changed, far apart": (
        "UPDATE entries SET at = 1 WHERE entry_id IN ((1 << 32 | 3), (1 << 32 | 9))",
        [("entries_changed", "run_1", 1, 4), ("entries_changed", "run_1", 9, 10)],
    ),
    "two entries swapped": (
        "UPDATE entries SET entry_id = 1 << 33 WHERE entry_id = (1 << 32 | 5);"
        f"UPDATE entries SET entry_id = (1 << 32 | 5) WHERE {AT[7]};"
        "UPDATE entries SET entry_id = (1 << 32 | 7) WHERE entry_id = 1 << 33",
        [RANGE],
    ),
    "an entry of one run put into another": (
        f"DELETE FROM entries WHERE {AT[7]}; INSERT INTO entries SELECT (1 << 32 | 7), {CELLS} FROM entries"
        " WHERE entry_id = (3 << 32 | 4)",
        [RANGE],
    ),
    "an entry put in beyond the newest head": (
        f"INSERT INTO entries SELECT (1 << 32 | 13), {CELLS} FROM entries WHERE {AT[7]}",
        [("entries_beyond_head", "run_1", 13, 13)],
    ),
    "an entry put in for a run that does not exist": (
        f"INSERT INTO entries SELECT (7 << 32 | 1), {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", None, None, None)],
    ),
    "entry 0 put in": (
        f"INSERT INTO entries SELECT 2 << 32, {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", "run_2", 0, 0)],
    ),
    "entries put in below all runs": (
        f"INSERT INTO entries SELECT -1, {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", None, None, None)],
    ),
    "a tail cut, its heads left": (
        "DELETE FROM entries WHERE entry_id BETWEEN (3 << 32 | 3) AND (3 << 32 | 5)",
        [("entry_missing", "run_3", 3, 5), ("entries_unproved", "run_3", 3, 5)],
    ),
    "a tail cut within a batch": (
        "DELETE FROM entries WHERE entry_id = (3 << 32 | 5);"
        "DELETE FROM tree_heads WHERE run_no = 3 AND size = 5",
        [("entries_beyond_head", "run_3", 3, 4)],
    ),
}

RUNS: dict[str, tuple[str, list[Named]]] = {
    "a run labelled anew": ("UPDATE runs SET run_id = 'x' WHERE run_no = 1", [("run_changed", "x", 1, 1)]),
    "a run of another dialect": (
        "UPDATE runs SET dialect = 'x' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run of another program": (
        "UPDATE runs SET program = 'x' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run of another namespace": (
        "UPDATE runs SET namespace = '' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run that had no namespace given one": (
        "UPDATE runs SET namespace = 'global' WHERE run_no = 3",
        [("run_changed", "run_3", 1, 1)],
    ),
    "a run with another trigger": (
        "UPDATE runs SET \"trigger\" = 'continuous' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run that came another way": (
        "UPDATE runs SET via = 'tapped' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run opened at another time": (
        "UPDATE runs SET opened_at = 0 WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "RUN_OPENED of another run": (
        f"UPDATE entries SET body = (SELECT body FROM entries WHERE entry_id = (2 << 32 | 1)) WHERE {AT[1]}",
        [("run_changed", "run_1", 1, 1), OPENING, ("document_unreferenced", None, None, None)],
    ),
    "no RUN_OPENED": (
        "UPDATE entries SET body = x'7b7d', type = '' WHERE entry_id = (2 << 32 | 1)",
        [("opening_missing", "run_2", 1, 1), ("tree_broken", "run_2", 1, 2)],
    ),
    "a run's row deleted": (
        "DELETE FROM runs WHERE run_no = 2",
        [
            ("run_missing", None, None, None),
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
        ],
    ),
    "the newest run's row deleted": (
        "DELETE FROM runs WHERE run_no = 3",
        [
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
            ("document_unreferenced", None, None, None),
        ],
    ),
    "a run in the middle taken out whole": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2; DELETE FROM tree_heads WHERE run_no = 2;"
        "DELETE FROM runs WHERE run_no = 2",
        [("run_missing", None, None, None)],
    ),
    "a run's row moved to another number": (
        "UPDATE runs SET run_no = 5 WHERE run_no = 3",
        [
            ("run_missing", None, None, None),
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
            ("run_empty", "run_3", None, None),
        ],
    ),
    "a whole run moved to another number": (
        "UPDATE entries SET entry_id = entry_id + (4 << 32) WHERE entry_id >> 32 = 3;"
        "UPDATE tree_heads SET run_no = 7 WHERE run_no = 3; UPDATE runs SET run_no = 7 WHERE run_no = 3",
        [("run_missing", None, None, None)],
    ),
    "two runs whose rows changed places": (
        "UPDATE runs SET run_no = 9 WHERE run_no = 1; UPDATE runs SET run_no = 1 WHERE run_no = 2;"
        "UPDATE runs SET run_no = 2 WHERE run_no = 9",
        [
            ("run_changed", "run_2", 1, 1),
            ("run_changed", "run_1", 1, 1),
        ],
    ),
    "a run put in under a number that no run has": (
        "INSERT INTO runs VALUES (0, 'run_0', '', '', '', '', 'imported', 0)",
        [("stray_rows", None, None, None)],
    ),
    "a run made of nothing": (
        "INSERT INTO runs VALUES (4, 'run_4', 'collection-profile', '', '', '', 'imported', 0)",
        [("run_empty", "run_4", None, None)],
    ),
    "all entries and heads of a run deleted": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2; DELETE FROM tree_heads WHERE run_no = 2",
        [("run_empty", "run_2", None, None)],
    ),
    "all entries of a run deleted": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2",
        [("entry_missing", "run_2", 1, 3), ("entries_unproved", "run_2", 1, 3)],
    ),
}

HEADS: dict[str, tuple[str, list[Named]]] = {
    "the peaks of a head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "the peaks of the newest head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(64) WHERE run_no = 1 AND size = 12",
        [("head_changed", "run_1", 12, 12)],
    ),
    "the peaks of the only head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(64) WHERE run_no = 2",
        [("tree_broken", "run_2", 1, 3)],
    ),
    "the peaks of two heads in a row edited": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size IN (4, 8)",
        [("head_changed", "run_1", 4, 4), ("head_changed", "run_1", 8, 8)],
    ),
    "a head edited, and an entry after it": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size = 4;"
        f"UPDATE entries SET at = 1 WHERE {AT[7]}",
        [("tree_broken", "run_1", 1, 4), RANGE],
    ),
    "peaks that cannot be": (
        "UPDATE tree_heads SET peaks = zeroblob(96) WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "peaks that are no hashes": (
        "UPDATE tree_heads SET peaks = x'00' WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "the size of a head edited": (
        "UPDATE tree_heads SET size = 5 WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 5, 5), ("head_changed", "run_1", 5, 5)],
    ),
    "the time of a head edited": (
        "UPDATE tree_heads SET at = 7 WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "a head given to another run": (
        "UPDATE tree_heads SET run_no = 2 WHERE run_no = 3 AND size = 2",
        [("head_changed", "run_2", 2, 2)],
    ),
    "the newest head deleted": (
        "DELETE FROM tree_heads WHERE run_no = 1 AND size = 12",
        [("entries_beyond_head", "run_1", 11, 12)],
    ),
    "every head of a run deleted": (
        "DELETE FROM tree_heads WHERE run_no = 1",
        [("head_missing", "run_1", 1, 12), ("stray_rows", "run_1", 6, 6)],
    ),
    "a head put in that the entries do not give": (
        "INSERT INTO tree_heads VALUES (1, 6, zeroblob(64), 1006)",
        [("head_changed", "run_1", 6, 6)],
    ),
    "a head put in over nothing": (
        "INSERT INTO tree_heads VALUES (1, 4294967295, zeroblob(1024), 0)",
        [("entry_missing", "run_1", 13, 4294967295), ("entries_unproved", "run_1", 13, 4294967295)],
    ),
    "heads put in of sizes that no run has": (
        "INSERT INTO tree_heads VALUES (1, 0, x'', 0), (1, -1, x'', 0), (1, 4294967296, zeroblob(32), 0)",
        [
            ("head_changed", "run_1", -1, -1),
            ("head_changed", "run_1", 0, 0),
            ("head_changed", "run_1", 4294967296, 4294967296),
        ],
    ),
    "a head put in for a run that does not exist": (
        "INSERT INTO tree_heads VALUES (9, 1, zeroblob(32), 0)",
        [("stray_rows", None, None, None)],
    ),
}

ERASURES: dict[str, tuple[str, list[Named]]] = {
    "a body taken out without an erasure": (
        f"UPDATE entries SET body = NULL, salt = NULL WHERE {AT[7]}",
        [("erasure_missing", "run_1", 7, 7), UNPROVED],
    ),
    "an erasure deleted": (
        "DELETE FROM erasures",
        [("erasure_missing", "run_1", 6, 6), UNPROVED],
    ),
    "the leaf of an erasure edited": ("UPDATE erasures SET leaf = zeroblob(32)", [RANGE]),
    "the leaf of an erasure cut short": (
        "UPDATE erasures SET leaf = x'00'",
        [("entry_malformed", "run_1", 6, 6), UNPROVED],
    ),
    "an erasure put in for an entry that has its body": (
        "INSERT INTO erasures VALUES ((1 << 32 | 7), zeroblob(32), 'x')",
        [("erasure_incomplete", "run_1", 7, 7), ("erasure_unexplained", "run_1", 7, 7)],
    ),
    "an erasure put in beyond the newest head": (
        "INSERT INTO erasures VALUES ((1 << 32 | 13), zeroblob(32), 'x')",
        [("stray_rows", "run_1", 13, 13)],
    ),
    "an erasure put in for a run that does not exist": (
        "INSERT INTO erasures VALUES ((9 << 32 | 1), zeroblob(32), 'x')",
        [("stray_rows", None, None, None)],
    ),
    "an erased entry given a salt": (
        f"UPDATE entries SET salt = zeroblob(16) WHERE {AT[6]}",
        [("erasure_incomplete", "run_1", 6, 6)],
    ),
    "an erased entry given another body": (
        f"UPDATE entries SET salt = zeroblob(16), body = x'7b7d', type = '', stream = '' WHERE {AT[6]}",
        [("erasure_incomplete", "run_1", 6, 6), RANGE],
    ),
}

DOCUMENTS: dict[str, tuple[str, list[Named]]] = {
    "a document edited": (
        f"UPDATE documents SET body = x'7b7d' WHERE digest = '{MANIFEST.digest}'",
        [("document_changed", None, None, None)],
    ),
    "a document deleted": (
        f"DELETE FROM documents WHERE digest = '{OTHER_MANIFEST.digest}'",
        [("document_missing", "run_3", 1, 1)],
    ),
    "a document filed under another digest": (
        f"UPDATE documents SET digest = 'sha256:{'0' * 64}' WHERE digest = '{MANIFEST.digest}'",
        [
            ("document_changed", None, None, None),
            ("document_missing", "run_1", 1, 1),
            ("document_unreferenced", None, None, None),
        ],
    ),
    "a document put in": (
        f"INSERT INTO documents VALUES ('{digest(b'{}')}', '', x'7b7d')",
        [("document_unreferenced", None, None, None)],
    ),
    "a ruleset edited that no run names": (
        f"INSERT INTO documents VALUES ('{digest(b'{}')}', '{RULESET_MEDIA_TYPE}', x'00')",
        [("document_changed", None, None, None)],
    ),
}

DAMAGES = ENTRIES | RUNS | HEADS | ERASURES | DOCUMENTS
