"""What is wrong with a ledger, or with the machine that it lies on, and what to do about it.

:func:`diagnose` asks :data:`CHECKS` one by one and yields a :class:`Check` each. It changes nothing in the
ledger and takes well under a second, however large it is: whether the log still holds what it held is for
:mod:`ledger.log.verifying` to say, which reads all of it.

* ``checks``: what a check is · ``files``: the files and their disk · ``inside``: what the ledger holds
* ``machine``: what the system knows about the file
"""

from ledger.log.diagnosing.checks import Check, State
from ledger.log.diagnosing.diagnosis import CHECKS, diagnose

__all__ = ["CHECKS", "Check", "State", "diagnose"]
