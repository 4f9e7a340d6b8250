"""The commands. Nothing heavy is imported before a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from linkwise import __version__
from linkwise.app.cli.typer_options import (
    CLUSTERER,
    LEARNER,
    SEED,
    Command,
    Commands,
    option_of,
    with_options,
)
from linkwise.app.project.exit_codes import USAGE
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import (
    AGENT_NAME,
    ANNOTATORS,
    AS_IS,
    ERROR_RATE,
    GOLD,
    OF_LARGE_DATA,
    OF_METHOD,
    OF_OUTPUT,
    OF_PAGE,
    OF_SESSION,
    OVERLAP,
    SESSION,
    SET,
    ExplainOptions,
    ModelOptions,
    ProgramOptions,
    SessionOptions,
    WorkerOptions,
)
from linkwise.data.reading import Reading

# \b keeps the lines of a paragraph as they are
ABOUT = """Cluster data the way you mean it, by answering a few questions about pairs of rows.

\b
  linkwise             choose a file or a session on a page in the browser
  linkwise demo        try it
  linkwise ask FILE    answer questions about your own data
  linkwise cluster FILE --constraints PAIRS.csv    use pairs that you already have

\b
Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 unusable data or program,
4 answers or pairs that contradict each other, 5 session locked or damaged,
130 interrupted (every answer is saved), 141 output closed by its reader.
"""


class Demo(StrEnum):
    """Bundled data."""

    digits = "digits"
    wine = "wine"
    messages = "messages"
    loads = "loads"


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

SessionPath = Annotated[Path, typer.Argument(metavar="PATH", help="data file or session file")]
DataFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="a table, or a folder of images, texts or tables"),
]
SessionFile = Annotated[Path | None, option_of(SESSION)]
AsIs = Annotated[bool, option_of(AS_IS)]
ERROR_RATE_OF_PAIRS = ERROR_RATE._replace(
    help="share of wrong pairs or estimate  [default: 0]",
    heading=OF_METHOD,
)


def declare_port(about: str, heading: str) -> Any:
    """Declare ``--port`` with its help, in a part of the help."""
    return typer.Option(
        "--port", min=0, max=65535, metavar="N", help=about, show_default=False, rich_help_panel=heading
    )


Port = Annotated[int, declare_port("port of the page  [default: a free one]", OF_PAGE)]
AgentPort = declare_port("serve agents over HTTP, 0: a free port  [default: stdin]", OF_SESSION)
OpensBrowser = Annotated[
    bool,
    typer.Option(
        "--browser/--no-browser",
        show_default=False,
        help="open the page, or only print its address",
        rich_help_panel=OF_PAGE,
    ),
]
OnTerminal = Annotated[
    bool,
    typer.Option(
        "--terminal",
        help="ask here  [default: on a page in the browser]",
        rich_help_panel=OF_OUTPUT,
    ),
]
JoinedTable = Annotated[
    Path | None,
    typer.Option(
        "--join",
        metavar="OUT.csv",
        dir_okay=False,
        help="your table with its clusters (or xlsx, parquet)",
        rich_help_panel=OF_OUTPUT,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="overwrite existing files", rich_help_panel=OF_OUTPUT)]
Json = Annotated[
    bool, typer.Option("--json", help="JSON on stdout, one object per line", rich_help_panel=OF_OUTPUT)
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwise {__version__}")
        raise typer.Exit


@app.callback(help=ABOUT)
def linkwise(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
    port: Annotated[int | None, *Port.__metadata__] = None,
    browser: Annotated[bool | None, *OpensBrowser.__metadata__] = None,
) -> None:
    """Open the start page if there is no command, or print the help where nobody can see a page."""
    wants_page = port is not None or browser is not None
    if context.invoked_subcommand is not None:
        if wants_page:
            command = context.invoked_subcommand
            raise typer.BadParameter(f"Pass --port and --browser after the command: linkwise {command} …")
        return
    from linkwise.app.cli.commands.serve import PageAddress, can_open

    if not wants_page and not can_open():
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)
    from linkwise.app.cli.commands.start import start

    start(PageAddress(port=port or 0, browser=browser is not False))


@app.command("ask", cls=Command)
@with_options
def ask_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, LEARNER],
    kept: SessionOptions,
    program: ProgramOptions,
    model: ModelOptions,
    terminal: OnTerminal = False,
    as_json: Json = False,
    set_size: Annotated[int | None, option_of(SET)] = None,
) -> None:
    """Ask about pairs of rows of FILE and cluster by the answers.

    Every answer is saved at once in FILE.linkwise, and the same command resumes where you stopped.
    You can also pipe answers into it, one per line (y, n, s, u, q).
    """
    program.check_command(model)
    if model.name is not None:
        from linkwise.app.cli.commands.ask_model import ask_model

        ask_model(file, reading, choice, kept, program, model, as_json=as_json, set_size=set_size)
        return
    if program.command is not None:
        from linkwise.app.cli.commands.ask_program import ask_program

        ask_program(file, reading, choice, kept, program, as_json=as_json, set_size=set_size)
        return
    from linkwise.app.cli.commands.serve import PageAddress, can_open, serve

    if not terminal and not as_json and set_size is None and can_open():
        serve(file, reading, choice, kept, PageAddress())
        return
    from linkwise.app.cli.commands.ask import ask

    ask(file, reading, choice, kept, as_json=as_json, set_size=set_size)


@app.command("serve", cls=Command)
@with_options
def serve_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, LEARNER],
    kept: SessionOptions,
    port: Port = 0,
    browser: OpensBrowser = True,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="address to listen on  [default: 127.0.0.1]",
            show_default=False,
            rich_help_panel=OF_PAGE,
        ),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="file with the password that other hosts need",
            rich_help_panel=OF_PAGE,
        ),
    ] = None,
    annotators: Annotated[str | None, option_of(ANNOTATORS)] = None,
    overlap: Annotated[str | None, option_of(OVERLAP)] = None,
    gold: Annotated[Path | None, option_of(GOLD)] = None,
) -> None:
    """Ask about pairs of rows of FILE on a page in the browser.

    linkwise prints the address of the page. The address works once, for the first browser that opens
    it. With --annotators each person has an address and questions of their own. Every answer is saved
    at once in FILE.linkwise (or --session PATH). Ctrl-C stops the server.
    """
    from linkwise.app.cli.commands.serve import ExtraQuestions, PageAddress, serve

    people = () if annotators is None else tuple(annotators)  # parsed into names
    share = 0.0 if overlap is None else float(overlap)
    serve(
        file,
        reading,
        choice,
        kept,
        PageAddress(host, port, browser, password_file, people),
        ExtraQuestions(share, gold),
    )


@app.command("mcp", cls=Command)
@with_options
def mcp_command(
    file: DataFile,
    reading: Reading,
    choice: Annotated[MethodChoice, LEARNER],
    kept: SessionOptions,
    source: Annotated[str | None, option_of(AGENT_NAME)] = None,
    port: Annotated[int | None, AgentPort] = None,
) -> None:
    """Let an agent ask and answer about FILE over the Model Context Protocol.

    A program such as a desktop assistant starts this command and talks to it on stdin and stdout. With
    --port, programs on this machine reach it over HTTP. It needs the package mcp:
    pip install "linkwise[agents]". Every answer is saved at once in FILE.linkwise (or --session PATH),
    where people and other programs can go on.
    """
    from linkwise.app.cli.commands.mcp import serve_agents

    serve_agents(file, reading, choice, kept, source, port)


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
            help="pairs to cluster by: id_a,id_b,kind",
            rich_help_panel=OF_METHOD,
        ),
    ] = None,
    error_rate: Annotated[str | None, option_of(ERROR_RATE_OF_PAIRS)] = None,
    as_is: AsIs = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv",
            help="write id,cluster to it  [default: stdout]",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    join: JoinedTable = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Cluster FILE by pairs that you already have, without questions.

    The clusters are written as id,cluster, and a report goes to stderr. cobs computes many clusterings
    and takes the one that satisfies most pairs. clusilc builds clusters that are rules on the columns.
    fosc finds dense clusters, and labels the rows outside of them -1. records finds duplicates, and is the
    default if FILE seems to hold such. The other methods take the number of clusters from --clusters.
    """
    from linkwise.app.cli.commands.cluster import cluster

    cluster(
        file,
        reading,
        choice,
        constraints=constraints,
        error_rate=error_rate,
        as_is=as_is,
        labels=labels,
        join=join,
        force=force,
        as_json=as_json,
    )


@app.command("status", cls=Command)
def status_command(path: SessionPath, session: SessionFile = None, as_json: Json = False) -> None:
    """Show the state of a session."""
    from linkwise.app.cli.commands.session import status

    status(path, session, as_json=as_json)


@app.command("review", cls=Command)
def review_command(
    path: SessionPath,
    session: SessionFile = None,
    source: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="name stored with decisions  [default: reviewer]",
            show_default=False,
            rich_help_panel=OF_SESSION,
        ),
    ] = "reviewer",
    as_json: Json = False,
) -> None:
    """Decide the pairs on which answers disagree or are probably wrong.

    linkwise shows each pair with who answered what and when. Your word is certain: it outranks all other
    answers. You can also pipe answers into the command, one per line (y, n, s, u, q).
    """
    from linkwise.app.cli.commands.review import review

    review(path, session, source=source, as_json=as_json)


@app.command("combine", cls=Command)
def combine_command(
    path: SessionPath,
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="the other data file or session file")],
    session: SessionFile = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="who gave the answers of OTHER without a name",
            show_default=False,
            rich_help_panel=OF_SESSION,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add the answers of another session about the same rows.

    Each answer keeps who gave it, and may be wrong like all others. linkwise matches rows by their ids. The
    answers that PATH has already are not added again.
    """
    from linkwise.app.cli.commands.session import combine

    combine(path, other, session, source=source, as_json=as_json)


@app.command("undo", cls=Command)
def undo_command(path: SessionPath, session: SessionFile = None, as_json: Json = False) -> None:
    """Undo the last answer, change or import of a session."""
    from linkwise.app.cli.commands.session import undo

    undo(path, session, as_json=as_json)


@app.command("explain", cls=Command)
@with_options
def explain_command(
    path: SessionPath,
    reading: Annotated[Reading, "without scale"],
    request: ExplainOptions,
    session: SessionFile = None,
    as_is: AsIs = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="CLUSTERS.csv",
            help="clusters to explain: id,cluster",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            metavar="PAIRS.csv",
            help="pairs to count with the rules (with --labels)",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
) -> None:
    """Describe clusters by rules, or explain a pair of rows.

    The clusters are those of a session, or those of --labels. The rules come from the smallest tree
    that puts most rows into their cluster. The first line of the output gives the share of these rows.
    """
    from linkwise.app.cli.commands.explain import explain_clusters

    explain_clusters(
        path, reading, request, session_file=session, labels=labels, constraints=constraints, as_is=as_is
    )


@app.command("export", cls=Command)
@with_options
def export_command(
    path: SessionPath,
    workers: WorkerOptions,
    session: SessionFile = None,
    new: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="write only the rows of these new files",
            rich_help_panel=OF_LARGE_DATA,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv|FOLDER",
            help="id,cluster (large data: a folder of Parquet)",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv",
            dir_okay=False,
            help="pairs: id_a,id_b,kind",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv",
            dir_okay=False,
            help="answers with source and time (csv or json)",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    join: JoinedTable = None,
    golden: Annotated[
        Path | None,
        typer.Option(
            "--golden",
            metavar="OUT.csv",
            dir_okay=False,
            help="one row for each cluster (or xlsx, parquet)",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    golden_rule: Annotated[
        list[str] | None,
        typer.Option(
            "--golden-rule",
            metavar="COLUMN=RULE",
            help="its value: frequent, complete, first or newest:DATECOLUMN  [default: frequent]",
            rich_help_panel=OF_OUTPUT,
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write clusters and answers, or your table with the clusters.

    Without --labels, --constraints, --answers, --join or --golden the clusters go to stdout as CSV. The
    session file is enough; the data file is needed only for --join, --golden and after an undo.
    """
    from linkwise.app.cli.commands.session import export

    export(
        path,
        session,
        labels=labels,
        constraints=constraints,
        answers=answers,
        join=join,
        golden=golden,
        golden_rules=golden_rule or (),
        new=new,
        workers=workers,
        force=force,
        as_json=as_json,
    )


@app.command("extend", cls=Command)
@with_options
def extend_command(
    path: SessionPath,
    workers: WorkerOptions,
    new: Annotated[
        Path | None,
        typer.Argument(
            metavar="NEW",
            help="a file, a folder or a pattern  [default: PATH]",
            show_default=False,
        ),
    ] = None,
    session: SessionFile = None,
    as_json: Json = False,
) -> None:
    """Add rows that arrived to a session about groups of rows.

    All answers and clusters stay. Rows that lie farther from every group than its own rows become new groups,
    and the next linkwise ask asks about them.
    """
    from linkwise.app.cli.commands.session import extend

    extend(path, new, session, workers=workers, as_json=as_json)


@app.command("demo", cls=Command)
def demo_command(
    name: Annotated[
        Demo,
        typer.Argument(
            metavar="NAME", help="digits, wine, messages or loads  [default: digits]", show_default=False
        ),
    ] = Demo.digits,
    auto: Annotated[bool, typer.Option("--auto", help="take the answers from the known classes")] = False,
    budget: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="number of questions  [default: no limit]"),
    ] = None,
    seed: Annotated[int | None, option_of(SEED)] = None,
    session: Annotated[
        Path | None,
        typer.Option(metavar="PATH", dir_okay=False, help="save the answers here  [default: not saved]"),
    ] = None,
    error_rate: Annotated[str | None, option_of(ERROR_RATE)] = None,
    terminal: OnTerminal = False,
    port: Annotated[int | None, *Port.__metadata__] = None,
    browser: Annotated[bool | None, *OpensBrowser.__metadata__] = None,
) -> None:
    """Try linkwise on bundled data: images of digits, wines, messages to a shop, or loads over a day."""
    from linkwise.app.cli.commands.demo import demo

    demo(
        name.value,
        auto=auto,
        budget=budget,
        seed=seed or 0,
        session=session,
        error_rate=error_rate,
        terminal=terminal,
        port=port,
        browser=browser,
    )


@app.command("doctor", cls=Command)
def doctor_command(as_json: Json = False) -> None:
    """Check the installation, and whether linkwise works."""
    from linkwise.app.cli.commands.doctor import doctor

    raise typer.Exit(doctor(as_json=as_json))
