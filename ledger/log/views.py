"""The views of the log that are for people: they work in any SQLite tool, with nothing registered.

Only functions that SQLite itself calls innocuous are used, so that they run with ``trusted_schema=OFF``. A
view never yields TEXT that is not UTF-8: many tools (Python's sqlite3 among them) fail on the whole page.
"""

_PRINTABLE_LIMIT = 65536
"""Bodies longer than this that are not plain ASCII are shown in hex: proving them UTF-8 is quadratic here."""

# at -> RFC 3339 with six digits; NULL where the time is unknown; the bare number beyond the calendar.
_TIME = """CASE WHEN e.at = 0 THEN NULL ELSE coalesce(
    strftime('%Y-%m-%dT%H:%M:%S', (e.at - ((e.at % 1000000) + 1000000) % 1000000) / 1000000, 'unixepoch')
      || printf('.%06dZ', ((e.at % 1000000) + 1000000) % 1000000),
    CAST(e.at AS TEXT)) END"""

# GLOB reads a byte that is no ASCII as a character of its own, whatever follows it.
_IS_ASCII = "CAST(e.body AS TEXT) NOT GLOB '*[^' || char(1) || '-' || char(127) || ']*'"

# Walk the characters; one whose bytes are not well-formed (RFC 3629) ends the walk before the end.
_IS_UTF8 = f"""length(e.body) <= {_PRINTABLE_LIMIT} AND length(e.body) < (
    WITH RECURSIVE walk (at) AS (
      VALUES (1)
      UNION ALL
      SELECT at + CASE
        WHEN hex(substr(e.body, at, 1)) < '80' THEN 1
        WHEN hex(substr(e.body, at, 2)) GLOB '[CD][0-9A-F][89AB]?'
          AND hex(substr(e.body, at, 1)) >= 'C2' THEN 2
        WHEN hex(substr(e.body, at, 3)) GLOB 'E?[89AB]?[89AB]?'
          AND hex(substr(e.body, at, 2)) NOT GLOB 'E0[89]?'
          AND hex(substr(e.body, at, 2)) NOT GLOB 'ED[AB]?' THEN 3
        WHEN hex(substr(e.body, at, 4)) GLOB 'F[0-4][89AB]?[89AB]?[89AB]?'
          AND hex(substr(e.body, at, 2)) NOT GLOB 'F08?'
          AND hex(substr(e.body, at, 2)) NOT GLOB 'F4[9AB]?' THEN 4
        END
      FROM walk WHERE at <= length(e.body))
    SELECT max(at) FROM walk)"""

VIEWS = {
    "messages": f"""CREATE VIEW messages AS
SELECT
  r.run_id AS run_id,
  e.entry_id & 4294967295 AS seq,
  {_TIME} AS time,
  e.origin AS origin,
  e.session AS session,
  e.type AS type,
  e.stream AS stream,
  CASE
    WHEN e.body IS NULL THEN NULL
    WHEN instr(e.body, x'00') THEN hex(e.body)
    WHEN {_IS_ASCII} THEN CAST(e.body AS TEXT)
    WHEN {_IS_UTF8} THEN CAST(e.body AS TEXT)
    ELSE hex(e.body)
  END AS body
FROM runs AS r CROSS JOIN entries AS e
WHERE e.entry_id > r.run_no << 32 AND e.entry_id <= r.run_no << 32 | 4294967295""",
}
