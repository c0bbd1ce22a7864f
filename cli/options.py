"""The options that every command has, before or after the verb, and how a command gets them.

A command takes a :class:`Common` named ``common``; :func:`command` gives its function the four options
instead, lets those after the verb win over those that :func:`keep_options` kept before it, and turns errors
into exit statuses.
"""

import inspect
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from cli.exits import exits
from cli.page import Page
from cli.signals import unwinding

DEFAULT_LEDGER = Path("ledger.db")


class Output(StrEnum):
    """How data is printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class Color(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The options as given in one place; None where one is not."""

    ledger: Path | None = None
    output: Output | None = None
    ruleset: str | None = None
    color: Color | None = None


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """The options as a command sees them.

    Attributes:
        ledger: path of the ledger.
        output: how to print data.
        ruleset: what names the ruleset, None for the dialect's default.
        color: whether stdout is coloured.
    """

    ledger: Path
    output: Output
    ruleset: str | None
    color: bool

    def page(self) -> Page:
        """Return an empty page for stdout."""
        return Page(color=self.color, width=shutil.get_terminal_size((100, 24)).columns)

    def next_command(self, *words: str) -> str:
        """Return a command on the same ledger, as a shell reads it."""
        named = [] if self.ledger == resolve(Given()).ledger else ["-l", str(self.ledger)]
        return shlex.join(["runledger", *named, *words])


LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "-l",
        "--ledger",
        metavar="PATH",
        readable=False,  # opening it says more, and with the right status
        help="The ledger. [env: RUNLEDGER; default: ledger.db]",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Output | None,
    typer.Option("-o", "--output", help="How to print data. [default: text]", show_default=False),
]
RulesetOption = Annotated[
    str | None,
    typer.Option(
        "--ruleset",
        metavar="RULESET",
        help="Decide under this one: an id of `rules list`, a file in TOML, or sha256:…",
        show_default=False,
    ),
]
ColorOption = Annotated[
    Color | None, typer.Option("--color", help="When to colour. [default: auto]", show_default=False)
]
RUN_NAMES = "An id, a prefix, @latest, @latest:PROGRAM or @2."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=RUN_NAMES)]
"""How a command that is about one run is told which."""

_OPTIONS = {"ledger": LedgerOption, "output": OutputOption, "ruleset": RulesetOption, "color": ColorOption}


def keep_options(
    ctx: typer.Context,
    ledger: LedgerOption = None,
    output: OutputOption = None,
    ruleset: RulesetOption = None,
    color: ColorOption = None,
) -> None:
    """Keep the options that stand before a verb, for the command behind it."""
    given = Given(ledger=ledger, output=output, ruleset=ruleset, color=color)
    ctx.obj = _joined(ctx.obj or Given(), given)


def resolve(given: Given) -> Common:
    """Fill up what was given from the environment and the defaults."""
    told = os.environ.get("RUNLEDGER")
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Common(
        ledger=given.ledger or (Path(told) if told else DEFAULT_LEDGER),
        output=given.output or Output.TEXT,
        ruleset=given.ruleset,
        color=wanted if given.color in (None, Color.AUTO) else given.color is Color.ALWAYS,
    )


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a typer command of a function that takes ``common`` and its own parameters."""

    def run(ctx: typer.Context, **given: Any) -> None:
        after = Given(**{name: given.pop(name) for name in _OPTIONS})
        with exits(), unwinding():
            function(common=resolve(_joined(ctx.obj or Given(), after)), **given)

    own = inspect.signature(function, eval_str=True).parameters
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for name, parameter in own.items() if name != "common"),
        *(
            inspect.Parameter(name, keyword, annotation=annotation, default=None)
            for name, annotation in _OPTIONS.items()
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


def examples(text: str) -> str:
    """Return the examples of a help page in a form that typer does not wrap."""
    return "\b\n" + text.replace("\n\n", "\n")


def _joined(before: Given, after: Given) -> Given:
    """Take what stands behind the verb, else what stands before it; an empty text was given, too."""
    return Given(
        **{name: getattr(before if getattr(after, name) is None else after, name) for name in _OPTIONS}
    )
