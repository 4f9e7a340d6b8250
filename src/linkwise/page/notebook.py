"""The page in a notebook: the same module, hosted by anywidget.

The desk works on a thread of its own, so that the notebook stays alive. What it gives goes out by the event
loop on which the widget was made, which is the one that speaks to the browser.
"""

from __future__ import annotations

import asyncio
import queue
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
        f'the widget needs {error.name}, not installed here: pip install "linkwise[notebook]"'
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
from linkwise.page.cards import View, named, of_numbers
from linkwise.page.presenter import Desk
from linkwise.page.requests import Reply
from linkwise.session.session import Session

STATIC = Path(__file__).with_name("static")
BUSY_S = 0.15  # from then on the page says that it is being worked on
POLL_S = 1.0  # how often to look whether other cells, or other programs, wrote to the session
WANTED = (
    "a table (pandas, polars, linkwise.data.Table), a list of texts or of pictures, an array of pictures of "
    "shape (n_rows, height, width) or (n_rows, height, width, 3), one of curves (n_rows, n_samples), or Items"
)


def widget(
    session: Session, *, items: Any = None, places: ArrayLike | None = None, title: str | None = None
) -> Page:
    """The page on which questions are answered, as a widget for Jupyter, marimo, VS Code and Colab.

    Needs ``pip install "linkwise[notebook]"``.

    Parameters
    ----------
    session : Session
        Opened with its data; other cells may read it and answer, too. It stays open when the widget closes.
    items : table, list of str, ndarray or linkwise.data.Items, optional
        What is shown of each row: a table (of pandas, polars or `linkwise.data.read_table`), texts, pictures
        of shape (n_rows, height, width) or (n_rows, height, width, 3), or of any sizes in a list, or curves
        of shape (n_rows, n_samples). By default the columns of X.
    places : array-like of shape (n_rows, 2), optional
        Where rows stand in the plot. By default the first two principal components of X.
    title : str, optional
        What the page is called; by default as the file that the data came from.

    Returns
    -------
    anywidget.AnyWidget
        Shown when it is the last line of a cell.

    Raises
    ------
    SessionError
        The session was opened without its data.
    DataError
        `items` or `places` do not fit the rows.

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
            "the session was opened without its data, so nothing can be asked; "
            "open it with Session.open(path, X)"
        )
    X = np.asarray(X)
    view, columns = _view_of(items, X, _given_ids(session))
    called = title or Path(str(session.source.get("file", "linkwise"))).name
    return Page(Desk(session, X, view, title=called, places=places, columns=columns))


class Page(anywidget.AnyWidget):
    """The widget; made by `linkwise.widget`.

    Parameters
    ----------
    desk : Desk
    """

    _esm = STATIC / "widget.js"
    _css = STATIC / "style.css"
    state = traitlets.Dict().tag(sync=True)
    labels = traitlets.Bytes().tag(sync=True)
    places = traitlets.Bytes().tag(sync=True)

    def __init__(self, desk: Desk) -> None:
        state, (counter, labels) = desk.state(), desk.labels()
        super().__init__(state=state, labels=labels, places=desk.places())
        self._desk, self._counter = desk, counter
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._loop = _running_loop()
        self.on_msg(self._hear)
        threading.Thread(target=self._work, name="linkwise widget", daemon=True).start()

    def close(self) -> None:
        """Take the page away; the session stays open."""
        self._ended.set()
        self._requests.put(None)
        super().close()

    # ------------------------------------------------------------ on the thread of the desk
    def _hear(self, _: Any, request: Any, buffers: Any) -> None:
        self._requests.put(request)

    def _work(self) -> None:
        with suppress(SessionError):
            self._desk.look_ahead(lambda: self._ended.is_set() or not self._requests.empty())
        while not self._ended.is_set():
            try:
                request = self._requests.get(timeout=POLL_S)
            except queue.Empty:
                with suppress(SessionError):  # closed, or held by another program: look again later
                    self._show(self._desk.moved())
            else:
                if not self._ended.is_set():
                    self._answer(request)

    def _answer(self, request: Any) -> None:
        timer = threading.Timer(BUSY_S, self._say_busy)
        timer.start()
        try:
            reply = self._desk.handle(request)
        except SessionError as error:  # closed in another cell
            name = request.get("id") if isinstance(request, dict) else None
            reply = Reply({"re": name, "ok": False, "error": {"kind": "failed", "text": str(error)}})
        finally:
            timer.cancel()
            timer.join()
        with suppress(SessionError):
            self._show(reply.changed or self.state.get("busy", False))
        files = None if reply.file is None else [reply.file]
        self._later(lambda: self.send(reply.body, buffers=files))
        with suppress(SessionError):
            if reply.changed:
                self._desk.look_ahead(lambda: not self._requests.empty())

    def _show(self, changed: bool) -> None:
        """Send the state, and the labels where they are new, all in one message."""
        if not changed:
            return
        state, (counter, labels) = self._desk.state(), self._desk.labels()
        new = {"state": state} if counter == self._counter else {"labels": labels, "state": state}
        self._counter = counter
        self._later(lambda: self._put(new))

    def _say_busy(self) -> None:
        self._later(lambda: self._put({"state": {**self.state, "busy": True}}))

    # ------------------------------------------------------------ on the loop of the notebook
    def _put(self, traits: dict[str, Any]) -> None:
        with self.hold_sync():
            for name, value in traits.items():
                setattr(self, name, value)

    def _later(self, function: Callable[[], object]) -> None:
        """Do it on the loop that speaks to the browser; here where there is none."""
        if self._ended.is_set():
            return
        if self._loop is None or self._loop.is_closed():
            function()
        else:
            self._loop.call_soon_threadsafe(function)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# ---------------------------------------------------------------- what is shown of a row
def _given_ids(session: Session) -> list[str] | None:
    ids = session.ids
    return None if all(name == str(row) for row, name in enumerate(ids)) else ids


def _view_of(items: Any, X: NDArray[Any], ids: list[str] | None) -> tuple[View, Encoded | None]:
    """How rows are shown, and their columns in their own units where there are any."""
    if items is None:
        names = [f"x{j}" for j in range(X.shape[1])]
        features = tuple(Feature(name, name, None, "numeric") for name in names)
        return of_numbers(X, names, ids), Encoded(X, features, ())
    if isinstance(items, Items):
        return View(items, named(ids)), None
    if hasattr(items, "to_list") and not hasattr(items, "columns"):  # one column of pandas or polars
        items = items.to_list()
    if isinstance(items, (list, tuple, np.ndarray)):
        _check_length(len(items), len(X))
        return View(_of_list(items), named(ids)), None
    if not isinstance(items, Table) and not hasattr(items, "columns"):
        raise DataError(f"items is a {type(items).__name__}; give {WANTED}")
    try:
        table = items if isinstance(items, Table) else from_frame(items)
    except DataError:  # nothing to cluster by, such as texts alone; to be shown they need not serve for that
        found = _of_values(items)
        _check_length(len(items), len(X))
        return View(found, named(ids)), None
    _check_length(len(table), len(X))
    return View(record_items(table), named(table.ids if ids is None else ids)), _columns_of(table)


def _of_list(items: Any) -> Items:
    """Texts, pictures or curves, one a row."""
    if len(items) and all(isinstance(item, str) for item in items):
        return text_items([str(item) for item in items])
    try:
        arrays = [np.asarray(item) for item in items]
    except ValueError:  # a list of lists of several lengths
        arrays = []
    if not arrays or any(array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 3 for array in arrays):
        raise DataError(f"items holds what is neither text nor a picture nor a curve; give {WANTED}")
    if len({array.shape for array in arrays}) == 1:
        whole = np.stack(arrays)
        return series_items(whole) if whole.ndim == 2 else image_items(whole)
    if min(array.ndim for array in arrays) == 1:
        raise DataError("the curves are not all of one length; fill the shorter ones up with NaN")
    each = [image_items(array[None]) for array in arrays]
    return Items("image", no_fields, lambda row: each[row].content(0))


def _of_values(frame: Any) -> Items:
    """The values of a DataFrame as they are; a single column of texts as texts."""
    table = to_narwhals(frame)
    columns = {name: table[name].to_list() for name in table.columns}
    (first, *others) = columns.values()
    if not others and all(isinstance(value, str) for value in first):
        return text_items(first)
    return Items(
        "record", lambda row: {name: str(column[row]) for name, column in columns.items()}, lambda row: None
    )


def _columns_of(table: Table) -> Encoded | None:
    """What rules speak of; nothing where the table has no columns that can be told apart."""
    try:
        return encode(table, scale="none", impute="median", categories="codes")
    except DataError:
        return None


def _check_length(n_items: int, n_rows: int) -> None:
    if n_items != n_rows:
        raise DataError(
            f"there are {n_items} items for {n_rows} rows; give one a row, in the order of the rows"
        )
