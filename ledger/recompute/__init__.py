"""Every run of a ledger decided again: under other rules, in several processes, with what is kept.

* a run: ``openings``, what it was opened with; ``choosing``, which rulesets it is held against; ``planning``,
  all that there is to know of it before it is folded
* folding: ``tasks``, what is to be folded and what comes of it; ``folding``, in this process;
  ``worker_processes`` and ``workers``, in several; ``rulesets_by_digest``, for each of them; ``twice``
* the whole: ``recomputation``, with ``keeping``, decisions of an earlier time; of one run: ``certificate``

So a rule change is weighed: ``recomputation`` goes through the runs as the log got them, has each planned,
takes from the ledger the decisions that are kept under the run's root, and has ``workers`` fold the rest;
what it yields, in the same order whichever process was done first, ``ledger.replay`` compares and counts.
"""
