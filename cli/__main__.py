"""Where ``runledger`` and ``python -m cli`` begin: signals first, as importing the rest takes time."""

from cli.signals import heed_signals


def main() -> None:
    """Run the command line and exit."""
    heed_signals()
    from cli.main import main as run

    run()


if __name__ == "__main__":
    main()
