"""Every run of a ledger decided again: under other rules, in several processes, with what is kept.

* ``choosing``: which rulesets a run is held against · ``tasks``: what is to be folded, and what comes of it
* ``folding``: one run folded · ``workers``: processes that fold · ``recomputation``: the whole

So a rule change is weighed: ``recomputation`` goes through the runs as the log got them, asks ``choosing``
for the two rulesets of each, takes from the ledger the decisions that are kept under the run's root, and has
``workers`` fold the rest; what it yields, in the same order whichever process was done first,
``ledger.replay`` compares and counts.
"""
