"""The page in a notebook: the same module, hosted by anywidget.

The hub runs on a thread of its own, so that the notebook stays responsive. What it sends goes through the
event loop on which the widget was created, because that loop speaks to the browser.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        f'The widget needs {error.name}, which is not installed. Run pip install "linkwise[notebook]".'
    ) from None

from linkwise.data import (
    Encoded,
    Feature,
    Items,
    Table,
    encode,
    from_frame,
    image_items,
    record_items,
    series_items,
    text_items,
)
from linkwise.data.items import no_fields
from linkwise.data.table import to_narwhals
from linkwise.errors import DataError, SessionError
from linkwise.page.cards import RowView, create_namer, view_numbers
from linkwise.page.hub import Hub, News, Update, read_news
from linkwise.page.presenter import Presenter
from linkwise.page.requests import Reply
from linkwise.session.session import Session

STATIC = Path(__file__).with_name("static")
WANTED = (
    "a table (pandas, polars, linkwise.data.Table), a list of texts or of pictures, an array of pictures of "
    "shape (n_rows, height, width) or (n_rows, height, width, 3), one of curves (n_rows, n_samples), or Items"
)


def widget(
    session: Session, *, items: Any = None, places: ArrayLike | None = None, title: str | None = None
) -> Page:
    """Return the page on which you answer questions, as a widget for Jupyter, marimo, VS Code and Colab.

    Needs ``pip install "linkwise[notebook]"``.

    Parameters
    ----------
    session : Session
        A session opened with its data. Other cells may read it and answer, too. It stays open when the widget
        closes.
    items : table, list of str, ndarray or linkwise.data.Items, optional
        What to show of each row: a table (of pandas, polars or `linkwise.data.read_table`), texts, pictures
        of shape (n_rows, height, width) or (n_rows, height, width, 3), or of any sizes in a list, or curves
        of shape (n_rows, n_samples). By default the columns of X.
    places : array-like of shape (n_rows, 2), optional
        Coordinates of the rows in the plot. By default the first two principal components of X.
    title : str, optional
        The title of the page. By default the name of the data file.

    Returns
    -------
    anywidget.AnyWidget
        Displayed when it is the last line of a cell.

    Raises
    ------
    SessionError
        If the session was opened without its data.
    DataError
        If `items` or `places` do not fit the rows.

    Examples
    --------
    >>> import linkwise as lw
    >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    >>> page = lw.widget(session, items=["a pea", "a bean", "a pumpkin", "a melon"])
    >>> page.state["question"]["first"]["text"]
    'a pea'
    >>> page.close()
    """
    X = session.X
    if X is None:
        raise SessionError(
            "The session was opened without its data, so it has no questions. "
            "Open it with Session.open(path, X)."
        )
    X = np.asarray(X)
    view, columns = _create_view(items, X, _given_ids(session))
    title = title or Path(str(session.source.get("file", "linkwise"))).name
    return Page(Presenter(session, X, view, title=title, places=places, columns=columns))


class Page(anywidget.AnyWidget):
    """The widget that `linkwise.widget` returns: a client of a hub that runs on a thread of its own.

    Parameters
    ----------
    presenter : Presenter
    """

    _esm = STATIC / "widget.js"
    _css = STATIC / "style.css"
    state = traitlets.Dict().tag(sync=True)
    labels = traitlets.Bytes().tag(sync=True)
    places = traitlets.Bytes().tag(sync=True)

    def __init__(self, presenter: Presenter) -> None:
        news, places = read_news(presenter), presenter.places()
        super().__init__(state=news[0], labels=news[1][1], places=places)
        self.n_open = 0
        self.person = ""
        self.is_sending = False  # traits are set at once
        self._presenter = presenter
        self._hub = Hub("", tolerated=SessionError)  # closed in another cell, or held by another program
        self._hub.presenter = presenter  # a request may come before the thread of the hub runs
        self._has_ended = threading.Event()
        self._notebook_loop = _running_loop()
        self._hub_loop, self._stop = asyncio.new_event_loop(), asyncio.Event()
        self.on_msg(self._receive)
        work = functools.partial(self._run, news, places)
        threading.Thread(target=work, name="linkwise widget", daemon=True).start()

    def close(self) -> None:
        """Take the page away; the session stays open."""
        self._has_ended.set()
        with suppress(RuntimeError):  # it was closed before
            self._hub_loop.call_soon_threadsafe(self._stop.set)
        super().close()

    # ------------------------------------------------------------ on the thread of the hub
    def _run(self, news: News, places: bytes) -> None:
        with asyncio.Runner(loop_factory=lambda: self._hub_loop) as runner:
            runner.run(self._work(news, places))

    async def _work(self, news: News, places: bytes) -> None:
        self._hub.clients.add(self)  # it shows the news already
        self._hub.start(self._presenter, news, places)
        work = asyncio.create_task(self._hub.work())
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
        for task in (work, stop):
            task.cancel()
        self._hub.worker.end()
        with suppress(asyncio.CancelledError):
            await work

    def show(self, update: Update) -> None:
        """Show an update, all of it in one message."""
        traits = {"labels": update.labels, "places": update.places, "state": update.state}
        self._call_soon(lambda: self._set_traits({k: v for k, v in traits.items() if v is not None}))

    def reply(self, reply: Reply) -> None:
        """Send a reply, after all updates before it."""
        buffers = None if reply.file is None else [reply.file]
        self._call_soon(lambda: self.send(reply.body, buffers=buffers))

    def _call_soon(self, function: Callable[[], object]) -> None:
        """Call on the loop that speaks to the browser; here where there is none."""
        if self._has_ended.is_set():
            return
        loop = self._notebook_loop
        if loop is None or loop.is_closed():
            function()
        else:
            loop.call_soon_threadsafe(function)

    # ------------------------------------------------------------ on the loop of the notebook
    def _receive(self, _: Any, request: Any, buffers: Any) -> None:
        with suppress(RuntimeError):  # closed meanwhile
            self._hub_loop.call_soon_threadsafe(self._hub.ask, self, request)

    def _set_traits(self, traits: dict[str, Any]) -> None:
        with self.hold_sync():
            for name, value in traits.items():
                setattr(self, name, value)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# ---------------------------------------------------------------- how rows are shown
def _given_ids(session: Session) -> list[str] | None:
    ids = session.ids
    return None if all(name == str(row) for row, name in enumerate(ids)) else ids


def _create_view(items: Any, X: NDArray[Any], ids: list[str] | None) -> tuple[RowView, Encoded | None]:
    """Return how rows are shown, and their columns in original units if there are any."""
    if items is None:
        names = [f"x{j}" for j in range(X.shape[1])]
        features = tuple(Feature(name, name, None, "numeric") for name in names)
        return view_numbers(X, names, ids), Encoded(X, features, ())
    if isinstance(items, Items):
        return RowView(items, create_namer(ids)), None
    if hasattr(items, "to_list") and not hasattr(items, "columns"):  # one column of pandas or polars
        items = items.to_list()
    if isinstance(items, (list, tuple, np.ndarray)):
        _check_length(len(items), len(X))
        return RowView(_list_items(items), create_namer(ids)), None
    if not isinstance(items, Table) and not hasattr(items, "columns"):
        raise DataError(f"items is a {type(items).__name__}. Give {WANTED}.")
    try:
        table = items if isinstance(items, Table) else from_frame(items)
    except DataError:  # nothing to cluster by, such as texts alone; to be shown they need not serve for that
        found = _frame_items(items)
        _check_length(len(items), len(X))
        return RowView(found, create_namer(ids)), None
    _check_length(len(table), len(X))
    return RowView(record_items(table), create_namer(table.ids if ids is None else ids)), _encode_columns(
        table
    )


def _list_items(items: Any) -> Items:
    """Return items for texts, pictures or curves, one a row."""
    if len(items) and all(isinstance(item, str) for item in items):
        return text_items([str(item) for item in items])
    try:
        arrays = [np.asarray(item) for item in items]
    except ValueError:  # a list of lists of several lengths
        arrays = []
    if not arrays or any(array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 3 for array in arrays):
        raise DataError(f"items holds values that are neither texts, pictures nor curves. Give {WANTED}.")
    if len({array.shape for array in arrays}) == 1:
        whole = np.stack(arrays)
        return series_items(whole) if whole.ndim == 2 else image_items(whole)
    if min(array.ndim for array in arrays) == 1:
        raise DataError("The curves differ in length. Fill the shorter ones up with NaN.")
    each = [image_items(array[None]) for array in arrays]
    return Items("image", no_fields, lambda row: each[row].content(0))


def _frame_items(frame: Any) -> Items:
    """Return the values of a DataFrame unchanged; a single column of texts becomes texts."""
    table = to_narwhals(frame)
    columns = {name: table[name].to_list() for name in table.columns}
    (first, *others) = columns.values()
    if not others and all(isinstance(value, str) for value in first):
        return text_items(first)
    return Items(
        "record", lambda row: {name: str(column[row]) for name, column in columns.items()}, lambda row: None
    )


def _encode_columns(table: Table) -> Encoded | None:
    """Return the columns for rules; None if the table has none that can be encoded."""
    try:
        return encode(table, scale="none", impute="median", categories="codes")
    except DataError:
        return None


def _check_length(n_items: int, n_rows: int) -> None:
    if n_items != n_rows:
        raise DataError(
            f"There are {n_items} items for {n_rows} rows. Give one for each row, in the order of the rows."
        )
