"""The commands. Nothing heavy is imported before a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from linkwise import __version__
from linkwise.errors import DataError
from linkwise.text_files import csv_records
from linkwise.workspace.exit_codes import UsageError, report_errors

if TYPE_CHECKING:
    from linkwise.workspace.learners import Asking
    from linkwise.workspace.reading import Reading

MAX_SEED = 2**32 - 1  # scikit-learn takes no larger one

# \b keeps the lines of a paragraph as they are
ABOUT = """Cluster data the way you mean it, by a few answers about pairs.

\b
  linkwise demo        try it
  linkwise ask FILE    on your own data
  linkwise cluster FILE --constraints PAIRS.csv    by pairs that are known already

\b
Exit codes: 0 done, 1 a fault of linkwise, 2 wrong use, 3 unusable data,
4 answers or pairs that contradict each other, 5 session locked or damaged,
130 interrupted (everything said is saved).
"""


class Commands(TyperGroup):
    """All commands, with errors said plainly."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with report_errors():
            return super().invoke(ctx)


class Scale(StrEnum):
    """How numbers are brought to a common measure."""

    unit = "unit"
    standard = "standard"
    none = "none"


class Impute(StrEnum):
    """What stands in for missing values."""

    median = "median"


class Method(StrEnum):
    """What asks."""

    kin = "kin"
    cobras = "cobras"
    cobra = "cobra"
    cobs = "cobs"
    explore = "explore"
    minmax = "minmax"
    npu = "npu"
    weights = "weights"


class Chooser(StrEnum):
    """What clusters without asking."""

    cobs = "cobs"
    copkmeans = "copkmeans"
    pckmeans = "pckmeans"
    mpckmeans = "mpckmeans"
    weights = "weights"
    seededkmeans = "seededkmeans"
    constrainedkmeans = "constrainedkmeans"
    ckm = "ckm"
    rckm = "rckm"
    bckm = "bckm"
    boostcluster = "boostcluster"
    kernelboost = "kernelboost"
    pcp = "pcp"
    agglomerative = "agglomerative"
    fosc = "fosc"
    cosc = "cosc"
    spcl = "spcl"
    clusilc = "clusilc"


class Preset(StrEnum):
    """How many clusterings are tried."""

    paper = "paper"
    quick = "quick"


class Noise(StrEnum):
    """What becomes of rows that DBSCAN takes for noise."""

    cluster = "cluster"
    singletons = "singletons"
    nearest = "nearest"


class Form(StrEnum):
    """How clusters are explained."""

    rules = "rules"
    tree = "tree"
    mermaid = "mermaid"
    dot = "dot"


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

SessionPath = Annotated[Path, typer.Argument(metavar="PATH", help="The data file or its session file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="CSV, TSV, Parquet, JSON lines, npy or npz; or a folder of images or texts."
    ),
]
IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows.")]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns to compare rows by.  [default: all that can be]")
]
Drop = Annotated[str | None, typer.Option(metavar="C,D", help="Columns to leave out.")]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="What separates values.  [default: found out]")
]
Scaling = Annotated[
    Scale | None, typer.Option(help="Numbers to 0..1, to deviation 1, or as they are.  [default: unit]")
]
Imputing = Annotated[Impute | None, typer.Option(help="Fill missing values.")]
TextColumn = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="Compare rows by the texts of this column.")
]
Series = Annotated[
    bool, typer.Option("--series", help="Each row is a curve: columns of numbers in order, or of lists.")
]
SkipBroken = Annotated[bool, typer.Option("--skip-broken", help="Leave images out that cannot be read.")]
Clusterings = Annotated[
    Preset | None,
    typer.Option("--preset", help="With cobs: try 931 clusterings, or a quarter of them.  [default: paper]"),
]
NoiseIs = Annotated[
    Noise | None,
    typer.Option(
        "--noise",
        help="With cobs: DBSCAN's noise is one cluster, a cluster a row, or goes to the nearest.  "
        "[default: cluster]",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(metavar="DIR", file_okay=False, help="With cobs: keep the clusterings there for next time."),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(metavar="PAIRS.csv", help="Bring in pairs: id_a,id_b,kind (must-link or cannot-link)."),
]
Asks = Annotated[Method | None, typer.Option("--method", help="What asks.  [default: kin]")]
SuperInstances = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="With --method cobra.  [default: 25]")
]
KnownNumber = Annotated[
    int | None,
    typer.Option(
        "--clusters",
        min=1,
        metavar="N",
        help="With explore, minmax, npu or weights, which must know: how many there are.",
    ),
]
Refitted = Annotated[
    str | None,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help="With explore, minmax or npu: pckmeans, ...  [default: mpckmeans]",
    ),
]
Budget = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Stop after N answers in all.  [default: no end]")
]
OldSession = Annotated[
    Path | None,
    typer.Option("--from", metavar="OLD.linkwise", help="Take over the answers of another session, by id."),
]
SessionFile = Annotated[
    Path | None,
    typer.Option("--session", metavar="PATH", dir_okay=False, help="Session file.  [default: FILE.linkwise]"),
]
OnTerminal = Annotated[
    bool,
    typer.Option("--terminal", help="No page.  [default: a page, where there is a browser]"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout, one object a line.")]


def _seed(given: int | None) -> int | None:
    if given is not None and given > MAX_SEED:
        raise typer.BadParameter(f"{given} is too large; give 0 to {MAX_SEED}.")
    return given


Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, callback=_seed, metavar="N", help="Seed of all randomness.  [default: 0]"),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwise {__version__}")
        raise typer.Exit


@app.callback(help=ABOUT)
def linkwise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What all commands share: nothing but the version."""


@app.command("ask")
def ask_command(
    file: DataFile,
    id_column: IdColumn = None,
    columns: Columns = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    scale: Scaling = None,
    impute: Imputing = None,
    text: TextColumn = None,
    series: Series = False,
    skip_broken: SkipBroken = False,
    method: Asks = None,
    super_instances: SuperInstances = None,
    clusters: KnownNumber = None,
    estimator: Refitted = None,
    preset: Clusterings = None,
    noise: NoiseIs = None,
    cache: Cache = None,
    seed: Seed = None,
    budget: Budget = None,
    constraints: PairsFile = None,
    old: OldSession = None,
    session: SessionFile = None,
    terminal: OnTerminal = False,
    as_json: Json = False,
) -> None:
    """Ask about pairs of rows of FILE and cluster by the answers.

    Every answer is saved at once in FILE.linkwise (or --session PATH); the same command goes on
    where it stopped. Where there is a browser the questions are asked on a page; answers can also be
    piped in as lines (y, n, s, u, q).
    """
    from linkwise.cli.commands.serve import Where, can_open, serve

    def options() -> tuple[Reading, Asking]:
        return (
            _reading(id_column, columns, drop, delimiter, scale, impute, text, series, skip_broken),
            _asking(method, super_instances, preset, noise, cache, clusters, estimator, seed),
        )

    kept: dict[str, Any] = {"session": session, "constraints": constraints, "old": old, "budget": budget}
    if not terminal and not as_json and can_open():
        serve(file, options, Where(), **kept)
        return
    from linkwise.cli.commands.ask import ask

    ask(file, *options(), **kept, as_json=as_json)


@app.command("serve")
def serve_command(
    file: DataFile,
    id_column: IdColumn = None,
    columns: Columns = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    scale: Scaling = None,
    impute: Imputing = None,
    text: TextColumn = None,
    series: Series = False,
    skip_broken: SkipBroken = False,
    method: Asks = None,
    super_instances: SuperInstances = None,
    clusters: KnownNumber = None,
    estimator: Refitted = None,
    preset: Clusterings = None,
    noise: NoiseIs = None,
    cache: Cache = None,
    seed: Seed = None,
    budget: Budget = None,
    constraints: PairsFile = None,
    old: OldSession = None,
    session: SessionFile = None,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Where the page is.  [default: a free one]",
            show_default=False,
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or print its address only.")
    ] = True,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Other than 127.0.0.1: other machines may come, by password."),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Its first line is the password.  [default: $LINKWISE_PASSWORD, or asked for]",
        ),
    ] = None,
) -> None:
    """Ask about pairs of rows of FILE on a page in the browser.

    The address is printed at once, and works once: it opens the page for the browser that it is opened
    in. Every answer is saved at once in FILE.linkwise (or --session PATH). Ctrl-C ends.
    """
    from linkwise.cli.commands.serve import Where, serve

    serve(
        file,
        lambda: (
            _reading(id_column, columns, drop, delimiter, scale, impute, text, series, skip_broken),
            _asking(method, super_instances, preset, noise, cache, clusters, estimator, seed),
        ),
        Where(host, port, browser, password_file),
        session=session,
        constraints=constraints,
        old=old,
        budget=budget,
    )


@app.command("cluster")
def cluster_command(
    file: DataFile,
    id_column: IdColumn = None,
    columns: Columns = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    scale: Scaling = None,
    impute: Imputing = None,
    text: TextColumn = None,
    series: Series = False,
    skip_broken: SkipBroken = False,
    constraints: PairsFile = None,
    method: Annotated[Chooser, typer.Option(help="What clusters.")] = Chooser.cobs,
    clusters: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="K",
            help="Number of clusters, with clusilc the most; cobs and fosc find it, cosc may, the others "
            "must be told.",
        ),
    ] = None,
    max_leaves: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With clusilc: most rules.  [default: no bound]")
    ] = None,
    min_samples: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="With fosc: rows that make a place dense.  [default: 4]"),
    ] = None,
    preset: Clusterings = None,
    noise: NoiseIs = None,
    cache: Cache = None,
    seed: Seed = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="OUT.csv", help="Write id,cluster there.  [default: stdout]")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Cluster FILE by pairs that are known already, without asking.

    With cobs the rows are clustered in many ways; the clustering that satisfies most of the pairs is
    written as id,cluster. What was chosen, and what came next, is said on stderr. With clusilc clusters
    are rules on the columns, which are said there. With fosc they are dense places, and rows that lie in
    none stand as -1. The other methods make K clusters of the rows, led by the pairs.
    """
    from linkwise.cli.clusterers import Clustering
    from linkwise.cli.commands.cluster import cluster

    cluster(
        file,
        _reading(id_column, columns, drop, delimiter, scale, impute, text, series, skip_broken),
        Clustering(
            method.value,
            clusters,
            preset and preset.value,
            noise and noise.value,
            cache,
            seed,
            max_leaves,
            min_samples,
        ),
        constraints=constraints,
        labels=labels,
        force=force,
        as_json=as_json,
    )


@app.command("status")
def status_command(path: SessionPath, as_json: Json = False) -> None:
    """Show where a session stands."""
    from linkwise.cli.commands.session import status

    status(path, as_json=as_json)


@app.command("undo")
def undo_command(path: SessionPath, as_json: Json = False) -> None:
    """Take back the last answer of a session."""
    from linkwise.cli.commands.session import undo

    undo(path, as_json=as_json)


@app.command("explain")
def explain_command(
    path: SessionPath,
    rows: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Say of two rows why they are together, or apart."),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="Rules, or the tree: drawn, for Mermaid, for Graphviz.")
    ] = Form.rules,
    max_leaves: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Most rules.  [default: three a cluster, at least 8]"),
    ] = None,
    fidelity: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Share of the rows that must be put right.  [default: 0.95]"
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", dir_okay=False, help="Draw the tree.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="CLUSTERS.csv", help="Explain these clusters (id,cluster) of a data file."),
    ] = None,
    constraints: Annotated[
        Path | None, typer.Option(metavar="PAIRS.csv", help="With --labels: pairs that are known.")
    ] = None,
    id_column: IdColumn = None,
    columns: Columns = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    impute: Imputing = None,
    text: TextColumn = None,
    series: Series = False,
    skip_broken: SkipBroken = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Describe clusters by rules on the columns; say why two rows are together or apart.

    The clusters are those of a session, or those of --labels. The rules come from the smallest tree
    that puts most rows into their cluster; how many those are is said.
    """
    from linkwise.cli.commands.explain import Wanted, explained

    explained(
        path,
        _reading(id_column, columns, drop, delimiter, None, impute, text, series, skip_broken),
        Wanted(rows, form.value, max_leaves, fidelity, plot, force, as_json),
        labels=labels,
        constraints=constraints,
    )


@app.command("export")
def export_command(
    path: SessionPath,
    labels: Annotated[
        Path | None, typer.Option(metavar="OUT.csv", dir_okay=False, help="Write id,cluster.")
    ] = None,
    constraints: Annotated[
        Path | None, typer.Option(metavar="OUT.csv", dir_okay=False, help="Write id_a,id_b,kind.")
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
    auto: Annotated[bool, typer.Option("--auto", help="Let the known classes answer.")] = False,
    budget: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Number of questions.  [default: no end; with --auto 100]"),
    ] = None,
    seed: Seed = None,
    session: Annotated[
        Path | None,
        typer.Option(metavar="PATH", dir_okay=False, help="Keep the answers.  [default: nothing is kept]"),
    ] = None,
    terminal: OnTerminal = False,
) -> None:
    """Try it on bundled data: pictures of digits, or wines."""
    from linkwise.cli.commands.demo import demo

    demo(name.value, auto=auto, budget=budget, seed=seed or 0, session=session, terminal=terminal)


@app.command("doctor")
def doctor_command(as_json: Json = False) -> None:
    """Tell what is installed here, and whether linkwise can do its work."""
    from linkwise.cli.commands.doctor import doctor

    raise typer.Exit(doctor(as_json=as_json))


def _reading(
    id_column: str | None,
    columns: str | None,
    drop: str | None,
    delimiter: str | None,
    scale: Scale | None,
    impute: Impute | None,
    text: str | None,
    series: bool,
    skip_broken: bool,
) -> Reading:
    """How a file is read, as the options say."""
    from linkwise.workspace.reading import Reading

    return Reading(
        id_column,
        _names("--columns", columns),
        _names("--drop", drop),
        delimiter,
        scale and scale.value,
        impute and impute.value,
        text,
        series or None,
        skip_broken or None,
    )


def _asking(
    method: Method | None,
    super_instances: int | None,
    preset: Preset | None,
    noise: Noise | None,
    cache: Path | None,
    clusters: int | None,
    estimator: str | None,
    seed: int | None,
) -> Asking:
    """What asks, as the options say."""
    from linkwise.workspace.learners import Asking

    return Asking(
        method and method.value,
        super_instances,
        preset and preset.value,
        noise and noise.value,
        cache,
        clusters,
        estimator,
        seed,
    )


def _names(option: str, given: str | None) -> tuple[str, ...] | None:
    """Column names from a list with commas; a name that has a comma itself stands in quotes."""
    if given is None:
        return None
    try:
        names = tuple(name.strip() for _, record in csv_records(given, ",") for name in record)
    except DataError:
        raise UsageError(f"{option} {given!r} has a quote that does not end; write {option} A,B") from None
    if not all(names) or not names:
        raise UsageError(f"{option} {given!r} has an empty name; give names of columns: {option} A,B")
    return names
