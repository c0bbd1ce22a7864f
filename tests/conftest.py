"""What holds for every test: how long properties look, and that a failing one can be found again."""

import os

from hypothesis import settings

# No deadline: how long one example takes says more about the machine than about us. In CI every run draws the
# same examples, so that a change is never turned back by a throw of dice that has nothing to do with it.
settings.register_profile("developer", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("developer"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")
