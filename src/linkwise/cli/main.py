"""The commands. Nothing heavy is imported before a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linkwise import __version__
from linkwise.cli.typer_options import CLUSTERER, LEARNER, SEED, Command, Commands, option_of, with_options
from linkwise.workspace.method_choice import MethodChoice
from linkwise.workspace.options import ExplainOptions, Reading, SessionOptions

# \b keeps the lines of a paragraph as they are
ABOUT = """Cluster data the way you mean it, by a few answers about pairs.

\b
  linkwise demo        try it
  linkwise ask FILE    on your own data
  linkwise cluster FILE --constraints PAIRS.csv    by pairs that are known already

\b
Exit codes: 0 done, 1 a fault of linkwise, 2 wrong use, 3 unusable data,
4 answers or pairs that contradict each other, 5 session locked or damaged,
130 interrupted (every answer is saved).
"""


class Demo(StrEnum):
    """Bundled data."""

    digits = "digits"
    wine = "wine"


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

SessionPath = Annotated[Path, typer.Argument(metavar="PATH", help="data file or session file")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="CSV, TSV, Parquet, JSON lines, npy or npz; or a folder of images or texts"
    ),
]
OnTerminal = Annotated[
    bool,
    typer.Option(
        "--terminal",
        help="ask on the terminal  [default: on a page where there is a browser]",
        rich_help_panel="output",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="overwrite files", rich_help_panel="output")]
Json = Annotated[
    bool, typer.Option("--json", help="JSON on stdout, one object a line", rich_help_panel="output")
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwise {__version__}")
        raise typer.Exit


@app.callback(help=ABOUT)
def linkwise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """What all commands share: nothing but the version."""


@app.command("ask", cls=Command)
@with_options
def ask_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, LEARNER],
    kept: SessionOptions,
    terminal: OnTerminal = False,
    as_json: Json = False,
) -> None:
    """Ask about pairs of rows of FILE and cluster by the answers.

    Every answer is saved at once in FILE.linkwise (or --session PATH); the same command goes on
    where it stopped. Where there is a browser the questions are asked on a page. Answers can also be
    piped in as lines (y, n, s, u, q).
    """
    from linkwise.cli.commands.serve import PageAddress, can_open, serve

    if not terminal and not as_json and can_open():
        serve(file, reading, choice, kept, PageAddress())
        return
    from linkwise.cli.commands.ask import ask

    ask(file, reading, choice, kept, as_json=as_json)


@app.command("serve", cls=Command)
@with_options
def serve_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, LEARNER],
    kept: SessionOptions,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="port of the page  [default: a free one]",
            show_default=False,
            rich_help_panel="page",
        ),
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option(
            "--browser/--no-browser", help="open the page, or print its address only", rich_help_panel="page"
        ),
    ] = True,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="address to listen on; any other than 127.0.0.1 requires a password",
            rich_help_panel="page",
        ),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="file with the password in its first line  [default: $LINKWISE_PASSWORD, or asked for]",
            rich_help_panel="page",
        ),
    ] = None,
) -> None:
    """Ask about pairs of rows of FILE on a page in the browser.

    The address is printed at once, and works once: it opens the page for the browser that it is opened
    in. Every answer is saved at once in FILE.linkwise (or --session PATH). Ctrl-C ends.
    """
    from linkwise.cli.commands.serve import PageAddress, serve

    serve(file, reading, choice, kept, PageAddress(host, port, browser, password_file))


@app.command("cluster", cls=Command)
@with_options
def cluster_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, CLUSTERER],
    constraints: Annotated[
        Path | None,
        typer.Option(
            metavar="PAIRS.csv",
            help="known pairs: id_a,id_b,kind (must-link or cannot-link)",
            rich_help_panel="data",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv", help="write id,cluster there  [default: stdout]", rich_help_panel="output"
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Cluster FILE by pairs that are known already, without asking.

    Clusters are written as id,cluster; what was chosen is reported on stderr. cobs clusters the rows in
    many ways and takes the clustering that satisfies most of the pairs. clusilc makes clusters that are
    rules on the columns. fosc finds dense clusters, and gives -1 to rows in none of them. The other
    methods make K clusters.
    """
    from linkwise.cli.commands.cluster import cluster

    cluster(file, reading, choice, constraints=constraints, labels=labels, force=force, as_json=as_json)


@app.command("status")
def status_command(path: SessionPath, as_json: Json = False) -> None:
    """Show the state of a session."""
    from linkwise.cli.commands.session import status

    status(path, as_json=as_json)


@app.command("undo")
def undo_command(path: SessionPath, as_json: Json = False) -> None:
    """Take back the last answer of a session."""
    from linkwise.cli.commands.session import undo

    undo(path, as_json=as_json)


@app.command("explain", cls=Command)
@with_options
def explain_command(
    path: SessionPath,
    reading: Annotated[Reading, "without scale"],
    request: ExplainOptions,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="CLUSTERS.csv",
            help="explain these clusters (id,cluster) of a data file",
            rich_help_panel="data",
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(metavar="PAIRS.csv", help="known pairs (with --labels)", rich_help_panel="data"),
    ] = None,
) -> None:
    """Describe clusters by rules on the columns; explain why two rows are together or apart.

    The clusters are those of a session, or those of --labels. The rules come from the smallest tree
    that puts most rows into their cluster; how many those are is reported.
    """
    from linkwise.cli.commands.explain import explain_clusters

    explain_clusters(path, reading, request, labels=labels, constraints=constraints)


@app.command("export", cls=Command)
def export_command(
    path: SessionPath,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", dir_okay=False, help="write id,cluster", rich_help_panel="output"),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv", dir_okay=False, help="write id_a,id_b,kind", rich_help_panel="output"
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write clusters and answers as CSV.

    The session file is enough, the data are not needed. Without --labels or --constraints the
    clusters go to stdout.
    """
    from linkwise.cli.commands.session import export

    export(path, labels=labels, constraints=constraints, force=force, as_json=as_json)


@app.command("demo")
def demo_command(
    name: Annotated[Demo, typer.Argument(metavar="[digits|wine]")] = Demo.digits,
    auto: Annotated[bool, typer.Option("--auto", help="let the known classes answer")] = False,
    budget: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="number of questions  [default: no end; with --auto 100]"),
    ] = None,
    seed: Annotated[int | None, option_of(SEED)] = None,
    session: Annotated[
        Path | None,
        typer.Option(metavar="PATH", dir_okay=False, help="keep the answers there  [default: nowhere]"),
    ] = None,
    terminal: OnTerminal = False,
) -> None:
    """Try it on bundled data: pictures of digits, or wines."""
    from linkwise.cli.commands.demo import demo

    demo(name.value, auto=auto, budget=budget, seed=seed or 0, session=session, terminal=terminal)


@app.command("doctor")
def doctor_command(as_json: Json = False) -> None:
    """Check what is installed here, and whether linkwise works."""
    from linkwise.cli.commands.doctor import doctor

    raise typer.Exit(doctor(as_json=as_json))
