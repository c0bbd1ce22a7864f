"""The rules, one module a section of the specification, in the specification's order.

A rule is a pure function, tagged with the clause that it enforces. What it is asked of, and what follows
where it does not hold, tells its kind: ``MatchRule``, ``StartRule``, ``RecordRule``, ``MessageRule``,
``ExitRule``, ``CheckpointRule`` and ``EndRule`` in ``ruleset``. A ruleset lists every rule that it asks.
"""
