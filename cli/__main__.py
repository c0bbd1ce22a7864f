"""``python -m cli`` is ``runledger``."""

from cli.main import main

main()
