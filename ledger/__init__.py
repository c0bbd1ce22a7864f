"""Run Ledger: an event-sourced ledger of data-collection runs.

The flow, and the packages that hold it, left to right::

    wire line -> core.entries -> log -> dialects (fold, rules, decide) -> replay -> views (cli)

Every line of a run is appended to an immutable log before anybody reads it. What the run means is a
pure fold over that log, so it can be asked again at any time, under any ruleset, with the same answer.
"""

__version__ = "0.1.0"
